//! Events that SES publishes about mail it accepted (SES developer guide, "Contents of event
//! data").
//!
//! Message tags set at hand-over identify the copy: SES replaces the Message-ID. Opens and clicks
//! are counted by the service's own links, so those of SES are ignored.

use std::collections::BTreeMap;

use posthaste_mailer::{RefusalStage, TAG_ACCOUNT, TAG_MESSAGE, TAG_RECIPIENT};
use posthaste_model::{AccountId, BounceType, Classification, DropReason, MessageId, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use crate::classify;
use crate::feedback::{FeedbackKind, SesFeedback};

/// The tag that SES sets to the address it sent from.
const OUTGOING_IP: &str = "ses:outgoing-ip";

/// An event as SES publishes it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SesEvent {
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

/// SES fills these in from the delivery report, if the other server sent one.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RefusedRecipient {
    action: Option<String>,
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

impl SesEvent {
    /// The event in a message: from SNS, or from EventBridge inside of its envelope, as the first
    /// release had it. `None` for any other message.
    ///
    /// # Errors
    /// When an event does not have the form of SES's documentation.
    pub(crate) fn in_message(message: &Value) -> Option<Result<Self, serde_json::Error>> {
        let is_bridged = message.get("source").is_some_and(|name| name == "aws.ses");
        let event = if is_bridged {
            message.get("detail").unwrap_or(message)
        } else {
            message.get("eventType").and(Some(message))?
        };
        Some(Self::deserialize(event))
    }

    /// The feedback in the event; `None` when it concerns a mail that is not ours, or is
    /// irrelevant.
    pub(crate) fn feedback(self, now: Timestamp) -> Option<SesFeedback> {
        let event = self;
        let tag = |name: &str| event.mail.tags.get(name)?.first().map(String::as_str);
        let account = AccountId::parse(tag(TAG_ACCOUNT)?).ok()?;
        let message = MessageId::parse(tag(TAG_MESSAGE)?).ok()?;
        let recipient = tag(TAG_RECIPIENT)?.parse().ok()?;
        let ip = tag(OUTGOING_IP).map(str::to_owned);
        let email = event.mail.destination.first().cloned();
        let sent = event.mail.timestamp.clone();
        let (kind, at) = event.what_and_when(ip)?;
        let at = at.or(sent).and_then(|text| Timestamp::from_iso(&text));
        Some(SesFeedback {
            account,
            message,
            recipient,
            email,
            at: at.unwrap_or(now),
            kind,
        })
    }
}

impl SesEvent {
    /// What happened, and when.
    fn what_and_when(self, ip: Option<String>) -> Option<(FeedbackKind, Option<String>)> {
        match self.event_type.as_str() {
            "Send" => Some((FeedbackKind::Handed, None)),
            "Delivery" => {
                let delivery = self.delivery?;
                let response = delivery.smtp_response.as_deref().map(classify::words);
                Some((FeedbackKind::Delivered { response, ip }, delivery.timestamp))
            }
            "DeliveryDelay" => {
                let delay = self.delivery_delay?;
                Some((delayed(&delay), delay.timestamp))
            }
            "Bounce" => {
                let bounce = self.bounce?;
                Some((returned(&bounce)?, bounce.timestamp))
            }
            "Complaint" => {
                let complaint = self.complaint?;
                Some((complained(&complaint)?, complaint.timestamp))
            }
            // The v3 API has no reason for a virus; SES calls this "Bad content".
            "Reject" => {
                let why = self.reject.and_then(|reject| reject.reason);
                tracing::warn!("SES rejected a mail: {}", why.unwrap_or_default());
                let reason = DropReason::SpamContent;
                Some((FeedbackKind::Dropped { reason }, None))
            }
            "Rendering Failure" => {
                let why = self.failure.and_then(|failure| failure.error_message);
                let reason = why.map_or(DropReason::RenderingFailure, |why| {
                    DropReason::Unsendable(classify::words(&why))
                });
                Some((FeedbackKind::Dropped { reason }, None))
            }
            // `Open`, `Click`, `Subscription`, and types that SES may add.
            other => {
                tracing::debug!("an event of SES of type {other} is not used");
                None
            }
        }
    }
}

impl RefusedRecipient {
    /// Whether a delivery report names the recipient.
    fn is_reported(&self) -> bool {
        self.action.is_some() || self.status.is_some() || self.diagnostic_code.is_some()
    }
}

fn delayed(delay: &Delay) -> FeedbackKind {
    let who = delay.delayed_recipients.first();
    let said = who.and_then(|who| who.diagnostic_code.as_deref());
    let response = classify::words(said.unwrap_or(&delay.delay_type));
    let status = who.and_then(|who| who.status.clone());
    FeedbackKind::Deferred { response, status }
}

/// A bounce; `None` for an automatic reply.
///
/// SES reports automatic replies, such as out-of-office notes, as transient and general (SES
/// developer guide, "Amazon SES event notification contents", bounce types). They differ from
/// mails that did not arrive by the delivery report, which a note does not have.
fn returned(bounce: &Bounce) -> Option<FeedbackKind> {
    let dropped = |reason| Some(FeedbackKind::Dropped { reason });
    match bounce.bounce_sub_type.as_str() {
        // SES has suppression lists of its own and did not try.
        "Suppressed" | "OnAccountSuppressionList" => return dropped(DropReason::BouncedAddress),
        "UnsubscribedRecipient" => return dropped(DropReason::UnsubscribedAddress),
        _ => {}
    }
    let is_general = bounce.bounce_type == "Transient" && bounce.bounce_sub_type == "General";
    if is_general
        && !bounce
            .bounced_recipients
            .iter()
            .any(RefusedRecipient::is_reported)
    {
        tracing::info!("SES reports an automatic reply as a bounce; it is not recorded");
        return None;
    }
    let unnamed = RefusedRecipient::default();
    let who = bounce.bounced_recipients.first().unwrap_or(&unnamed);
    let permanent = bounce.bounce_type == "Permanent";
    let stage = if permanent {
        RefusalStage::Rcpt
    } else {
        RefusalStage::Data
    };
    let said = who.diagnostic_code.as_deref();
    let mut bounced = classify::bounced(who.status.as_deref(), said, stage);
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
    Some(FeedbackKind::Bounced(bounced))
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

fn complained(complaint: &Complaint) -> Option<FeedbackKind> {
    if complaint.complaint_sub_type.as_deref() == Some("OnAccountSuppressionList") {
        return Some(FeedbackKind::Dropped {
            reason: DropReason::SpamReportingAddress,
        });
    }
    // The recipient moved a mail out of the spam folder.
    let praise = complaint.complaint_feedback_type.as_deref() == Some("not-spam");
    (!praise).then_some(FeedbackKind::Complained)
}
