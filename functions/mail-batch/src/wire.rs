//! The JSON of this function.

use posthaste_model::batch::{Fate, Hold, Stage, Status, under};
use posthaste_model::{MessageId, Problem, Problems, Timestamp};
use posthaste_store::{Entry, Piece};
use serde::{Deserialize, Serialize};

use crate::fail;

/// `{batch_id}`.
#[derive(Serialize)]
pub(crate) struct Batch {
    pub(crate) batch_id: String,
}

/// A batch and what its owner wants of it.
#[derive(Serialize)]
pub(crate) struct Scheduled {
    pub(crate) batch_id: String,
    pub(crate) status: Status,
}

/// The body of POST.
#[derive(Deserialize)]
pub(crate) struct Create {
    batch_id: Option<String>,
    status: Option<String>,
}

impl Create {
    /// The batch id as it was given, and the status.
    pub(crate) fn check(self) -> Result<(String, Status), Problems> {
        let mut found = Problems::default();
        let batch = self.batch_id.filter(|id| !id.is_empty());
        found.unless(batch.is_some(), "batch_id", fail::MISSING);
        let status = status(self.status, &mut found);
        found.into_result()?;
        // Both are there, or something was found.
        Ok((batch.unwrap_or_default(), status.unwrap_or(Status::Pause)))
    }
}

/// The body of PATCH for a batch.
#[derive(Deserialize)]
pub(crate) struct Update {
    status: Option<String>,
}

impl Update {
    pub(crate) fn check(self) -> Result<Status, Problems> {
        let mut found = Problems::default();
        let status = status(self.status, &mut found);
        found.into_result()?;
        Ok(status.unwrap_or(Status::Pause))
    }
}

fn status(given: Option<String>, found: &mut Problems) -> Option<Status> {
    let Some(word) = given.filter(|word| !word.is_empty()) else {
        found.add("status", fail::MISSING);
        return None;
    };
    let status = Status::from_word(&word);
    found.unless(status.is_some(), "status", "status must be pause or cancel");
    status
}

/// The body of PATCH for a message.
#[derive(Deserialize)]
pub(crate) struct Shift {
    send_at: Option<i64>,
}

impl Shift {
    /// The second it is to leave; one in the past means now.
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

/// Where a message stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    Scheduled,
    Paused,
    Cancelled,
    Expired,
    /// Its delivery began; its events tell how it went.
    Sent,
}

/// Where a message stands that waits under this hold.
fn waiting(hold: Option<Hold>, at: Timestamp, now: Timestamp) -> State {
    match under(hold, at, now) {
        Fate::Deliver | Fate::Move(_) | Fate::Ignore => State::Scheduled,
        Fate::Hold => State::Paused,
        Fate::Discard(reason) => settled(reason.stage()).unwrap_or(State::Cancelled),
    }
}

fn settled(stage: Stage) -> Option<State> {
    match stage {
        Stage::Waiting => None,
        Stage::Gone => Some(State::Sent),
        Stage::Cancelled => Some(State::Cancelled),
        Stage::Expired => Some(State::Expired),
    }
}

/// What a batch holds.
#[derive(Serialize)]
pub(crate) struct Listing {
    pub(crate) batch_id: String,
    pub(crate) messages: Vec<Listed>,
    /// `after` of the next page.
    pub(crate) next: Option<String>,
}

/// One entry of it.
#[derive(Serialize)]
pub(crate) struct Listed {
    message_id: MessageId,
    send_at: Timestamp,
    recipients: u32,
    status: State,
}

impl Listed {
    pub(crate) fn new(entry: Entry, hold: Option<Hold>, now: Timestamp) -> Self {
        Self {
            status: waiting(hold, entry.at, now),
            message_id: entry.message,
            send_at: entry.at,
            recipients: entry.recipients,
        }
    }
}

/// One later mail.
#[derive(Serialize)]
pub(crate) struct Message {
    pub(crate) message_id: MessageId,
    pub(crate) sends: Vec<Send>,
}

/// The part of it that leaves at one second.
#[derive(Serialize)]
pub(crate) struct Send {
    send_at: Timestamp,
    recipients: u32,
    batch_id: Option<String>,
    status: State,
}

impl Send {
    pub(crate) fn new(piece: Piece, hold: Option<Hold>, now: Timestamp) -> Self {
        let status = settled(piece.stage).unwrap_or_else(|| waiting(hold, piece.at, now));
        Self {
            send_at: piece.at,
            recipients: piece.recipients,
            batch_id: piece.batch.map(String::from),
            status,
        }
    }
}
