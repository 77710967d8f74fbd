//! Replies of the server (RFC 5321 section 4.2, RFC 2034).

/// One reply. A text with line feeds becomes a reply of several lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmtpReply {
    pub code: u16,
    /// The enhanced status code (RFC 3463); empty for none.
    pub status: &'static str,
    pub text: String,
    pub(crate) end: AfterReply,
}

/// What happens to the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterReply {
    Open,
    Close,
    /// Closed without this reply being sent.
    HangUp,
}

impl SmtpReply {
    /// A reply after which the conversation goes on; after a 421 it never does.
    pub fn new(code: u16, status: &'static str, text: impl Into<String>) -> Self {
        Self {
            code,
            status,
            text: text.into(),
            end: if code == 421 {
                AfterReply::Close
            } else {
                AfterReply::Open
            },
        }
    }

    /// The same, and the connection is closed after it.
    #[must_use]
    pub fn closing(mut self) -> Self {
        self.end = AfterReply::Close;
        self
    }

    /// Closing, unless it already is or hangs up.
    pub(crate) fn closing_unless_silent(self) -> Self {
        if self.end == AfterReply::HangUp {
            self
        } else {
            self.closing()
        }
    }

    /// Says nothing and closes the connection.
    pub fn hang_up() -> Self {
        Self {
            end: AfterReply::HangUp,
            ..Self::new(421, "", "")
        }
    }

    /// The reply to an unknown login.
    pub fn bad_login() -> Self {
        Self::new(535, "5.7.8", "user name or password is not known")
    }

    /// Whether it accepts.
    pub fn is_positive(&self) -> bool {
        self.code < 400
    }

    /// Appends the reply as it goes on the wire.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        if self.end == AfterReply::HangUp {
            return;
        }
        let mut lines = self.text.split('\n').peekable();
        while let Some(line) = lines.next() {
            let more = if lines.peek().is_some() { '-' } else { ' ' };
            let gap = if self.status.is_empty() { "" } else { " " };
            // Text from a handler or a client stays on this line.
            let line: String = line.chars().filter(|c| !c.is_control()).collect();
            let line = format!("{}{more}{}{gap}{line}\r\n", self.code, self.status);
            out.extend_from_slice(line.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(reply: &SmtpReply) -> String {
        let mut out = Vec::new();
        reply.write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn replies_on_the_wire() {
        for (reply, want) in [
            (SmtpReply::new(250, "2.0.0", "ok"), "250 2.0.0 ok\r\n"),
            (SmtpReply::new(220, "", "mx ready"), "220 mx ready\r\n"),
            (
                SmtpReply::new(250, "", "mx\nSIZE 1\nHELP"),
                "250-mx\r\n250-SIZE 1\r\n250 HELP\r\n",
            ),
            (
                SmtpReply::new(550, "5.1.1", "a\nb"),
                "550-5.1.1 a\r\n550 5.1.1 b\r\n",
            ),
            (
                SmtpReply::new(550, "", "a\r\nb\tc\u{0}"),
                "550-a\r\n550 bc\r\n",
            ),
            (SmtpReply::hang_up(), ""),
        ] {
            assert_eq!(wire(&reply), want);
        }
    }

    #[test]
    fn a_421_always_closes() {
        assert_eq!(SmtpReply::new(421, "4.3.2", "bye").end, AfterReply::Close);
        assert_eq!(SmtpReply::new(550, "", "no").end, AfterReply::Open);
        assert_eq!(
            SmtpReply::new(550, "", "no").closing().end,
            AfterReply::Close
        );
    }
}
