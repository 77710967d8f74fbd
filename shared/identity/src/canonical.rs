//! What the DKIM library overlooks in the relaxed canonical form (RFC 6376, sections 3.4.2 and 3.4.4).
//!
//! `mail-auth` 0.13 takes lines of blanks at the end of a body for content, and a field whose name is followed by
//! blanks for another field. Later releases read bodies as the RFC does, but need a newer compiler. So the library gets
//! a message that has the same relaxed form, and that it cannot misread; what is sent or was received stays as it is.

use std::borrow::Cow;

/// The parts of a message whose canonical form is the relaxed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Relaxed {
    pub(crate) head: bool,
    pub(crate) body: bool,
}

impl Relaxed {
    pub(crate) const BOTH: Self = Self {
        head: true,
        body: true,
    };
}

/// The message without blanks between names of fields and their colons, and without lines of blanks at the end of
/// the body, where these parts are relaxed. Both are part of the simple form.
pub(crate) fn plain(message: &[u8], relaxed: Relaxed) -> Cow<'_, [u8]> {
    let (head, body) = message.split_at(end_of_head(message));
    let plain_head = if relaxed.head {
        without_blanks(head)
    } else {
        Cow::Borrowed(head)
    };
    let plain_body = without_blank_end(body).filter(|_| relaxed.body);
    match (&plain_head, plain_body) {
        (Cow::Borrowed(_), None) => Cow::Borrowed(message),
        (head, body_end) => {
            let (content, end) = body_end.unwrap_or((body, b""));
            Cow::Owned([head, content, end].concat())
        }
    }
}

/// Where the body begins, behind the empty line.
fn end_of_head(message: &[u8]) -> usize {
    let mut at = 0;
    for line in message.split_inclusive(|byte| *byte == b'\n') {
        at += line.len();
        if line == b"\r\n" || line == b"\n" {
            break;
        }
    }
    at
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

fn without_blanks(head: &[u8]) -> Cow<'_, [u8]> {
    let mut out = Vec::new();
    // Up to where `head` has been copied, and where the line begins.
    let (mut copied, mut start) = (0, 0);
    for line in head.split_inclusive(|byte| *byte == b'\n') {
        let from = start;
        start += line.len();
        let Some(colon) = memchr::memchr(b':', line) else {
            continue;
        };
        let name = line.get(..colon).unwrap_or_default();
        let is_field = name.first().is_some_and(|byte| !is_blank(*byte));
        let blanks = name
            .iter()
            .rev()
            .take_while(|byte| is_blank(**byte))
            .count();
        if is_field && blanks > 0 {
            out.extend_from_slice(head.get(copied..from + colon - blanks).unwrap_or_default());
            copied = from + colon;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(head);
    }
    out.extend_from_slice(head.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// The content of a body and the line end behind it; `None` when the body ends so.
fn without_blank_end(body: &[u8]) -> Option<(&[u8], &'static [u8])> {
    let is_empty = |byte: &u8| is_blank(*byte) || *byte == b'\r' || *byte == b'\n';
    let rest = body.iter().rev().take_while(|byte| is_empty(byte)).count();
    let (content, rest) = body.split_at(body.len() - rest);
    if rest == b"\r\n" || body.is_empty() {
        return None;
    }
    // An empty body has no line (RFC 6376, section 3.4.4); any other ends with a line end.
    let end: &[u8] = if content.is_empty() { b"" } else { b"\r\n" };
    Some((content, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &str, want: &str) {
        let got = plain(message.as_bytes(), Relaxed::BOTH);
        assert_eq!(String::from_utf8_lossy(&got), want, "{message:?}");
        let again = plain(&got, Relaxed::BOTH);
        assert_eq!(again, got, "a plain message stays as it is");
    }

    #[test]
    fn a_body_ends_with_its_last_line_that_holds_something() {
        for (body, want) in [
            ("Hello\r\n", "Hello\r\n"),
            ("Hello", "Hello\r\n"),
            ("Hello \t", "Hello\r\n"),
            ("Hello\r\n   \r\n", "Hello\r\n"),
            ("Hello\r\n\t\r\n \r\n\r\n", "Hello\r\n"),
            ("Hello\r\n\r\n  x\r\n ", "Hello\r\n\r\n  x\r\n"),
            (" \r\n\r\n\t", ""),
            ("", ""),
            ("Hello\n \n", "Hello\r\n"),
        ] {
            check(
                &format!("A: b\r\n\r\n{body}"),
                &format!("A: b\r\n\r\n{want}"),
            );
        }
    }

    #[test]
    fn a_name_ends_before_its_colon() {
        check("To    : a@x\r\n\r\n", "To: a@x\r\n\r\n");
        check(
            "A\t: b : c\r\nB: d\r\n\r\nTo : x\r\n",
            "A: b : c\r\nB: d\r\n\r\nTo : x\r\n",
        );
        check(
            "A: b\r\n c : d\r\nno field\r\n\r\n",
            "A: b\r\n c : d\r\nno field\r\n\r\n",
        );
        check("no end", "no end");
        let same = plain(b"A: b\r\n\r\nHello\r\n", Relaxed::BOTH);
        assert!(matches!(same, Cow::Borrowed(_)));
    }

    #[test]
    fn only_what_is_relaxed_loses_its_blanks() {
        let message = b"A : b\r\n\r\nHello\r\n \r\n";
        for (head, body, want) in [
            (true, false, &b"A: b\r\n\r\nHello\r\n \r\n"[..]),
            (false, true, b"A : b\r\n\r\nHello\r\n"),
            (false, false, message),
        ] {
            assert_eq!(*plain(message, Relaxed { head, body }), *want);
        }
    }
}
