//! The status of each received mail, once per recipient: a mail received twice is posted once, and
//! a repeated job posts nothing.

use posthaste_model::{AccountId, Timestamp, cut};
use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::table::largest::REASON;
use crate::table::{PageQuery, RowChange, Store, StoreError, StoredRow};

/// The stage of a received mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArrivalStage {
    /// A process is posting it, with a lease until this second.
    Posting { until: Timestamp },
    /// The attempt named in the row is still due.
    Waiting,
    /// The receiver accepted it.
    Done,
    /// No more attempts are made; the raw mail is stored for a replay.
    Dead,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Arrival {
    attempt: u32,
    stage: ArrivalStage,
    /// The process that posts it, where only one can exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    process: Option<String>,
}

impl Arrival {
    fn new(attempt: u32, stage: ArrivalStage) -> Self {
        Self {
            attempt,
            stage,
            process: None,
        }
    }
}

fn waiting(attempt: u32) -> RowChange<Arrival> {
    RowChange::Put(Arrival::new(attempt, ArrivalStage::Waiting))
}

/// Whether an attempt may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Arriving {
    /// The attempt is claimed; `first` when there was none before.
    Go { first: bool },
    /// Another process is making it now.
    Busy,
    /// It was made; this is the stage of the mail.
    Over(ArrivalStage),
}

/// The last distinct mail with this content.
#[derive(Debug, Serialize, Deserialize)]
struct LastArrival {
    id: String,
    at: Timestamp,
}

/// Marks that a recipient needs a raw mail; the key carries all of the information.
#[derive(Debug, Serialize, Deserialize)]
struct Holding {}

/// A received mail that its receiver refused, or did not accept in time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostMail {
    pub account: AccountId,
    pub id: String,
    pub hostname: String,
    pub received: Timestamp,
    pub died_at: Timestamp,
    pub attempts: u32,
    /// How the last attempt ended.
    pub reason: String,
    /// The job that posts it again; it names the raw mail.
    pub job: String,
}

impl LostMail {
    fn key(&self) -> Key {
        let at = self.received.0.max(0);
        let sk = format!("{at:012}#{}", self.id);
        Key::new(Key::lost_mails_pk(&self.account), sk)
    }
}

impl Store {
    /// The id under which content without a Message-ID is received at `now`.
    ///
    /// It is that of the last mail with this content if it came less than `window` seconds ago, so
    /// that this one counts as a client's retry of it; otherwise `new`, which the next one within
    /// the window then shares. The window counts from the first, so that retries do not extend it.
    pub async fn arrival_id(
        &self,
        (account, content): (&AccountId, &str),
        new: &str,
        (now, window): (Timestamp, i64),
    ) -> Result<String, StoreError> {
        let key = Key::last_arrival(account, content);
        let expires = Some(now.plus(window));
        let last = self
            .modify::<LastArrival, StoreError>(&key, expires, |row| match row {
                // Also by a clock that was set back since.
                Some(last) if now.since(last.at).abs() < window => Ok(RowChange::Keep),
                Some(_) | None => Ok(RowChange::Put(LastArrival {
                    id: new.to_owned(),
                    at: now,
                })),
            })
            .await?;
        Ok(last.map_or_else(|| new.to_owned(), |last| last.id))
    }

    /// Claims attempt `attempt` of a mail for `lease` seconds. `single_process` names the process
    /// where only one can exist (the local host): claims of another name have died with theirs.
    pub async fn begin_arrival(
        &self,
        (account, id, attempt): (&AccountId, &str, u32),
        (now, lease): (Timestamp, i64),
        expires: Timestamp,
        single_process: Option<&str>,
    ) -> Result<Arriving, StoreError> {
        let key = Key::arrival(account, id);
        let mut begun = Arriving::Busy;
        self.modify::<Arrival, StoreError>(&key, Some(expires), |row| {
            begun = match row {
                Some(row) if matches!(row.stage, ArrivalStage::Done | ArrivalStage::Dead) => {
                    Arriving::Over(row.stage)
                }
                Some(row) if row.attempt > attempt => Arriving::Over(row.stage),
                Some(Arrival {
                    stage: ArrivalStage::Posting { until },
                    process,
                    ..
                }) if *until > now
                    && (single_process.is_none() || process.as_deref() == single_process) =>
                {
                    Arriving::Busy
                }
                Some(_) => Arriving::Go { first: false },
                None => Arriving::Go { first: true },
            };
            if !matches!(begun, Arriving::Go { .. }) {
                return Ok(RowChange::Keep);
            }
            let until = now.plus(lease);
            Ok(RowChange::Put(Arrival {
                process: single_process.map(str::to_owned),
                ..Arrival::new(attempt, ArrivalStage::Posting { until })
            }))
        })
        .await?;
        Ok(begun)
    }

