//! Where the relay is and how to talk to it: `smtp[s]://user:password@host:port?tls=…`.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use percent_encoding::percent_decode_str;
use posthaste_model::is_server_name;
use url::{Host, Url};

/// A relay as the operator configures it. Its `Debug` and `Display` never show the password.
///
/// * `smtps://` is TLS from the first byte; the port is 465 unless given.
/// * `smtp://` starts in the clear. The port is 587 with a user, else 25. `tls=required` wants
///   STARTTLS and a certificate for the host from a known authority; `tls=opportunistic` takes
///   STARTTLS when offered, without checking the certificate; `tls=none` never asks. The default
///   is `required` with a user, so that a password does not travel in the clear unless asked for,
///   and `opportunistic` without. On a loopback address the default is always `opportunistic`.
/// * User and password are percent-encoded.
#[derive(Clone, PartialEq, Eq)]
pub struct RelayUrl {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) tls: Tls,
    pub(crate) login: Option<Login>,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Login {
    pub(crate) user: String,
    pub(crate) password: String,
}

/// When the connection is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tls {
    /// From the first byte (RFC 8314).
    Wrapped,
    /// By STARTTLS or not at all, with the certificate checked (RFC 3207).
    Required,
    /// By STARTTLS when offered, the certificate unchecked (RFC 7435).
    Opportunistic,
    /// Never.
    None,
}

/// The text is not the URL of a relay. Never shows the text: it may hold a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRelayUrl {
    #[error("the relay is not a URL of the form smtp[s]://user:password@host:port")]
    NotAUrl,
    #[error("the relay's URL must begin with smtp:// or smtps://")]
    Scheme,
    #[error("the relay's URL names no host")]
    NoHost,
    #[error("the relay's URL has an invalid host")]
    Host,
    #[error("the relay's URL has port 0")]
    Port,
    #[error("the relay's URL must end after the port, except for ?tls=")]
    Trailing,
    #[error("the relay's tls must be required, opportunistic or none")]
    Tls,
    #[error("the relay's URL has tls= more than once")]
    Twice,
    #[error("tls= does not go with smtps://, which is always encrypted")]
    Wrapped,
    #[error("the relay's URL needs both a user and a password, or neither")]
    Login,
    #[error(
        "the relay's user and password must be percent-encoded UTF-8 without a NUL: / as %2F, ? as %3F, # as %23, % as %25"
    )]
    Encoding,
}

impl FromStr for RelayUrl {
    type Err = InvalidRelayUrl;

    fn from_str(text: &str) -> Result<Self, InvalidRelayUrl> {
        let text = text.trim();
        // The parser drops tabs and line ends within a URL.
        if text.contains(char::is_control) {
            return Err(InvalidRelayUrl::NotAUrl);
        }
        // In a password these end the part of the URL that it belongs to.
        if let Some((_, rest)) = text.split_once("://")
            && let Some(end) = rest.find(['/', '?', '#'])
            && rest.split_at(end).1.contains('@')
        {
            return Err(InvalidRelayUrl::Encoding);
        }
        let url = Url::parse(text).map_err(|e| match e {
            url::ParseError::EmptyHost => InvalidRelayUrl::NoHost,
            _ => InvalidRelayUrl::NotAUrl,
        })?;
        let wrapped = match url.scheme() {
            "smtp" => false,
            "smtps" => true,
            _ => return Err(InvalidRelayUrl::Scheme),
        };
        let host = host_of(&url)?;
        if !matches!(url.path(), "" | "/") || url.fragment().is_some() {
            return Err(InvalidRelayUrl::Trailing);
        }
        let login = login_of(&url)?;
        let tls = match (wrapped, tls_of(&url)?) {
            (true, None) => Tls::Wrapped,
            (true, Some(_)) => return Err(InvalidRelayUrl::Wrapped),
            (false, Some(tls)) => tls,
            (false, None) if login.is_some() && !is_loopback(&host) => Tls::Required,
            (false, None) => Tls::Opportunistic,
        };
        let port = match (url.port(), wrapped, &login) {
            (Some(0), _, _) => return Err(InvalidRelayUrl::Port),
            (Some(port), _, _) => port,
            (None, true, _) => 465,
            (None, false, Some(_)) => 587,
            (None, false, None) => 25,
        };
        Ok(Self {
            host,
            port,
            tls,
            login,
        })
    }
}

