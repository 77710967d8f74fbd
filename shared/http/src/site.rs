//! Where a request with a session comes from.
//!
//! A browser sends a cookie along whatever page caused the request, so a session alone is no proof that its
//! owner wants it: what changes anything must come from a page of this origin, and carry a header that no
//! other origin may send without being asked for it first (CORS, of which the service has none).

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};

use crate::GatewayName;

/// The header of requests that the console's pages send. Its value does not matter.
pub const CONSOLE_HEADER: HeaderName = HeaderName::from_static("x-posthaste-console");

/// The cookie of a session over HTTPS. A browser takes this name only from the host itself, over HTTPS and for
/// all paths (RFC 6265bis, section 4.1.3), so no other host of the domain can plant one.
const SECURE_COOKIE: &str = "__Host-posthaste";

/// The cookie of a session over HTTP, which is one of this machine only.
const LOOPBACK_COOKIE: &str = "posthaste";

/// How a browser reaches the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Https,
    /// HTTP that does not leave this machine.
    Loopback,
    /// HTTP through a network, where others could read a session: none is opened or used.
    Exposed,
}

/// What a request says of where it comes from.
#[derive(Clone, Copy)]
pub(crate) struct Site<'a> {
    pub(crate) headers: &'a HeaderMap,
    /// The name by which the gateway was called, where there is one.
    pub(crate) gateway: Option<&'a GatewayName>,
    /// The configured address of the service.
    pub(crate) public_url: Option<&'a str>,
}

impl<'a> Site<'a> {
    /// The token of the session, by the one cookie that can be one: a browser that sends several of a name
    /// holds one that another host or path planted.
    pub(crate) fn session_token(&self) -> Option<&'a str> {
        let values = |wanted: &'static str| {
            let lines = self.headers.get_all(header::COOKIE).iter();
            let lines = lines.filter_map(|line| line.to_str().ok());
            let pairs = lines.flat_map(|line| line.split(';'));
            let pairs = pairs.filter_map(|pair| pair.trim().split_once('='));
            pairs.filter_map(move |(name, value)| (name == wanted).then_some(value))
        };
        let mut found = values(SECURE_COOKIE).peekable();
        if found.peek().is_some() {
            return only_one(found);
        }
        self.is_called_by_loopback()
            .then(|| only_one(values(LOOPBACK_COOKIE)))
            .flatten()
    }

    /// Whether a session may be used for this request: it changes nothing, or it comes from a page of this
    /// origin and carries [`CONSOLE_HEADER`].
    pub(crate) fn admits_session(&self, method: &Method) -> bool {
        let is_safe = [Method::GET, Method::HEAD].contains(method);
        if !is_safe {
            let own = self.own_origin();
            let is_own = own.is_some_and(|transport| transport != Transport::Exposed);
            return is_own && self.headers.contains_key(CONSOLE_HEADER);
        }
        // Browsers say it themselves; another port of this machine is the same site, but not this origin. A
        // link there may be followed.
        let text = |name| self.only(&HeaderName::from_static(name));
        match text("sec-fetch-site") {
            None | Some("same-origin" | "none") => true,
            Some(_) => text("sec-fetch-mode") == Some("navigate"),
        }
    }

    /// How the page that sent the request reached the service, if it is one of this origin.
    pub(crate) fn own_origin(&self) -> Option<Transport> {
        let origin = self.only(&header::ORIGIN)?;
        let (scheme, host) = origin.split_once("://")?;
        let is_public = self.public_url.and_then(origin_of) == Some(origin);
        let gateway = self.gateway.and_then(|name| name.0.as_deref());
        let is_gateway = gateway == Some(host) && scheme == "https";
        let is_called = self.called_as() == Some(host);
        match scheme {
            "https" if is_public || is_gateway => Some(Transport::Https),
            "https" if is_called && is_loopback(host) => Some(Transport::Https),
            "http" if is_loopback(host) => (is_public || is_called).then_some(Transport::Loopback),
            // The name may be one that was made to lead here.
            "http" if is_public || is_called => Some(Transport::Exposed),
            _ => None,
        }
    }

    /// The host and port of the request. A header, so anyone may choose it; behind a gateway it is not looked at.
    fn called_as(&self) -> Option<&'a str> {
        let is_behind = self.gateway.is_some_and(|name| name.0.is_some());
        (!is_behind).then(|| self.only(&header::HOST)).flatten()
    }

    fn is_called_by_loopback(&self) -> bool {
        self.called_as().is_some_and(is_loopback)
    }

    /// The value of a header that is sent once.
    fn only(&self, name: &HeaderName) -> Option<&'a str> {
        only_one(self.headers.get_all(name).iter())?.to_str().ok()
    }
}

