//! Header and body, and the parts of a multipart body (RFC 2046, section 5.1).

use memchr::memmem;

use super::fields::{self, HeaderFields};

/// A message or a part: a header block and what follows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entity<'a> {
    /// With the line end of its last line, without the empty line.
    pub header: &'a [u8],
    pub body: &'a [u8],
}

impl<'a> Entity<'a> {
    /// Splits at the first empty line, or before the first line that cannot belong to a header.
    pub(crate) fn read(raw: &'a [u8]) -> Self {
        let mut at = 0;
        for line in fields::lines(raw) {
            let text = line.trim_ascii_end();
            let is_first = at == 0;
            if text.is_empty() && !line.starts_with(b" ") && !line.starts_with(b"\t") {
                let (header, body) = raw.split_at_checked(at).unwrap_or((raw, b""));
                return Self {
                    header,
                    body: body.get(line.len()..).unwrap_or_default(),
                };
            }
            // mbox writers put a `From ` line before the header, and some fail to remove it.
            let envelope = is_first && (line.starts_with(b"From ") || line.starts_with(b">From "));
            if !envelope && !fields::belongs(line, is_first) {
                break;
            }
            at += line.len();
        }
        let (header, body) = raw.split_at_checked(at).unwrap_or((raw, b""));
        Self { header, body }
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
        let line = fields::lines(tail).next().unwrap_or_default();
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
        check("Hello there\nA: b\n", "", "Hello there\nA: b\n");
        check(" folded: nothing\n\nx", "", " folded: nothing\n\nx");
        check("From a@b Mon\nA: b\n\nx", "From a@b Mon\nA: b\n", "x");
        check("A : b\n\nx", "A : b\n", "x");
        check("Grüße: b\n\nx", "", "Grüße: b\n\nx");
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
