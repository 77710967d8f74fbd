//! SMTP replies (RFC 5321 section 4.2): one code, one or more lines.

use bytes::BytesMut;

use crate::EnhancedStatus;

/// A longer reply is invalid.
const LONGEST: usize = 64 * 1024;

/// Characters of a reply's text stored in events and reasons.
const KEPT: usize = 1000;

/// A reply of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RelayReply {
    pub(crate) code: u16,
    /// The text after the code, a line each. Bytes that are not UTF-8 are replaced: servers answer
    /// in any charset.
    pub(crate) lines: Vec<String>,
}

/// The server does not speak SMTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ProtocolError {
    #[error("the relay's answer is no SMTP reply")]
    NoReply,
    #[error("the relay's answer does not end")]
    Endless,
}

/// Reads replies as they arrive. Each line is read once, in however many pieces the reply comes.
#[derive(Debug, Default)]
pub(crate) struct Replies {
    /// Lines of the incomplete reply.
    lines: Vec<String>,
    /// Octets of those lines.
    length: usize,
}

impl Replies {
    /// Takes what is left of the first reply out of the buffer; `None` when it has not arrived yet.
    pub(crate) fn take(
        &mut self,
        buffer: &mut BytesMut,
    ) -> Result<Option<RelayReply>, ProtocolError> {
        while let Some(end) = memchr::memchr(b'\n', buffer) {
            let line = buffer.split_to(end + 1);
            self.length += line.len();
            if self.length > LONGEST {
                return Err(ProtocolError::Endless);
            }
            let (code, last, text) = line_of(&line).ok_or(ProtocolError::NoReply)?;
            self.lines.push(text);
            if last {
                let Self { lines, .. } = std::mem::take(self);
                return Ok(Some(RelayReply { code, lines }));
            }
        }
        if self.length + buffer.len() > LONGEST {
            return Err(ProtocolError::Endless);
        }
        Ok(None)
    }

    /// Whether no reply has begun.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

impl RelayReply {
    /// The text, lines joined by a space; a status repeated at the start of each line appears once.
    pub(crate) fn text(&self) -> String {
        let Some((first, more)) = self.lines.split_first() else {
            return String::new();
        };
        let status = self.status().and(first.split_whitespace().next());
        let mut text = first.trim().to_owned();
        for line in more {
            let line = status.and_then(|s| line.strip_prefix(s)).unwrap_or(line);
            text.push(' ');
            text.push_str(line.trim());
        }
        text.chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .take(KEPT)
            .collect()
    }

    /// Code and text on one line.
    pub(crate) fn line(&self) -> String {
        format!("{} {}", self.code, self.text())
            .trim_end()
            .to_owned()
    }

    pub(crate) fn status(&self) -> Option<EnhancedStatus> {
        EnhancedStatus::of_reply(self.code, self.lines.first()?)
    }

    pub(crate) fn is_positive(&self) -> bool {
        (200..300).contains(&self.code)
    }
}

/// Code, whether it is the last line, text. The text may be missing (RFC 5321 section 4.2.1).
fn line_of(line: &[u8]) -> Option<(u16, bool, String)> {
    let line = line.trim_ascii_end();
    let (code, rest) = line.split_at_checked(3)?;
    let code = std::str::from_utf8(code).ok()?;
    if !code.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let code: u16 = code.parse().ok()?;
    let (last, text) = match rest.split_first() {
        None => (true, &b""[..]),
        Some((b' ', text)) => (true, text),
        Some((b'-', text)) => (false, text),
        Some(_) => return None,
    };
    let legal = (200..600).contains(&code);
    legal.then(|| (code, last, String::from_utf8_lossy(text).into_owned()))
}

/// What the relay offers, from its answer to EHLO (RFC 5321 section 4.1.1.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Capabilities {
    pub(crate) pipelining: bool,
    pub(crate) eight_bit: bool,
    pub(crate) smtputf8: bool,
    pub(crate) starttls: bool,
    pub(crate) plain: bool,
    pub(crate) login: bool,
    pub(crate) size: bool,
    /// The longest mail, in octets, when the relay names one (RFC 1870 section 4).
    pub(crate) longest: Option<u64>,
}

impl Capabilities {
    pub(crate) fn read(reply: &RelayReply) -> Self {
        let mut offers = Self::default();
        for line in reply.lines.iter().skip(1) {
            offers.add(line);
        }
        offers
    }

