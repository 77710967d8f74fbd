//! What a client sends, out of the bytes that were read: command lines of bounded length, and the message after
//! DATA, whose dot-stuffing is undone until its end (RFC 5321 section 4.5.2).
//!
//! Only CRLF is a line end. `LF . LF`, `LF . CR LF`, `CR . CR` and similar are bytes of the
//! message, whatever other servers read them as.

use bytes::{Buf as _, BytesMut};

/// Bytes skipped after an overlong line before the connection is closed.
const MOST_SKIPPED: usize = 64 * 1024;

/// State between two reads.
#[derive(Debug, Default)]
pub(crate) struct LineBuffer {
    skipped: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SmtpLine {
    /// Without its CRLF.
    Text(Vec<u8>),
    /// Ended by a bare LF, or with a bare CR within.
    Bare,
    TooLong,
    /// Far too long, and no end in sight.
    Flood,
}

impl LineBuffer {
    /// Takes the next line out of what was read; `None` when more must be read.
    pub(crate) fn take(&mut self, inbox: &mut BytesMut, longest: usize) -> Option<SmtpLine> {
        let Some(end) = memchr::memchr(b'\n', inbox) else {
            if self.skipped > 0 || inbox.len() > longest {
                self.skipped += inbox.len();
                inbox.clear();
            }
            return (self.skipped > MOST_SKIPPED).then_some(SmtpLine::Flood);
        };
        let line = inbox.split_to(end);
        inbox.advance(1);
        if std::mem::take(&mut self.skipped) > 0 || end >= longest {
            return Some(SmtpLine::TooLong);
        }
        Some(match line.strip_suffix(b"\r") {
            Some(text) if !text.contains(&b'\r') => SmtpLine::Text(text.to_vec()),
            _ => SmtpLine::Bare,
        })
    }
}

/// Reads a message in pieces of any size.
#[derive(Debug)]
pub(crate) struct DataReader {
    body: Vec<u8>,
    state: DataState,
    longest: usize,
    /// Octets of the message so far, stored or not.
    length: usize,
    keeping: bool,
    bare: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DataState {
    LineStart,
    Line,
    /// A CR that may be the first half of a line end.
    Cr,
    /// A dot at the start of a line.
    Dot,
    /// A dot at the start of a line, and a CR.
    DotCr,
    End,
}

impl DataReader {
    pub(crate) fn new(longest: usize) -> Self {
        Self {
            body: Vec::new(),
            state: DataState::LineStart,
            longest,
            length: 0,
            keeping: true,
            bare: false,
        }
    }

    /// Reads a piece. `Some(n)` when the message ended with the first `n` bytes of it.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Option<usize> {
        let mut rest = piece;
        while let Some((byte, after)) = rest.split_first() {
            if self.state == DataState::Line {
                // The common case, many bytes at a time.
                let end = memchr::memchr2(b'\r', b'\n', rest).unwrap_or(rest.len());
                if end > 0 {
                    let (line, after) = rest.split_at(end);
                    self.keep(line);
                    rest = after;
                    continue;
                }
            }
            self.step(*byte);
            rest = after;
            if self.state == DataState::End {
                return Some(piece.len() - rest.len());
            }
        }
        None
    }

    fn step(&mut self, byte: u8) {
        self.state = match (self.state, byte) {
            (DataState::LineStart, b'.') => DataState::Dot,
            (DataState::Dot, b'\r') => DataState::DotCr,
            (DataState::DotCr, b'\n') => DataState::End,
            (DataState::Cr, b'\n') => {
                self.keep(b"\r\n");
                DataState::LineStart
            }
            (DataState::Cr | DataState::DotCr, _) => {
                self.bare = true;
                self.keep(b"\r");
                self.within(byte)
            }
            (DataState::LineStart | DataState::Line | DataState::Dot, _) => self.within(byte),
            (DataState::End, _) => DataState::End,
        };
    }

