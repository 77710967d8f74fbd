//! Converts the relay's reply, or its absence, to the attempt.

use super::connection::{RelayFailure, Why};
use super::reply_class::{ReplyClass, classify_reply};
use crate::reply::RelayReply;
use crate::{Attempt, Cause, EnhancedStatus, RefusalStage};

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
        Why::Trouble(trouble) => return lost(trouble.to_string(), ip),
        Why::Ours(text) => return lost(text, ip),
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

fn lost(response: String, ip: Option<String>) -> Attempt {
    Attempt::Deferred {
        response,
        status: None,
        cause: Cause::Relay,
        ip,
    }
}
