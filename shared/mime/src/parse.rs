//! Parses an untrusted mail: header fields, parameters, parts, transfer encodings and charsets.
//! Everything borrows from the raw bytes, and nothing here recurses.
//!
//! The splitting is implemented here rather than with `mail-parser` for three reasons, each
//! observed with its version 0.11.9: a 6 MB mail of nested `message/rfc822` overflows its stack, a
//! 2 MB mail of boundaries that never occur takes it minutes, and it converts text to UTF-8, while
//! the inbound form needs the received bytes. Its charset tables are used.

pub(crate) mod charset;
mod fields;
mod lines;
mod params;
mod strict;
mod transfer;
mod words;

use memchr::memmem;

pub(crate) use fields::{HeaderFields, unfolded};
pub(crate) use lines::{HeaderPiece, is_folded, is_parameter, lines, pieces, separators};
pub(crate) use params::Parameterised;
pub(crate) use strict::can_be_joined;
pub(crate) use transfer::decoded;
pub(crate) use words::{LONGEST, WordContext, encoded, text};

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A message or a part: a header block and what follows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entity<'a> {
    /// With the line end of its last line, without the empty line.
    pub header: &'a [u8],
    pub body: &'a [u8],
}

impl<'a> Entity<'a> {
    /// Splits at the first empty line, or before the text where there is none.
    ///
    /// A line that is no field does not end the header when a field follows before the empty line:
    /// programs on the way cut lines, and forget to indent them. Where nothing else marks a header,
    /// before its first field and without an empty line, the field that follows must have a usual
    /// name: `Note: …` may be in a text that has no header. A byte order mark is no part of the
    /// first name.
    pub(crate) fn read(raw: &'a [u8]) -> Self {
        let text = match raw.strip_prefix(MARK) {
            Some(text) if separators(text) > 0 || lines::is_usual(text) => text,
            _ => raw,
        };
        let mut at = separators(text);
        let (mut kept, mut sure) = (at, at);
        let mut found = false;
        let mut empty = None;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            empty = lines::empty_line(rest);
            let Some(piece) = lines::piece(rest).filter(|_| empty.is_none()) else {
                break;
            };
            let end = at + piece.bytes().len();
            if let HeaderPiece::Field(field) = piece {
                let usual = lines::is_usual(field);
                if kept == at || usual || found && !lines::is_address(field) {
                    (kept, found) = (end, true);
                }
                if sure == at || usual {
                    sure = end;
                }
            }
            at = end;
        }
        let end = if empty.is_some() { kept } else { sure };
        let line = empty.filter(|_| at == end).unwrap_or_default();
        let header = text.get(..end).unwrap_or_default();
        let body = text.get(end + line..).unwrap_or_default();
        let has_header = !header.is_empty() || line > 0;
        Self {
            header,
            body: if has_header { body } else { raw },
        }
    }

    pub(crate) fn fields(&self) -> HeaderFields<'a> {
        HeaderFields::new(self.header)
    }
}

/// The parts of a multipart body in turn, without preamble and epilogue.
#[derive(Debug)]
pub(crate) struct MultipartParts<'a> {
    /// `--` and the boundary.
    delimiter: Vec<u8>,
    /// From the start of the next part; `None` after the closing delimiter.
    rest: Option<&'a [u8]>,
}

impl<'a> MultipartParts<'a> {
    /// The parts by this boundary. A boundary with white space in it that never occurs includes the
    /// next parameter: the semicolon is missing, as in an example of RFC 2387.
    pub(crate) fn leniently(body: &'a [u8], boundary: &[u8]) -> Option<Self> {
        let first = boundary.split(u8::is_ascii_whitespace).next();
        Self::read(body, boundary).or_else(|| Self::read(body, first?))
    }

    /// `None` when the boundary is empty or never occurs: then the body is not a multipart.
    pub(crate) fn read(body: &'a [u8], boundary: &[u8]) -> Option<Self> {
        let boundary = boundary.trim_ascii_end();
        if boundary.is_empty() {
            return None;
        }
        let delimiter = [b"--", boundary].concat();
        let first = find(body, &delimiter)?;
        let rest = (!first.closing).then(|| body.get(first.after..).unwrap_or_default());
        Some(Self { delimiter, rest })
    }

    /// The unread rest.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest.unwrap_or_default()
    }
}

impl<'a> Iterator for MultipartParts<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest.take()?;
        let Some(next) = find(rest, &self.delimiter) else {
            // The closing delimiter is missing: the last part extends to the end.
            return (!rest.trim_ascii().is_empty()).then_some(rest);
        };
        if !next.closing {
            self.rest = rest.get(next.after..);
        }
        rest.get(..next.before)
    }
}

/// The position of a delimiter line.
struct Delimiter {
    /// End of the text before it: its line end belongs to the delimiter.
    before: usize,
    /// Start of the line after it.
    after: usize,
    closing: bool,
}

