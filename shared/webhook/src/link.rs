//! Checks whether a text is a URL that the service may post to.

use std::net::{IpAddr, Ipv4Addr};

use url::{Host, Url};

use crate::{Guard, Refusal};

/// The longest URL that is posted to, in bytes.
pub const LONGEST_URL: usize = 2048;

/// Why a URL is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlProblem {
    /// It has more than so many bytes.
    #[error("the URL is longer than {0} bytes")]
    TooLong(usize),
    #[error("the URL holds white space or control characters")]
    Blank,
    #[error("the text is not a URL")]
    Unreadable,
    #[error("the URL begins with neither http:// nor https://")]
    Scheme,
    #[error("the URL names no host")]
    NoHost,
    #[error("port {0} is not used for HTTP")]
    Port(u16),
    #[error(transparent)]
    Address(#[from] Refusal),
}

/// Parses a URL that events or mail are posted to.
///
/// A host given as an address, or one that can only mean this machine, is checked at once; a name
/// is checked when it is resolved. `user:password@` is stored and sent as HTTP Basic; a fragment,
/// which is never sent, is dropped.
pub fn check_url(text: &str, guard: &Guard) -> Result<Url, UrlProblem> {
    check_link(text, guard, LONGEST_URL)
}

/// The same for a URL that is opened, of at most `longest` bytes.
pub fn check_link(text: &str, guard: &Guard, longest: usize) -> Result<Url, UrlProblem> {
    if text.len() > longest {
        return Err(UrlProblem::TooLong(longest));
    }
    // The URL standard silently drops tabs and line feeds; the caller meant something else.
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(UrlProblem::Blank);
    }
    let mut url = Url::parse(text).map_err(|problem| match problem {
        url::ParseError::EmptyHost => UrlProblem::NoHost,
        _ => UrlProblem::Unreadable,
    })?;
    // `http:example.com` and `http:\\example.com` parse too; only the plain form is meant.
    let plain = |scheme: &str| {
        let head = text.get(..scheme.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(scheme))
    };
    if !plain("http://") && !plain("https://") {
        return Err(UrlProblem::Scheme);
    }
    if let Some(port) = url.port().filter(|port| *port == 0 || is_foreign(*port)) {
        return Err(UrlProblem::Port(port));
    }
    judge_host(&url, guard)?;
    url.set_fragment(None);
    Ok(url)
}

/// Checks the host as far as possible without DNS.
pub(crate) fn judge_host(url: &Url, guard: &Guard) -> Result<(), UrlProblem> {
    let address: IpAddr = match url.host() {
        None => return Err(UrlProblem::NoHost),
        Some(Host::Ipv4(v4)) => v4.into(),
        Some(Host::Ipv6(v6)) => v6.into(),
        Some(Host::Domain(name)) if is_localhost(name) => Ipv4Addr::LOCALHOST.into(),
        Some(Host::Domain(_)) => return Ok(()),
    };
    Ok(guard.judge(address)?)
}

/// `localhost` and everything below it mean this machine (RFC 6761, section 6.3).
fn is_localhost(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name == "localhost" || name.ends_with(".localhost")
}

