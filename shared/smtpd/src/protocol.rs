//! Which command may come next: the conversation as a state machine, without sockets and without
//! the handler's answers.

use crate::command::{MailFrom, SmtpCommand};
use crate::{Auth, Config, ServerTls, SmtpEnvelope, SmtpReply};

/// The state of a conversation, and its use of the limits.
#[derive(Debug, Default)]
pub(crate) struct Protocol {
    greeted: bool,
    tls: bool,
    logged_in: bool,
    envelope: Option<SmtpEnvelope>,
    errors: u32,
    bad_commands: u32,
    failed_logins: u32,
    idle_commands: u32,
}

/// The action for a command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Say(SmtpReply),
    /// Ask the handler, then [`Protocol::greet`].
    Hello {
        name: String,
        extended: bool,
    },
    /// Ask the handler, then [`Protocol::open`].
    Mail(SmtpEnvelope),
    /// Ask the handler, then [`Protocol::add`].
    Rcpt(String),
    /// [`Protocol::take`], ask the handler, read the message, hand it on, then
    /// [`Protocol::reset_errors`] if it was accepted.
    Data,
    StartTls,
    Auth {
        mechanism: String,
        initial: Option<String>,
    },
}

fn out_of_order(text: &str) -> Next {
    Next::Say(SmtpReply::new(503, "5.5.1", text))
}

fn ok(text: &str) -> Next {
    Next::Say(SmtpReply::new(250, "2.0.0", text))
}

impl Protocol {
    pub(crate) fn new(tls: bool) -> Self {
        Self {
            tls,
            ..Self::default()
        }
    }

    /// Decides the action for a command, or for a line that could not be read as one.
    pub(crate) fn next(
        &mut self,
        config: &Config,
        command: Result<SmtpCommand, SmtpReply>,
    ) -> Next {
        let command = match command {
            Ok(command) => command,
            Err(reply) => return Next::Say(reply),
        };
        if self.is_idling(&command) {
            self.idle_commands += 1;
            if self.idle_commands > config.limits.idle_commands {
                return Next::Say(SmtpReply::new(
                    421,
                    "4.7.0",
                    "too many commands without a mail",
                ));
            }
        }
        match command {
            SmtpCommand::Hello { name, extended } => Next::Hello { name, extended },
            SmtpCommand::Mail(sender) => self.mail(config, sender),
            SmtpCommand::Rcpt(to) => self.rcpt(config, to),
            SmtpCommand::Data => self.data(),
            SmtpCommand::StartTls => self.start_tls(config),
            SmtpCommand::Auth { mechanism, initial } => self.auth(config, mechanism, initial),
            SmtpCommand::Rset => {
                self.envelope = None;
                ok("reset")
            }
            SmtpCommand::Noop => ok("nothing done"),
            SmtpCommand::Vrfy => Next::Say(SmtpReply::new(252, "2.5.0", "send a mail and see")),
            SmtpCommand::Help => Next::Say(SmtpReply::new(214, "2.0.0", "see RFC 5321")),
            SmtpCommand::Quit => Next::Say(SmtpReply::new(221, "2.0.0", "goodbye").closing()),
        }
    }

    fn is_idling(&self, command: &SmtpCommand) -> bool {
        match command {
            SmtpCommand::Hello { .. } => self.greeted,
            SmtpCommand::Rset | SmtpCommand::Noop | SmtpCommand::Vrfy | SmtpCommand::Help => true,
            SmtpCommand::Mail(_)
            | SmtpCommand::Rcpt(_)
            | SmtpCommand::Data
            | SmtpCommand::Quit
            | SmtpCommand::StartTls
            | SmtpCommand::Auth { .. } => false,
        }
    }

