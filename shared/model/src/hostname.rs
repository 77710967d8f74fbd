//! Host names that the operator configures: how the service identifies itself.

use std::fmt;
use std::str::FromStr;

/// The longest name, in characters.
///
/// The address of a bounce has up to 64 before its `@`, and 254 in total (RFC 5321, section
/// 4.5.3.1), also at [`Hostname::bounce_domain`]; a Message-ID has less.
pub const LONGEST: usize = 180;

/// A lower-case name that is valid in a Message-ID, a greeting and an address.
///
/// Labels of 1 to 63 ASCII letters, digits and inner hyphens (RFC 1123, section 2.1). The last one
/// begins with a letter, as every top-level domain does (RFC 3696, section 2): `1.2.3.4` is no name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hostname(String);

/// Why a text is not a [`Hostname`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidHostname {
    #[error("a host name cannot be empty")]
    Empty,
    #[error("a host name has at most {LONGEST} characters here")]
    TooLong,
    /// With the name as A-labels (RFC 5890), which is the same domain.
    #[error("a host name is ASCII; write {0} instead")]
    Unicode(String),
    #[error("a host name does not end with a dot")]
    TrailingDot,
    #[error(
        "a host name is labels of 1 to 63 ASCII letters, digits and inner hyphens, joined by dots"
    )]
    Label,
    #[error("the last label of a host name begins with a letter")]
    LastLabel,
}

impl Hostname {
    /// The name of a service on one machine: it is in no DNS (RFC 6761, section 6.3).
    pub fn posthaste_localhost() -> Self {
        Self("posthaste.localhost".to_owned())
    }

    /// The name in lower case.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name `bounce` below this one.
    #[must_use]
    pub fn bounce_domain(&self) -> Self {
        Self(format!("bounce.{}", self.0))
    }
}

impl FromStr for Hostname {
    type Err = InvalidHostname;

    fn from_str(text: &str) -> Result<Self, InvalidHostname> {
        use InvalidHostname::{Empty, Label, LastLabel, TooLong, TrailingDot, Unicode};
        if text.is_empty() {
            return Err(Empty);
        }
        if !text.is_ascii() {
            let ascii = idna::domain_to_ascii_strict(text).map_err(|_| Label)?;
            // A hint that would itself be refused is left out.
            return Err(ascii.parse::<Self>().map_or(Label, |name| Unicode(name.0)));
        }
        if text.len() > LONGEST {
            return Err(TooLong);
        }
        if text.len() > 1 && text.ends_with('.') {
            return Err(TrailingDot);
        }
        if !text.split('.').all(is_label) {
            return Err(Label);
        }
        let last = text.rsplit('.').next().unwrap_or_default();
        if !last.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Err(LastLabel);
        }
        Ok(Self(text.to_ascii_lowercase()))
    }
}

fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

impl AsRef<str> for Hostname {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<Hostname> for String {
    fn from(name: Hostname) -> Self {
        name.0
    }
}

impl fmt::Display for Hostname {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_that_pass() {
        let label = "a".repeat(63);
        let longest = format!("{label}.{label}.{}", "b".repeat(LONGEST - 128));
        for name in [
            "localhost",
            "mail.example.com",
            "posthaste.localhost",
            "1.2.3.x4",
            "a-b.c--d.example",
            "xn--mil-qla.example",
            &longest,
        ] {
            assert_eq!(name.parse::<Hostname>().unwrap().as_str(), name);
        }
        let own = Hostname::posthaste_localhost();
        assert_eq!(own.as_str().parse(), Ok(own.clone()));
        assert_eq!(
            "MAIL.Example".parse::<Hostname>().unwrap().as_str(),
            "mail.example"
        );
    }

    #[test]
    fn names_that_do_not() {
        use InvalidHostname::{Empty, Label, LastLabel, TooLong, TrailingDot, Unicode};
        let too_long = format!("{}example", "a.".repeat(LONGEST / 2));
        let label = format!("{}.example", "a".repeat(64));
        for (name, why) in [
            ("", Empty),
            (&too_long, TooLong),
            ("mäil.example", Unicode("xn--mil-qla.example".into())),
            ("MÄIL.example", Unicode("xn--mil-qla.example".into())),
            ("mä il.example", Label),
            ("ä.1", Label),
            ("a b", Label),
            ("x..y", Label),
            (".x", Label),
            (".", Label),
            ("-", Label),
            ("-a.example", Label),
            ("a-.example", Label),
            ("my_host", Label),
            ("a@b", Label),
            ("a.example\r\nX: y", Label),
            ("example.com:25", Label),
            ("[::1]", Label),
            (&label, Label),
            ("mail.example.", TrailingDot),
            ("127.0.0.1", LastLabel),
            ("mail.1x", LastLabel),
        ] {
            assert_eq!(name.parse::<Hostname>(), Err(why), "{name:?}");
        }
    }

    proptest! {
        #[test]
        fn a_name_is_a_domain_of_an_address_and_reads_as_itself(text in "\\PC*|[a-z.0-9-]{1,40}") {
            if let Ok(name) = text.parse::<Hostname>() {
                let address = format!("a@{}", name.bounce_domain());
                prop_assert!(crate::EmailAddress::parse(&address).is_ok());
                prop_assert_eq!(name.as_str().parse(), Ok(name.clone()));
            }
        }
    }
}
