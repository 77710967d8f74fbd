//! Batches of scheduled mail, and the holds (pause, cancel) that owners put on them.
//!
//! All holds of an account share one row: there are at most a hundred, so the limit is a condition
//! on that row, listing them is one read, and an expired hold is dropped whenever the row is
//! written.

use std::collections::BTreeMap;

use posthaste_model::batch::{BATCH_LIFE, BatchStatus, Hold, MOST_HELD, SHELF_LIFE};
use posthaste_model::{AccountId, BatchId, Clock, Timestamp};
use serde::{Deserialize, Serialize};

use super::due::{Due, DueTarget};
use crate::key::Key;
use crate::table::{Put, RowChange, Store, StoreError};

/// A batch id that was issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    pub created_at: Timestamp,
}

impl Batch {
    /// Whether the id may still be used.
    pub fn is_valid(self, now: Timestamp) -> bool {
        now.since(self.created_at) < BATCH_LIFE
    }

    /// When nothing can be held under the id any more: the last message accepted in its life,
    /// scheduled `horizon` seconds ahead and paused, has expired. One day is added as a margin.
    fn end(self, horizon: i64) -> Timestamp {
        self.created_at
            .plus(BATCH_LIFE + horizon + SHELF_LIFE + 86_400)
    }
}

/// The holds of one account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Holds {
    #[serde(default)]
    batches: BTreeMap<String, HeldBatch>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct HeldBatch {
    status: BatchStatus,
    since: Timestamp,
    until: Timestamp,
}

impl HeldBatch {
    fn hold(self) -> Hold {
        Hold {
            status: self.status,
            since: self.since,
        }
    }
}

/// Why a batch was not held.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HoldError {
    #[error("no such batch id is valid")]
    Unknown,
    #[error("the batch has a status already")]
    Exists,
    #[error("the account holds {MOST_HELD} batches already")]
    Full,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Store {
    /// Writes a new batch id; `Taken` when it exists.
    pub async fn create_batch(
        &self,
        account: &AccountId,
        batch: &BatchId,
        now: Timestamp,
    ) -> Result<Put, StoreError> {
        let row = Batch { created_at: now };
        // Stored longer than it is valid, so that an expired id can be distinguished from a mistyped one.
        let expires = Some(now.plus(4 * BATCH_LIFE));
        self.put_new(&Key::batch(account, batch), &row, expires)
            .await
    }

    /// A batch of this account, valid or not.
    pub async fn batch(
        &self,
        account: &AccountId,
        batch: &BatchId,
    ) -> Result<Option<Batch>, StoreError> {
        let row = self.get(&Key::batch(account, batch)).await?;
        Ok(row.map(|row| row.value))
    }

    /// Whether this account may use the batch id now.
    pub async fn batch_exists(
        &self,
        account: &AccountId,
        batch: &BatchId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let batch = self.batch(account, batch).await?;
        Ok(batch.is_some_and(|batch| batch.is_valid(now)))
    }

    async fn holds_row(&self, account: &AccountId) -> Result<Holds, StoreError> {
        let row = self.get::<Holds>(&Key::holds(account)).await?;
        Ok(row.map(|row| row.value).unwrap_or_default())
    }

    /// The holds of an account, by batch id.
    pub async fn holds(
        &self,
        account: &AccountId,
        now: Timestamp,
    ) -> Result<Vec<(String, Hold)>, StoreError> {
        let holds = self.holds_row(account).await?.batches.into_iter();
        let live = holds.filter(|(_, held)| now < held.until);
        Ok(live.map(|(batch, held)| (batch, held.hold())).collect())
    }

    /// The hold on a batch, read consistently.
    pub async fn hold_on(
        &self,
        account: &AccountId,
        batch: &BatchId,
        now: Timestamp,
    ) -> Result<Option<Hold>, StoreError> {
        let holds = self.holds_row(account).await?;
        let held = holds.batches.get(batch.as_str()).copied();
        Ok(held.filter(|held| now < held.until).map(HeldBatch::hold))
    }

    /// Puts a hold on a batch that has none. Race-free: the hundred and first is refused.
    pub async fn hold_batch(
        &self,
        account: &AccountId,
        batch: &BatchId,
        hold: Hold,
        horizon: i64,
    ) -> Result<(), HoldError> {
        let now = hold.since;
        let known = self.batch(account, batch).await?;
        let Some(known) = known.filter(|batch| batch.is_valid(now)) else {
            return Err(HoldError::Unknown);
        };
        let Hold { status, since } = hold;
        let until = known.end(horizon);
        let held = HeldBatch {
            status,
            since,
            until,
        };
        let change = |row: Option<&Holds>| {
            let mut holds = row.cloned().unwrap_or_default();
            holds.batches.retain(|_, held| now < held.until);
            if holds.batches.contains_key(batch.as_str()) {
                return Err(HoldError::Exists);
            }
            if holds.batches.len() >= MOST_HELD {
                return Err(HoldError::Full);
            }
            holds.batches.insert(batch.as_str().to_owned(), held);
            Ok(RowChange::Put(holds))
        };
        self.modify(&Key::holds(account), None, change).await?;
        Ok(())
    }

    /// Changes the hold on a batch; `None` when it has none. Held messages are released through
    /// [`Store::released`], by an order with the time that is returned.
    pub async fn turn_hold(
        &self,
        account: &AccountId,
        batch: &BatchId,
        status: BatchStatus,
        clock: &Clock,
    ) -> Result<Option<Timestamp>, StoreError> {
        let turn = |held: HeldBatch| Some(HeldBatch { status, ..held });
        self.change_hold(account, batch, clock, turn).await
    }

    /// Removes the hold from a batch; `None` when it has none. Held messages are released through
    /// [`Store::released`], by an order with the time that is returned.
    pub async fn lift_hold(
        &self,
        account: &AccountId,
        batch: &BatchId,
        clock: &Clock,
    ) -> Result<Option<Timestamp>, StoreError> {
        self.change_hold(account, batch, clock, |_| None).await
    }

    async fn change_hold(
        &self,
        account: &AccountId,
        batch: &BatchId,
        clock: &Clock,
        new: impl Fn(HeldBatch) -> Option<HeldBatch>,
    ) -> Result<Option<Timestamp>, StoreError> {
        let now = clock.now();
        if self.hold_on(account, batch, now).await?.is_none() {
            return Ok(None);
        }
        // The order is written first: after a crash, the sweep still finds it.
        self.put_due(&[release(account, batch, now)], clock).await?;
        let mut was_held = false;
        let change = |row: Option<&Holds>| {
            let mut holds = row.cloned().unwrap_or_default();
            let held = holds.batches.remove(batch.as_str());
            was_held = held.is_some();
            let Some(held) = held else {
                return Ok::<_, StoreError>(RowChange::Keep);
            };
            holds.batches.retain(|_, held| now < held.until);
            if let Some(held) = new(held) {
                holds.batches.insert(batch.as_str().to_owned(), held);
            }
            Ok(RowChange::Put(holds))
        };
        self.modify(&Key::holds(account), None, change).await?;
        Ok(was_held.then_some(now))
    }
}

/// The order to release what a batch holds.
pub(crate) fn release(account: &AccountId, batch: &BatchId, at: Timestamp) -> Due {
    Due {
        target: DueTarget::Release,
        account: account.clone(),
        at,
        id: batch.to_string(),
        body: batch.to_string(),
    }
}
