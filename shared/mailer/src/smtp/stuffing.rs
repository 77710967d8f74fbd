//! Prepares a message for DATA: every line end is CRLF and no line is a lone dot (RFC 5321 sections
//! 2.3.8 and 4.5.2).
//!
//! A bare CR or LF becomes CRLF here, whatever the caller intended: a relay that accepts a bare
//! line end would otherwise let a message end early and read the rest of it as commands (SMTP
//! smuggling).

/// Holds the state of the bytes already passed on.
#[derive(Debug)]
pub(super) struct Stuffing {
    line_start: bool,
    after_cr: bool,
}

impl Stuffing {
    pub(super) fn new() -> Self {
        Self {
            line_start: true,
            after_cr: false,
        }
    }

    /// Appends the next piece of the message to `out`.
    pub(super) fn push(&mut self, mut piece: &[u8], out: &mut Vec<u8>) {
        out.reserve(piece.len() + 8);
        while let Some((first, after)) = piece.split_first() {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                piece = after;
                continue;
            }
            if self.line_start && *first == b'.' {
                out.push(b'.');
            }
            let Some(end) = memchr::memchr2(b'\r', b'\n', piece) else {
                out.extend_from_slice(piece);
                self.line_start = false;
                return;
            };
            let (line, rest) = piece.split_at(end);
            out.extend_from_slice(line);
            out.extend_from_slice(b"\r\n");
            self.line_start = true;
            self.after_cr = rest.first() == Some(&b'\r');
            piece = rest.get(1..).unwrap_or_default();
        }
    }

    /// Ends the message.
    pub(super) fn finish(self, out: &mut Vec<u8>) {
        if !self.line_start {
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b".\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stuffed(pieces: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut stuffing = Stuffing::new();
        for piece in pieces {
            stuffing.push(piece, &mut out);
        }
        stuffing.finish(&mut out);
        out
    }

    #[test]
    fn a_message_becomes_data() {
        for (message, want) in [
            (&b""[..], &b".\r\n"[..]),
            (b"a", b"a\r\n.\r\n"),
            (b"a\r\n", b"a\r\n.\r\n"),
            (b".\r\n", b"..\r\n.\r\n"),
            (b"a\r\n.\r\n.b\r\nc.\r\n", b"a\r\n..\r\n..b\r\nc.\r\n.\r\n"),
            (
                b"a\n.\nMAIL FROM:<x>\n",
                b"a\r\n..\r\nMAIL FROM:<x>\r\n.\r\n",
            ),
            (b"a\r.\rb", b"a\r\n..\r\nb\r\n.\r\n"),
            (b"a\n.\r\nb", b"a\r\n..\r\nb\r\n.\r\n"),
            (b"a\r\n.\rb", b"a\r\n..\r\nb\r\n.\r\n"),
            (b"a\r\r\nb", b"a\r\n\r\nb\r\n.\r\n"),
            (b"a\n\rb", b"a\r\n\r\nb\r\n.\r\n"),
        ] {
            assert_eq!(stuffed(&[message]), want, "{message:?}");
            let bytes: Vec<&[u8]> = message.chunks(1).collect();
            assert_eq!(stuffed(&bytes), want, "byte by byte: {message:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_but_the_end_looks_like_an_end(message in "[ab.\r\n]{0,40}", cut in 0_usize..40) {
            let bytes = message.as_bytes();
            let (left, right) = bytes.split_at(cut.min(bytes.len()));
            let data = stuffed(&[left, right]);
            let text = String::from_utf8(data).unwrap();
            let body = text.strip_suffix(".\r\n").unwrap();
            let lines: Vec<&str> = body.split("\r\n").collect();
            proptest::prop_assert!(lines.iter().all(|line| *line != "." && !line.contains(['\r', '\n'])));
            let back: Vec<&str> = lines.iter().map(|line| line.strip_prefix('.').unwrap_or(line)).collect();
            let mut want = message.replace("\r\n", "\n").replace('\r', "\n");
            if !want.is_empty() && !want.ends_with('\n') { want.push('\n'); }
            proptest::prop_assert_eq!(back.join("\n"), want);
        }
    }
}
