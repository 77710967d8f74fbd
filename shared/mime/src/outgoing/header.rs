//! The header of an outgoing mail.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use mail_builder::headers::Header;
use mail_builder::headers::address::{Address, EmailAddress};
use mail_builder::headers::raw::Raw;
use mail_builder::headers::text::Text;
use posthaste_model::{Mailbox, Timestamp};

use super::{BuildError, Outgoing, Stamp};

/// Longest run without a place to fold that is still written as it is. RFC 5322, section 2.1.1,
/// limits lines to 998 octets, and the name of the header precedes it.
const LONGEST_RUN: usize = 900;

/// What becomes of a header that a caller names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderRule {
    /// It is written as given.
    Written,
    /// If its value is valid it replaces the service's own; otherwise it is left out.
    Replaces,
    /// It is left out: it would break the mail, or only a transport may write it.
    LeftOut,
    /// The request is refused (SPEC, "Reserved headers").
    Refused,
}

/// Every name, in lower case, that has another rule than [`HeaderRule::Written`].
pub const HEADER_RULES: [(&str, HeaderRule); 27] = [
    ("x-sg-id", HeaderRule::Refused),
    ("x-sg-eid", HeaderRule::Refused),
    ("x-posthaste-id", HeaderRule::Refused),
    ("x-posthaste-eid", HeaderRule::Refused),
    ("received", HeaderRule::Refused),
    ("dkim-signature", HeaderRule::Refused),
    ("content-type", HeaderRule::Refused),
    ("content-transfer-encoding", HeaderRule::Refused),
    ("to", HeaderRule::Refused),
    ("from", HeaderRule::Refused),
    ("subject", HeaderRule::Refused),
    ("reply-to", HeaderRule::Refused),
    ("cc", HeaderRule::Refused),
    ("bcc", HeaderRule::Refused),
    ("date", HeaderRule::Replaces),
    ("message-id", HeaderRule::Replaces),
    // They describe the body, which is composed here.
    ("content-disposition", HeaderRule::LeftOut),
    ("content-id", HeaderRule::LeftOut),
    ("content-md5", HeaderRule::LeftOut),
    ("mime-version", HeaderRule::LeftOut),
    // Servers on the way write them: a receiver takes them for forged, or the mail for one in a loop.
    ("arc-authentication-results", HeaderRule::LeftOut),
    ("arc-message-signature", HeaderRule::LeftOut),
    ("arc-seal", HeaderRule::LeftOut),
    ("authentication-results", HeaderRule::LeftOut),
    ("delivered-to", HeaderRule::LeftOut),
    ("received-spf", HeaderRule::LeftOut),
    ("return-path", HeaderRule::LeftOut),
];

/// The rule for a caller's header of this name. Letter case does not count.
pub fn header_rule(name: &str) -> HeaderRule {
    let mut rules = HEADER_RULES.iter();
    let own = rules.find(|(known, _)| name.eq_ignore_ascii_case(known));
    own.map_or(HeaderRule::Written, |(_, rule)| *rule)
}

/// The id in the value of a caller's `Message-ID`, without its angle brackets, which may be missing.
///
/// An id is `left@right` of printable ASCII (RFC 5322, section 3.6.4), 3 to 250 characters; `None`
/// for anything else.
pub fn message_id(value: &str) -> Option<&str> {
    let value = value.trim();
    let bare = value.strip_prefix('<').and_then(|id| id.strip_suffix('>'));
    let id = bare.unwrap_or(value);
    let (left, right) = id.split_once('@')?;
    let graphic = |b: u8| b.is_ascii_graphic() && b != b'<' && b != b'>';
    let whole = !left.is_empty() && !right.is_empty();
    (whole && id.len() <= 250 && id.bytes().all(graphic)).then_some(id)
}

/// The value of the caller's `Date`, if it is one (RFC 5322, section 3.3).
fn own_date(headers: &BTreeMap<String, String>) -> Option<&str> {
    let mut headers = headers.iter();
    let (_, value) = headers.find(|(name, _)| name.eq_ignore_ascii_case("date"))?;
    Timestamp::from_rfc5322(value).map(|_| value.as_str())
}