impl RelayUrl {
    /// Host and port, for log lines.
    pub fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// When connections are encrypted.
    pub fn tls(&self) -> Tls {
        self.tls
    }

    /// Whether the relay is on this machine.
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.host)
    }
}

/// Whether a host without brackets is this machine.
fn is_loopback(host: &str) -> bool {
    let ip = host.parse::<IpAddr>();
    host == "localhost" || ip.is_ok_and(|ip| ip.to_canonical().is_loopback())
}

/// The host without brackets.
fn host_of(url: &Url) -> Result<String, InvalidRelayUrl> {
    match url.host().ok_or(InvalidRelayUrl::NoHost)? {
        Host::Ipv4(ip) => Ok(ip.to_string()),
        Host::Ipv6(ip) => Ok(ip.to_string()),
        // `url` reads an IPv4 address as a name in unknown schemes.
        Host::Domain(name) => {
            if name.is_empty() {
                return Err(InvalidRelayUrl::NoHost);
            }
            // A dot at the end names the same host.
            if !is_server_name(name.strip_suffix('.').unwrap_or(name)) {
                return Err(InvalidRelayUrl::Host);
            }
            Ok(name.to_ascii_lowercase())
        }
    }
}

fn tls_of(url: &Url) -> Result<Option<Tls>, InvalidRelayUrl> {
    let Some(query) = url.query() else {
        return Ok(None);
    };
    let mut tls = None;
    // As written: no word that is expected here needs an encoding.
    for pair in query.split('&') {
        let Some(("tls", value)) = pair.split_once('=') else {
            return Err(InvalidRelayUrl::Trailing);
        };
        let one = match value {
            "required" => Tls::Required,
            "opportunistic" => Tls::Opportunistic,
            "none" => Tls::None,
            _ => return Err(InvalidRelayUrl::Tls),
        };
        if tls.replace(one).is_some() {
            return Err(InvalidRelayUrl::Twice);
        }
    }
    Ok(tls)
}

fn login_of(url: &Url) -> Result<Option<Login>, InvalidRelayUrl> {
    let plain = |encoded: &str| {
        if !is_encoded(encoded) {
            return Err(InvalidRelayUrl::Encoding);
        }
        let text = percent_decode_str(encoded).decode_utf8();
        match text {
            // NUL separates the fields of AUTH PLAIN (RFC 4616 section 2).
            Ok(text) if !text.contains('\0') => Ok(text.into_owned()),
            _ => Err(InvalidRelayUrl::Encoding),
        }
    };
    match (url.username(), url.password()) {
        ("", None) => Ok(None),
        ("", Some(_)) | (_, None | Some("")) => Err(InvalidRelayUrl::Login),
        (user, Some(password)) => Ok(Some(Login {
            user: plain(user)?,
            password: plain(password)?,
        })),
    }
}

/// Whether two hexadecimal digits follow each `%`: a literal `%` is written `%25`.
fn is_encoded(text: &str) -> bool {
    text.split('%').skip(1).all(|rest| {
        let digits = rest.as_bytes().first_chunk::<2>();
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}

impl fmt::Display for RelayUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, tls) = match self.tls {
            Tls::Wrapped => ("smtps", ""),
            Tls::Required => ("smtp", "?tls=required"),
            Tls::Opportunistic => ("smtp", "?tls=opportunistic"),
            Tls::None => ("smtp", "?tls=none"),
        };
        let login = self.login.as_ref().map_or("", |_| "***@");
        write!(f, "{scheme}://{login}{}{tls}", self.authority())
    }
}

