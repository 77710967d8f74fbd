//! What may come next: the conversation as a state machine, without sockets and without the
//! handler's answers.

use crate::command::{Command, Sender};
use crate::{Auth, Config, Envelope, Reply, Tls};

/// Where a conversation stands, and what it has cost so far.
#[derive(Debug, Default)]
pub(crate) struct Protocol {
    greeted: bool,
    tls: bool,
    logged_in: bool,
    envelope: Option<Envelope>,
    errors: u32,
    failed_logins: u32,
    idle_commands: u32,
}

/// What to do about a command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Say(Reply),
    /// Ask the handler, then [`Protocol::greet`].
    Hello {
        name: String,
        extended: bool,
    },
    /// Ask the handler, then [`Protocol::open`].
    Mail(Envelope),
    /// Ask the handler, then [`Protocol::add`].
    Rcpt(String),
    /// [`Protocol::take`], ask the handler, read the message, hand it on, then
    /// [`Protocol::forgive`] if it was accepted.
    Data,
    StartTls,
    Auth {
        mechanism: String,
        initial: Option<String>,
    },
}

fn out_of_order(text: &str) -> Next {
    Next::Say(Reply::new(503, "5.5.1", text))
}

fn ok(text: &str) -> Next {
    Next::Say(Reply::new(250, "2.0.0", text))
}

impl Protocol {
    pub(crate) fn new(tls: bool) -> Self {
        Self {
            tls,
            ..Self::default()
        }
    }

    /// Decides about a command, or about what could not be read as one.
    pub(crate) fn next(&mut self, config: &Config, command: Result<Command, Reply>) -> Next {
        let command = match command {
            Ok(command) => command,
            Err(reply) => return Next::Say(reply),
        };
        if self.is_idling(&command) {
            self.idle_commands += 1;
            if self.idle_commands > config.limits.idle_commands {
                return Next::Say(Reply::new(421, "4.7.0", "too many commands without a mail"));
            }
        }
        match command {
            Command::Hello { name, extended } => Next::Hello { name, extended },
            Command::Mail(sender) => self.mail(config, sender),
            Command::Rcpt(to) => self.rcpt(config, to),
            Command::Data => self.data(),
            Command::StartTls => self.start_tls(config),
            Command::Auth { mechanism, initial } => self.auth(config, mechanism, initial),
            Command::Rset => {
                self.envelope = None;
                ok("reset")
            }
            Command::Noop => ok("nothing done"),
            Command::Vrfy => Next::Say(Reply::new(252, "2.5.0", "send a mail and see")),
            Command::Help => Next::Say(Reply::new(214, "2.0.0", "see RFC 5321")),
            Command::Quit => Next::Say(Reply::new(221, "2.0.0", "goodbye").closing()),
        }
    }

    fn is_idling(&self, command: &Command) -> bool {
        match command {
            Command::Hello { .. } => self.greeted,
            Command::Rset | Command::Noop | Command::Vrfy | Command::Help => true,
            Command::Mail(_)
            | Command::Rcpt(_)
            | Command::Data
            | Command::Quit
            | Command::StartTls
            | Command::Auth { .. } => false,
        }
    }

    fn mail(&self, config: &Config, sender: Sender) -> Next {
        if !self.greeted {
            return out_of_order("say EHLO first");
        }
        if config.auth == Auth::Required && !self.logged_in {
            let text = if self.may_log_in(config) {
                "log in first"
            } else {
                "say STARTTLS first"
            };
            return Next::Say(Reply::new(530, "5.7.0", text));
        }
        if self.envelope.is_some() {
            return out_of_order("a mail is under way");
        }
        let longest = u64::try_from(config.max_size).unwrap_or(u64::MAX);
        if sender.size.is_some_and(|size| size > longest) {
            return Next::Say(too_long(config));
        }
        if (sender.utf8 && !config.offers.smtputf8)
            || (sender.eight_bit && !config.offers.eight_bit)
        {
            return Next::Say(Reply::new(555, "5.5.4", "parameter not offered"));
        }
        if !sender.utf8 && !sender.from.is_ascii() {
            return Next::Say(needs_utf8());
        }
        Next::Mail(Envelope {
            from: sender.from,
            to: Vec::new(),
            size: sender.size,
            eight_bit: sender.eight_bit,
            utf8: sender.utf8,
        })
    }

