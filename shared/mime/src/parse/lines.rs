//! The lines of a header block: which begin a field, which continue one, and which are neither.

use crate::media_type::is_token;

/// Lines with their line ends.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let (line, next) = rest.split_at_checked(end).filter(|_| end > 0)?;
        rest = next;
        Some(line)
    })
}

/// Lines of a header that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeaderPiece<'a> {
    /// A field with its folds.
    Field(&'a [u8]),
    /// A line that neither begins nor continues a field, with the folds after it.
    Broken(&'a [u8]),
}

impl<'a> HeaderPiece<'a> {
    pub(crate) fn bytes(self) -> &'a [u8] {
        match self {
            Self::Field(bytes) | Self::Broken(bytes) => bytes,
        }
    }
}

/// The pieces of a header in turn.
pub(crate) fn pieces(header: &[u8]) -> impl Iterator<Item = HeaderPiece<'_>> {
    let mut rest = header;
    std::iter::from_fn(move || {
        let next = piece(rest)?;
        rest = rest.get(next.bytes().len()..)?;
        Some(next)
    })
}

/// The piece at the start of a text.
///
/// Gateways cut lines anywhere: in a `Content-…` field that ends with a semicolon, a parameter that
/// is not indented continues the field, and any other line before a fold is part of it too, though
/// not of its value (see [`unfolded`](super::unfolded)).
pub(super) fn piece(text: &[u8]) -> Option<HeaderPiece<'_>> {
    let mut lines = lines(text).peekable();
    let first = lines.next()?;
    let is_field = begins_field(first);
    let start = first.get(..MIME.len()).unwrap_or_default();
    let is_mime = is_field && start.eq_ignore_ascii_case(MIME);
    let (mut last, mut end) = (first, first.len());
    while let Some(line) = lines.next() {
        if is_folded(line) || is_mime && ends_open(last) && is_parameter(line) {
            last = line;
        } else {
            let is_open = is_mime && ends_open(last) && !line.trim_ascii().is_empty();
            let is_cut = is_open && memchr::memchr(b':', line).is_none();
            if !(is_cut && lines.peek().is_some_and(|next| is_folded(next))) {
                break;
            }
        }
        end += line.len();
    }
    let bytes = text.get(..end)?;
    Some(if is_field {
        HeaderPiece::Field(bytes)
    } else {
        HeaderPiece::Broken(bytes)
    })
}

/// The prefix of the fields that describe a part (RFC 2045, section 9).
const MIME: &[u8] = b"content-";

fn ends_open(line: &[u8]) -> bool {
    line.trim_ascii_end().ends_with(b";")
}

/// Whether a line begins with `name=`.
pub(crate) fn is_parameter(line: &[u8]) -> bool {
    let name = memchr::memchr(b'=', line).and_then(|end| line.get(..end));
    let name = name.map(|name| std::str::from_utf8(name).unwrap_or_default());
    name.is_some_and(is_token)
}

pub(crate) fn is_folded(line: &[u8]) -> bool {
    line.starts_with(b" ") || line.starts_with(b"\t")
}

/// Whether a line begins a field, with white space before the colon allowed as in old mails (RFC
/// 5322, section 4.5).
pub(super) fn begins_field(line: &[u8]) -> bool {
    let name = memchr::memchr(b':', line).and_then(|colon| line.get(..colon));
    name.is_some_and(|name| name.trim_ascii_end().iter().all(u8::is_ascii_graphic))
}

/// Names without a hyphen that mail programs write (RFC 5322, section 3.6, and RFC 2076).
const USUAL: [&str; 15] = [
    "bcc",
    "cc",
    "comments",
    "date",
    "from",
    "importance",
    "keywords",
    "organization",
    "precedence",
    "priority",
    "received",
    "references",
    "sender",
    "subject",
    "to",
];

/// Whether a field with a usual name is at the start: `To`, `Reply-To` or `X-Anything`.
pub(super) fn is_usual(text: &[u8]) -> bool {
    let line = lines(text).next().unwrap_or_default();
    let name = memchr::memchr(b':', line).and_then(|colon| line.get(..colon));
    let name = name.map(<[u8]>::trim_ascii_end).unwrap_or_default();
    let plain = name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-');
    let known = |name: &[u8]| {
        let mut all = USUAL.iter();
        all.any(|usual| name.eq_ignore_ascii_case(usual.as_bytes()))
    };
    plain && (known(name) || name.iter().skip(1).any(|b| *b == b'-'))
}

/// Whether the line is `https://…` and no field.
pub(super) fn is_address(field: &[u8]) -> bool {
    let colon = memchr::memchr(b':', field).unwrap_or_default();
    field
        .get(colon..)
        .is_some_and(|rest| rest.starts_with(b"://"))
}

/// The length of the empty line at the start.
pub(super) fn empty_line(text: &[u8]) -> Option<usize> {
    let line = lines(text).next()?;
    (line.trim_ascii_end().is_empty() && !is_folded(line)).then_some(line.len())
}

/// How long the separator lines at the start are, which mbox writers put before the header and
/// some fail to remove.
pub(crate) fn separators(text: &[u8]) -> usize {
    let is_one = |line: &&[u8]| {
        (line.starts_with(b"From ") || line.starts_with(b">From ")) && !begins_field(line)
    };
    lines(text).take_while(is_one).map(<[u8]>::len).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_of_mailbox_files_are_no_fields() {
        for (text, want) in [
            ("From ann Mon\nA: b", 13),
            (">From a Mon 10:11\r\nFrom b\nA: b", 26),
            ("From : a@b\n", 0),
            ("From: a@b\n", 0),
            ("", 0),
        ] {
            assert_eq!(separators(text.as_bytes()), want, "{text:?}");
        }
    }

    #[test]
    fn usual_names_mark_a_header() {
        for (line, want) in [
            ("to: x", true),
            ("Subject : x", true),
            ("X-Any-1: x", true),
            ("Content-Type: a/b", true),
            ("Note: x", false),
            ("-: x", false),
            ("Fr om: x", false),
            ("a.b-c: x", false),
            ("see\nTo: x", false),
            ("", false),
        ] {
            assert_eq!(is_usual(line.as_bytes()), want, "{line:?}");
        }
    }
}
