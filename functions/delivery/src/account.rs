//! Accounts, their settings and their sending allowance. Accounts and settings are cached for a few
//! seconds, so that they cost no read per copy.
//!
//! One copy costs one credit of an account with an allowance, charged at its first attempt by the
//! job that claims it: a repeated job charges none, and a copy beyond the credits is dropped. The
//! service's own notices are free: an account without credits can still verify a sender. A crash
//! between claim and outcome charges the credit twice; it is not refunded.

use std::sync::Arc;

use posthaste_http::Cache;
use posthaste_model::{AccountId, Clock, Mail};
use posthaste_queue::Job;
use posthaste_store::{Account, AccountSettings, AccountStatus, Store, StoreError};

/// The drop reason of SPEC, "Events", for a copy beyond the account's credits.
pub(crate) const OVER_QUOTA: &str = "Recipient List over Package Quota";

/// Reads accounts and their settings through a cache.
pub struct AccountCache {
    store: Store,
    clock: Clock,
    accounts: Cache<AccountId, Option<Account>>,
    /// By account and change count: unchanged settings are not read again when the account is.
    settings: Cache<(AccountId, u64), Arc<AccountSettings>>,
}

impl AccountCache {
    /// An empty cache over this table.
    pub fn new(store: Store, clock: Clock) -> Self {
        Self {
            store,
            clock,
            accounts: Cache::default(),
            settings: Cache::default(),
        }
    }

    /// The account of a mail, which may have been deleted by now.
    pub(crate) async fn account(&self, id: &AccountId) -> Result<Option<Account>, StoreError> {
        let now = self.clock.now_ms();
        if let Some(known) = self.accounts.get(id, now) {
            return Ok(known);
        }
        let account = self.store.account(id).await?;
        self.accounts.put(id.clone(), account.clone(), now);
        Ok(account)
    }

    /// Why no mail of the account may leave any more, as its dropped events state: the account or
    /// one above it was suspended or deleted after the mail was accepted. Takes effect within ten
    /// seconds.
    pub(crate) async fn suspension_reason(
        &self,
        id: &AccountId,
    ) -> Result<Option<&'static str>, StoreError> {
        // A subuser, under a customer account, under its parent: the depth the authorizer checks.
        const ABOVE: usize = 3;
        let Some(own) = self.account(id).await? else {
            return Ok(Some("Account Deleted"));
        };
        let mut next = Some(own);
        for _ in 0..=ABOVE {
            let Some(account) = next else { break };
            match account.status {
                AccountStatus::Active => {}
                AccountStatus::Disabled => return Ok(Some("Account Disabled")),
                AccountStatus::Suspended | AccountStatus::DisabledAndSuspended => {
                    return Ok(Some("Account Suspended"));
                }
            }
            next = match &account.parent {
                None => None,
                Some(parent) => self.account(parent).await?,
            };
        }
        Ok(None)
    }

    /// The settings for all mail of the account. An account without settings costs no read beyond
    /// its own.
    pub(crate) async fn settings(
        &self,
        id: &AccountId,
    ) -> Result<Arc<AccountSettings>, StoreError> {
        let account = self.account(id).await?;
        let changes = account.map_or(0, |account| account.settings);
        if changes == 0 {
            return Ok(Arc::default());
        }
        let (asked, now) = ((id.clone(), changes), self.clock.now_ms());
        if let Some(known) = self.settings.get(&asked, now) {
            return Ok(known);
        }
        let settings = Arc::new(self.store.settings(id).await?);
        self.settings.put(asked, Arc::clone(&settings), now);
        Ok(settings)
    }

    /// Charges the credit of a copy at its first attempt; `false` when the account has none left.
    pub(crate) async fn charge_credit(&self, job: &Job, mail: &Mail) -> Result<bool, StoreError> {
        if job.attempt > 0 || mail.notice {
            return Ok(true);
        }
        let account = self.account(&job.account).await?;
        let Some(account) = account.filter(|account| account.metered) else {
            return Ok(true);
        };
        let granted = self
            .store
            .spend_credits(&account, 1, self.clock.now())
            .await?;
        Ok(granted > 0)
    }
}
