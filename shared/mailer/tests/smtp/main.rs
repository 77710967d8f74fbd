//! The SMTP client against relays that behave, refuse, hang, break and lie.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]
#![expect(clippy::too_many_lines, reason = "tables of cases")]

mod delivers;
mod encrypts;
mod pools;
mod raw;
mod refusals;

use std::time::Duration;

use posthaste_mailer::{
    Attempt, Cause, Envelope, Mailer, RefusalStage, Smtp, SmtpConfig, Tags, Timeouts,
};
use posthaste_model::{AccountId, EmailAddress, EnforcedTls, MessageId};
use posthaste_testkit::relay::Relay;

const SOON: Duration = Duration::from_secs(10);

fn envelope(to: &str) -> Envelope {
    Envelope {
        from: "b-1@bounce.test".to_owned(),
        to: EmailAddress::parse(to).unwrap(),
        foreign_sender: false,
        pool: None,
        enforced_tls: EnforcedTls::default(),
        tags: Tags {
            account: AccountId::from_bytes([1; 10]),
            message: MessageId::from_bytes([2; 16]),
            recipient: 0,
        },
    }
}

fn config(url: &str) -> SmtpConfig {
    SmtpConfig::new(url.parse().unwrap())
}

/// A client that loses patience soon.
fn hasty(url: &str) -> SmtpConfig {
    // Long enough for a busy machine to answer.
    let soon = Duration::from_secs(2);
    SmtpConfig {
        timeouts: Timeouts {
            connect: soon,
            command: soon,
            ready: soon * 5,
            block: soon,
            message: soon * 5,
            accept: soon,
        },
        ..config(url)
    }
}

fn mailer(config: SmtpConfig) -> Mailer {
    Mailer::Smtp(Smtp::new(config))
}

fn to_relay(relay: &Relay) -> Mailer {
    mailer(config(&relay.url()))
}

async fn hand_over(mailer: &Mailer, to: &str) -> Attempt {
    mailer
        .hand_over(&envelope(to), b"Subject: hi\r\n\r\nhi\r\n")
        .await
}

/// The attempt in one word or three.
fn outcome(attempt: &Attempt) -> String {
    match attempt {
        Attempt::Accepted { code, .. } => format!("accepted {code}"),
        Attempt::Handed { .. } => "handed to a service".to_owned(),
        Attempt::Deferred {
            cause: Cause::Recipient,
            ..
        } => "deferred by the recipient".to_owned(),
        Attempt::Deferred {
            cause: Cause::Sender,
            ..
        } => "deferred for its sender".to_owned(),
        Attempt::Throttled { limit, .. } => format!("throttled by {limit:?}"),
        Attempt::Unanswered { .. } => "unanswered".to_owned(),
        Attempt::Deferred {
            cause: Cause::Relay,
            ..
        } => "deferred by a relay error".to_owned(),
        Attempt::Deferred {
            cause: Cause::Mail, ..
        } => "deferred by an error at this mail".to_owned(),
        Attempt::Bounced {
            code,
            stage: RefusalStage::Rcpt,
            ..
        } => format!("bounced {code} at rcpt"),
        Attempt::Bounced {
            code,
            stage: RefusalStage::Data,
            ..
        } => format!("bounced {code} at data"),
        Attempt::Unsupported => "unsupported".to_owned(),
    }
}

fn response(attempt: &Attempt) -> &str {
    match attempt {
        Attempt::Accepted { response, .. }
        | Attempt::Handed { response }
        | Attempt::Throttled { response, .. }
        | Attempt::Unanswered { response }
        | Attempt::Deferred { response, .. }
        | Attempt::Bounced { response, .. } => response,
        Attempt::Unsupported => Attempt::UNSUPPORTED,
    }
}