    fn add(&mut self, line: &str) {
        let upper = line.to_ascii_uppercase();
        // Servers from before RFC 4954 write `AUTH=PLAIN`.
        let mut words = upper.split([' ', '=']).filter(|word| !word.is_empty());
        match words.next() {
            Some("PIPELINING") => self.pipelining = true,
            Some("8BITMIME") => self.eight_bit = true,
            Some("SMTPUTF8") => self.smtputf8 = true,
            Some("STARTTLS") => self.starttls = true,
            Some("SIZE") => {
                self.size = true;
                let octets = words.next().and_then(|n| n.parse().ok());
                self.longest = octets.filter(|n| *n > 0);
            }
            Some("AUTH") => {
                for mechanism in words {
                    self.plain |= mechanism == "PLAIN";
                    self.login |= mechanism == "LOGIN";
                }
            }
            Some(_) | None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(bytes: &[u8]) -> (Result<Option<RelayReply>, ProtocolError>, Vec<u8>) {
        let mut buffer = BytesMut::from(bytes);
        let reply = Replies::default().take(&mut buffer);
        (reply, buffer.to_vec())
    }

    fn reply(code: u16, lines: &[&str]) -> RelayReply {
        RelayReply {
            code,
            lines: lines.iter().map(|l| (*l).to_owned()).collect(),
        }
    }

    #[test]
    fn whole_replies_are_taken_one_by_one() {
        for (bytes, want, left) in [
            (
                &b"250 OK\r\n354 go\r\n"[..],
                reply(250, &["OK"]),
                &b"354 go\r\n"[..],
            ),
            (b"250\r\n", reply(250, &[""]), b""),
            (b"250 \r\n", reply(250, &[""]), b""),
            (b"250 bare\n", reply(250, &["bare"]), b""),
            (
                b"250-a\r\n250-\r\n250 b\r\n",
                reply(250, &["a", "", "b"]),
                b"",
            ),
            (
                b"550 gel\xf6scht\r\n",
                reply(550, &["gel\u{fffd}scht"]),
                b"",
            ),
            // The code of the last line counts: some servers send different codes in one reply.
            (b"250-a\r\n550 b\r\n", reply(550, &["a", "b"]), b""),
        ] {
            let (got, rest) = take(bytes);
            assert_eq!(got, Ok(Some(want)), "{bytes:?}");
            assert_eq!(rest, left);
        }
    }

    #[test]
    fn a_part_of_a_reply_waits_for_the_rest() {
        for bytes in [
            &b""[..],
            b"25",
            b"250 OK",
            b"250 OK\r",
            b"250-a\r\n",
            b"250-a\r\n250 b",
        ] {
            assert_eq!(take(bytes).0, Ok(None), "{bytes:?}");
        }
    }

    #[test]
    fn a_reply_byte_by_byte_is_read_once() {
        let whole = format!("{}250 x\r\n", "250-\r\n".repeat(LONGEST / 6 - 2));
        let (mut replies, mut buffer, mut got) = (Replies::default(), BytesMut::new(), None);
        for byte in whole.bytes() {
            assert_eq!(got, None);
            buffer.extend_from_slice(&[byte]);
            got = replies.take(&mut buffer).unwrap();
            assert!(buffer.len() <= 7, "what was read is gone");
        }
        assert_eq!(got.unwrap().lines.len(), LONGEST / 6 - 1);
        assert!(replies.is_empty());
        assert_eq!(replies.take(&mut buffer), Ok(None));
    }

    #[test]
    fn nonsense_is_named() {
        for bytes in [
            &b"\r\n"[..],
            b"HTTP/1.1 400 Bad\r\n",
            b"25 OK\r\n",
            b"250_OK\r\n",
            b"999 x\r\n",
            b"+50 x\r\n",
            b"100 x\r\n",
        ] {
            assert_eq!(take(bytes).0, Err(ProtocolError::NoReply), "{bytes:?}");
        }
        let endless = vec![b'2'; LONGEST + 1];
        assert_eq!(take(&endless).0, Err(ProtocolError::Endless));
        let lines = b"250-x\r\n".repeat(LONGEST / 7 + 1);
        assert_eq!(take(&lines).0, Err(ProtocolError::Endless));
    }

    #[test]
    fn the_line_of_an_event_has_no_line_ends_and_an_end() {
        let gmail = reply(
            550,
            &[
                "5.1.1 The account does not exist.",
                "5.1.1 Try again.",
                "5.1.1  See x",
            ],
        );
        assert_eq!(
            gmail.line(),
            "550 5.1.1 The account does not exist. Try again. See x"
        );
        assert_eq!(gmail.status(), Some(EnhancedStatus::new(5, 1, 1)));
        assert_eq!(reply(250, &[""]).line(), "250");
        assert_eq!(reply(550, &["a\tb\u{7}c\rd"]).line(), "550 a b c d");
        assert_eq!(reply(550, &[&"x".repeat(5000)]).line().len(), 4 + KEPT);
    }

    fn capabilities(lines: &[&str]) -> Capabilities {
        Capabilities::read(&RelayReply {
            code: 250,
            lines: lines.iter().map(|l| (*l).to_owned()).collect(),
        })
    }

    #[test]
    fn offers_are_read_in_any_case_and_the_greeting_is_not_one() {
        let all = capabilities(&[
            "mx PIPELINING",
            "pipelining",
            "8bitmime",
            "SMTPUTF8",
            "StartTLS",
            "AUTH LOGIN PLAIN XOAUTH2",
            "SIZE 1000",
            "DSN",
            "",
        ]);
        assert_eq!(
            all,
            Capabilities {
                pipelining: true,
                eight_bit: true,
                smtputf8: true,
                starttls: true,
                plain: true,
                login: true,
                size: true,
                longest: Some(1000)
            }
        );
        assert_eq!(capabilities(&["PIPELINING"]), Capabilities::default());
        assert_eq!(capabilities(&[]), Capabilities::default());
    }

    #[test]
    fn a_size_without_a_number_or_zero_is_no_limit() {
        for line in ["SIZE", "SIZE 0", "SIZE many", "SIZE -1"] {
            let offers = capabilities(&["mx", line]);
            assert_eq!((offers.size, offers.longest), (true, None), "{line}");
        }
    }

    #[test]
    fn the_old_way_to_offer_a_login_counts() {
        let offers = capabilities(&["mx", "AUTH=LOGIN"]);
        assert_eq!((offers.login, offers.plain), (true, false));
    }
}