    /// Records the stage of a mail and which attempt comes next.
    pub async fn end_arrival(
        &self,
        (account, id, attempt): (&AccountId, &str, u32),
        stage: ArrivalStage,
        expires: Timestamp,
    ) -> Result<(), StoreError> {
        let arrival = Arrival::new(attempt, stage);
        self.put(&Key::arrival(account, id), &arrival, Some(expires))
            .await
    }

    /// Allows another attempt at a dead mail; returns whether it is to be made. A mail that has
    /// moved on since, or that its receiver accepted, is unchanged.
    pub async fn revive_arrival(
        &self,
        (account, id, attempt): (&AccountId, &str, u32),
        expires: Timestamp,
    ) -> Result<bool, StoreError> {
        let key = Key::arrival(account, id);
        let mut is_due = false;
        self.modify::<Arrival, StoreError>(&key, Some(expires), |row| {
            let is_of_attempt = row.is_none_or(|row| row.attempt == attempt);
            // Without a row, it has expired.
            let stage = row.map_or(ArrivalStage::Dead, |row| row.stage);
            is_due = is_of_attempt && stage != ArrivalStage::Done;
            Ok(match stage {
                ArrivalStage::Dead if is_due => waiting(attempt),
                // A waiting one was revived before, by a caller that may have stopped there.
                ArrivalStage::Dead
                | ArrivalStage::Done
                | ArrivalStage::Waiting
                | ArrivalStage::Posting { .. } => RowChange::Keep,
            })
        })
        .await?;
        Ok(is_due)
    }

    /// Records, before the raw mail is stored, that these recipients share it. Each releases it
    /// with [`Self::release_raw`].
    pub async fn hold_raw(
        &self,
        blob: &str,
        ids: &[String],
        expires: Timestamp,
    ) -> Result<(), StoreError> {
        let pk = Key::raw_mail_pk(blob);
        let rows: Vec<_> = ids
            .iter()
            .map(|id| (Key::new(&pk, id), Holding {}))
            .collect();
        self.put_many(&rows, Some(expires)).await
    }

    /// Releases a shared raw mail for one recipient; returns whether no recipient needs it any
    /// more. A repeated release returns the same.
    pub async fn release_raw(&self, blob: &str, id: &str) -> Result<bool, StoreError> {
        let pk = Key::raw_mail_pk(blob);
        self.delete(&Key::new(&pk, id)).await?;
        let others = self.list::<Holding>(&pk, "", &PageQuery::first(1)).await?;
        Ok(others.is_empty())
    }

    /// Stores an undeliverable mail until `expires`. Repeating this is a no-op.
    pub async fn lose_mail(&self, lost: &LostMail, expires: Timestamp) -> Result<(), StoreError> {
        let lost = LostMail {
            reason: cut(&lost.reason, REASON).to_owned(),
            ..lost.clone()
        };
        self.put(&lost.key(), &lost, Some(expires)).await
    }

    /// Undeliverable mails of an account, oldest first: at most `limit`, after the key `after`.
    pub async fn lost_mails(
        &self,
        account: &AccountId,
        after: Option<String>,
        limit: usize,
    ) -> Result<Vec<StoredRow<LostMail>>, StoreError> {
        let page = PageQuery {
            limit,
            after,
            backwards: false,
        };
        self.list(&Key::lost_mails_pk(account), "", &page).await
    }

    /// Deletes the row of a mail that was queued again.
    pub async fn forget_lost_mail(&self, row: &StoredRow<LostMail>) -> Result<(), StoreError> {
        self.delete(&row.key).await?;
        Ok(())
    }
}
