//! Mailbox providers by the domains that they give addresses in, and by the hosts that take their mail.

/// A provider, and the domains of its addresses.
struct Provider {
    code: &'static str,
    name: &'static str,
    domains: &'static [&'static str],
    /// First labels of domains that exist in many countries: `yahoo` of `yahoo.co.uk`.
    labels: &'static [&'static str],
    /// Domains of the hosts in its MX records, and in those that it has its customers publish.
    exchanges: &'static [&'static str],
}

const fn provider(
    (code, name): (&'static str, &'static str),
    domains: &'static [&'static str],
    labels: &'static [&'static str],
    exchanges: &'static [&'static str],
) -> Provider {
    Provider {
        code,
        name,
        domains,
        labels,
        exchanges,
    }
}

/// Each provider's own pages name these, about its addresses and about the MX records of its customers.
const PROVIDERS: &[Provider] = &[
    provider(
        ("gm", "Gmail"),
        &["gmail.com", "googlemail.com"],
        &[],
        &["google.com", "googlemail.com"],
    ),
    provider(
        ("ms", "Microsoft"),
        &["msn.com", "passport.com", "windowslive.com"],
        &["hotmail", "outlook", "live"],
        &[
            "mail.protection.outlook.com",
            "olc.protection.outlook.com",
            "mx.microsoft",
            "hotmail.com",
        ],
    ),
    // AOL and Verizon give their addresses by the same servers.
    provider(
        ("yh", "Yahoo"),
        &[
            "ymail.com",
            "rocketmail.com",
            "myyahoo.com",
            "aim.com",
            "verizon.net",
        ],
        &["yahoo", "aol"],
        &["yahoodns.net", "yahoo.co.jp"],
    ),
    provider(
        ("ap", "Apple"),
        &["icloud.com", "me.com", "mac.com"],
        &[],
        &["mail.icloud.com"],
    ),
    provider(
        ("cc", "Comcast"),
        &["comcast.net", "xfinity.com"],
        &[],
        &["comcast.net"],
    ),
    provider(
        ("at", "AT&T"),
        &["att.net", "sbcglobal.net", "bellsouth.net", "ameritech.net"],
        &[],
        &["prodigy.net"],
    ),
    provider(
        ("pm", "Proton"),
        &["proton.me", "protonmail.com", "protonmail.ch", "pm.me"],
        &[],
        &["protonmail.ch"],
    ),
    provider(("gx", "GMX"), &[], &["gmx"], &["gmx.net"]),
    provider(("wd", "WEB.DE"), &["web.de"], &[], &["web.de"]),
    provider(
        ("tn", "T-Online"),
        &["t-online.de", "magenta.de"],
        &[],
        &["t-online.de"],
    ),
    provider(
        ("or", "Orange"),
        &["orange.fr", "wanadoo.fr"],
        &[],
        &["orange.fr"],
    ),
    provider(("fe", "Free"), &["free.fr"], &[], &["free.fr"]),
    provider(
        ("li", "Libero"),
        &["libero.it", "virgilio.it", "inwind.it", "iol.it"],
        &[],
        &["libero.it"],
    ),
    provider(
        ("mr", "Mail.ru"),
        &["mail.ru", "bk.ru", "inbox.ru", "list.ru", "internet.ru"],
        &[],
        &["mail.ru"],
    ),
    provider(
        ("yx", "Yandex"),
        &["ya.ru"],
        &["yandex"],
        &["yandex.ru", "yandex.net"],
    ),
    provider(("qq", "QQ"), &["qq.com", "foxmail.com"], &[], &["qq.com"]),
    provider(
        ("ne", "NetEase"),
        &["163.com", "126.com", "yeah.net"],
        &[],
        &["netease.com"],
    ),
    provider(
        ("nv", "Naver"),
        &["naver.com"],
        &[],
        &["naver.com", "worksmobile.com"],
    ),
    provider(
        ("uo", "UOL"),
        &["uol.com.br", "bol.com.br"],
        &[],
        &["uol.com.br"],
    ),
    provider(
        ("fm", "Fastmail"),
        &["fastmail.com", "fastmail.fm"],
        &[],
        &["messagingengine.com"],
    ),
    provider(
        ("zo", "Zoho"),
        &["zoho.com", "zohomail.com"],
        &[],
        &["zoho.com", "zoho.eu", "zoho.in", "zohomail.com"],
    ),
    provider(
        ("bt", "BT"),
        &["btinternet.com", "btopenworld.com"],
        &[],
        &["cpcloud.co.uk"],
    ),
];