/// The most letters of a header's name: one encoded word of its value must fit on its line, and RFC
/// 2047, section 2, limits such a line to 76 characters.
pub const LONGEST_HEADER_NAME: usize = 76;

/// RFC 5322 `field-name`, at most [`LONGEST_HEADER_NAME`] characters.
pub fn is_header_name(name: &str) -> bool {
    (1..=LONGEST_HEADER_NAME).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_graphic() && b != b':')
}

pub(super) fn write(
    mail: &Outgoing<'_>,
    stamp: &Stamp<'_>,
    out: &mut Vec<u8>,
) -> Result<(), BuildError> {
    addresses("From", std::slice::from_ref(mail.from), out);
    if mail.to.is_empty() {
        out.extend_from_slice(b"To: undisclosed-recipients:;\r\n");
    }
    addresses("To", mail.to, out);
    addresses("Cc", mail.cc, out);
    addresses("Reply-To", mail.reply_to, out);
    unstructured("Subject", mail.subject, out);
    match own_date(mail.headers) {
        Some(date) => unstructured("Date", date, out),
        None => unstructured("Date", &stamp.date.rfc5322(), out),
    }
    unstructured("Message-ID", &format!("<{}>", stamp.message_id), out);
    let ours = mail.extra.iter().map(|(name, _)| name.to_ascii_lowercase());
    let mut written: HashSet<String> = ours.collect();
    for (name, value) in mail.headers {
        if !is_header_name(name) {
            return Err(BuildError::HeaderName(name.clone()));
        }
        if header_rule(name) == HeaderRule::Written && written.insert(name.to_ascii_lowercase()) {
            unstructured(name, value, out);
        }
    }
    for (name, value) in mail.extra {
        if !is_header_name(name) {
            return Err(BuildError::HeaderName((*name).to_owned()));
        }
        unstructured(name, value, out);
    }
    out.extend_from_slice(b"MIME-Version: 1.0\r\n");
    Ok(())
}

/// Writes a list of mailboxes; nothing when it is empty. No address is longer than a line
/// (`posthaste_model::LONGEST_ON_THE_WIRE`).
pub(crate) fn addresses(name: &str, list: &[Mailbox], out: &mut Vec<u8>) {
    if list.is_empty() {
        return;
    }
    let mut items = Vec::with_capacity(list.len());
    for mailbox in list {
        let email = mailbox.email.wire();
        let name = mailbox.name.as_deref().map(one_line);
        items.push(Address::Address(EmailAddress {
            name: name.filter(|name| !name.is_empty()),
            email: email.into(),
        }));
    }
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    Address::new_list(items).write_header(out, name.len() + 2);
}

/// Writes a header of free text. ASCII is written unchanged, so that values the caller encoded,
/// URLs and lists of ids are preserved; anything else becomes encoded words (RFC 2047).
pub(crate) fn unstructured(name: &str, value: &str, out: &mut Vec<u8>) {
    let value = one_line(value);
    if value.is_empty() {
        return;
    }
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    if value.is_ascii() && longest_run(&value) <= LONGEST_RUN {
        Raw::new(value).write_header(out, name.len() + 2);
    } else {
        Text::new(value).write_header(out, name.len() + 2);
    }
}

/// The longest word together with the white space before it, in octets.
fn longest_run(value: &str) -> usize {
    let (mut longest, mut run, mut in_word) = (0, 0, false);
    for byte in value.bytes() {
        let white = byte == b' ' || byte == b'\t';
        if white && in_word {
            run = 0;
        }
        in_word = !white;
        run += 1;
        longest = longest.max(run);
    }
    longest
}

