//! Detects headers that different readers interpret differently.

use super::mailboxes::{Unreadable, breaks, mailboxes};
use crate::parse::Entity;

/// Fields of authors and reply addresses.
const AUTHORS: [&str; 6] = [
    "from",
    "sender",
    "reply-to",
    "resent-from",
    "resent-sender",
    "resent-reply-to",
];

/// Of those, the ones that a mail has at most once (RFC 5322, section 3.6).
const SINGLE: [&str; 3] = ["from", "sender", "reply-to"];

/// Further fields of addresses.
const RECIPIENTS: [&str; 6] = ["to", "cc", "bcc", "resent-to", "resent-cc", "resent-bcc"];

/// Why a mail is not passed on under an account's name: a receiver may show another author, or
/// other fields, than the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    #[error("a line of the header is no field: a name is printable ASCII, followed by a colon")]
    FieldName,
    #[error("the header holds a NUL or a carriage return that ends no line")]
    Control,
    #[error("an address field holds a control character or a line separator")]
    AddressControl,
    #[error("an address in front of the one in angle brackets belongs in quotes")]
    TwoAddresses,
    #[error("the mail has more than one From, Sender or Reply-To header")]
    Repeated,
}

impl Flaw {
    /// The first flaw of a mail's header.
    pub(super) fn find(raw: &[u8]) -> Option<Self> {
        let entity = Entity::read(raw);
        if !are_fields(entity.header) || !ends(raw, entity.header) {
            return Some(Self::FieldName);
        }
        if has_control(entity.header) {
            return Some(Self::Control);
        }
        let mut seen = [false; SINGLE.len()];
        for (name, value) in entity.fields().iter() {
            let is = |wanted: &&str| name.eq_ignore_ascii_case(wanted.as_bytes());
            if let Some(at) = SINGLE.iter().position(is) {
                let again = seen
                    .get_mut(at)
                    .is_some_and(|seen| std::mem::replace(seen, true));
                if again {
                    return Some(Self::Repeated);
                }
            }
            if AUTHORS.iter().any(is) {
                match mailboxes(value) {
                    Err(Unreadable::Control) => return Some(Self::AddressControl),
                    Err(Unreadable::TwoAddresses) => return Some(Self::TwoAddresses),
                    Err(Unreadable::Syntax) | Ok(_) => {}
                }
            } else if RECIPIENTS.iter().any(is) && breaks(value) {
                return Some(Self::AddressControl);
            }
        }
        None
    }
}

/// Whether each line continues a field or begins with a name of RFC 5322, section 2.2. The
/// separator line of mailbox files is not passed on.
fn are_fields(header: &[u8]) -> bool {
    let mut rest = header;
    let mut is_first = true;
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let (line, next) = rest.split_at_checked(end).unwrap_or((rest, b""));
        rest = next;
        let separator = is_first && (line.starts_with(b"From ") || line.starts_with(b">From "));
        let folded = !is_first && (line.starts_with(b" ") || line.starts_with(b"\t"));
        if !separator && !folded {
            let name = memchr::memchr(b':', line).and_then(|colon| line.get(..colon));
            let legal = |name: &[u8]| !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
            if !name.is_some_and(legal) {
                return false;
            }
        }
        is_first = false;
    }
    true
}

/// Whether the header ends with an empty line or with the mail, and not before a line that is not a
/// field: another reader may count what follows as header.
fn ends(raw: &[u8], header: &[u8]) -> bool {
    let rest = raw.get(header.len()..).unwrap_or_default();
    rest.is_empty() || rest.starts_with(b"\r\n") || rest.starts_with(b"\n")
}

/// A NUL, or a carriage return without its line feed.
fn has_control(header: &[u8]) -> bool {
    memchr::memchr2_iter(b'\0', b'\r', header).any(|at| {
        header.get(at) == Some(&b'\0') || !matches!(header.get(at + 1), None | Some(b'\n'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "From: Ann <ann@example.com>\r\n";

    #[track_caller]
    fn check(header: &str, want: Option<Flaw>) {
        for raw in [
            format!("{header}{GOOD}\r\nbody\r\n"),
            format!("{GOOD}{header}\r\nbody\r\n"),
        ] {
            assert_eq!(Flaw::find(raw.as_bytes()), want, "{raw:?}");
        }
    }

    #[test]
    fn a_mail_as_programs_write_it_has_no_flaw() {
        check("", None);
        check(
            "Subject: a\r\n folded\r\n\tfield\r\nX-!#~: y\r\nEmpty:\r\n",
            None,
        );
        check(
            "To: \"a@b.example\" <c@d.example>, nobody\r\nCc: x@y.example <z@y.example>\r\n",
            None,
        );
        check("Reply-To: nobody\r\nSender: <a@b.example>\r\n", None);
        check(
            "Resent-From: a@b.example\r\nResent-From: c@d.example\r\n",
            None,
        );
        check("Subject: a\u{2028}b \u{1}\r\n", None);
        assert_eq!(
            Flaw::find(format!("From ann Mon\r\n{GOOD}").as_bytes()),
            None
        );
        assert_eq!(Flaw::find(GOOD.as_bytes()), None);
    }

    #[test]
    fn names_are_printable_and_stand_before_their_colon() {
        // The first and the last valid characters, and those beyond.
        check("!: x\r\n~: x\r\n", None);
        for line in [
            "X y: z",
            "X : y",
            "Fr\u{fc}m: x",
            "\u{7f}: x",
            "X\0: y",
            ": x",
            "no field",
            "X\u{1}: y",
        ] {
            check(&format!("{line}\r\n"), Some(Flaw::FieldName));
        }
        for raw in ["\t", " "].map(|white| format!("{white}folded: x\r\n\r\n")) {
            assert_eq!(Flaw::find(raw.as_bytes()), Some(Flaw::FieldName));
        }
    }

    #[test]
    fn what_ends_a_line_for_some_ends_the_mail() {
        check("X: a\0b\r\n", Some(Flaw::Control));
        check("X: a\rFrom: c@evil.example\r\n", Some(Flaw::Control));
        for field in [
            "To",
            "Cc",
            "Sender",
            "Reply-To",
            "Resent-From",
            "Resent-To",
            "resent-SENDER",
        ] {
            for evil in ["\u{1}", "\u{85}", "\u{2028}", "\u{2029}", "=?utf-8?Q?=00?="] {
                let header = format!("{field}: A {evil} <a@b.example>\r\n");
                check(&header, Some(Flaw::AddressControl));
            }
        }
    }

    #[test]
    fn every_reader_sees_one_author() {
        for field in [
            "Sender",
            "Reply-To",
            "Resent-From",
            "Resent-Sender",
            "Resent-Reply-To",
        ] {
            let header = format!("{field}: a@evil.example <b@good.example>\r\n");
            check(&header, Some(Flaw::TwoAddresses));
        }
        check(GOOD, Some(Flaw::Repeated));
        check("FROM: b@example.com\r\n", Some(Flaw::Repeated));
        check(
            "Sender: a@b.example\r\nSender: a@b.example\r\n",
            Some(Flaw::Repeated),
        );
        check(
            "Reply-To: a@b.example\r\nReply-To: c@d.example\r\n",
            Some(Flaw::Repeated),
        );
        let two = b"From: a@evil.example <b@good.example>\r\n\r\n";
        assert_eq!(Flaw::find(two), Some(Flaw::TwoAddresses));
    }
}