/// The codes and names.
pub(super) fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    PROVIDERS
        .iter()
        .map(|provider| (provider.code, provider.name))
}

/// The code and name of the provider whose domain this is, in any case.
pub(super) fn of_domain(domain: &str) -> Option<(&'static str, &'static str)> {
    let is = |known: &&str| domain.eq_ignore_ascii_case(known);
    let national = national_label(domain);
    let label = |known: &&str| national.is_some_and(|label| label.eq_ignore_ascii_case(known));
    PROVIDERS
        .iter()
        .find(|provider| provider.domains.iter().any(is) || provider.labels.iter().any(label))
        .map(|provider| (provider.code, provider.name))
}

/// The code and name of the provider that one of these hosts of MX records belongs to, in any case and with a final dot
/// or without.
pub(super) fn of_exchanges(exchanges: &[String]) -> Option<(&'static str, &'static str)> {
    let is_below = |exchange: &str, domain: &str| {
        let exchange = exchange.trim_end_matches('.').to_ascii_lowercase();
        let above = exchange.strip_suffix(domain);
        above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
    };
    let has = |provider: &&Provider| {
        let mut domains = provider.exchanges.iter();
        domains.any(|domain| exchanges.iter().any(|exchange| is_below(exchange, domain)))
    };
    let found = PROVIDERS.iter().find(has);
    found.map(|provider| (provider.code, provider.name))
}

/// The first label of a domain right below the ending of a country or kind: `.com`, `.fr`, `.co.uk`.
fn national_label(domain: &str) -> Option<&str> {
    let mut labels = domain.split('.');
    let first = labels.next()?;
    let is_short = |label: &str| (2..=3).contains(&label.len());
    let endings = labels.clone().count();
    ((1..=2).contains(&endings) && labels.all(is_short)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_has_the_provider_that_gives_its_addresses() {
        for (domain, want) in [
            ("gmail.com", Some("Gmail")),
            ("GoogleMail.com", Some("Gmail")),
            ("hotmail.co.uk", Some("Microsoft")),
            ("live.fr", Some("Microsoft")),
            ("outlook.com.br", Some("Microsoft")),
            ("yahoo.co.jp", Some("Yahoo")),
            ("aol.com", Some("Yahoo")),
            ("me.com", Some("Apple")),
            ("gmx.net", Some("GMX")),
            ("yandex.ru", Some("Yandex")),
            // None of these is the provider's.
            ("gmail.com.example.com", None),
            ("mail.gmail.com", None),
            ("notgmail.com", None),
            ("yahoo.example", None),
            ("yahoo.co.uk.com", None),
            ("yahoo.", None),
            ("yahoo", None),
            ("example.com", None),
            ("", None),
        ] {
            assert_eq!(of_domain(domain).map(|(_, name)| name), want, "{domain}");
        }
    }

    #[test]
    fn a_domain_has_the_provider_that_its_exchanges_belong_to() {
        for (exchanges, want) in [
            (
                &["ASPMX.L.Google.com.", "alt1.aspmx.l.google.com."][..],
                Some("Gmail"),
            ),
            (&["smtp.google.com"], Some("Gmail")),
            (
                &["example-com.mail.protection.outlook.com."],
                Some("Microsoft"),
            ),
            (&["example-com.l-v1.mx.microsoft."], Some("Microsoft")),
            (&["mta5.am0.yahoodns.net."], Some("Yahoo")),
            (
                &["mx.backup.example.", "in1-smtp.messagingengine.com."],
                Some("Fastmail"),
            ),
            (&["mail.protonmail.ch."], Some("Proton")),
            (&["mxbiz1.qq.com."], Some("QQ")),
            // None of these is the provider's.
            (&["google.com.example."], None),
            (&["notgoogle.com."], None),
            (&["outlook.com."], None),
            (&["mx.example.com."], None),
            (&["."], None),
            (&[""], None),
            (&[], None),
        ] {
            let exchanges: Vec<String> = exchanges.iter().map(|&host| host.to_owned()).collect();
            let found = of_exchanges(&exchanges).map(|(_, name)| name);
            assert_eq!(found, want, "{exchanges:?}");
        }
    }
}
