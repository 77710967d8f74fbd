//! Messages that are held past their time because their batch is paused, and how they are released.
//!
//! # Why no message is lost
//!
//! A worker writes the held row first and checks the fate again afterwards; a request that removes
//! the pause does that first and looks for held rows afterwards. So at least one of the two sees
//! the other, and if both do, the job runs twice, which the claim of `delivery` absorbs. The order
//! to look for held rows is a due row written before the pause is removed.

use posthaste_model::batch::{BatchStatus, Hold, MessageTimes, PartFate, expiry};
use posthaste_model::{AccountId, BatchId, Clock, MessageId, Timestamp};
use serde::{Deserialize, Serialize};

use super::batches::release;
use super::due::{Due, DueTarget};
use super::scheduled_mail::{ScheduledMail, ScheduledPart};
use crate::key::{HeldCursor, Key, SPREAD, padded};
use crate::table::{PageQuery, Range, ResultPage, Store, StoreError, StoredRow, put_request};

/// Seconds for which an order to release held messages is honored although the pause still exists:
/// more than a request that removes one can take.
const RELEASE_GRACE: i64 = 900;

/// A held message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldMessage {
    pub message: MessageId,
    pub first: u32,
    /// When it was to leave.
    pub at: Timestamp,
    /// When it was accepted; 0 in rows of releases that did not write it.
    #[serde(default)]
    pub accepted: Timestamp,
    /// Its job, verbatim.
    pub job: String,
}

impl HeldMessage {
    fn times(&self) -> MessageTimes {
        MessageTimes {
            accepted: self.accepted,
            at: self.at,
        }
    }
}

/// The order to let a held message expire.
#[derive(Debug, Serialize, Deserialize)]
struct Expiring {
    batch: BatchId,
    message: MessageId,
    first: u32,
    at: Timestamp,
}

/// The progress of an order to release held messages.
#[derive(Clone, Debug)]
pub struct Released {
    /// Send their jobs to the send queue, then [`forget_held`](Store::forget_held) them, then ask
    /// again.
    pub rows: Vec<StoredRow<HeldMessage>>,
    /// Whether nothing is left to do for the order.
    pub done: bool,
}

impl Store {
    /// Holds a job with its batch until the pause is removed or the message expires. The answer is
    /// `Hold`, or the fate of the piece in the meantime.
    pub(crate) async fn keep_held(
        &self,
        later: &ScheduledMail<'_>,
        clock: &Clock,
    ) -> Result<PartFate, StoreError> {
        let Some(batch) = later.batch else {
            return Ok(PartFate::Deliver);
        };
        let held = HeldMessage {
            message: later.message.clone(),
            first: later.first,
            at: later.at,
            accepted: later.accepted,
            job: later.job.to_owned(),
        };
        let key = Key::held(later.account, batch, &later.place());
        let rows = vec![put_request(&key, &held, None)?];
        let end = expiring(later.account, batch, &held)?;
        self.put_due_with(rows, &[end], clock).await?;
        let (fate, _) = self.fate_of(later, clock.now()).await?;
        if fate != PartFate::Hold {
            self.delete(&key).await?;
        }
        Ok(fate)
    }

    /// Messages of a batch that are no longer held back, in the order of their time, at most
    /// `limit`. An order of the time `ordered` is done when there are none and none can come.
    pub async fn released(
        &self,
        account: &AccountId,
        batch: &BatchId,
        (ordered, now): (Timestamp, Timestamp),
        limit: usize,
    ) -> Result<Released, StoreError> {
        let hold = self.hold_on(account, batch, now).await?;
        let pause = hold.filter(|hold| hold.status == BatchStatus::Pause);
        let mut range = match pause.map(Hold::first_reached) {
            None => Range::all(),
            Some(first) => Range {
                to: padded(first),
                ..Range::all()
            },
        };
        let pk = |part| Key::held_pk(account, batch, part);
        let is_free = |row: &StoredRow<HeldMessage>| {
            pause.is_none_or(|pause| !pause.reaches(row.value.times()))
        };
        let rows = loop {
            let page: ResultPage<HeldMessage> = self.gather(pk, &range, limit).await?;
            let last = page.rows.last().map(|row| row.key.sk.clone());
            let free: Vec<_> = page.rows.into_iter().filter(is_free).collect();
            // A page may hold nothing except what was added since the pause.
            if !free.is_empty() || !page.more || last.is_none() {
                break free;
            }
            range.after = last;
        };
        // An order is written before the pause it refers to is removed.
        let heeded = pause.is_none() || now.since(ordered) > RELEASE_GRACE;
        Ok(Released {
            done: rows.is_empty() && heeded,
            rows,
        })
    }

    /// Deletes the order to release what a batch holds.
    ///
    /// # Errors
    /// When the table fails; the sweep then finds that it is done.
    pub async fn forget_release(
        &self,
        account: &AccountId,
        batch: &BatchId,
        ordered: Timestamp,
    ) -> Result<(), StoreError> {
        let order = release(account, batch, ordered);
        let key = order.key(order.shard(self.minutes.shards));
        self.delete(&key).await.map(drop)
    }

    /// Deletes held messages whose jobs a queue accepted.
    ///
    /// # Errors
    /// When the table fails; they are then taken again.
    pub async fn forget_held(&self, rows: &[StoredRow<HeldMessage>]) -> Result<(), StoreError> {
        let keys: Vec<Key> = rows.iter().map(|row| row.key.clone()).collect();
        self.delete_many(&keys).await
    }

    /// The held message that a due row of [`DueTarget::Expire`] refers to, if it is still held.
    ///
    /// # Errors
    /// When the table fails or the row has another target.
    pub async fn expired(&self, due: &Due) -> Result<Option<StoredRow<HeldMessage>>, StoreError> {
        let order: Expiring = serde_json::from_str(&due.body)
            .map_err(|e| StoreError::Unreadable(format!("{}: {e}", due.id)))?;
        let place = HeldCursor {
            at: order.at,
            message: &order.message,
            first: order.first,
        };
        self.get(&Key::held(&due.account, &order.batch, &place))
            .await
    }

    /// The held rows of one piece: at the second it was to leave, and at those before it was moved.
    pub(crate) async fn held_rows(
        &self,
        account: &AccountId,
        piece: &ScheduledPart,
    ) -> Result<Vec<StoredRow<HeldMessage>>, StoreError> {
        let Some(batch) = &piece.batch else {
            return Ok(Vec::new());
        };
        let places = piece.places();
        let keys: Vec<Key> = places
            .map(|place| Key::held(account, batch, &place))
            .collect();
        self.get_many(&keys).await
    }

    /// Every held message of a batch, in no order.
    pub async fn held(
        &self,
        account: &AccountId,
        batch: &BatchId,
    ) -> Result<Vec<StoredRow<HeldMessage>>, StoreError> {
        let mut rows = Vec::new();
        for part in 0..SPREAD {
            let pk = Key::held_pk(account, batch, part);
            rows.extend(self.list(&pk, "", &PageQuery::all()).await?);
        }
        Ok(rows)
    }
}

fn expiring(account: &AccountId, batch: &BatchId, held: &HeldMessage) -> Result<Due, StoreError> {
    let order = Expiring {
        batch: batch.clone(),
        message: held.message.clone(),
        first: held.first,
        at: held.at,
    };
    Ok(Due {
        target: DueTarget::Expire,
        account: account.clone(),
        at: expiry(held.at),
        id: format!("{}#{:05}", held.message, held.first),
        body: serde_json::to_string(&order).map_err(|e| StoreError::Unreadable(e.to_string()))?,
    })
}
