//! Converts the relay's reply, or its absence, to the attempt; and explains a reply to a person: what
//! the service would do with it, and why.

use posthaste_model::BounceType;

use super::connection::{RelayFailure, Why};
use super::reply_class::{ReplyClass, Step, cause_of, classify_reply};
use crate::reply::RelayReply;
use crate::{Attempt, Cause, EnhancedStatus, RefusalMeaning, RefusalStage, meaning};

pub(super) fn accepted(reply: &RelayReply, ip: Option<String>, tls: bool) -> Attempt {
    Attempt::Accepted {
        code: reply.code,
        response: reply.line(),
        ip,
        tls,
    }
}

/// What the relay would answer (RFC 1870 section 6.1), without sending the mail first.
pub(super) fn too_long(longest: u64, ip: Option<String>, tls: bool) -> Attempt {
    Attempt::Bounced {
        code: 552,
        response: format!("552 5.3.4 the relay takes mails of at most {longest} octets"),
        status: Some(EnhancedStatus::new(5, 3, 4)),
        stage: RefusalStage::Data,
        ip,
        tls,
    }
}

pub(super) fn attempt_of(failure: RelayFailure, ip: Option<String>, tls: bool) -> Attempt {
    let (reply, verdict) = match failure.why {
        Why::Refused(reply) => {
            let verdict = classify_reply(failure.step, &reply);
            (reply, verdict)
        }
        Why::Wire(error) => return lost(error.to_string(), cause_of(failure.step), ip),
        Why::Local(text) => return lost(text, Cause::Relay, ip),
    };
    let cause = match verdict {
        ReplyClass::Bounced(stage) => {
            return Attempt::Bounced {
                code: reply.code,
                response: reply.line(),
                status: reply.status(),
                stage,
                ip,
                tls,
            };
        }
        ReplyClass::Throttled(limit) => {
            let response = reply.line();
            return Attempt::Throttled { response, limit };
        }
        ReplyClass::Deferred(cause) => cause,
        ReplyClass::Good => Cause::Relay,
    };
    Attempt::Deferred {
        response: reply.line(),
        status: reply.status(),
        cause,
        ip,
    }
}

/// What broke, or what the relay said.
pub(super) fn reason(failure: RelayFailure) -> String {
    match failure.why {
        Why::Refused(reply) => reply.line(),
        Why::Wire(error) => error.to_string(),
        Why::Local(text) => text,
    }
}

fn lost(response: String, cause: Cause, ip: Option<String>) -> Attempt {
    Attempt::Deferred {
        response,
        status: None,
        cause,
        ip,
    }
}

/// When in the conversation a relay replied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmtpStage {
    /// The greeting, EHLO, STARTTLS, AUTH.
    Connect,
    /// MAIL FROM.
    Mail,
    /// RCPT TO.
    Rcpt,
    /// DATA, and the message.
    Data,
}

/// What the service does with a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The reply on one line.
    pub response: String,
    pub status: Option<EnhancedStatus>,
    pub fate: Fate,
    /// The row of the table, and what it says. A reply that defers has no type or classification
    /// in the v3 API: these would be its own if it was for good.
    pub meaning: RefusalMeaning,
}

/// What becomes of the mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It goes on.
    Accepted,
    /// It is tried again, for as long as 72 hours.
    Deferred(Cause),
    /// It is not tried again.
    Refused(BounceType),
}

/// Reads a reply as a log shows it, of one line or several; `None` when it has no reply code.
pub fn explain(reply: &str, stage: SmtpStage) -> Option<Explained> {
    let mut lines = reply.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next()?;
    let code: u16 = first.get(..3)?.parse().ok()?;
    if !(200..600).contains(&code) {
        return None;
    }
    let text = |line: &str| match line.get(..3) {
        Some(digits) if digits.parse() == Ok(code) => {
            let rest = line.get(3..).unwrap_or_default();
            let rest = rest.strip_prefix(['-', ' ']).unwrap_or(rest);
            rest.to_owned()
        }
        Some(_) | None => line.to_owned(),
    };
    let lines = std::iter::once(first).chain(lines).map(text).collect();
    let reply = RelayReply { code, lines };
    let (step, about) = match stage {
        SmtpStage::Connect => (Step::Connect, RefusalStage::Data),
        SmtpStage::Mail => (Step::MailFrom, RefusalStage::Data),
        SmtpStage::Rcpt => (Step::RcptTo, RefusalStage::Rcpt),
        SmtpStage::Data => (Step::Message, RefusalStage::Data),
    };
    let response = reply.line();
    let meaning = meaning(code, reply.status(), &response, about);
    let fate = match classify_reply(step, &reply) {
        ReplyClass::Good => Fate::Accepted,
        ReplyClass::Deferred(cause) => Fate::Deferred(cause),
        ReplyClass::Throttled(_) => Fate::Deferred(Cause::Relay),
        ReplyClass::Bounced(_) => Fate::Refused(meaning.kind),
    };
    Some(Explained {
        response,
        status: reply.status(),
        fate,
        meaning,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_of_a_log_is_read_as_the_relay_sent_it() {
        for (reply, stage, response, fate) in [
            (
                "550-5.1.1 no such\r\n550 5.1.1 user",
                SmtpStage::Rcpt,
                "550 5.1.1 no such user",
                Fate::Refused(BounceType::Bounce),
            ),
            (
                " 550-5.7.1 spam",
                SmtpStage::Data,
                "550 5.7.1 spam",
                Fate::Refused(BounceType::Blocked),
            ),
            (
                "550 5.1.1 no such\n  user",
                SmtpStage::Rcpt,
                "550 5.1.1 no such user",
                Fate::Refused(BounceType::Bounce),
            ),
            (
                "550 no such user",
                SmtpStage::Mail,
                "550 no such user",
                Fate::Deferred(Cause::Sender),
            ),
            (
                "451 later",
                SmtpStage::Rcpt,
                "451 later",
                Fate::Deferred(Cause::Recipient),
            ),
            (
                "554",
                SmtpStage::Connect,
                "554",
                Fate::Deferred(Cause::Relay),
            ),
            ("250 ok", SmtpStage::Rcpt, "250 ok", Fate::Accepted),
        ] {
            let got = explain(reply, stage).unwrap();
            assert_eq!((got.response.as_str(), got.fate), (response, fate));
        }
        for reply in ["", "\n", "no", "User unknown", "999 x", "55é x"] {
            assert_eq!(explain(reply, SmtpStage::Rcpt), None, "{reply:?}");
        }
    }
}