impl fmt::Debug for RelayUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn shown(url: &str) -> String {
        url.parse::<RelayUrl>().unwrap().to_string()
    }

    #[test]
    fn defaults_protect_a_password() {
        for (url, want) in [
            (
                "smtp://mail.example.com",
                "smtp://mail.example.com:25?tls=opportunistic",
            ),
            (
                "smtp://u:p@mail.example.com",
                "smtp://***@mail.example.com:587?tls=required",
            ),
            (
                "smtps://u:p@mail.example.com",
                "smtps://***@mail.example.com:465",
            ),
            (
                "smtp://u:p@mail.example.com:2525?tls=none",
                "smtp://***@mail.example.com:2525?tls=none",
            ),
            (
                "smtp://u:p@127.0.0.1:1025",
                "smtp://***@127.0.0.1:1025?tls=opportunistic",
            ),
            (
                "smtp://u:p@localhost:1025",
                "smtp://***@localhost:1025?tls=opportunistic",
            ),
            ("smtp://[::1]:1025/", "smtp://[::1]:1025?tls=opportunistic"),
            (
                "smtp://MAIL.Example.com?tls=required",
                "smtp://mail.example.com:25?tls=required",
            ),
            ("SMTPS://mail.example.com", "smtps://mail.example.com:465"),
        ] {
            assert_eq!(shown(url), want, "{url}");
        }
    }

    #[test]
    fn a_relay_on_this_machine_is_recognized() {
        for (url, want) in [
            ("smtp://localhost:1025", true),
            ("smtp://LOCALHOST", true),
            ("smtp://127.0.0.1:1025", true),
            ("smtp://127.1.2.3", true),
            ("smtp://[::1]:1025", true),
            ("smtp://[::ffff:127.0.0.1]", true),
            ("smtp://mail.example.com", false),
            ("smtp://localhost.example.com", false),
            ("smtp://192.168.1.7", false),
            ("smtp://[2001:db8::1]", false),
            ("smtps://u:p@mail.example.com", false),
        ] {
            let relay: RelayUrl = url.parse().unwrap();
            assert_eq!(relay.is_loopback(), want, "{url}");
        }
    }

    #[test]
    fn a_login_is_decoded_and_never_shown() {
        let url: RelayUrl = "smtp://an%40n:p%3Aa%20ss@mail.example.com".parse().unwrap();
        let login = url.login.as_ref().unwrap();
        assert_eq!(
            (login.user.as_str(), login.password.as_str()),
            ("an@n", "p:a ss")
        );
        assert!(!format!("{url} {url:?}").contains("ss@"));
        assert!(!format!("{url} {url:?}").contains("an"), "{url}");
    }

    #[test]
    fn what_is_wrong_is_said_in_one_line_without_the_password() {
        use InvalidRelayUrl::{
            Encoding, Host, Login, NoHost, NotAUrl, Port, Scheme, Tls, Trailing, Twice, Wrapped,
        };
        for (url, want) in [
            ("", NotAUrl),
            ("mail.example.com", NotAUrl),
            ("mail.example.com:25", Scheme),
            ("http://mail.example.com", Scheme),
            ("smtp:mail.example.com", NoHost),
            ("smtp://", NoHost),
            ("smtp://:25", NoHost),
            ("smtp://u:secret@:25", NoHost),
            ("smtp://mail example.com", NotAUrl),
            ("smtp://ma%20il.example.com", Host),
            ("smtp://mail..example.com", Host),
            ("smtp://mail.example.com:0", Port),
            ("smtp://mail.example.com:99999", NotAUrl),
            ("smtp://mail.example.com/path", Trailing),
            ("smtp://mail.example.com#part", Trailing),
            ("smtp://mail.example.com?ssl=true", Trailing),
            ("smtp://mail.example.com?tls=yes", Tls),
            ("smtp://mail.example.com?tls=req%75ired", Tls),
            ("smtp://mail.example.com?tls=required&tls=none", Twice),
            ("smtp://mail.example.com?tls=none&tls=none", Twice),
            ("smtp://mail.example.com?tls=none&x=1", Trailing),
            ("smtp://mail.example.com?TLS=none", Trailing),
            ("smtp://mail.example.com?", Trailing),
            ("smtp://-", Host),
            ("smtp://mail.-example.com", Host),
            ("smtp://1.2.3.999", Host),
            ("smtp://m\u{e4}il.example.com", Host),
            ("smtp://mail\n.example.com", NotAUrl),
            ("smtps://mail.example.com?tls=none", Wrapped),
            ("smtp://user@mail.example.com", Login),
            ("smtp://:secret@mail.example.com", Login),
            ("smtp://u:%ff@mail.example.com", Encoding),
            ("smtp://u:secret%zz@mail.example.com", Encoding),
            ("smtp://u:se/cret@mail.example.com", Encoding),
            ("smtp://u:se?cret@mail.example.com:25", Encoding),
            ("smtp://u#:secret@mail.example.com", Encoding),
            ("smtp://u:secret%@mail.example.com", Encoding),
            ("smtp://u%2:secret@mail.example.com", Encoding),
            ("smtp://u:se%00cret@mail.example.com", Encoding),
        ] {
            let got = url.parse::<RelayUrl>().unwrap_err();
            assert_eq!(got, want, "{url}");
            let line = got.to_string();
            assert!(!line.contains('\n') && !line.contains("secret"), "{line}");
        }
    }
}
