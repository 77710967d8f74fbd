//! Splits a stream into command lines of bounded length.

use bytes::{Buf, BytesMut};

/// Bytes skipped after an overlong line before the connection is closed.
const PATIENCE: usize = 64 * 1024;

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
            return (self.skipped > PATIENCE).then_some(SmtpLine::Flood);
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

#[cfg(test)]
mod tests {
    use super::*;

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
