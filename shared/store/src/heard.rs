//! What comes back about a copy after it was handed over: by an event of SES, or by mail.
//!
//! It is written into the copy's own row, once: whoever tells it again finds it there.

use aws_sdk_dynamodb::types::AttributeValue;
use posthaste_model::{AccountId, Event, MessageId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::kept;
use crate::messages::filled;
use crate::table::{number, text};
use crate::{Key, Put, Recipient, State, Store, StoreError};

const TRIES: u32 = 12;

/// Seconds for which it is remembered what was told about a copy that has no row any more.
const REMEMBERED: i64 = 15 * 86_400;

/// What changes about a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    pub event: Option<Event>,
    /// Where the copy stands now; an earlier stage than it has reached is not written.
    pub state: Option<State>,
}

/// What became of the news.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Heard {
    /// Written for the first time.
    New(Box<News>),
    /// The row had it all.
    Known(Recipient),
    /// There is no such copy, or it has been forgotten.
    Missing,
}

#[derive(Debug, Serialize, Deserialize)]
struct Told {
    at: Timestamp,
}

/// How far a state is from the start: what is told late must not take a copy back.
fn rank(state: State) -> u8 {
    match state {
        State::Claimed => 0,
        State::Deferred => 1,
        State::Handed => 2,
        State::Delivered => 3,
        State::Bounced | State::Dropped => 4,
    }
}

impl Store {
    /// Writes what is heard about a copy. `news` says what that is, given the row as it is, and
    /// may run several times; `None` when the row has it already.
    ///
    /// While somebody hands the copy over, its state is his: a final one waits until he is done.
    ///
    /// # Errors
    /// When the table fails or the row keeps changing.
    pub async fn hear(
        &self,
        copy: (&AccountId, &MessageId, u32),
        now: Timestamp,
        mut news: impl FnMut(&Recipient) -> Option<News>,
    ) -> Result<Heard, StoreError> {
        for _ in 0..TRIES {
            let Some(row) = self.recipient(copy.0, copy.1, copy.2).await? else {
                return Ok(Heard::Missing);
            };
            let Some(news) = news(&row) else {
                return Ok(Heard::Known(row));
            };
            if self.add_news(copy, &row, &news, now).await? {
                return Ok(Heard::New(Box::new(news)));
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
        news: &News,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let event = kept::list(copy, news.event.as_slice())?;
        let mut expression = "SET updated_at = :now, \
             #events = list_append(if_not_exists(#events, :none), :event)"
            .to_owned();
        let mut names = vec!["state", "events"];
        let mut state = None;
        if let Some(next) = news.state.filter(|next| rank(*next) > rank(row.state)) {
            state = Some((":next", text(next.word())));
            if row.state == State::Claimed {
                // Nothing that may be tried again is final.
                if rank(next) >= rank(State::Handed) {
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
            .client
            .update_item()
            .table_name(&*self.table)
            .key("pk", text(Key::message_pk(copy.0, copy.1)))
            .key("sk", text(Key::recipient(copy.0, copy.1, copy.2).sk))
            .update_expression(expression)
            .condition_expression("#state = :seen AND size(#events) = :count");
        let values = [
            (":seen", text(row.state.word())),
            (":count", number(row.events.len())),
            (":now", number(now.0)),
            (":event", event),
            (":none", AttributeValue::L(Vec::new())),
        ];
        let mut update = filled(update, &names, values);
        if let Some((name, value)) = state {
            update = update.expression_attribute_values(name, value);
        }
        match update.send().await {
            Ok(_) => Ok(true),
            Err(e) if crate::table::is_conflict(&e) => Ok(false),
            Err(e) => Err(StoreError::from_sdk(e)),
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
        let told = Told { at: now };
        let put = self.put_new(&key, &told, Some(now.plus(REMEMBERED)));
        Ok(put.await? == Put::Stored)
    }
}