    fn rcpt(&self, config: &Config, to: String) -> Next {
        match &self.envelope {
            None => out_of_order("say MAIL first"),
            Some(envelope) if envelope.to.len() >= config.max_recipients => {
                Next::Say(Reply::new(452, "4.5.3", "too many recipients"))
            }
            Some(envelope) if !envelope.utf8 && !to.is_ascii() => Next::Say(needs_utf8()),
            Some(_) => Next::Rcpt(to),
        }
    }

    fn data(&self) -> Next {
        match &self.envelope {
            None => out_of_order("say MAIL first"),
            Some(envelope) if envelope.to.is_empty() => out_of_order("say RCPT first"),
            Some(_) => Next::Data,
        }
    }

    fn start_tls(&self, config: &Config) -> Next {
        match config.tls {
            _ if self.tls => out_of_order("the connection is encrypted"),
            Tls::StartTls(_) => Next::StartTls,
            Tls::Off | Tls::Wrapped(_) => Next::Say(Reply::new(502, "5.5.1", "TLS is not offered")),
        }
    }

    fn auth(&self, config: &Config, mechanism: String, initial: Option<String>) -> Next {
        if config.auth == Auth::Off {
            return Next::Say(Reply::new(502, "5.5.1", "there is no login here"));
        }
        if !self.may_log_in(config) {
            return Next::Say(Reply::new(538, "5.7.11", "say STARTTLS first"));
        }
        if !self.greeted || self.logged_in || self.envelope.is_some() {
            return out_of_order("AUTH comes once, after EHLO and before MAIL");
        }
        Next::Auth { mechanism, initial }
    }

    /// Whether a password would travel encrypted, if this port can encrypt at all.
    fn may_log_in(&self, config: &Config) -> bool {
        self.tls || matches!(config.tls, Tls::Off)
    }

    /// HELO or EHLO was accepted: what to answer.
    pub(crate) fn greet(&mut self, config: &Config, extended: bool) -> Reply {
        self.greeted = true;
        self.envelope = None;
        let mut text = config.hostname.clone();
        if extended {
            for line in self.extensions(config) {
                text.push('\n');
                text.push_str(&line);
            }
        }
        Reply::new(250, "", text)
    }

    fn extensions(&self, config: &Config) -> Vec<String> {
        let offers = &config.offers;
        let may_start_tls = matches!(config.tls, Tls::StartTls(_)) && !self.tls;
        let may_log_in = config.auth != Auth::Off && self.may_log_in(config);
        let all = [
            (offers.pipelining, "PIPELINING".to_owned()),
            (offers.size, format!("SIZE {}", config.max_size)),
            (offers.eight_bit, "8BITMIME".to_owned()),
            (offers.smtputf8, "SMTPUTF8".to_owned()),
            (may_start_tls, "STARTTLS".to_owned()),
            (may_log_in, "AUTH PLAIN LOGIN".to_owned()),
            (true, "ENHANCEDSTATUSCODES".to_owned()),
            (true, "HELP".to_owned()),
        ];
        all.into_iter()
            .filter_map(|(on, line)| on.then_some(line))
            .collect()
    }

    /// The sender was accepted.
    pub(crate) fn open(&mut self, envelope: Envelope) {
        self.envelope = Some(envelope);
    }

    /// A recipient was accepted.
    pub(crate) fn add(&mut self, to: String) {
        if let Some(envelope) = &mut self.envelope {
            envelope.to.push(to);
        }
    }

    /// The mail under way.
    pub(crate) fn envelope(&self) -> Option<&Envelope> {
        self.envelope.as_ref()
    }

    /// DATA: whatever becomes of it, the mail is over.
    pub(crate) fn take(&mut self) -> Option<Envelope> {
        self.envelope.take()
    }