    fn mail(&self, config: &Config, sender: MailFrom) -> Next {
        if !self.greeted {
            return out_of_order("say EHLO first");
        }
        if config.auth == Auth::Required && !self.logged_in {
            let text = if self.may_log_in(config) {
                "log in first"
            } else {
                "say STARTTLS first"
            };
            return Next::Say(SmtpReply::new(530, "5.7.0", text));
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
            return Next::Say(SmtpReply::new(555, "5.5.4", "parameter not offered"));
        }
        if !sender.utf8 && !sender.from.is_ascii() {
            return Next::Say(needs_utf8());
        }
        Next::Mail(SmtpEnvelope {
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
                Next::Say(SmtpReply::new(452, "4.5.3", "too many recipients"))
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
            ServerTls::StartTls(_) => Next::StartTls,
            ServerTls::Off | ServerTls::Wrapped(_) => {
                Next::Say(SmtpReply::new(502, "5.5.1", "TLS is not offered"))
            }
        }
    }

    fn auth(&self, config: &Config, mechanism: String, initial: Option<String>) -> Next {
        if config.auth == Auth::Off {
            return Next::Say(SmtpReply::new(502, "5.5.1", "there is no login here"));
        }
        if !self.may_log_in(config) {
            return Next::Say(SmtpReply::new(538, "5.7.11", "say STARTTLS first"));
        }
        if !self.greeted || self.logged_in || self.envelope.is_some() {
            return out_of_order("AUTH comes once, after EHLO and before MAIL");
        }
        Next::Auth { mechanism, initial }
    }

    /// Whether a password would travel encrypted, if this port can encrypt at all.
    fn may_log_in(&self, config: &Config) -> bool {
        self.tls || matches!(config.tls, ServerTls::Off)
    }

    /// HELO or EHLO was accepted: returns the reply.
    pub(crate) fn greet(&mut self, config: &Config, extended: bool) -> SmtpReply {
        self.greeted = true;
        self.envelope = None;
        let mut text = config.hostname.clone();
        if extended {
            for line in self.extensions(config) {
                text.push('\n');
                text.push_str(&line);
            }
        }
        SmtpReply::new(250, "", text)
    }

    fn extensions(&self, config: &Config) -> Vec<String> {
        let offers = &config.offers;
        let may_start_tls = matches!(config.tls, ServerTls::StartTls(_)) && !self.tls;
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
    pub(crate) fn open(&mut self, envelope: SmtpEnvelope) {
        self.envelope = Some(envelope);
    }

    /// A recipient was accepted.
    pub(crate) fn add(&mut self, to: String) {
        if let Some(envelope) = &mut self.envelope {
            envelope.to.push(to);
        }
    }

    /// The mail under way.
    pub(crate) fn envelope(&self) -> Option<&SmtpEnvelope> {
        self.envelope.as_ref()
    }

    /// DATA: whatever happens to the mail, the transaction ends.
    pub(crate) fn take(&mut self) -> Option<SmtpEnvelope> {
        self.envelope.take()
    }

    /// A mail was accepted.
    pub(crate) fn reset_errors(&mut self) {
        self.errors = 0;
        self.bad_commands = 0;
        self.idle_commands = 0;
    }

    /// TLS begins: all earlier state is dropped (RFC 3207 section 4.2).
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
    pub(crate) fn login_failed(&mut self, config: &Config, reply: SmtpReply) -> SmtpReply {
        self.failed_logins += 1;
        if self.failed_logins < config.limits.failed_logins {
            return reply;
        }
        SmtpReply::new(421, "4.7.0", "too many failed logins")
    }

    /// Counts a refusal about to be sent; after too many it becomes a goodbye.
    pub(crate) fn count_error(&mut self, config: &Config, reply: SmtpReply) -> SmtpReply {
        // One recipient too many is no error of a client that pipelines: it sends to those before (RFC 5321,
        // section 4.5.3.1.10).
        if reply.is_positive() || reply.code == 452 {
            return reply;
        }
        self.errors += 1;
        self.bad_commands += u32::from(is_bad_command(&reply));
        let limits = &config.limits;
        let few = self.errors <= limits.errors && self.bad_commands <= limits.bad_commands;
        if few || reply.code == 421 {
            return reply;
        }
        SmtpReply::new(421, "4.7.0", "too many errors")
    }
}

/// Whether the client does not speak the protocol (RFC 5321, section 4.2.2). A recipient that is no
/// address is a mistake in a list; a command out of order follows from one that was refused.
fn is_bad_command(reply: &SmtpReply) -> bool {
    matches!(reply.code, 500 | 501 | 502 | 504 | 555) && !reply.status.starts_with("5.1.")
}

fn needs_utf8() -> SmtpReply {
    SmtpReply::new(553, "5.6.7", "the address needs SMTPUTF8")
}

pub(crate) fn too_long(config: &Config) -> SmtpReply {
    let text = format!("a message may have {} octets", config.max_size);
    SmtpReply::new(552, "5.3.4", text)
}

#[cfg(test)]
mod tests;