    fn within(&mut self, byte: u8) -> DataState {
        if byte == b'\r' {
            return DataState::Cr;
        }
        self.bare |= byte == b'\n';
        self.keep(&[byte]);
        DataState::Line
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.length = self.length.saturating_add(bytes.len());
        if self.length > self.longest {
            self.discard();
        }
        if self.keeping {
            self.body.extend_from_slice(bytes);
        }
    }

    /// Frees the memory and stores no more; the end is still found.
    pub(crate) fn discard(&mut self) {
        self.keeping = false;
        self.body = Vec::new();
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.keeping
    }

    /// Octets of the message so far.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Whether it is longer than allowed.
    pub(crate) fn is_too_long(&self) -> bool {
        self.length > self.longest
    }

    /// Whether it holds a CR or LF that is not part of a CRLF.
    pub(crate) fn has_bare_line_ends(&self) -> bool {
        self.bare
    }

    /// Octets of memory held.
    pub(crate) fn capacity(&self) -> usize {
        self.body.capacity()
    }

    pub(crate) fn into_body(self) -> Vec<u8> {
        self.body
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The message, whether it had bare line ends, and what was left after its end.
    fn read(stream: &[u8], size: usize) -> Option<(Vec<u8>, bool, Vec<u8>)> {
        let mut message = DataReader::new(usize::MAX);
        let mut used = 0;
        for piece in stream.chunks(size.max(1)) {
            if let Some(n) = message.push(piece) {
                let bare = message.has_bare_line_ends();
                return Some((message.into_body(), bare, stream[used + n..].to_vec()));
            }
            used += piece.len();
        }
        None
    }

    #[track_caller]
    fn check(stream: &[u8], body: &[u8], bare: bool, left: &[u8]) {
        for size in [1, 2, 3, stream.len()] {
            let want = Some((body.to_vec(), bare, left.to_vec()));
            assert_eq!(read(stream, size), want, "{stream:?} by {size}");
        }
    }

    #[test]
    fn messages_end_and_lose_their_stuffing() {
        check(b".\r\n", b"", false, b"");
        check(b"a\r\n.\r\nQUIT\r\n", b"a\r\n", false, b"QUIT\r\n");
        check(
            b"..\r\n...\r\n..a\r\n.a\r\n.\r\n",
            b".\r\n..\r\n.a\r\na\r\n",
            false,
            b"",
        );
        check(b"a.\r\n.b.\r\n.\r\n", b"a.\r\nb.\r\n", false, b"");
    }

    #[test]
    fn nothing_else_ends_a_message() {
        for smuggled in [
            &b"\n.\n"[..],
            b"\n.\r\n",
            b"\r.\r",
            b"\r.\r\n",
            b"\r\n.\n",
            b"\r\n.\r",
            b"\n.\r",
            b"\r.\n",
            b"\r\r\n.\r",
            b"\0\r\n.\n",
            b"\r\n\x00.\r\n",
            b"\r\n. \r\n",
            b"\r\n.\x00\r\n",
        ] {
            let mut stream = b"a".to_vec();
            stream.extend_from_slice(smuggled);
            stream.extend_from_slice(b"MAIL FROM:<evil@example.com>\r\n.\r\n");
            for size in [1, 2, 3, stream.len()] {
                let (body, _, left) = read(&stream, size).unwrap();
                assert!(
                    body.ends_with(b"MAIL FROM:<evil@example.com>\r\n"),
                    "{smuggled:?}"
                );
                assert_eq!(left, b"", "{smuggled:?}");
            }
        }
    }

    #[test]
    fn bare_line_ends_are_kept_and_seen() {
        check(b"a\nb\r\n.\r\n", b"a\nb\r\n", true, b"");
        check(b"a\rb\r\n.\r\n", b"a\rb\r\n", true, b"");
        check(b"a\n.b\r\n.\r\n", b"a\n.b\r\n", true, b"");
        check(b".\rb\r\n.\r\n", b"\rb\r\n", true, b"");
        check(b".\nb\r\n.\r\n", b"\nb\r\n", true, b"");
        check(b"a\r\r\n.\r\n", b"a\r\r\n", true, b"");
    }

    #[test]
    fn a_message_too_long_is_not_kept_but_read_to_its_end() {
        let mut message = DataReader::new(5);
        assert_eq!(message.push(b"abc\r\n"), None);
        assert!(!message.is_too_long() && message.is_kept());
        assert_eq!(message.push(b"d\r\n.\r\nX"), Some(6));
        assert!(message.is_too_long() && !message.is_kept());
        assert_eq!((message.length(), message.capacity()), (8, 0));
    }

    proptest! {
        #[test]
        fn what_is_stuffed_is_read_back(lines in proptest::collection::vec("[a.\\x00]{0,4}", 0..8), size in 1_usize..9, next in "[A-Z]{0,5}") {
            let message: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
            let stuffed: String = lines.iter().map(|line| {
                let dot = if line.starts_with('.') { "." } else { "" };
                format!("{dot}{line}\r\n")
            }).collect();
            let stream = format!("{stuffed}.\r\n{next}");
            let want = Some((message.into_bytes(), false, next.into_bytes()));
            prop_assert_eq!(read(stream.as_bytes(), size), want);
        }

        #[test]
        fn how_it_was_cut_changes_nothing(stream in "[a.\r\n]{0,40}", size in 1_usize..9) {
            let whole = read(stream.as_bytes(), stream.len());
            prop_assert_eq!(read(stream.as_bytes(), size), whole.clone());
            prop_assert_eq!(whole.is_some(), format!("\r\n{stream}").contains("\r\n.\r\n"));
        }
    }

    /// Feeds the pieces one by one and takes all lines after each.
    fn lines(pieces: &[&[u8]], longest: usize) -> Vec<SmtpLine> {
        let (mut lines, mut inbox, mut got) = (LineBuffer::default(), BytesMut::new(), Vec::new());
        for piece in pieces {
            inbox.extend_from_slice(piece);
            while let Some(line) = lines.take(&mut inbox, longest) {
                let flood = line == SmtpLine::Flood;
                got.push(line);
                if flood {
                    return got;
                }
            }
            assert!(inbox.len() <= longest, "memory stays bounded");
        }
        got
    }

    fn text(line: &str) -> SmtpLine {
        SmtpLine::Text(line.as_bytes().to_vec())
    }

    #[test]
    fn lines_come_out_whole_however_they_went_in() {
        let stream = b"EHLO a\r\n\r\nMAIL\nRC\rPT\r\nX\r\r\nQUIT\r\n";
        let want = vec![
            text("EHLO a"),
            text(""),
            SmtpLine::Bare,
            SmtpLine::Bare,
            SmtpLine::Bare,
            text("QUIT"),
        ];
        assert_eq!(lines(&[stream], 100), want);
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        assert_eq!(lines(&bytes, 100), want);
    }

    #[test]
    fn a_line_too_long_is_skipped_to_its_end() {
        assert_eq!(lines(&[b"12345678\r\n"], 10), [text("12345678")]);
        assert_eq!(
            lines(&[b"123456789\r\n", b"QUIT\r\n"], 10),
            [SmtpLine::TooLong, text("QUIT")]
        );
        assert_eq!(
            lines(&[b"1234567890", b"1", b"234", b"\r\nQUIT\r\n"], 10),
            [SmtpLine::TooLong, text("QUIT")]
        );
    }

    #[test]
    fn a_gigabyte_without_an_end_is_a_flood() {
        let piece = vec![b'x'; 8 * 1024];
        let pieces: Vec<&[u8]> = std::iter::repeat_n(piece.as_slice(), 100).collect();
        assert_eq!(lines(&pieces, 8 * 1024), [SmtpLine::Flood]);
    }
}
