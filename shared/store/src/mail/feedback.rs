//! What is reported about a copy after it was handed over: by an event of SES, or by mail.
//!
//! It is written into the copy's own row, once: a repeated report is a no-op. The row holds a
//! bounded number of such events: a copy ends once, and of many deferrals it stores the first few,
//! the last one and their number.

use aws_sdk_dynamodb::types::AttributeValue;
use posthaste_model::{AccountId, Event, EventKind, MessageId, Timestamp};
use serde::{Deserialize, Serialize};

use super::event_codec;
use super::messages::{CopyState, GROWN, Recipient};
use crate::key::Key;
use crate::table::{Put, Store, StoreError, UpdateBuilder, number, text};

/// Seconds for which reports about a copy without a row are remembered.
const REMEMBERED: i64 = 15 * 86_400;

/// Events that a row lists; beyond that a deferral only replaces the last one, and the caller adds
/// nothing else ([`Recipient::is_full`]).
const MOST_LISTED: usize = 20;

/// What changes about a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedbackUpdate {
    pub event: Option<Event>,
    /// The state of the copy now; an earlier state than it has reached is not written.
    pub state: Option<CopyState>,
}

/// The result of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum FeedbackOutcome {
    /// Written for the first time.
    New(Box<FeedbackUpdate>),
    /// The row had it all.
    Unchanged(Box<Recipient>),
    /// There is no such copy, or it has been forgotten.
    Missing,
}

impl Recipient {
    /// Whether the row lists as many events as it may.
    pub fn is_full(&self) -> bool {
        self.listed >= MOST_LISTED
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredFeedback {
    at: Timestamp,
}

/// How far a state is from the start: a late report must not move a copy back.
fn rank(state: CopyState) -> u8 {
    match state {
        CopyState::Claimed => 0,
        CopyState::Deferred => 1,
        CopyState::Handed => 2,
        CopyState::Delivered => 3,
        CopyState::Bounced | CopyState::Dropped => 4,
    }
}

/// Whether the row lists as many deferrals as it may, and this is one more.
fn replaces_last(row: &Recipient, change: &FeedbackUpdate) -> bool {
    row.is_full() && matches!(&change.event, Some(event) if event.kind == EventKind::Deferred)
}

impl Store {
    /// Records a report about a copy. `change` returns what to write, given the current row, and may
    /// run several times; `None` when the row has it already.
    ///
    /// While a process hands the copy over, it owns the state: a final one waits until it is done.
    pub async fn record_feedback(
        &self,
        copy: (&AccountId, &MessageId, u32),
        now: Timestamp,
        mut change: impl FnMut(&Recipient) -> Option<FeedbackUpdate>,
    ) -> Result<FeedbackOutcome, StoreError> {
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let Some(row) = self.recipient(copy.0, copy.1, copy.2).await? else {
                return Ok(FeedbackOutcome::Missing);
            };
            let Some(change) = change(&row) else {
                return Ok(FeedbackOutcome::Unchanged(Box::new(row)));
            };
            let added = match self.add_feedback(copy, &row, &change, now).await {
                // Releases before this one let a row grow: all events except the first are removed.
                Err(StoreError::Validation(_)) => self.shrink(copy, &row).await.map(|()| false),
                added => added,
            };
            if added? {
                return Ok(FeedbackOutcome::New(Box::new(change)));
            }
        }
        let (account, message, recipient) = copy;
        Err(StoreError::Contended(format!(
            "copy {recipient} of message {message} of account {account}"
        )))
    }

    /// Writes the report if the row is unchanged since it was read; returns whether it did.
    async fn add_feedback(
        &self,
        copy: (&AccountId, &MessageId, u32),
        row: &Recipient,
        change: &FeedbackUpdate,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let update = UpdateBuilder::default().set("updated_at", number(now.0));
        let mut update = match &change.event {
            Some(event) if replaces_last(row, change) => update
                .set("last_deferred", text(event_codec::later(copy, event)?))
                .add("more_deferrals", 1),
            Some(event) if row.listed > 0 => {
                let event = text(event_codec::later(copy, event)?);
                update.append("events", AttributeValue::L(vec![event]))
            }
            event => update.append("events", event_codec::list(copy, event.as_slice())?),
        };
        if let Some(next) = change.state.filter(|next| rank(*next) > rank(row.state)) {
            let word = text(next.word());
            if row.state != CopyState::Claimed {
                update = update.set("state", word);
            } else if rank(next) >= rank(CopyState::Handed) {
                // A state that allows another attempt is not final.
                update = update.set("after", word);
            }
        }
        let update = update.condition(
            "#state = :seen AND size(#events) = :listed \
             AND (attribute_not_exists(#more_deferrals) OR #more_deferrals = :before)",
            [
                ("seen", text(row.state.word())),
                ("listed", number(row.listed)),
                ("before", number(row.more_deferrals)),
            ],
        );
        let key = Key::recipient(copy.0, copy.1, copy.2);
        self.update(&key, &update).await
    }

    /// Reduces the events of a row to the first, which all later ones need.
    async fn shrink(
        &self,
        copy: (&AccountId, &MessageId, u32),
        row: &Recipient,
    ) -> Result<(), StoreError> {
        let first: Vec<Event> = row.events().into_iter().take(1).collect();
        let update = UpdateBuilder::default()
            .set("events", event_codec::list(copy, &first)?)
            .remove(GROWN)
            .condition(
                "#state = :seen AND size(#events) = :listed AND :listed > :one",
                [
                    ("seen", text(row.state.word())),
                    ("listed", number(row.listed)),
                    ("one", number(1)),
                ],
            );
        let key = Key::recipient(copy.0, copy.1, copy.2);
        self.update(&key, &update).await.map(drop)
    }

    /// Whether this event of a copy without a row is reported for the first time; later calls
    /// return false.
    pub async fn tell_once(
        &self,
        (account, message, recipient): (&AccountId, &MessageId, u32),
        event: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let pk = Key::message_pk(account, message);
        let key = Key::new(pk, format!("TOLD#{recipient:05}#{event}"));
        let mark = StoredFeedback { at: now };
        let put = self.put_new(&key, &mark, Some(now.plus(REMEMBERED)));
        Ok(put.await? == Put::Stored)
    }
}
