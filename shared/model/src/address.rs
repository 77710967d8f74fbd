//! Email addresses by RFC 5321 section 4.1.2, with the letters of RFC 6531.
//!
//! Accepted: dot-atoms and quoted strings before the `@`; host names and internationalised names
//! after it. Refused: address literals (`a@[10.0.0.1]`), comments, white space outside quotes,
//! control characters anywhere. The domain is stored as the caller wrote it and as A-labels.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Local part plus `@` plus domain, in characters (API facts 2.5).
pub const LONGEST: usize = 320;

/// Octets of an address on the wire. RFC 5322, section 2.1.1, ends a line of a header after 998
/// octets, and an address cannot be folded; what precedes it on its line takes the rest.
pub const LONGEST_ON_THE_WIRE: usize = 900;

/// Octets before the `@` (RFC 5321, section 4.5.3.1.1).
pub const LONGEST_LOCAL: usize = 64;

/// A syntactically valid address.
///
/// An address that was stored by a release without the limit of [`LONGEST_LOCAL`] is still read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EmailAddress {
    text: String,
    at: usize,
}

/// Why a text is not an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAddress {
    /// More than [`LONGEST`] characters, or than [`LONGEST_ON_THE_WIRE`] octets.
    #[error("the address exceeds {LONGEST} characters or {LONGEST_ON_THE_WIRE} octets")]
    TooLong,
    #[error("the address has no @")]
    NoAt,
    /// Its form, or more than [`LONGEST_LOCAL`] octets.
    #[error("the part before the @ is not valid")]
    Local,
    #[error("the domain is not valid")]
    Domain,
}

impl EmailAddress {
    /// Reads an address; surrounding white space is not part of it.
    pub fn parse(text: &str) -> Result<Self, InvalidAddress> {
        let read = Self::parse_stored(text)?;
        match read.local().len() {
            0..=LONGEST_LOCAL => Ok(read),
            _ => Err(InvalidAddress::Local),
        }
    }

    /// Reads an address that was accepted before, of a row, a job or a link: its local part may be
    /// longer than [`LONGEST_LOCAL`], which earlier releases did not limit.
    pub fn parse_stored(text: &str) -> Result<Self, InvalidAddress> {
        let text = text.trim();
        if text.chars().count() > LONGEST {
            return Err(InvalidAddress::TooLong);
        }
        let at = text.rfind('@').ok_or(InvalidAddress::NoAt)?;
        let (local, domain) = (text.get(..at), text.get(at + 1..));
        if !local.is_some_and(valid_local) {
            return Err(InvalidAddress::Local);
        }
        let Some(host) = domain.and_then(ascii_domain) else {
            return Err(InvalidAddress::Domain);
        };
        if at + "@".len() + host.len() > LONGEST_ON_THE_WIRE {
            return Err(InvalidAddress::TooLong);
        }
        Ok(Self {
            text: text.to_owned(),
            at,
        })
    }

    /// The address as the caller wrote it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The part before the `@`.
    pub fn local(&self) -> &str {
        self.text.get(..self.at).unwrap_or_default()
    }

    /// The part after the `@`, as the caller wrote it.
    pub fn domain(&self) -> &str {
        self.text.get(self.at + 1..).unwrap_or_default()
    }

    /// The domain as lower-case A-labels (RFC 5890), the only form that goes on the wire.
    pub fn ascii_domain(&self) -> String {
        ascii_domain(self.domain()).unwrap_or_default()
    }

    /// The address with its domain as A-labels: what SMTP and the headers carry.
    pub fn wire(&self) -> String {
        format!("{}@{}", self.local(), self.ascii_domain())
    }

    /// The canonical form of a mailbox: lower case, A-labels. The key of every suppression list and
    /// of the duplicate check.
    pub fn folded(&self) -> String {
        format!("{}@{}", self.local().to_lowercase(), self.ascii_domain())
    }

    /// Whether the relay must support SMTPUTF8 to accept this address (RFC 6531).
    pub fn needs_smtputf8(&self) -> bool {
        !self.local().is_ascii()
    }
}

impl TryFrom<String> for EmailAddress {
    type Error = InvalidAddress;
    fn try_from(text: String) -> Result<Self, InvalidAddress> {
        Self::parse_stored(&text)
    }
}

impl From<EmailAddress> for String {
    fn from(address: EmailAddress) -> Self {
        address.text
    }
}

impl fmt::Display for EmailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// An address with the name shown beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mailbox {
    pub email: EmailAddress,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// RFC 5321 `Local-part`: a dot-string or a quoted string; non-ASCII letters by RFC 6531.
fn valid_local(local: &str) -> bool {
    if let Some(quoted) = local.strip_prefix('"').and_then(|l| l.strip_suffix('"')) {
        return local.len() >= 2 && valid_quoted(quoted);
    }
    !local.is_empty()
        && local
            .split('.')
            .all(|atom| !atom.is_empty() && atom.chars().all(atext))
}

fn atext(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || "!#$%&'*+-/=?^_`{|}~".contains(c)
        || (!c.is_ascii() && !c.is_control() && !c.is_whitespace() && !invisible(c))
}

/// Marks that change how the text around them is shown: they make one address look like another.
fn invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{ffff}')
}

