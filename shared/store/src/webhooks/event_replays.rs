//! Jobs that post the events of a span of time again: one at a time for each account, and how far it has come.

use posthaste_model::{AccountId, ReplayId, Timestamp, WebhookId};
use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::table::{Put, Store, StoreError, StoredRow, to_item};

/// Seconds after which a job that nothing changes any more expires.
const KEPT: i64 = 7 * 86_400;

/// The events that a job posts again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplaySpan {
    /// The first and the last second of the span.
    pub first: Timestamp,
    pub last: Timestamp,
    /// The webhook they are posted to; all of the account's that are enabled when it is `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<WebhookId>,
}

/// A job that posts the events of a span of time again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventReplay {
    pub id: ReplayId,
    pub account: AccountId,
    pub span: ReplaySpan,
    /// The place in the search after which it continues; mails are looked at latest first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Events that were queued, each once for each webhook, in how many messages of the queue.
    pub events: u64,
    pub messages: u64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// `None` while it is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// Whether it was given up before it had looked at all mails.
    #[serde(default)]
    pub is_partial: bool,
    /// The time of the one due row by which the job goes on.
    pub due_at: Timestamp,
}

impl EventReplay {
    /// A job that has not begun.
    pub fn new(account: &AccountId, id: ReplayId, span: ReplaySpan, now: Timestamp) -> Self {
        Self {
            id,
            account: account.clone(),
            span,
            after: None,
            events: 0,
            messages: 0,
            created_at: now,
            updated_at: now,
            finished_at: None,
            is_partial: false,
            due_at: now,
        }
    }
}

/// What [`Store::start_event_replay`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayStart {
    /// The job is stored, at this revision.
    Started(u64),
    /// A job of the same span is under way.
    Same(EventReplay),
    /// A job of another span is under way.
    Other(EventReplay),
}

impl Store {
    /// Stores a job in the place of the account's last one, unless that is under way. The caller stores its due row
    /// first: a job is without one at no time.
    pub async fn start_event_replay(
        &self,
        replay: &EventReplay,
    ) -> Result<ReplayStart, StoreError> {
        let key = Key::event_replay(&replay.account);
        let expires = Some(replay.created_at.plus(KEPT));
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let row = self.get::<EventReplay>(&key).await?;
            let rev = row.as_ref().map(|row| row.rev);
            if let Some(row) = row
                && row.value.finished_at.is_none()
            {
                return Ok(if row.value.span == replay.span {
                    ReplayStart::Same(row.value)
                } else {
                    ReplayStart::Other(row.value)
                });
            }
            let next = rev.unwrap_or(0) + 1;
            let item = to_item(&key, replay, next, expires)?;
            if self.put_if(item, rev).await? == Put::Stored {
                return Ok(ReplayStart::Started(next));
            }
        }
        Err(StoreError::Contended(format!("replay {}", replay.id)))
    }

    /// The account's last job, with its revision.
    pub async fn event_replay(
        &self,
        account: &AccountId,
    ) -> Result<Option<StoredRow<EventReplay>>, StoreError> {
        self.get(&Key::event_replay(account)).await
    }

    /// Stores how far a job has come, unless it has changed since it was read at this revision. The new
    /// revision; `None` when it has changed.
    pub async fn save_event_replay(
        &self,
        replay: &EventReplay,
        rev: u64,
    ) -> Result<Option<u64>, StoreError> {
        let key = Key::event_replay(&replay.account);
        let expires = Some(replay.updated_at.plus(KEPT));
        let item = to_item(&key, replay, rev + 1, expires)?;
        let put = self.put_if(item, Some(rev)).await?;
        Ok((put == Put::Stored).then_some(rev + 1))
    }
}