    /// A mail was accepted.
    pub(crate) fn forgive(&mut self) {
        self.errors = 0;
        self.idle_commands = 0;
    }

    /// TLS begins: everything said before is forgotten (RFC 3207 section 4.2).
    pub(crate) fn encrypted(&mut self) {
        self.tls = true;
        self.greeted = false;
        self.logged_in = false;
        self.envelope = None;
    }

    pub(crate) fn logged_in(&mut self) {
        self.logged_in = true;
    }

    /// Counts a login that failed; after too many the answer is a goodbye.
    pub(crate) fn login_failed(&mut self, config: &Config, reply: Reply) -> Reply {
        self.failed_logins += 1;
        if self.failed_logins < config.limits.failed_logins {
            return reply;
        }
        Reply::new(421, "4.7.0", "too many failed logins")
    }

    /// Counts a refusal about to be sent; after too many it becomes a goodbye.
    pub(crate) fn weigh(&mut self, config: &Config, reply: Reply) -> Reply {
        if reply.is_positive() {
            return reply;
        }
        self.errors += 1;
        if self.errors <= config.limits.errors || reply.code == 421 {
            return reply;
        }
        Reply::new(421, "4.7.0", "too many errors")
    }
}

fn needs_utf8() -> Reply {
    Reply::new(553, "5.6.7", "the address needs SMTPUTF8")
}

