//! Detects headers that different readers interpret differently.

use super::mailboxes::{Unreadable, breaks, mailboxes};
use crate::parse::{Entity, is_folded, lines, separators};

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
    #[error(
        "a line of the header looks like From, Sender or Reply-To, but its name holds blanks or odd characters"
    )]
    FieldName,
    #[error("the header holds a NUL or a carriage return that ends no line")]
    Control,
    #[error("an address field holds a control character or a line separator")]
    AddressControl,
    #[error("an address in front of the one in angle brackets belongs in quotes")]
    TwoAddresses,
    #[error("the mail has more than one From, Sender or Reply-To header")]
    Repeated,
    #[error("a line is longer than 998 octets and cannot be broken without changing the mail")]
    LongLine,
}

impl Flaw {
    /// The first flaw of a mail's header.
    pub(super) fn find(raw: &[u8]) -> Option<Self> {
        let entity = Entity::read(raw);
        if lines_to_empty(raw).any(imitates) {
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

/// The lines up to the first empty one that begin no fold, without the separators of mailbox files.
/// Of a mail without an empty line these are more than its header: readers differ on where it ends.
fn lines_to_empty(raw: &[u8]) -> impl Iterator<Item = &[u8]> {
    let text = raw.get(separators(raw)..).unwrap_or_default();
    let is_empty = |line: &&[u8]| matches!(*line, b"\n" | b"\r\n");
    let mut is_first = true;
    lines(text)
        .take_while(move |line| !is_empty(line))
        .filter(move |line| std::mem::take(&mut is_first) || !is_folded(line))
}

/// Whether a line is no field by RFC 5322, section 2.2, but its name would be that of an author
/// without its blanks and its other characters outside printable ASCII. Some receivers read it so,
/// and show another author than the one that was verified.
fn imitates(line: &[u8]) -> bool {
    let line = line.strip_prefix(MARK).unwrap_or(line);
    let name = memchr::memchr(b':', line).and_then(|colon| line.get(..colon));
    let Some(name) = name.filter(|name| !name.iter().all(u8::is_ascii_graphic)) else {
        return false;
    };
    let plain = |b: &u8| b.is_ascii_graphic();
    let odd = name
        .iter()
        .filter(|b| !plain(b) && !b" \t".contains(b))
        .count();
    let letters: Vec<u8> = name
        .iter()
        .copied()
        .filter(plain)
        .take(LONGEST_NAME)
        .collect();
    SINGLE.iter().any(|author| {
        let missing = author.len().checked_sub(letters.len());
        // An odd character may stand for a letter: `Fröm`.
        missing.is_some_and(|missing| missing <= odd.min(2)) && is_within(&letters, author)
    })
}

/// Longer than the longest of the authors' names.
const LONGEST_NAME: usize = 12;

/// The byte order mark of UTF-8, which is removed.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Whether the letters occur in the name, in their order.
fn is_within(letters: &[u8], name: &str) -> bool {
    let mut rest = name.bytes();
    let mut letters = letters.iter().map(u8::to_ascii_lowercase);
    letters.all(|letter| rest.any(|b| b == letter))
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
    fn a_line_that_is_no_field_is_no_flaw() {
        // The first and the last valid characters, and those beyond.
        check("!: x\r\n~: x\r\n", None);
        for line in [
            "X y: z",
            "X : y",
            "Subject : y",
            "\u{7f}: x",
            ": x",
            "no field",
            "X\u{1}: y",
            "from the beginning: x",
            "Sent by: x",
            "P8Fxcut",
            "\tfolded: x",
            "From ann@example.com Mon Jan  1 10:11:12 2024",
        ] {
            check(&format!("{line}\r\n"), None);
        }
        assert_eq!(Flaw::find(b"\xef\xbb\xbfFrom: a@b.example\r\n\r\n"), None);
    }

    #[test]
    fn a_line_that_some_read_as_an_author_is_a_flaw() {
        for line in [
            "From : x",
            "From\t: x",
            "Fr om: x",
            "F r o m : x",
            "Fr\u{f6}m: x",
            "Fr\u{43e}m: x",
            "From\u{200b}: x",
            "\u{feff}From\u{a0}: x",
            "SENDER : x",
            "Sen der: x",
            "Reply- To: x",
            "Reply-To\u{1}: x",
            "R\u{435}ply-T\u{43e}: x",
        ] {
            check(&format!("{line}\r\n"), Some(Flaw::FieldName));
        }
        for raw in [
            "\tFrom: x\r\n\r\n",
            " Sender: x\r\nFrom: a@b.example\r\n\r\n",
        ] {
            assert_eq!(Flaw::find(raw.as_bytes()), Some(Flaw::FieldName), "{raw:?}");
        }
        let late = format!("{GOOD}text\r\nFr om: x\r\n\r\n");
        assert_eq!(Flaw::find(late.as_bytes()), Some(Flaw::FieldName));
        let body = format!("{GOOD}\r\nFr om: x\r\n");
        assert_eq!(Flaw::find(body.as_bytes()), None);
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
