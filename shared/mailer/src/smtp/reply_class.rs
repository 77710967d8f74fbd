//! Attributes a refusal to the mail or to the connection. Pure: a step, a reply, a verdict.
//!
//! A wrong verdict is expensive in one direction: a bounce may suppress an address for good. So
//! every refusal that may be a local failure counts as one: all refusals before RCPT, and those at
//! RCPT and later that concern the login or the right to relay.

use crate::reply::RelayReply;
use crate::{Cause, EnhancedStatus, RefusalStage, SendLimit};

/// The step of the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// TCP, the greeting, EHLO, STARTTLS, AUTH.
    Connect,
    /// RSET before a mail on a connection that has seen a failed one.
    Reset,
    MailFrom,
    RcptTo,
    /// The command, before any byte of the message.
    Data,
    /// After the final dot.
    Message,
}

/// What a reply means for the mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplyClass {
    /// Go on; after the message: accepted.
    Good,
    Deferred(Cause),
    /// SES's SMTP interface: the rate or the quota is used up.
    Throttled(SendLimit),
    Bounced(RefusalStage),
}

pub(super) fn classify_reply(step: Step, reply: &RelayReply) -> ReplyClass {
    let wanted = if step == Step::Data { 3 } else { 2 };
    match reply.code / 100 {
        class if class == wanted => ReplyClass::Good,
        // `454 Throttling failure: …`.
        4 if reply.text().starts_with("Throttling failure") => {
            let limit = SendLimit::of_text(&reply.text());
            ReplyClass::Throttled(limit.unwrap_or(SendLimit::Rate))
        }
        // 421 means that the relay closes the connection, whatever the command.
        4 if reply.code == 421 => ReplyClass::Deferred(cause_of(step)),
        4 if step >= Step::RcptTo => ReplyClass::Deferred(Cause::Recipient),
        // `450 4.1.8 Sender address rejected: Domain not found`, `451 4.7.1 …`.
        4 if step == Step::MailFrom && is_about_sender(reply) => {
            ReplyClass::Deferred(Cause::Sender)
        }
        5 => refusal(step, reply),
        _ => ReplyClass::Deferred(Cause::Relay),
    }
}

/// The cause of a connection that breaks at this step.
pub(super) fn cause_of(step: Step) -> Cause {
    match step {
        Step::Connect | Step::Reset => Cause::Relay,
        Step::MailFrom | Step::RcptTo | Step::Data | Step::Message => Cause::Mail,
    }
}

fn refusal(step: Step, reply: &RelayReply) -> ReplyClass {
    let about_size = reply.code == 552 || reply.status() == Some(EnhancedStatus::new(5, 3, 4));
    match step {
        // RFC 1870 section 6.1: the announced size is refused at MAIL FROM, for good.
        Step::MailFrom if about_size => ReplyClass::Bounced(RefusalStage::Data),
        Step::Connect | Step::Reset => ReplyClass::Deferred(Cause::Relay),
        _ if is_about_login(reply) => ReplyClass::Deferred(Cause::Relay),
        Step::MailFrom => ReplyClass::Deferred(Cause::Sender),
        Step::RcptTo | Step::Data | Step::Message if denies_relaying(reply) => {
            ReplyClass::Deferred(Cause::Sender)
        }
        Step::RcptTo => ReplyClass::Bounced(RefusalStage::Rcpt),
        Step::Data | Step::Message => ReplyClass::Bounced(RefusalStage::Data),
    }
}

/// Whether the enhanced code is about an address or a policy, not about the relay's own system.
fn is_about_sender(reply: &RelayReply) -> bool {
    reply
        .status()
        .is_some_and(|status| matches!(status.subject, 1 | 7))
}

/// Replies that are about the conversation or the login, so that no mail would be taken.
fn is_about_login(reply: &RelayReply) -> bool {
    // 500, 502, 503, 504: commands out of order or unknown (RFC 5321 section 4.2.2);
    // 530, 534, 535, 538: login wanted, too weak, wrong, not without TLS (RFC 4954 section 6).
    matches!(reply.code, 500 | 502 | 503 | 504 | 530 | 534 | 535 | 538)
        || reply.status() == Some(EnhancedStatus::new(5, 7, 8))
}

/// Replies that are about the right to relay, not about the mail. A relay may give it for some
/// senders and recipients alone, so other mail may pass.
fn denies_relaying(reply: &RelayReply) -> bool {
    let text = reply.text().to_ascii_lowercase();
    // Of the recipient: Exchange's mailboxes that take mail only from inside, and disused ones.
    let theirs = ["resolver.rst.", "delivery restriction", "has not logged in"];
    if theirs.iter().any(|phrase| text.contains(phrase)) {
        return false;
    }
    [
        "relay access denied",
        "relaying denied",
        "relay denied",
        "relay not permitted",
        "relaying not allowed",
        "unable to relay",
        "not permitted to relay",
        "not allowed to relay",
        "does not accept relay",
        "authentication required",
        "authentication is required",
        "must authenticate",
        "not logged in",
    ]
    .iter()
    .any(|phrase| text.contains(phrase))
}