fn only_one<T>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.next().is_none().then_some(first)
}

/// The origin of a URL, as browsers write it: without a path, and without the port that the scheme implies.
fn origin_of(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split('/').next()?;
    let implied = match scheme {
        "https" => ":443",
        _ => ":80",
    };
    let host = host.strip_suffix(implied).unwrap_or(host);
    url.get(..scheme.len() + "://".len() + host.len())
}

/// Whether a host, with or without a port, is this machine (RFC 6761, section 6.3, for the name).
fn is_loopback(authority: &str) -> bool {
    let host = match authority.strip_prefix('[') {
        Some(rest) => return rest.split(']').next() == Some("::1"),
        None => authority.split(':').next().unwrap_or_default(),
    };
    let is_address = host
        .parse::<std::net::Ipv4Addr>()
        .is_ok_and(|ip| ip.is_loopback());
    is_address || host == "localhost" || host.ends_with(".localhost")
}

/// The cookie that makes a browser hold a session for `seconds`, or drop it with 0.
pub(crate) fn cookie(transport: Transport, token: &str, seconds: i64) -> HeaderValue {
    let (name, secure) = match transport {
        Transport::Loopback => (LOOPBACK_COOKIE, ""),
        // No browser stores it that came by HTTP.
        Transport::Https | Transport::Exposed => (SECURE_COOKIE, "; Secure"),
    };
    let cookie =
        format!("{name}={token}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    // A token has letters and digits only.
    HeaderValue::from_str(&cookie).unwrap_or(HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(of: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in of {
            let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
            headers.append(HeaderName::from_static(name), value);
        }
        headers
    }

    #[test]
    fn a_session_is_the_one_cookie_of_its_name() {
        let check = |of: &[(&'static str, &str)], want: Option<&str>| {
            let headers = headers(of);
            let site = Site {
                headers: &headers,
                gateway: None,
                public_url: None,
            };
            assert_eq!(site.session_token(), want, "{of:?}");
        };
        let local = ("host", "127.0.0.1:3000");
        let abroad = ("host", "post.example");
        check(&[], None);
        check(&[abroad, ("cookie", "__Host-posthaste=a")], Some("a"));
        check(&[("cookie", "x=y; __Host-posthaste=a;z")], Some("a"));
        check(
            &[("cookie", "x=y"), ("cookie", "__Host-posthaste=a")],
            Some("a"),
        );
        check(&[local, ("cookie", "posthaste=a")], Some("a"));
        check(
            &[local, ("cookie", "posthaste=a; __Host-posthaste=b")],
            Some("b"),
        );
        // A name without the prefix may come from another host of the domain.
        check(&[abroad, ("cookie", "posthaste=a")], None);
        check(&[("cookie", "posthaste=a")], None);
        // One of two was planted.
        check(
            &[("cookie", "__Host-posthaste=a; __Host-posthaste=b")],
            None,
        );
        check(
            &[local, ("cookie", "posthaste=a"), ("cookie", "posthaste=b")],
            None,
        );
        check(&[local, local, ("cookie", "posthaste=a")], None);
        check(&[local, ("cookie", "__host-posthaste=a")], None);
        check(&[local, ("cookie", "posthaste=\u{e4}")], None);
    }

    #[test]
    fn what_changes_anything_comes_from_a_page_of_this_origin() {
        let header = ("x-posthaste-console", "1");
        let local = ("host", "127.0.0.1:3000");
        let own = ("origin", "http://127.0.0.1:3000");
        for (of, want) in [
            (&[header, local, own][..], true),
            (&[local, own], false),
            (&[header, local], false),
            (&[header, own], false),
            (&[header, local, own, own], false),
            (&[header, local, ("origin", "null")], false),
            (&[header, local, ("origin", "http://127.0.0.1:3001")], false),
            (&[header, local, ("origin", "http://127.0.0.1")], false),
            (&[header, local, ("origin", "http://localhost:3000")], false),
            (&[header, local, ("origin", "ftp://127.0.0.1:3000")], false),
            // A name that was made to lead to this machine is not it.
            (
                &[
                    header,
                    ("host", "evil.example"),
                    ("origin", "http://evil.example"),
                ],
                false,
            ),
            (
                &[
                    header,
                    ("host", "127.evil.example"),
                    ("origin", "http://127.evil.example"),
                ],
                false,
            ),
            (&[header, local, ("origin", "https://post.example")], true),
            (
                &[header, ("host", "x"), ("origin", "https://post.example")],
                true,
            ),
            (&[header, ("origin", "http://post.example")], false),
            (&[header, ("origin", "https://post.example:444")], false),
            (
                &[header, ("origin", "https://post.example.evil.example")],
                false,
            ),
            (&[header, ("origin", "https://a.post.example")], false),
        ] {
            let headers = headers(of);
            let site = Site {
                headers: &headers,
                gateway: None,
                public_url: Some("https://post.example/mail"),
            };
            assert_eq!(site.admits_session(&Method::POST), want, "{of:?}");
        }
    }

    #[test]
    fn a_page_of_another_origin_reads_nothing_with_a_session() {
        for (of, want) in [
            (&[][..], true),
            (&[("sec-fetch-site", "same-origin")], true),
            (&[("sec-fetch-site", "none")], true),
            (&[("sec-fetch-site", "cross-site")], false),
            (&[("sec-fetch-site", "same-site")], false),
            (
                &[
                    ("sec-fetch-site", "same-site"),
                    ("sec-fetch-mode", "no-cors"),
                ],
                false,
            ),
            (
                &[
                    ("sec-fetch-site", "same-site"),
                    ("sec-fetch-mode", "navigate"),
                ],
                true,
            ),
        ] {
            let headers = headers(of);
            let site = Site {
                headers: &headers,
                gateway: None,
                public_url: None,
            };
            assert_eq!(site.admits_session(&Method::GET), want, "{of:?}");
        }
    }

    #[test]
    fn behind_a_gateway_its_name_counts_and_no_header() {
        let gateway = GatewayName(Some("api.example".into()));
        for (host, origin, want) in [
            ("api.example", "https://api.example", Some(Transport::Https)),
            ("localhost", "https://api.example", Some(Transport::Https)),
            ("localhost", "http://localhost", None),
            ("evil.example", "https://evil.example", None),
            ("api.example", "http://api.example", None),
        ] {
            let headers = headers(&[
                ("host", host),
                ("origin", origin),
                ("cookie", "posthaste=a"),
            ]);
            let site = Site {
                headers: &headers,
                gateway: Some(&gateway),
                public_url: None,
            };
            assert_eq!(site.own_origin(), want, "{host} {origin}");
            assert_eq!(site.session_token(), None, "{host}");
        }
    }

    #[test]
    fn the_origin_of_an_address_has_no_path_and_no_implied_port() {
        for (url, want) in [
            ("https://post.example", "https://post.example"),
            ("https://post.example:443/mail", "https://post.example"),
            ("http://post.example:80", "http://post.example"),
            ("http://post.example:443", "http://post.example:443"),
            ("http://[::1]:3000/x", "http://[::1]:3000"),
        ] {
            assert_eq!(origin_of(url), Some(want));
        }
    }

    #[test]
    fn a_cookie_is_secure_or_of_this_machine() {
        let made = |transport| cookie(transport, "t", 60).to_str().unwrap().to_owned();
        let https = "__Host-posthaste=t; Path=/; Max-Age=60; HttpOnly; SameSite=Strict; Secure";
        assert_eq!(made(Transport::Https), https);
        let loopback = "posthaste=t; Path=/; Max-Age=60; HttpOnly; SameSite=Strict";
        assert_eq!(made(Transport::Loopback), loopback);
        for (host, want) in [
            ("localhost", true),
            ("localhost:3000", true),
            ("console.localhost", true),
            ("127.0.0.1:1", true),
            ("127.9.9.9", true),
            ("[::1]:3000", true),
            ("[::2]", false),
            ("notlocalhost", false),
            ("127.0.0.1.evil.example", false),
            ("localhost.evil.example", false),
            ("192.168.1.7", false),
            ("", false),
        ] {
            assert_eq!(is_loopback(host), want, "{host}");
        }
    }
}
