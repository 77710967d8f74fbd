//! Events that SES publishes about mail it accepted (SES developer guide, "Contents of event
//! data").
//!
//! Message tags set at hand-over identify the copy: SES replaces the Message-ID. Opens and clicks
//! are counted by the service's own links, so those of SES are ignored.

use std::collections::BTreeMap;

use posthaste_mailer::{Classification, RefusalStage, TAG_ACCOUNT, TAG_MESSAGE, TAG_RECIPIENT};
use posthaste_model::{AccountId, BounceType, MessageId, Timestamp};
use serde::Deserialize;

use crate::judge;
use crate::word::{Says, SesFeedback};

/// The tag that SES sets to the address it sent from.
const OUTGOING_IP: &str = "ses:outgoing-ip";

/// An event as EventBridge delivers it.
#[derive(Debug, Deserialize)]
pub(crate) struct Bridged {
    detail: Detail,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Detail {
    event_type: String,
    mail: SesMail,
    bounce: Option<Bounce>,
    complaint: Option<Complaint>,
    delivery: Option<Delivery>,
    delivery_delay: Option<Delay>,
    reject: Option<Reject>,
    failure: Option<SesFailure>,
}

#[derive(Debug, Deserialize)]
struct SesMail {
    timestamp: Option<String>,
    #[serde(default)]
    destination: Vec<String>,
    #[serde(default)]
    tags: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Bounce {
    #[serde(default)]
    bounce_type: String,
    #[serde(default)]
    bounce_sub_type: String,
    #[serde(default)]
    bounced_recipients: Vec<RefusedRecipient>,
    timestamp: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RefusedRecipient {
    status: Option<String>,
    diagnostic_code: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Complaint {
    complaint_sub_type: Option<String>,
    complaint_feedback_type: Option<String>,
    timestamp: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Delivery {
    smtp_response: Option<String>,
    timestamp: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Delay {
    #[serde(default)]
    delay_type: String,
    #[serde(default)]
    delayed_recipients: Vec<RefusedRecipient>,
    timestamp: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Reject {
    reason: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SesFailure {
    error_message: Option<String>,
}

impl Bridged {
    /// The feedback in the event; `None` when it concerns a mail that is not ours, or is
    /// irrelevant.
    pub(crate) fn word(self, now: Timestamp) -> Option<SesFeedback> {
        let Self { detail } = self;
        let tag = |name: &str| detail.mail.tags.get(name)?.first().map(String::as_str);
        let account = AccountId::parse(tag(TAG_ACCOUNT)?).ok()?;
        let message = MessageId::parse(tag(TAG_MESSAGE)?).ok()?;
        let recipient = tag(TAG_RECIPIENT)?.parse().ok()?;
        let ip = tag(OUTGOING_IP).map(str::to_owned);
        let email = detail.mail.destination.first().cloned();
        let sent = detail.mail.timestamp.clone();
        let (says, at) = detail.says(ip)?;
        let at = at.or(sent).and_then(|text| Timestamp::from_iso(&text));
        Some(SesFeedback {
            account,
            message,
            recipient,
            email,
            at: at.unwrap_or(now),
            says,
        })
    }
}

impl Detail {
    /// What happened, and when.
    fn says(self, ip: Option<String>) -> Option<(Says, Option<String>)> {
        match self.event_type.as_str() {
            "Send" => Some((Says::Handed, None)),
            "Delivery" => {
                let delivery = self.delivery?;
                let response = delivery.smtp_response.as_deref().map(judge::words);
                Some((Says::Delivered { response, ip }, delivery.timestamp))
            }
            "DeliveryDelay" => {
                let delay = self.delivery_delay?;
                Some((delayed(&delay), delay.timestamp))
            }
            "Bounce" => {
                let bounce = self.bounce?;
                Some((returned(&bounce), bounce.timestamp))
            }
            "Complaint" => {
                let complaint = self.complaint?;
                Some((complained(&complaint)?, complaint.timestamp))
            }
            // The v3 API has no reason for a virus; SES calls this "Bad content".
            "Reject" => {
                let why = self.reject.and_then(|reject| reject.reason);
                tracing::warn!("SES rejected a mail: {}", why.unwrap_or_default());
                let reason = "Spam Content".to_owned();
                Some((Says::Dropped { reason }, None))
            }
            "Rendering Failure" => {
                let why = self.failure.and_then(|failure| failure.error_message);
                let reason = judge::words(&why.unwrap_or_else(|| "Rendering Failure".to_owned()));
                Some((Says::Dropped { reason }, None))
            }
            // `Open`, `Click`, `Subscription`, and types that SES may add.
            _ => None,
        }
    }
}

fn delayed(delay: &Delay) -> Says {
    let who = delay.delayed_recipients.first();
    let said = who.and_then(|who| who.diagnostic_code.as_deref());
    let response = judge::words(said.unwrap_or(&delay.delay_type));
    let status = who.and_then(|who| who.status.clone());
    Says::Deferred { response, status }
}

fn returned(bounce: &Bounce) -> Says {
    let dropped = |reason: &str| Says::Dropped {
        reason: reason.to_owned(),
    };
    match bounce.bounce_sub_type.as_str() {
        // SES has suppression lists of its own and did not try.
        "Suppressed" | "OnAccountSuppressionList" => return dropped("Bounced Address"),
        "UnsubscribedRecipient" => return dropped("Unsubscribed Address"),
        _ => {}
    }
    let nobody = RefusedRecipient::default();
    let who = bounce.bounced_recipients.first().unwrap_or(&nobody);
    let permanent = bounce.bounce_type == "Permanent";
    let stage = match permanent {
        true => RefusalStage::Rcpt,
        false => RefusalStage::Data,
    };
    let said = who.diagnostic_code.as_deref();
    let mut bounced = judge::bounced(who.status.as_deref(), said, stage);
    if said.is_none() {
        bounced.class = class(&bounce.bounce_sub_type).unwrap_or(bounced.class);
        bounced.kind = match bounced.kind {
            BounceType::Expired => BounceType::Expired,
            BounceType::Bounce | BounceType::Blocked if permanent => BounceType::Bounce,
            BounceType::Bounce | BounceType::Blocked => BounceType::Blocked,
        };
    }
    if !permanent && bounced.kind == BounceType::Bounce {
        // According to SES another mail may be accepted.
        bounced.kind = BounceType::Blocked;
    }
    Says::Bounced(bounced)
}

/// The classification for SES's bounce subtype, when the other server's response is missing.
fn class(sub_type: &str) -> Option<&'static str> {
    Some(match sub_type {
        "NoEmail" => Classification::InvalidAddress.as_str(),
        "MailboxFull" => Classification::MailboxUnavailable.as_str(),
        "MessageTooLarge" | "ContentRejected" | "AttachmentRejected" => {
            Classification::Content.as_str()
        }
        _ => return None,
    })
}

fn complained(complaint: &Complaint) -> Option<Says> {
    if complaint.complaint_sub_type.as_deref() == Some("OnAccountSuppressionList") {
        return Some(Says::Dropped {
            reason: "Spam Reporting Address".to_owned(),
        });
    }
    // The recipient moved a mail out of the spam folder.
    let praise = complaint.complaint_feedback_type.as_deref() == Some("not-spam");
    (!praise).then_some(Says::Complained)
}