impl Step {
    const fn order(self) -> u8 {
        match self {
            Self::Connect => 0,
            Self::Reset => 1,
            Self::MailFrom => 2,
            Self::RcptTo => 3,
            Self::Data => 4,
            Self::Message => 5,
        }
    }
}

impl PartialOrd for Step {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.order().cmp(&other.order()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::Replies;

    fn verdict(step: Step, line: &str) -> ReplyClass {
        let mut bytes = bytes::BytesMut::from(format!("{line}\r\n").as_bytes());
        classify_reply(step, &Replies::default().take(&mut bytes).unwrap().unwrap())
    }

    #[test]
    fn every_step_reads_every_class() {
        use Cause::{Mail, Recipient, Relay, Sender};
        use ReplyClass::{Bounced, Deferred, Good, Throttled};
        use Step::{Connect, Data, MailFrom, Message, RcptTo, Reset};
        for (step, line, want) in [
            (Connect, "220 mx ready", Good),
            (Connect, "554 no service", Deferred(Relay)),
            (Connect, "450 come back", Deferred(Relay)),
            (Connect, "535 5.7.8 bad login", Deferred(Relay)),
            (Connect, "530 STARTTLS first", Deferred(Relay)),
            (Connect, "421 too busy", Deferred(Relay)),
            (Connect, "354 what", Deferred(Relay)),
            (Reset, "250 ok", Good),
            (Reset, "500 what", Deferred(Relay)),
            (MailFrom, "250 ok", Good),
            (MailFrom, "550 sender refused", Deferred(Sender)),
            (MailFrom, "553 5.7.1 not owned by user", Deferred(Sender)),
            (MailFrom, "450 4.1.8 domain not found", Deferred(Sender)),
            (MailFrom, "530 5.7.0 login first", Deferred(Relay)),
            (
                MailFrom,
                "454 Throttling failure: Maximum sending rate exceeded",
                Throttled(SendLimit::Rate),
            ),
            (MailFrom, "451 later", Deferred(Relay)),
            (MailFrom, "452 4.3.1 disk full", Deferred(Relay)),
            (MailFrom, "552 too big", Bounced(RefusalStage::Data)),
            (MailFrom, "550 5.3.4 too big", Bounced(RefusalStage::Data)),
            (RcptTo, "250 ok", Good),
            (RcptTo, "251 will forward", Good),
            (RcptTo, "450 4.2.0 greylisted", Deferred(Recipient)),
            (RcptTo, "421 4.3.2 going down", Deferred(Mail)),
            (
                RcptTo,
                "550 5.1.1 no such user",
                Bounced(RefusalStage::Rcpt),
            ),
            (RcptTo, "501 5.1.3 bad syntax", Bounced(RefusalStage::Rcpt)),
            (RcptTo, "556 5.1.10 null MX", Bounced(RefusalStage::Rcpt)),
            (RcptTo, "530 5.7.0 login first", Deferred(Relay)),
            (RcptTo, "503 5.5.1 MAIL first", Deferred(Relay)),
            (
                RcptTo,
                "554 5.7.1 <a@b.c>: Relay access denied",
                Deferred(Sender),
            ),
            (RcptTo, "550 5.7.1 Unable to relay", Deferred(Sender)),
            (RcptTo, "550 5.7.8 who are you", Deferred(Relay)),
            (
                Message,
                "550 5.7.1 RESOLVER.RST.AuthRequired; authentication required",
                Bounced(RefusalStage::Data),
            ),
            (
                RcptTo,
                "550 5.7.1 blocked by policy",
                Bounced(RefusalStage::Rcpt),
            ),
            (RcptTo, "354 what", Deferred(Relay)),
            (Data, "354 go", Good),
            (Data, "250 what", Deferred(Relay)),
            (Data, "451 4.7.1 later", Deferred(Recipient)),
            (Data, "554 no valid recipients", Bounced(RefusalStage::Data)),
            (Data, "503 RCPT first", Deferred(Relay)),
            (Message, "250 2.0.0 queued", Good),
            (Message, "451 4.7.1 greylisted", Deferred(Recipient)),
            (Message, "421 bye", Deferred(Mail)),
            (
                Message,
                "454 Throttling failure: Maximum sending rate exceeded.",
                Throttled(SendLimit::Rate),
            ),
            (
                Message,
                "454 Throttling failure: Daily message quota exceeded",
                Throttled(SendLimit::Day),
            ),
            (Message, "454 4.7.1 later", Deferred(Recipient)),
            (Message, "550 5.7.1 spam", Bounced(RefusalStage::Data)),
            (Message, "552 5.2.2 full", Bounced(RefusalStage::Data)),
            (Message, "354 what", Deferred(Relay)),
        ] {
            assert_eq!(verdict(step, line), want, "{step:?} {line}");
        }
    }
}
