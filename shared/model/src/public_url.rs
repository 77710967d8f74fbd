//! The public URL of the service, for links and pixels.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use crate::Hostname;

/// The longest URL, in characters: a link adds a token of its own, and lines of mail are limited.
pub const LONGEST: usize = 255;

/// `http://` or `https://`, a host, optionally a port and a path, and nothing else; without a
/// trailing `/`, so that a path can be appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl(String);

/// Why a text is not a [`PublicUrl`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPublicUrl {
    #[error("a public URL begins with http:// or https://")]
    Scheme,
    #[error("a public URL has at most {LONGEST} characters")]
    TooLong,
    #[error("a public URL has no user and no password")]
    Login,
    #[error("the host of a public URL is a host name or an IP address: {0}")]
    Host(crate::InvalidHostname),
    #[error("the port of a public URL is a number from 1 to 65535")]
    Port,
    #[error(
        "behind its host a public URL has only a path of ASCII letters, digits and `-._~/`: no \
         query, no fragment"
    )]
    Path,
}

impl PublicUrl {
    /// The URL of a listener, for a service without a configured one.
    pub fn of_listener(is_https: bool, address: SocketAddr) -> Self {
        let scheme = if is_https { "https" } else { "http" };
        // Without the zone of a link-local address, which is valid on that machine only.
        let address = SocketAddr::new(address.ip(), address.port());
        Self(format!("{scheme}://{address}"))
    }

    /// Its host: a name in lower case, or an address (IPv6 in brackets).
    pub fn host(&self) -> &str {
        let (_, rest) = self.0.split_once("://").unwrap_or_default();
        let authority = rest.split('/').next().unwrap_or(rest);
        match authority.rsplit_once(':') {
            // Otherwise the colon is inside of an address.
            Some((host, port)) if !port.ends_with(']') => host,
            Some(_) | None => authority,
        }
    }

    /// The URL, without a trailing `/`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PublicUrl {
    type Err = InvalidPublicUrl;

    fn from_str(text: &str) -> Result<Self, InvalidPublicUrl> {
        let (scheme, rest) = text.split_once("://").ok_or(InvalidPublicUrl::Scheme)?;
        // In any case, as every URL (RFC 3986, section 3.1).
        let scheme = scheme.to_ascii_lowercase();
        if !["http", "https"].contains(&scheme.as_str()) {
            return Err(InvalidPublicUrl::Scheme);
        }
        if text.len() > LONGEST {
            return Err(InvalidPublicUrl::TooLong);
        }
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(end).unwrap_or_default();
        check_authority(authority)?;
        let path = path.strip_suffix('/').unwrap_or(path);
        let segment = |part: &str| {
            // Clients resolve dots.
            part.bytes().any(|b| b != b'.')
                && part
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"-._~".contains(&b))
        };
        match path.strip_prefix('/') {
            None if path.is_empty() => {}
            Some(path) if path.split('/').all(segment) => {}
            None | Some(_) => return Err(InvalidPublicUrl::Path),
        }
        let authority = authority.to_ascii_lowercase();
        Ok(Self(format!("{scheme}://{authority}{path}")))
    }
}

fn check_authority(authority: &str) -> Result<(), InvalidPublicUrl> {
    use InvalidPublicUrl::{Host, Login, Port};
    if authority.contains('@') {
        return Err(Login);
    }
    let is_port = |port: &str| {
        port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0)
    };
    if let Some(literal) = authority.strip_prefix('[') {
        let no_host = Host(crate::InvalidHostname::Label);
        let (ip, port) = literal.split_once(']').ok_or(no_host.clone())?;
        ip.parse::<Ipv6Addr>().map_err(|_| no_host)?;
        let port = port.strip_prefix(':').map_or(port.is_empty(), is_port);
        return if port { Ok(()) } else { Err(Port) };
    }
    let (host, port) = match authority.split_once(':') {
        None => (authority, None),
        Some((host, port)) => (host, Some(port)),
    };
    if host.parse::<Ipv4Addr>().is_err() {
        host.parse::<Hostname>().map_err(Host)?;
    }
    if port.is_none_or(is_port) {
        Ok(())
    } else {
        Err(Port)
    }
}

impl From<PublicUrl> for String {
    fn from(url: PublicUrl) -> Self {
        url.0
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_pass() {
        for (text, want) in [
            ("https://post.example", "https://post.example"),
            ("https://post.example/", "https://post.example"),
            ("http://Post.Example:8080", "http://post.example:8080"),
            ("HTTPS://post.example", "https://post.example"),
            ("http://127.0.0.1:3000", "http://127.0.0.1:3000"),
            ("http://[2001:db8::1]:3000/", "http://[2001:db8::1]:3000"),
            (
                "https://post.example/mail/v1/",
                "https://post.example/mail/v1",
            ),
        ] {
            assert_eq!(text.parse::<PublicUrl>().unwrap().as_str(), want);
        }
    }

    #[test]
    fn the_host_of_an_address_has_no_port() {
        for (text, want) in [
            ("https://post.example", "post.example"),
            ("http://Post.Example:8080/mail/v1", "post.example"),
            ("http://127.0.0.1:3000", "127.0.0.1"),
            ("http://[2001:db8::1]:3000/", "[2001:db8::1]"),
            ("http://[2001:db8::1]", "[2001:db8::1]"),
        ] {
            assert_eq!(text.parse::<PublicUrl>().unwrap().host(), want);
        }
    }

    #[test]
    fn a_listener_has_one() {
        for (https, address, want) in [
            (false, "127.0.0.1:3000", "http://127.0.0.1:3000"),
            (true, "[::1]:1", "https://[::1]:1"),
            (true, "[fe80::1%2]:443", "https://[fe80::1]:443"),
        ] {
            let url = PublicUrl::of_listener(https, address.parse().unwrap());
            assert_eq!((url.as_str(), want.parse()), (want, Ok(url.clone())));
        }
    }

    #[test]
    fn addresses_that_do_not() {
        use crate::InvalidHostname::{Empty, Label, LastLabel, Unicode};
        use InvalidPublicUrl::{Host, Login, Path, Port, Scheme, TooLong};
        let long = format!("https://post.example/{}", "a".repeat(LONGEST));
        for (text, why) in [
            ("", Scheme),
            ("post.example", Scheme),
            ("ftp://post.example", Scheme),
            ("//post.example", Scheme),
            (&long, TooLong),
            ("https://", Host(Empty)),
            ("https:///path", Host(Empty)),
            (
                "https://mäil.example",
                Host(Unicode("xn--mil-qla.example".into())),
            ),
            ("https://a b", Host(Label)),
            ("https://user:secret@post.example", Login),
            ("https://user@post.example", Login),
            ("https://1.2.3", Host(LastLabel)),
            ("https://[::1", Host(Label)),
            ("https://[post]", Host(Label)),
            ("https://[::1]x", Port),
            ("https://post.example:", Port),
            ("https://post.example:0", Port),
            ("https://post.example:+1", Port),
            ("https://post.example:65536", Port),
            ("https://post.example?a=b", Path),
            ("https://post.example/#a", Path),
            ("https://post.example//", Path),
            ("https://post.example/a//b", Path),
            ("https://post.example/a/../b", Path),
            ("https://post.example/ä", Path),
            ("https://post.example/a b", Path),
            ("https://post.example/\r\nX: y", Path),
        ] {
            assert_eq!(text.parse::<PublicUrl>(), Err(why), "{text:?}");
        }
    }
}
