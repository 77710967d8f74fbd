//! Mailbox providers by the domains that they give addresses in.

/// A provider, and the domains of its addresses.
struct Provider {
    code: &'static str,
    name: &'static str,
    domains: &'static [&'static str],
    /// First labels of domains that exist in many countries: `yahoo` of `yahoo.co.uk`.
    labels: &'static [&'static str],
}

const fn provider(
    code: &'static str,
    name: &'static str,
    domains: &'static [&'static str],
    labels: &'static [&'static str],
) -> Provider {
    Provider {
        code,
        name,
        domains,
        labels,
    }
}

/// Each provider's own page about its addresses names these.
const PROVIDERS: &[Provider] = &[
    provider("gm", "Gmail", &["gmail.com", "googlemail.com"], &[]),
    provider(
        "ms",
        "Microsoft",
        &["msn.com", "passport.com", "windowslive.com"],
        &["hotmail", "outlook", "live"],
    ),
    // AOL and Verizon give their addresses by the same servers.
    provider(
        "yh",
        "Yahoo",
        &[
            "ymail.com",
            "rocketmail.com",
            "myyahoo.com",
            "aim.com",
            "verizon.net",
        ],
        &["yahoo", "aol"],
    ),
    provider("ap", "Apple", &["icloud.com", "me.com", "mac.com"], &[]),
    provider("cc", "Comcast", &["comcast.net", "xfinity.com"], &[]),
    provider(
        "at",
        "AT&T",
        &["att.net", "sbcglobal.net", "bellsouth.net", "ameritech.net"],
        &[],
    ),
    provider(
        "pm",
        "Proton",
        &["proton.me", "protonmail.com", "protonmail.ch", "pm.me"],
        &[],
    ),
    provider("gx", "GMX", &[], &["gmx"]),
    provider("wd", "WEB.DE", &["web.de"], &[]),
    provider("tn", "T-Online", &["t-online.de", "magenta.de"], &[]),
    provider("or", "Orange", &["orange.fr", "wanadoo.fr"], &[]),
    provider("fe", "Free", &["free.fr"], &[]),
    provider(
        "li",
        "Libero",
        &["libero.it", "virgilio.it", "inwind.it", "iol.it"],
        &[],
    ),
    provider(
        "mr",
        "Mail.ru",
        &["mail.ru", "bk.ru", "inbox.ru", "list.ru", "internet.ru"],
        &[],
    ),
    provider("yx", "Yandex", &["ya.ru"], &["yandex"]),
    provider("qq", "QQ", &["qq.com", "foxmail.com"], &[]),
    provider("ne", "NetEase", &["163.com", "126.com", "yeah.net"], &[]),
    provider("nv", "Naver", &["naver.com"], &[]),
    provider("uo", "UOL", &["uol.com.br", "bol.com.br"], &[]),
    provider("fm", "Fastmail", &["fastmail.com", "fastmail.fm"], &[]),
    provider("zo", "Zoho", &["zoho.com", "zohomail.com"], &[]),
    provider("bt", "BT", &["btinternet.com", "btopenworld.com"], &[]),
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
}