/// The first line that consists of the delimiter and optional white space.
///
/// Each line is read to its end at most once, however often the delimiter occurs in it: a body of
/// only hyphens contains the delimiter `---` at every byte.
fn find(body: &[u8], delimiter: &[u8]) -> Option<Delimiter> {
    for at in memmem::find_iter(body, delimiter) {
        let (head, tail) = body.split_at_checked(at)?;
        if !(head.is_empty() || head.ends_with(b"\n")) {
            continue;
        }
        let tail = tail.get(delimiter.len()..)?;
        let line = lines(tail).next().unwrap_or_default();
        let closing = line.starts_with(b"--");
        let white = if closing { line.get(2..)? } else { line };
        if white.trim_ascii().is_empty() {
            let head = head.strip_suffix(b"\n").unwrap_or(head);
            let head = head.strip_suffix(b"\r").unwrap_or(head);
            return Some(Delimiter {
                before: head.len(),
                after: at + delimiter.len() + line.len(),
                closing,
            });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(raw: &str, header: &str, body: &str) {
        let entity = Entity::read(raw.as_bytes());
        let got = (entity.header, entity.body);
        assert_eq!(got, (header.as_bytes(), body.as_bytes()), "{raw:?}");
    }

    #[test]
    fn the_header_ends_at_the_first_empty_line() {
        check("A: b\r\n\r\nbody", "A: b\r\n", "body");
        check("A: b\n\nbody\n\nmore", "A: b\n", "body\n\nmore");
        check("A: b\r\n c\r\n\td\r\n\r\n", "A: b\r\n c\r\n\td\r\n", "");
        check("\r\nbody", "", "body");
        check("", "", "");
        check("A: b", "A: b", "");
        check("A: b\r\n \r\nB: c\r\n\r\nx", "A: b\r\n \r\nB: c\r\n", "x");
    }

    #[test]
    fn a_line_that_is_no_field_begins_the_body() {
        check("A: b\nHello there\n", "A: b\n", "Hello there\n");
        check("A: b\nHi\n\nC: d\n\nx", "A: b\n", "Hi\n\nC: d\n\nx");
        check("A: b\nHi\nNote: c\n", "A: b\n", "Hi\nNote: c\n");
        check("Hi\nNote: c\n\nx", "", "Hi\nNote: c\n\nx");
        check(
            "A: b\nSee\nhttps://x.example/\n\nx",
            "A: b\n",
            "See\nhttps://x.example/\n\nx",
        );
        check("Hello there\nA: b\n", "", "Hello there\nA: b\n");
        check(" folded: nothing\n\nx", "", " folded: nothing\n\nx");
        check("From a@b Mon\nA: b\n\nx", "From a@b Mon\nA: b\n", "x");
        check("A : b\n\nx", "A : b\n", "x");
        check("Grüße: b\n\nx", "", "Grüße: b\n\nx");
    }

    #[test]
    fn a_broken_line_does_not_end_the_header() {
        for broken in [
            "P8Fxcut",
            "an unindented continuation",
            "Fr om: x@y",
            "From ann@x.example Mon Jan  1 10:11:12 2024",
            "Gr\u{fc}\u{df}e: x",
            "one\nline: after\nthe other line",
            "cut\n\tand folded",
        ] {
            for end in ["\n", "\r\n"] {
                let broken = broken.replace('\n', end);
                let middle = format!("A: b{end}{broken}{end}C: d{end}");
                check(&format!("{middle}{end}x"), &middle, "x");
                let first = format!("{broken}{end}Subject: b{end}");
                check(&format!("{first}{end}x"), &first, "x");
                let only = format!("A: b{end}{broken}{end}X-Mailer: c{end}");
                check(&only, &only, "");
            }
        }
        let kind = "Content-Type: multipart/mixed;\nboundary=b\n";
        check(&format!("{kind}\nx"), kind, "x");
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_name() {
        check("\u{feff}Subject: b\n\nx", "Subject: b\n", "x");
        check(
            "\u{feff}From ann Mon\nA: b\n\nx",
            "From ann Mon\nA: b\n",
            "x",
        );
        check("\u{feff}Hello\n\nx", "", "\u{feff}Hello\n\nx");
        check("\u{feff}", "", "\u{feff}");
    }

    #[track_caller]
    fn parts(body: &str, want: &[&str]) {
        let parts = MultipartParts::read(body.as_bytes(), b"b").map(Iterator::collect::<Vec<_>>);
        let want: Vec<_> = want.iter().map(|part| part.as_bytes()).collect();
        assert_eq!(parts.unwrap_or_default(), want, "{body:?}");
    }

    #[test]
    fn parts_stand_between_delimiter_lines() {
        parts(
            "--b\r\none\r\n--b\r\n\r\ntwo\r\n\r\n--b--\r\nepilogue",
            &["one", "\r\ntwo\r\n"],
        );
        parts("preamble\n--b\none\n--b--", &["one"]);
        parts("--b  \t\r\none\r\n--b-- \r\n--b\r\nnot this", &["one"]);
        parts(
            "--b\none --b\nstill\n--bc\nstill\n--b\ntwo",
            &["one --b\nstill\n--bc\nstill", "two"],
        );
        parts("--b\r\n--b\r\n\r\n--b--", &["", ""]);
        parts("--b--", &[]);
        parts("--b\n \n", &[]);
        parts("none", &[]);
        parts(" --b\none\n--b--", &[]);
    }

    #[test]
    fn a_boundary_that_is_empty_or_missing_makes_no_multipart() {
        assert!(MultipartParts::read(b"--\n--\n", b"").is_none());
        assert!(MultipartParts::read(b"--\n--\n", b"  ").is_none());
        assert!(MultipartParts::read(b"text", b"b").is_none());
        assert!(MultipartParts::read(b"--b--", b"b").is_some());
    }
}
