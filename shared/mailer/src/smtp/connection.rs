//! One conversation with the relay, from the TCP connection to any number of mails.

use posthaste_model::EnforcedTls;
use tokio::time::{Instant, timeout};

use super::reply_class::{ReplyClass, Step, classify_reply};
use super::stuffing::Stuffing;
use super::tls::Encryption;
use super::wire::{Io, Wire, WireError};
use super::{GRACE, Timeouts};
use crate::reply::{Capabilities, RelayReply};

/// The message is written in pieces of about this many bytes.
const PIECE: usize = 64 * 1024;

/// An open, greeted and, where configured, encrypted and logged-in connection.
pub(super) struct Connection {
    pub(super) wire: Wire<Box<dyn Io>>,
    pub(super) offers: Capabilities,
    /// None for a connection in the clear.
    pub(super) encryption: Option<Encryption>,
    /// Why it is in the clear although the relay offered STARTTLS.
    pub(super) starttls_refusal: Option<RelayReply>,
    /// The local address.
    pub(super) ip: Option<String>,
    pub(super) timeouts: Timeouts,
    /// Mails offered so far.
    pub(super) served: u32,
    pub(super) idle_since: Instant,
    /// A mail was begun and not ended: RSET comes before the next.
    unfinished: bool,
    broken: bool,
    out: Vec<u8>,
}

/// Why the relay did not take the mail.
#[derive(Debug)]
pub(super) struct RelayFailure {
    pub(super) step: Step,
    pub(super) why: Why,
    /// The connection was lost before the relay replied to this mail.
    pub(super) not_attempted: bool,
}

#[derive(Debug)]
pub(super) enum Why {
    Refused(RelayReply),
    Wire(WireError),
    /// The client refuses, or is unable.
    Local(String),
}

impl RelayFailure {
    pub(super) fn refused(step: Step, reply: RelayReply) -> Self {
        Self::new(step, Why::Refused(reply))
    }

    pub(super) fn wire(step: Step, error: WireError) -> Self {
        Self::new(step, Why::Wire(error))
    }

    pub(super) fn local(text: impl Into<String>) -> Self {
        Self::new(Step::Connect, Why::Local(text.into()))
    }

    fn new(step: Step, why: Why) -> Self {
        Self {
            step,
            why,
            not_attempted: false,
        }
    }
}

/// One mail as offered to the relay.
#[derive(Clone, Copy)]
pub(super) struct Offer<'a> {
    pub(super) from: &'a str,
    pub(super) to: &'a str,
    pub(super) utf8: bool,
    pub(super) message: &'a [u8],
    pub(super) enforced_tls: EnforcedTls,
    /// Later than this the message is not begun: its claim might end before it does.
    pub(super) ready_by: Instant,
}

impl Connection {
    pub(super) fn new(
        wire: Wire<Box<dyn Io>>,
        offers: Capabilities,
        encryption: Option<Encryption>,
        timeouts: Timeouts,
    ) -> Self {
        Self {
            wire,
            offers,
            encryption,
            starttls_refusal: None,
            ip: None,
            timeouts,
            served: 0,
            idle_since: Instant::now(),
            unfinished: false,
            broken: false,
            out: Vec::new(),
        }
    }

    /// Whether it must not be reused.
    pub(super) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Offers one mail and returns the reply that accepted it.
    pub(super) async fn offer(&mut self, offer: &Offer<'_>) -> Result<RelayReply, RelayFailure> {
        let steps = self.steps(offer);
        self.served += 1;
        // Until a reply says otherwise; dropping the future half-way closes the connection.
        self.broken = true;
        self.unfinished = true;
        if self.offers.pipelining {
            self.pipelined(&steps).await?;
        } else {
            self.one_by_one(&steps).await?;
        }
        if Instant::now() > offer.ready_by {
            // Closing the connection ends the transaction, and no message was begun.
            let error = WireError::Silent(self.timeouts.ready);
            return Err(RelayFailure::wire(Step::Data, error));
        }
        let reply = self.send_message(offer.message).await?;
        // Whatever the answer, the transaction is over (RFC 5321 section 4.1.1.4).
        self.unfinished = false;
        match self.class_of(Step::Message, &reply) {
            ReplyClass::Good => Ok(reply),
            ReplyClass::Deferred(_) | ReplyClass::Throttled(_) | ReplyClass::Bounced(_) => {
                Err(RelayFailure::refused(Step::Message, reply))
            }
        }
    }

    fn steps(&self, offer: &Offer<'_>) -> Vec<(Step, String)> {
        let mut mail = format!("MAIL FROM:<{}>", offer.from);
        if self.offers.size {
            mail.push_str(" SIZE=");
            mail.push_str(&offer.message.len().to_string());
        }
        // A relay that does not offer 8BITMIME gets the bytes as they are: changing them would
        // break signatures, and every server in use passes them on.
        if self.offers.eight_bit && !offer.message.is_ascii() {
            mail.push_str(" BODY=8BITMIME");
        }
        if offer.utf8 {
            mail.push_str(" SMTPUTF8");
        }
        mail.push_str("\r\n");
        let mut steps = Vec::with_capacity(4);
        if self.unfinished {
            steps.push((Step::Reset, "RSET\r\n".to_owned()));
        }
        steps.push((Step::MailFrom, mail));
        steps.push((Step::RcptTo, format!("RCPT TO:<{}>\r\n", offer.to)));
        steps.push((Step::Data, "DATA\r\n".to_owned()));
        steps
    }