pub(crate) fn too_long(config: &Config) -> Reply {
    let text = format!("a message may have {} octets", config.max_size);
    Reply::new(552, "5.3.4", text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command;

    fn config() -> Config {
        Config {
            max_size: 1000,
            max_recipients: 2,
            ..Config::new("mx.test")
        }
    }

    /// Runs the lines with a handler that accepts everything; the code of each answer.
    fn run(config: &Config, protocol: &mut Protocol, lines: &[&str]) -> Vec<u16> {
        let answer = |protocol: &mut Protocol, line: &&str| {
            let next = protocol.next(config, command::parse(line.as_bytes()));
            let reply = match next {
                Next::Say(reply) => reply,
                Next::Hello { extended, .. } => protocol.greet(config, extended),
                Next::Mail(envelope) => {
                    protocol.open(envelope);
                    Reply::new(250, "", "")
                }
                Next::Rcpt(to) => {
                    protocol.add(to);
                    Reply::new(250, "", "")
                }
                Next::Data => {
                    protocol.take();
                    protocol.forgive();
                    Reply::new(354, "", "")
                }
                Next::StartTls => {
                    protocol.encrypted();
                    Reply::new(220, "", "")
                }
                Next::Auth { .. } => {
                    protocol.logged_in();
                    Reply::new(235, "", "")
                }
            };
            protocol.weigh(config, reply).code
        };
        lines.iter().map(|line| answer(protocol, line)).collect()
    }

    #[track_caller]
    fn check(config: &Config, talk: &[(&str, u16)]) {
        let (lines, codes): (Vec<&str>, Vec<u16>) = talk.iter().copied().unzip();
        let got = run(config, &mut Protocol::new(false), &lines);
        assert_eq!(got, codes, "{lines:?}");
    }

    #[test]
    fn a_mail_goes_through_and_the_next_may_come() {
        check(
            &config(),
            &[
                ("NOOP", 250),
                ("EHLO a", 250),
                ("MAIL FROM:<a@b.c>", 250),
                ("RCPT TO:<d@e.f>", 250),
                ("DATA", 354),
                ("MAIL FROM:<>", 250),
                ("RSET", 250),
                ("MAIL FROM:<a@b.c>", 250),
                ("EHLO a", 250),
                ("RCPT TO:<d@e.f>", 503),
                ("VRFY d", 252),
                ("HELP", 214),
                ("QUIT", 221),
            ],
        );
    }

    #[test]
    fn commands_out_of_order_change_nothing() {
        check(
            &config(),
            &[
                ("MAIL FROM:<a@b.c>", 503),
                ("RCPT TO:<d@e.f>", 503),
                ("DATA", 503),
                ("HELO a", 250),
                ("DATA", 503),
                ("MAIL FROM:<a@b.c>", 250),
                ("DATA", 503),
                ("MAIL FROM:<x@b.c>", 503),
                ("RCPT TO:<d@e.f>", 250),
                ("RCPT TO:<d@e.f>", 250),
                ("RCPT TO:<d@e.f>", 452),
                ("DATA", 354),
                ("DATA", 503),
            ],
        );
    }

    #[test]
    fn what_is_announced_is_checked() {
        check(
            &config(),
            &[
                ("EHLO a", 250),
                ("MAIL FROM:<a@b.c> SIZE=1001", 552),
                ("MAIL FROM:<\u{e9}@b.c>", 553),
                ("MAIL FROM:<a@b.c> SIZE=1000", 250),
                ("RCPT TO:<\u{e9}@b.c>", 553),
                ("RSET", 250),
                ("MAIL FROM:<\u{e9}@b.c> SMTPUTF8", 250),
                ("RCPT TO:<\u{e9}@b.c>", 250),
            ],
        );
        let mut plain = config();
        plain.offers.smtputf8 = false;
        plain.offers.eight_bit = false;
        check(
            &plain,
            &[
                ("EHLO a", 250),
                ("MAIL FROM:<a@b.c> SMTPUTF8", 555),
                ("MAIL FROM:<a@b.c> BODY=8BITMIME", 555),
            ],
        );
    }

    #[test]
    fn a_login_comes_once_and_in_its_place() {
        check(
            &config(),
            &[("EHLO a", 250), ("AUTH PLAIN x", 502), ("STARTTLS", 502)],
        );
        let required = Config {
            auth: Auth::Required,
            ..config()
        };
        check(
            &required,
            &[
                ("AUTH PLAIN x", 503),
                ("EHLO a", 250),
                ("MAIL FROM:<a@b.c>", 530),
                ("AUTH PLAIN x", 235),
                ("AUTH PLAIN x", 503),
                ("MAIL FROM:<a@b.c>", 250),
            ],
        );
        let optional = Config {
            auth: Auth::Optional,
            ..config()
        };
        check(
            &optional,
            &[
                ("EHLO a", 250),
                ("MAIL FROM:<a@b.c>", 250),
                ("AUTH PLAIN x", 503),
            ],
        );
    }

    #[test]
    fn patience_ends() {
        let mut short = config();
        short.limits.errors = 2;
        short.limits.idle_commands = 3;
        check(&short, &[("X", 500), ("X", 500), ("X", 421)]);
        check(
            &short,
            &[
                ("NOOP", 250),
                ("RSET", 250),
                ("EHLO a", 250),
                ("HELP", 214),
                ("VRFY a", 421),
            ],
        );
        let mail = [
            "EHLO a",
            "X",
            "X",
            "MAIL FROM:<a@b.c>",
            "RCPT TO:<d@e.f>",
            "DATA",
            "X",
            "X",
            "X",
        ];
        let codes = run(&short, &mut Protocol::new(false), &mail);
        assert_eq!(
            codes,
            [250, 500, 500, 250, 250, 354, 500, 500, 421],
            "a mail wins patience back"
        );
        short.limits.failed_logins = 2;
        let mut protocol = Protocol::new(false);
        assert_eq!(protocol.login_failed(&short, Reply::bad_login()).code, 535);
        assert_eq!(protocol.login_failed(&short, Reply::bad_login()).code, 421);
    }

    #[test]
    fn the_answer_to_ehlo_names_what_is_offered() {
        let text = Protocol::new(false).greet(&config(), true).text;
        assert_eq!(
            text,
            "mx.test\nPIPELINING\nSIZE 1000\n8BITMIME\nSMTPUTF8\nENHANCEDSTATUSCODES\nHELP"
        );
        assert_eq!(Protocol::new(false).greet(&config(), false).text, "mx.test");
        let login = Config {
            auth: Auth::Optional,
            ..config()
        };
        assert!(
            Protocol::new(false)
                .greet(&login, true)
                .text
                .contains("\nAUTH PLAIN LOGIN\n")
        );
    }
}