/// Ports of other protocols that a POST could imitate (Fetch standard, "port blocking").
fn is_foreign(port: u16) -> bool {
    const FOREIGN: [u16; 82] = [
        1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101,
        102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389,
        427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636,
        989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665,
        6666, 6667, 6668, 6669, 6679, 6697, 10080,
    ];
    FOREIGN.contains(&port)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Why;

    #[track_caller]
    fn check(text: &str, want: Result<&str, &str>) {
        let found = check_url(text, &Guard::default());
        let found = found.map(|url| url.to_string()).map_err(|e| e.to_string());
        let want = want.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(found, want, "{text:?}");
    }

    #[test]
    fn web_addresses_pass_and_lose_their_fragment() {
        for (text, want) in [
            ("http://example.com", "http://example.com/"),
            ("https://example.com/a?b=c", "https://example.com/a?b=c"),
            ("HTTPS://EXAMPLE.com:8443/x", "https://example.com:8443/x"),
            ("https://example.com:443/", "https://example.com/"),
            ("https://u:p%40@example.com/", "https://u:p%40@example.com/"),
            ("https://example.com/#part", "https://example.com/"),
            (
                "https://bücher.example/ü",
                "https://xn--bcher-kva.example/%C3%BC",
            ),
            ("http://8.8.8.8/", "http://8.8.8.8/"),
            ("http://[2600:1f18::1]:8080/", "http://[2600:1f18::1]:8080/"),
            (
                "http://localhost.example.com/",
                "http://localhost.example.com/",
            ),
        ] {
            check(text, Ok(want));
        }
    }

    #[test]
    fn other_texts_are_refused_with_the_rule_they_break() {
        let blank = "the URL holds white space or control characters";
        let scheme = "the URL begins with neither http:// nor https://";
        let unreadable = "the text is not a URL";
        for (text, want) in [
            ("", unreadable),
            ("example.com", unreadable),
            ("//example.com/", unreadable),
            ("ftp://example.com/", scheme),
            ("file:///etc/passwd", scheme),
            ("javascript:alert(1)", scheme),
            ("http:example.com", scheme),
            ("http:\\\\example.com", scheme),
            ("http:/example.com", scheme),
            ("http://", "the URL names no host"),
            ("http://@/", "the URL names no host"),
            (" http://example.com/", blank),
            ("http://exa\tmple.com/", blank),
            ("http://example.com/\r\nX: y", blank),
            ("http://example.com/\u{a0}", blank),
            ("http://example.com/\0", blank),
            ("http://exa mple.com/", blank),
            ("http://example.com:0/", "port 0 is not used for HTTP"),
            ("http://example.com:25/", "port 25 is not used for HTTP"),
            ("http://example.com:6667/", "port 6667 is not used for HTTP"),
            ("http://example.com:65536/", unreadable),
            ("http://[::1/", unreadable),
            ("http://1.2.3.4.5/", unreadable),
        ] {
            check(text, Err(want));
        }
    }

    #[test]
    fn a_url_may_be_as_long_as_the_limit_and_no_longer() {
        let base = "https://example.com/";
        let longest = format!("{base}{}", "x".repeat(LONGEST_URL - base.len()));
        assert!(check_url(&longest, &Guard::default()).is_ok());
        let longer = format!("{longest}x");
        assert_eq!(
            check_url(&longer, &Guard::default()),
            Err(UrlProblem::TooLong(LONGEST_URL))
        );
    }

    #[test]
    fn an_address_is_recognised_in_every_spelling() {
        for (text, why) in [
            ("http://127.0.0.1/", Why::Loopback),
            ("http://127.1/", Why::Loopback),
            ("http://2130706433/", Why::Loopback),
            ("http://0x7f000001/", Why::Loopback),
            ("http://0177.0.0.1/", Why::Loopback),
            ("http://127.0.0.1./", Why::Loopback),
            ("http://①②⑦.0.0.1/", Why::Loopback),
            ("http://%31%32%37.0.0.1/", Why::Loopback),
            ("http://localhost/", Why::Loopback),
            ("http://LOCALHOST./", Why::Loopback),
            ("http://a.localhost:3000/", Why::Loopback),
            ("http://[::1]/", Why::Loopback),
            ("http://[::ffff:7f00:1]/", Why::Loopback),
            ("http://[0:0:0:0:0:ffff:10.0.0.1]/", Why::Private),
            ("http://[64:ff9b::a9fe:a9fe]/", Why::Metadata),
            ("http://user@169.254.169.254/latest/", Why::Metadata),
            ("http://example.com@10.0.0.1/", Why::Private),
            ("http://0/", Why::Unspecified),
        ] {
            let found = check_url(text, &Guard::default());
            let found = found.map_err(|problem| match problem {
                UrlProblem::Address(refusal) => Some(refusal.why),
                _ => None,
            });
            assert_eq!(found, Err(Some(why)), "{text}");
        }
    }

    #[test]
    fn the_local_host_may_post_to_itself() {
        for text in [
            "http://127.0.0.1:3000/",
            "http://localhost/",
            "http://[::1]/",
        ] {
            assert!(check_url(text, &Guard::with_loopback()).is_ok(), "{text}");
        }
        assert!(check_url("http://10.0.0.1/", &Guard::with_loopback()).is_err());
    }
}