/// Whether a character ends a line for some reader: a control character, or Unicode's own LINE
/// SEPARATOR and PARAGRAPH SEPARATOR.
pub(crate) fn breaks_line(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// The text on one line: each run of control characters and line separators becomes one space, and
/// a folded line is unfolded. White space at the ends is removed.
pub(super) fn one_line(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if !text.contains(breaks_line) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len());
    let mut broken = false;
    for c in text.chars() {
        // A fold is a line end and the white space after it, which stays.
        let gap = broken && !breaks_line(c) && c != ' ';
        if gap {
            line.push(' ');
        }
        broken = breaks_line(c);
        if !broken {
            line.push(c);
        }
    }
    Cow::Owned(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_fits_on_one_line() {
        for (text, want) in [
            ("plain", "plain"),
            (" two  spaces ", "two  spaces"),
            ("a\r\nBcc: b@example.com", "a Bcc: b@example.com"),
            (
                "=?utf-8?Q?a?=\r\n =?utf-8?Q?b?=",
                "=?utf-8?Q?a?= =?utf-8?Q?b?=",
            ),
            ("a\n\n\nb", "a b"),
            ("tab\tstop", "tab stop"),
            ("nul\0byte\u{7f}\u{85}end", "nul byte end"),
            ("line\u{2028}paragraph\u{2029}end", "line paragraph end"),
            ("\r\n", ""),
        ] {
            assert_eq!(one_line(text), want, "{text:?}");
        }
    }

    #[test]
    fn a_name_that_holds_an_address_is_quoted_or_encoded() {
        for (name, want) in [
            ("Ann", "\"Ann\""),
            ("a@evil.example", "\"a@evil.example\""),
            ("x <a@evil.example>, y", "\"x <a@evil.example>, y\""),
            ("x\" <a@evil.example>", "\"x\\\" <a@evil.example>\""),
            ("x\r\n\0\u{2028}y", "\"x y\""),
            ("é a@evil.example", "=?utf-8?Q?=C3=A9_a=40evil=2Eexample?="),
        ] {
            let mailbox = Mailbox {
                email: posthaste_model::EmailAddress::parse("b@good.example").unwrap(),
                name: Some(name.to_owned()),
            };
            let mut out = Vec::new();
            addresses("From", &[mailbox], &mut out);
            let line = String::from_utf8(out).unwrap().replace("\r\n ", " ");
            assert_eq!(
                line,
                format!("From: {want} <b@good.example>\r\n"),
                "{name:?}"
            );
        }
    }

    #[test]
    fn runs_are_measured_with_the_white_space_before_them() {
        for (text, want) in [("", 0), ("abc", 3), ("a bcd", 4), ("ab   c", 4), ("a b", 2)] {
            assert_eq!(longest_run(text), want, "{text:?}");
        }
    }

    #[test]
    fn rules_have_lower_case_names_and_letter_case_does_not_count() {
        let mut names: Vec<_> = HEADER_RULES.iter().map(|(name, _)| *name).collect();
        assert!(names.iter().all(|name| *name == name.to_lowercase()));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), HEADER_RULES.len());
        assert_eq!(header_rule("SUBJECT"), HeaderRule::Refused);
        assert_eq!(header_rule("Return-Path"), HeaderRule::LeftOut);
        assert_eq!(header_rule("Message-Id"), HeaderRule::Replaces);
        for name in ["X-Subject", "Content-Language", "X-Original-To", "Sender"] {
            assert_eq!(header_rule(name), HeaderRule::Written, "{name}");
        }
    }

    #[test]
    fn a_message_id_has_two_sides_of_printable_ascii() {
        for (value, want) in [
            ("<a@b>", Some("a@b")),
            (" <a.1@mail.example> ", Some("a.1@mail.example")),
            ("a@b", Some("a@b")),
            ("", None),
            ("<>", None),
            ("<a>", None),
            ("<@b>", None),
            ("<a@>", None),
            ("<a@b", None),
            ("<a b@c>", None),
            ("<ä@b>", None),
            ("<a@b> <c@d>", None),
            ("<a@b>\r\nBcc: c@d", None),
        ] {
            assert_eq!(message_id(value), want, "{value:?}");
        }
        let longest = format!("{}@b", "a".repeat(248));
        assert_eq!(message_id(&longest), Some(longest.as_str()));
        assert_eq!(message_id(&format!("a{longest}")), None);
    }

    #[test]
    fn header_names_are_tokens() {
        for name in ["X-A", "List-Unsubscribe", "a!b", &"x".repeat(76)] {
            assert!(is_header_name(name), "{name:?}");
        }
        for name in ["", "a b", "a:", "a\r\n", "ä", "a\0", &"x".repeat(77)] {
            assert!(!is_header_name(name), "{name:?}");
        }
    }
}
