//! Suspension of accounts, and warnings before it.

use posthaste_model::{AccountId, Timestamp};
use serde::{Deserialize, Serialize};

use super::accounts::Account;
use super::status::{SuspensionCause, SuspensionChange};
use crate::key::Key;
use crate::table::{Put, Store, StoreError};

#[derive(Serialize, Deserialize)]
struct Warning {
    at: Timestamp,
}

/// A suspension, or the end of one.
#[derive(Clone, Copy, Debug)]
pub struct SuspensionRequest {
    pub suspended: bool,
    pub cause: SuspensionCause,
    pub at: Timestamp,
}

fn warning_key(id: &AccountId) -> Key {
    Key::of_account(id, "WARNED")
}

impl Store {
    /// Suspends an account, or ends that; `may` decides again when the account has changed
    /// meanwhile. The account as it is now, and whether this call changed it; `None` when there is none.
    pub async fn set_suspended(
        &self,
        id: &AccountId,
        wanted: SuspensionRequest,
        may: impl Fn(&Account) -> bool,
    ) -> Result<Option<(Account, bool)>, StoreError> {
        let mut is_change = false;
        let changed = self.update_account(id, |account| {
            is_change = account.status.is_suspended() != wanted.suspended && may(account);
            if is_change {
                let before = account.verdict.map_or(0, |verdict| verdict.number);
                account.status = account.status.suspended(wanted.suspended);
                account.verdict = Some(SuspensionChange {
                    number: before + 1,
                    at: wanted.at,
                    reported: false,
                    cause: wanted.cause,
                });
            }
        });
        let account = changed.await?;
        Ok(account.map(|account| (account, is_change)))
    }

    /// Records that the last suspension or its end was reported, unless the account has changed again.
    pub async fn suspension_reported(
        &self,
        id: &AccountId,
        change: SuspensionChange,
    ) -> Result<(), StoreError> {
        let reported = self.update_account(id, |account| {
            if account.verdict == Some(change) {
                account.verdict = Some(SuspensionChange {
                    reported: true,
                    ..change
                });
            }
        });
        reported.await?;
        Ok(())
    }

    /// Whether an account is warned for the first time in a day.
    pub async fn note_warning(&self, id: &AccountId, now: Timestamp) -> Result<bool, StoreError> {
        const DAY: i64 = 86_400;
        let warning = Warning { at: now };
        let key = warning_key(id);
        let put = self.put_new(&key, &warning, Some(now.plus(DAY)));
        Ok(put.await? == Put::Stored)
    }

    /// Takes back a warning that could not be sent.
    pub async fn forget_warning(&self, id: &AccountId) -> Result<(), StoreError> {
        self.delete(&warning_key(id)).await?;
        Ok(())
    }
}
