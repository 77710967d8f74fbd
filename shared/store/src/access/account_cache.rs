//! Accounts as a process knows them: read once in ten seconds, and judged together with those above
//! them.

use std::sync::Arc;

use posthaste_cache::Cache;
use posthaste_model::{AccountId, Clock};

use super::accounts::Account;
use super::status::AccountStatus;
use crate::table::{Store, StoreError};

/// How many accounts can be above one: a subuser, under a customer account, under its parent.
const MOST_ABOVE: usize = 3;

/// The way from an account to those above it, the nearest first.
pub(crate) struct Ancestors {
    above: Option<AccountId>,
    left: usize,
}

impl Ancestors {
    pub(crate) fn of(account: &Account) -> Self {
        Self {
            above: account.parent.clone(),
            left: MOST_ABOVE,
        }
    }

    /// The next account above. It ends the way unless it is passed to [`Self::go_on`].
    pub(crate) fn next(&mut self) -> Option<AccountId> {
        self.left = self.left.checked_sub(1)?;
        self.above.take()
    }

    /// Goes on above an account.
    pub(crate) fn go_on(&mut self, from: &Account) {
        self.above.clone_from(&from.parent);
    }
}

/// Reads accounts of a table through a cache. Only accounts that exist are cached.
pub struct AccountCache {
    store: Store,
    clock: Clock,
    accounts: Cache<AccountId, Arc<Account>>,
}

impl AccountCache {
    /// An empty cache over this table.
    pub fn new(store: Store, clock: Clock) -> Self {
        Self {
            store,
            clock,
            accounts: Cache::default(),
        }
    }

    /// One account.
    pub async fn account(&self, id: &AccountId) -> Result<Option<Arc<Account>>, StoreError> {
        let now = self.clock.now_ms();
        if let Some(account) = self.accounts.get(id, now) {
            return Ok(Some(account));
        }
        let account = self.store.account(id).await?.map(Arc::new);
        if let Some(account) = &account {
            self.accounts.put(id.clone(), Arc::clone(account), now);
        }
        Ok(account)
    }

    /// The status that counts for an account: its own, or else that of the nearest account above it
    /// that is disabled or suspended.
    pub async fn effective_status(&self, account: &Account) -> Result<AccountStatus, StoreError> {
        let mut status = account.status;
        let mut above = Ancestors::of(account);
        while status == AccountStatus::Active
            && let Some(id) = above.next()
            && let Some(parent) = self.account(&id).await?
        {
            status = parent.status;
            above.go_on(&parent);
        }
        Ok(status)
    }

    /// Drops an account that this process changed.
    pub fn forget(&self, id: &AccountId) {
        self.accounts.forget(id);
    }
}
