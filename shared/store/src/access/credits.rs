//! Sending allowances. An account without one may send as much as it likes and costs no row.
//!
//! Spending is one conditional write while credits are left; a new period, or the last few
//! credits, take a read and a guarded write. One allowance is one row, so a metered account spends
//! at most about a thousand times a second (DynamoDB's limit for a partition): `delivery` spends for the
//! copies that it works on at once together, which makes some ten thousand copies of them.

use posthaste_model::{AccountId, TIMESTAMP_MAX, Timestamp};
use serde::{Deserialize, Serialize};

use super::accounts::Account;
use crate::key::Key;
use crate::table::{Put, RowChange, Store, StoreError, Transact, UpdateBuilder, number, to_item};

/// How often an allowance is renewed, always at midnight UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Frequency {
    Daily,
    /// On Mondays.
    Weekly,
    /// On the first of the month.
    Monthly,
}

/// How much an account may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// `None`: given once.
    pub frequency: Option<Frequency>,
    /// Copies of mail per period.
    pub total: u32,
}

/// What is left of an allowance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credits {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency: Option<Frequency>,
    pub total: i64,
    pub remain: i64,
    pub used: i64,
    /// When the period ends.
    pub until: Timestamp,
}

impl Credits {
    fn begin(allowance: Allowance, now: Timestamp) -> Self {
        Self {
            frequency: allowance.frequency,
            total: allowance.total.into(),
            remain: allowance.total.into(),
            used: 0,
            until: match allowance.frequency {
                None => TIMESTAMP_MAX,
                Some(Frequency::Daily) => now.next_day(),
                Some(Frequency::Weekly) => now.next_week(),
                Some(Frequency::Monthly) => now.next_month(),
            },
        }
    }

    /// The allowance at `now`: renewed when its period is over.
    #[must_use]
    pub fn at(self, now: Timestamp) -> Self {
        if now < self.until {
            return self;
        }
        let allowance = Allowance {
            frequency: self.frequency,
            total: u32::try_from(self.total).unwrap_or(u32::MAX),
        };
        Self::begin(allowance, now)
    }

    /// Takes up to `n`; returns how many.
    fn take(&mut self, n: u32) -> u32 {
        let granted = i64::from(n).min(self.remain).max(0);
        self.remain -= granted;
        self.used += granted;
        u32::try_from(granted).unwrap_or(0)
    }
}

impl Store {
    /// Takes up to `n` credits and returns how many the account had; `n` when it has no allowance.
    /// Sending more than that exceeds the quota.
    pub async fn spend_credits(
        &self,
        account: &Account,
        n: u32,
        now: Timestamp,
    ) -> Result<u32, StoreError> {
        // A lost round means that another writer began the period, or took the rest.
        if !account.metered {
            return Ok(n);
        }
        let key = Key::credits(&account.id);
        // Every job of the account takes from this row.
        let mut attempts = self.conflict_attempts().at_most(30);
        while attempts.next().await {
            if self.spend_whole(&account.id, n, now).await? {
                return Ok(n);
            }
            let Some(row) = self.get::<Credits>(&key).await? else {
                return Ok(n);
            };
            let mut credits = row.value.at(now);
            let begun = credits != row.value;
            if !begun && credits.remain <= 0 {
                return Ok(0);
            }
            if !begun && credits.remain >= i64::from(n) {
                continue;
            }
            let granted = credits.take(n);
            let item = to_item(&key, &credits, row.rev + 1, None)?;
            if self.put_if(item, Some(row.rev)).await? == Put::Stored {
                return Ok(granted);
            }
        }
        Err(StoreError::Contended(format!("credits of {}", account.id)))
    }

    /// The ordinary path: enough is left in the current period.
    async fn spend_whole(
        &self,
        account: &AccountId,
        n: u32,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let spend = UpdateBuilder::default()
            .add("remain", -i64::from(n))
            .add("used", i64::from(n))
            .add("rev", 1)
            .condition(
                "#remain >= :used AND #until > :now",
                [("now", number(now.0))],
            );
        self.update(&Key::credits(account), &spend).await
    }

    /// Returns credits that were taken for a mail which was then not accepted.
    pub async fn return_credits(
        &self,
        account: &Account,
        n: u32,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if !account.metered || n == 0 {
            return Ok(());
        }
        let key = Key::credits(&account.id);
        self.modify::<Credits, StoreError>(&key, None, |row| {
            let Some(credits) = row else {
                return Ok(RowChange::Keep);
            };
            let mut credits = credits.at(now);
            // Never more than was spent: the period may have ended in between.
            let back = i64::from(n).min(credits.used);
            credits.remain += back;
            credits.used -= back;
            Ok(RowChange::Put(credits))
        })
        .await?;
        Ok(())
    }

    /// The allowance of an account; `None` when it has none.
    pub async fn credits(
        &self,
        account: &AccountId,
        now: Timestamp,
    ) -> Result<Option<Credits>, StoreError> {
        let row = self.get::<Credits>(&Key::credits(account)).await?;
        Ok(row.map(|row| row.value.at(now)))
    }

    /// Sets a fresh allowance for an account, or removes it. `false` when there is no account.
    pub async fn set_credits(
        &self,
        account: &AccountId,
        allowance: Option<Allowance>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let key = Key::account(account);
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let Some(row) = self.get::<Account>(&key).await? else {
                return Ok(false);
            };
            let mut changed = row.value;
            changed.metered = allowance.is_some();
            let credits = Key::credits(account);
            let old = self.get::<Credits>(&credits).await?.map(|row| row.rev);
            let steps = vec![
                self.write_unchanged(&key, &changed, row.rev)?,
                match allowance {
                    Some(allowance) => {
                        let fresh = Credits::begin(allowance, now);
                        self.write_afresh(&credits, &fresh, old.unwrap_or(0))?
                    }
                    None => self.write_absent(&credits)?,
                },
            ];
            if self.transact(steps).await? == Transact::Done {
                return Ok(true);
            }
        }
        Err(StoreError::Contended(account.to_string()))
    }

    /// Adds to the remaining credits, or subtracts, but not below zero. A one-time allowance
    /// changes permanently; a recurring one is back to its size in the next period.
    pub async fn adjust_credits(
        &self,
        account: &AccountId,
        by: i64,
        now: Timestamp,
    ) -> Result<Option<Credits>, StoreError> {
        self.modify::<Credits, StoreError>(&Key::credits(account), None, |row| {
            let Some(credits) = row else {
                return Ok(RowChange::Keep);
            };
            let mut credits = credits.at(now);
            credits.remain = credits.remain.saturating_add(by).max(0);
            if credits.frequency.is_none() {
                credits.total = credits.remain.saturating_add(credits.used);
            }
            Ok(RowChange::Put(credits))
        })
        .await
    }
}