fn valid_quoted(inner: &str) -> bool {
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(' '..='~') => {}
                Some(_) | None => return false,
            },
            '"' => return false,
            c if c.is_control() || invisible(c) => return false,
            _ => {}
        }
    }
    true
}

/// A host name as lower-case A-labels, or `None` when it is invalid (RFC 1035 lengths, RFC 5891).
fn ascii_domain(domain: &str) -> Option<String> {
    let ascii = if domain.is_ascii() {
        domain.to_ascii_lowercase()
    } else {
        idna::domain_to_ascii_strict(domain).ok()?
    };
    let label = |l: &str| {
        (1..=63).contains(&l.len())
            && l.bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
            && !l.starts_with('-')
            && !l.ends_with('-')
    };
    let legal = ascii.len() <= 253 && ascii.split('.').all(label);
    // An all-numeric last label is an IP address or a typing error, never a top-level domain.
    let numeric = ascii
        .rsplit('.')
        .next()
        .is_some_and(|l| l.bytes().all(|b| b.is_ascii_digit()));
    (legal && !numeric).then_some(ascii)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(address: &str, want: Result<(&str, &str), InvalidAddress>) {
        let got = EmailAddress::parse(address);
        let got = got
            .as_ref()
            .map(|a| (a.local(), a.domain()))
            .map_err(|e| *e);
        assert_eq!(got, want, "address: {address:?}");
    }

    #[test]
    fn addresses_that_pass() {
        check("ann@example.com", Ok(("ann", "example.com")));
        check(" ann@example.com\n", Ok(("ann", "example.com")));
        check(
            "a.b+c@sub.example.co.uk",
            Ok(("a.b+c", "sub.example.co.uk")),
        );
        check("o'brien@example.com", Ok(("o'brien", "example.com")));
        check("ann@localhost", Ok(("ann", "localhost")));
        check("\"a@b\"@example.com", Ok(("\"a@b\"", "example.com")));
        check(
            "\"a b\\\"c\"@example.com",
            Ok(("\"a b\\\"c\"", "example.com")),
        );
        check("pepé@example.com", Ok(("pepé", "example.com")));
        check("伊@例え.jp", Ok(("伊", "例え.jp")));
        check("ann@müller.de", Ok(("ann", "müller.de")));
        check(
            "ann@my_host.example.com",
            Ok(("ann", "my_host.example.com")),
        );
    }

    #[test]
    fn addresses_that_do_not() {
        use InvalidAddress::{Domain, Local, NoAt};
        for (address, why) in [
            ("", NoAt),
            ("example.com", NoAt),
            ("@example.com", Local),
            ("ann@", Domain),
            ("ann@@example.com", Local),
            ("a b@example.com", Local),
            (".ann@example.com", Local),
            ("ann.@example.com", Local),
            ("a..b@example.com", Local),
            ("ann\r\n@example.com", Local),
            ("ann@example.com\r\nBcc: x@y.z", Local),
            ("ann@exa mple.com", Domain),
            ("ann@-example.com", Domain),
            ("ann@example..com", Domain),
            ("ann@[127.0.0.1]", Domain),
            ("ann@127.0.0.1", Domain),
            ("\"\"\"@example.com", Local),
            ("\"ann@example.com", Local),
            ("ann<b>@example.com", Local),
            ("ann\u{202e}@example.com", Local),
            ("a,b@example.com", Local),
        ] {
            check(address, Err(why));
        }
    }

    #[test]
    fn a_local_part_has_at_most_64_octets_but_an_older_one_is_read() {
        for (letter, most) in [("a", 64), ("é", 32)] {
            let longest = format!("{}@example.com", letter.repeat(most));
            assert!(EmailAddress::parse(&longest).is_ok());
            let longer = format!("{letter}{longest}");
            check(&longer, Err(InvalidAddress::Local));
            let stored: EmailAddress = serde_json::from_value(longer.clone().into()).unwrap();
            assert_eq!(stored.as_str(), longer);
        }
        let quoted = |letters: usize| format!("\"{}\"@example.com", "a".repeat(letters));
        assert!(EmailAddress::parse(&quoted(62)).is_ok());
        check(&quoted(63), Err(InvalidAddress::Local));
        let domain = "example.com";
        let longest = format!("{}@{domain}", "a".repeat(LONGEST - domain.len() - 1));
        check(&longest, Err(InvalidAddress::Local));
        check(&format!("a{longest}"), Err(InvalidAddress::TooLong));
    }

    #[test]
    fn a_domain_travels_as_a_labels() {
        let address = EmailAddress::parse("Ann@MÜLLER.de").unwrap();
        assert_eq!(address.wire(), "Ann@xn--mller-kva.de");
        assert_eq!(address.folded(), "ann@xn--mller-kva.de");
        assert!(!address.needs_smtputf8());
        assert!(
            EmailAddress::parse("pepé@example.com")
                .unwrap()
                .needs_smtputf8()
        );
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic_or_lets_a_line_end_through(text in "\\PC*|[\\x00-\\x7f]*") {
            if let Ok(address) = EmailAddress::parse(&text) {
                prop_assert!(!address.wire().contains(['\r', '\n', '\0']));
                prop_assert_eq!(EmailAddress::parse(address.as_str()), Ok(address));
            }
        }
    }
}
