//! What comes back about a copy after it was handed over: by an event of SES, or by mail.
//!
//! It is written into the copy's own row, once: a repeated report finds it there. The row holds a
//! bounded number of such events: a copy ends once, and of many deferrals it has the first few, the
//! last one and their number.

use aws_sdk_dynamodb::types::AttributeValue;
use posthaste_model::{AccountId, Event, EventKind, MessageId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::event_codec;
use crate::messages::filled;
use crate::table::{number, text};
use crate::{CopyState, Key, Put, Recipient, Store, StoreError};

const MAX_ATTEMPTS: u32 = 12;

/// Seconds for which it is remembered what was told about a copy that has no row any more.
const REMEMBERED: i64 = 15 * 86_400;

/// Events that a row lists; from then on a deferral only takes the place of the last one, and the
/// caller adds nothing else ([`Recipient::is_full`]).
const MOST_LISTED: usize = 20;

/// What changes about a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedbackUpdate {
    pub event: Option<Event>,
    /// Where the copy stands now; an earlier stage than it has reached is not written.
    pub state: Option<CopyState>,
}

/// What became of the news.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum FeedbackOutcome {
    /// Written for the first time.
    New(Box<FeedbackUpdate>),
    /// The row had it all.
    Known(Box<Recipient>),
    /// There is no such copy, or it has been forgotten.
    Missing,
}

const APPENDED: &str = "#events = list_append(if_not_exists(#events, :none), :event)";

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

/// How far a state is from the start: what is told late must not take a copy back.
fn rank(state: CopyState) -> u8 {
    match state {
        CopyState::Claimed => 0,
        CopyState::Deferred => 1,
        CopyState::Handed => 2,
        CopyState::Delivered => 3,
        CopyState::Bounced | CopyState::Dropped => 4,
    }
}

/// Takes the place of the last deferral and counts it.
const LAST_DEFERRAL: &str = "last_deferred = :event, more_deferrals = :deferrals";

/// Whether the row lists as many deferrals as it may, and this is one more.
fn replaces_last(row: &Recipient, news: &FeedbackUpdate) -> bool {
    row.is_full() && matches!(&news.event, Some(event) if event.kind == EventKind::Deferred)
}

impl Store {
    /// Writes what is heard about a copy. `news` says what that is, given the row as it is, and
    /// may run several times; `None` when the row has it already.
    ///
    /// While somebody hands the copy over, its state is his: a final one waits until he is done.
    ///
    /// # Errors
    /// When the table fails or the row keeps changing.
    pub async fn record_feedback(
        &self,
        copy: (&AccountId, &MessageId, u32),
        now: Timestamp,
        mut news: impl FnMut(&Recipient) -> Option<FeedbackUpdate>,
    ) -> Result<FeedbackOutcome, StoreError> {
        for _ in 0..MAX_ATTEMPTS {
            let Some(row) = self.recipient(copy.0, copy.1, copy.2).await? else {
                return Ok(FeedbackOutcome::Missing);
            };
            let Some(news) = news(&row) else {
                return Ok(FeedbackOutcome::Known(Box::new(row)));
            };
            let added = match self.add_news(copy, &row, &news, now).await {
                // Releases before this one let a row grow: all but its first event goes.
                Err(StoreError::Validation(_)) => self.shrink(copy, &row).await.map(|()| false),
                added => added,
            };
            if added? {
                return Ok(FeedbackOutcome::New(Box::new(news)));
            }
        }
        let (account, message, recipient) = copy;
        Err(StoreError::Contended(format!(
            "copy {recipient} of message {message} of account {account}"
        )))
    }

    /// Whether the row was still as read, and has the news now.
    async fn add_news(
        &self,
        copy: (&AccountId, &MessageId, u32),
        row: &Recipient,
        news: &FeedbackUpdate,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let is_last = replaces_last(row, news);
        let (set, event) = match &news.event {
            Some(event) if is_last => (LAST_DEFERRAL, text(event_codec::later(copy, event)?)),
            Some(event) if row.listed > 0 => {
                let event = text(event_codec::later(copy, event)?);
                (APPENDED, AttributeValue::L(vec![event]))
            }
            event => (APPENDED, event_codec::list(copy, event.as_slice())?),
        };
        let mut expression = format!("SET updated_at = :now, {set}");
        let mut names = vec!["state", "events"];
        let mut state = None;
        if let Some(next) = news.state.filter(|next| rank(*next) > rank(row.state)) {
            state = Some((":next", text(next.word())));
            if row.state == CopyState::Claimed {
                // Nothing that may be tried again is final.
                if rank(next) >= rank(CopyState::Handed) {
                    names.push("after");
                    expression.push_str(", #after = :next");
                } else {
                    state = None;
                }
            } else {
                expression.push_str(", #state = :next");
            }
        }
        let update = self
            .update_copy(copy)
            .update_expression(expression)
            .condition_expression(
                "#state = :seen AND size(#events) = :count \
                 AND (attribute_not_exists(more_deferrals) OR more_deferrals = :before)",
            );
        let values = [
            (":seen", text(row.state.word())),
            (":count", number(row.listed)),
            (":before", number(row.more_deferrals)),
            (":now", number(now.0)),
            (":event", event),
        ];
        let (name, value) = match is_last {
            true => (":deferrals", number(row.more_deferrals.saturating_add(1))),
            false => (":none", AttributeValue::L(Vec::new())),
        };
        let mut update = filled(update, &names, values).expression_attribute_values(name, value);
        if let Some((name, value)) = state {
            update = update.expression_attribute_values(name, value);
        }
        match update.send().await {
            Ok(_) => Ok(true),
            Err(e) if crate::table::is_conflict(&e) => Ok(false),
            Err(e) => Err(StoreError::from_sdk(e)),
        }
    }

    /// Leaves of the events of a row what all later ones need: the first.
    async fn shrink(
        &self,
        copy: (&AccountId, &MessageId, u32),
        row: &Recipient,
    ) -> Result<(), StoreError> {
        let first: Vec<Event> = row.events().into_iter().take(1).collect();
        let update = self
            .update_copy(copy)
            .update_expression(
                "SET #events = :first REMOVE last_deferred, more_deferrals, opens, clicks, #subject",
            )
            .condition_expression("#state = :seen AND size(#events) = :count AND :count > :one");
        let values = [
            (":seen", text(row.state.word())),
            (":count", number(row.listed)),
            (":one", number(1)),
            (":first", event_codec::list(copy, &first)?),
        ];
        let names = ["state", "events", "subject"];
        match filled(update, &names, values).send().await {
            Err(e) if !crate::table::is_conflict(&e) => Err(StoreError::from_sdk(e)),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Whether this event of a copy without a row is told for the first time; from then on it is
    /// not.
    ///
    /// # Errors
    /// When the table fails.
    pub async fn tell_once(
        &self,
        (account, message, recipient): (&AccountId, &MessageId, u32),
        event: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let pk = Key::message_pk(account, message);
        let key = Key::new(pk, format!("TOLD#{recipient:05}#{event}"));
        let told = StoredFeedback { at: now };
        let put = self.put_new(&key, &told, Some(now.plus(REMEMBERED)));
        Ok(put.await? == Put::Stored)
    }
}