    /// All commands in one write, then all replies (RFC 2920).
    async fn pipelined(&mut self, steps: &[(Step, String)]) -> Result<(), RelayFailure> {
        self.out.clear();
        for (_, command) in steps {
            self.out.extend_from_slice(command.as_bytes());
        }
        let first = steps.first().map_or(Step::MailFrom, |(step, _)| *step);
        let sent = self.wire.write(&self.out, self.timeouts.command).await;
        sent.map_err(|error| RelayFailure {
            not_attempted: true,
            ..RelayFailure::wire(first, error)
        })?;
        let mut failure = None;
        for (step, _) in steps {
            let reply = match self.next(*step, first).await {
                Ok(reply) => reply,
                // What was refused before the connection broke is still the answer.
                Err(lost) => return Err(failure.unwrap_or(lost)),
            };
            let verdict = self.class_of(*step, &reply);
            if *step == Step::Data && verdict == ReplyClass::Good && failure.is_some() {
                self.call_off(failure.as_ref()).await;
            } else if verdict != ReplyClass::Good && failure.is_none() {
                failure = Some(self.refusal(*step, first, reply));
            }
        }
        failure.map_or(Ok(()), Err)
    }

    /// A server may answer 354 although no recipient was accepted (RFC 2920 section 3.1): an empty
    /// message ends it. When the sender was refused, the client closes the connection.
    async fn call_off(&mut self, failure: Option<&RelayFailure>) {
        self.broken = true;
        if failure.is_some_and(|failure| failure.step == Step::RcptTo) {
            let ended = self.wire.ask(".\r\n", self.timeouts.command).await;
            self.broken = !ended.is_ok_and(|reply| reply.code != 421);
        }
    }

    async fn one_by_one(&mut self, steps: &[(Step, String)]) -> Result<(), RelayFailure> {
        let first = steps.first().map_or(Step::MailFrom, |(step, _)| *step);
        for (step, command) in steps {
            let sent = self
                .wire
                .write(command.as_bytes(), self.timeouts.command)
                .await;
            sent.map_err(|error| {
                self.broken = true;
                RelayFailure {
                    not_attempted: *step == first,
                    ..RelayFailure::wire(*step, error)
                }
            })?;
            let reply = self.next(*step, first).await?;
            if self.class_of(*step, &reply) != ReplyClass::Good {
                return Err(self.refusal(*step, first, reply));
            }
        }
        Ok(())
    }

    async fn next(&mut self, step: Step, first: Step) -> Result<RelayReply, RelayFailure> {
        let reply = self.wire.reply(self.timeouts.command).await;
        reply.map_err(|error| {
            self.broken = true;
            let not_attempted = step == first && !matches!(error, WireError::Silent(_));
            RelayFailure {
                not_attempted,
                ..RelayFailure::wire(step, error)
            }
        })
    }

    fn class_of(&mut self, step: Step, reply: &RelayReply) -> ReplyClass {
        self.broken = reply.code == 421;
        classify_reply(step, reply)
    }

    fn refusal(&self, step: Step, first: Step, reply: RelayReply) -> RelayFailure {
        RelayFailure {
            not_attempted: step == first && reply.code == 421,
            ..RelayFailure::refused(step, reply)
        }
    }

    async fn send_message(&mut self, message: &[u8]) -> Result<RelayReply, RelayFailure> {
        self.broken = true;
        let limit = self.timeouts.message;
        let written = timeout(limit, self.write_message(message)).await;
        if let Err(error) = written.unwrap_or(Err(WireError::Slow(limit))) {
            // A relay that hangs up in the middle may have said why.
            return match self.wire.reply(GRACE).await {
                Ok(reply) if !reply.is_positive() => {
                    Err(RelayFailure::refused(Step::Message, reply))
                }
                Ok(_) | Err(_) => Err(RelayFailure::wire(Step::Message, error)),
            };
        }
        let reply = self.wire.reply(self.timeouts.accept).await;
        reply.map_err(|error| RelayFailure::wire(Step::Message, error))
    }

    async fn write_message(&mut self, message: &[u8]) -> Result<(), WireError> {
        let limit = self.timeouts.block;
        let mut out = std::mem::take(&mut self.out);
        out.clear();
        let mut stuffing = Stuffing::new();
        for piece in message.chunks(PIECE) {
            if out.len() >= PIECE {
                self.wire.write(&out, limit).await?;
                out.clear();
            }
            stuffing.push(piece, &mut out);
        }
        stuffing.finish(&mut out);
        self.wire.write(&out, limit).await?;
        // The buffer is reused, unless one long-lined message made it too large.
        if out.capacity() <= 4 * PIECE {
            self.out = out;
        }
        Ok(())
    }
}
