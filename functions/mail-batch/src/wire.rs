//! The JSON of this function.

use posthaste_model::batch::{BatchStatus, Hold, MessageTimes, PartFate, PartStage, under};
use posthaste_model::{MessageId, Problem, Problems, Timestamp};
use posthaste_store::{BatchListing, ScheduledPart, WaitingDetails};
use serde::{Deserialize, Serialize};

use crate::fail;

/// `{batch_id}`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Batch {
    pub(crate) batch_id: String,
}

/// A batch and its requested status.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Scheduled {
    pub(crate) batch_id: String,
    #[cfg_attr(test, schemars(with = "String", extend("enum" = ["cancel", "pause"])))]
    pub(crate) status: BatchStatus,
}

/// The body of POST.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CreateBatch {
    batch_id: Option<String>,
    status: Option<String>,
}

impl CreateBatch {
    /// The batch id as it was given, and the status.
    pub(crate) fn check(self) -> Result<(String, BatchStatus), Problems> {
        let mut found = Problems::default();
        let batch = self.batch_id.filter(|id| !id.is_empty());
        found.unless(batch.is_some(), "batch_id", fail::MISSING);
        let status = status(self.status, &mut found);
        found.into_result()?;
        // Both are there, or something was found.
        Ok((
            batch.unwrap_or_default(),
            status.unwrap_or(BatchStatus::Pause),
        ))
    }
}

/// The body of PATCH for a batch.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Update {
    status: Option<String>,
}

impl Update {
    pub(crate) fn check(self) -> Result<BatchStatus, Problems> {
        let mut found = Problems::default();
        let status = status(self.status, &mut found);
        found.into_result()?;
        Ok(status.unwrap_or(BatchStatus::Pause))
    }
}

fn status(given: Option<String>, found: &mut Problems) -> Option<BatchStatus> {
    let Some(word) = given.filter(|word| !word.is_empty()) else {
        found.add("status", fail::MISSING);
        return None;
    };
    let status = BatchStatus::from_word(&word);
    found.unless(status.is_some(), "status", "status must be pause or cancel");
    status
}

/// The body of PATCH for a message.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Shift {
    send_at: Option<i64>,
}

impl Shift {
    /// The new time; one in the past means now.
    pub(crate) fn check(self, now: Timestamp, horizon: i64) -> Result<Timestamp, Problems> {
        let mut found = Problems::default();
        let at = self.send_at.map_or(now, |at| Timestamp(at).max(now));
        found.unless(self.send_at.is_some(), "send_at", fail::MISSING);
        if at.since(now) > horizon {
            let hours = horizon / 3600;
            found.push(Problem::on(
                "send_at",
                format!("Scheduling more than {hours} hours in advance is forbidden."),
            ));
        }
        found.into_result().map(|()| at)
    }
}

/// The state of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MessageState {
    Scheduled,
    /// Its batch is paused.
    Paused,
    Cancelled,
    /// It was paused for too long.
    Expired,
    /// Its delivery began; its events report the result.
    Sent,
}

/// The state of a message that waits under this hold.
fn waiting(hold: Option<Hold>, message: MessageTimes, now: Timestamp) -> MessageState {
    match under(hold, message, now) {
        PartFate::Deliver | PartFate::Move(_) | PartFate::Ignore => MessageState::Scheduled,
        PartFate::Hold => MessageState::Paused,
        PartFate::Discard(reason) => settled(reason.stage()).unwrap_or(MessageState::Cancelled),
    }
}

fn settled(stage: PartStage) -> Option<MessageState> {
    match stage {
        PartStage::Waiting => None,
        PartStage::Gone => Some(MessageState::Sent),
        PartStage::Cancelled => Some(MessageState::Cancelled),
        PartStage::Expired => Some(MessageState::Expired),
    }
}

/// What a batch holds.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Listing {
    pub(crate) batch_id: String,
    pub(crate) messages: Vec<BatchEntry>,
    /// `after` of the next page.
    pub(crate) next: Option<String>,
}

/// One entry of it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct BatchEntry {
    #[cfg_attr(test, schemars(with = "String"))]
    message_id: MessageId,
    #[cfg_attr(test, schemars(with = "i64"))]
    send_at: Timestamp,
    recipients: u32,
    status: MessageState,
}

impl BatchEntry {
    pub(crate) fn new(entry: BatchListing, hold: Option<Hold>, now: Timestamp) -> Self {
        Self {
            status: waiting(hold, entry.times(), now),
            message_id: entry.message,
            send_at: entry.at,
            recipients: entry.recipients,
        }
    }
}

/// Scheduled mails of the account that have not left.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct WaitingList {
    pub(crate) messages: Vec<WaitingEntry>,
    /// `after` of the next page.
    pub(crate) next: Option<String>,
}

/// The part of a scheduled mail that is to be sent at one second.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct WaitingEntry {
    #[cfg_attr(test, schemars(with = "String"))]
    message_id: MessageId,
    #[cfg_attr(test, schemars(with = "i64"))]
    send_at: Timestamp,
    recipients: u32,
    batch_id: Option<String>,
    status: MessageState,
    /// When the mail was accepted.
    #[cfg_attr(test, schemars(with = "i64"))]
    created: Timestamp,
    /// Of the first recipient, as the two below; `null` for a key that may not read the activity.
    to_email: Option<String>,
    from_email: Option<String>,
    subject: Option<String>,
}

impl WaitingEntry {
    pub(crate) fn new(
        part: &ScheduledPart,
        created: Timestamp,
        hold: Option<Hold>,
        now: Timestamp,
        details: Option<WaitingDetails<'_>>,
    ) -> Self {
        Self {
            message_id: part.message.clone(),
            send_at: part.at,
            recipients: part.recipients,
            batch_id: part.batch.as_ref().map(|batch| batch.as_str().to_owned()),
            status: waiting(hold, part.times(), now),
            created,
            to_email: details.map(|own| own.copy.to.clone()),
            from_email: details.map(|own| own.from.to_owned()),
            subject: details.map(|own| own.subject.to_owned()),
        }
    }
}

/// One scheduled mail.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ScheduledMessage {
    #[cfg_attr(test, schemars(with = "String"))]
    pub(crate) message_id: MessageId,
    pub(crate) sends: Vec<Send>,
}

/// The part of a scheduled mail that is sent at one second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Send {
    #[cfg_attr(test, schemars(with = "i64"))]
    pub send_at: Timestamp,
    pub recipients: u32,
    pub batch_id: Option<String>,
    pub status: MessageState,
}

impl Send {
    pub(crate) fn new(part: ScheduledPart, hold: Option<Hold>, now: Timestamp) -> Self {
        let status = settled(part.stage).unwrap_or_else(|| waiting(hold, part.times(), now));
        Self {
            send_at: part.at,
            recipients: part.recipients,
            batch_id: part.batch.map(String::from),
            status,
        }
    }
}
