//! Accounts, their settings and their sending allowance. Accounts and settings are cached for a few
//! seconds, so that they cost no read per copy.
//!
//! One copy costs one credit of an account with an allowance, charged at its first attempt by the
//! job that claims it: a repeated job charges none, and a copy beyond the credits is dropped. The
//! service's own notices are free: an account without credits can still verify a sender.
//!
//! A crash between claim and outcome charges the credit twice. So does a write to the table whose answer is
//! lost, for all copies that it charges at once, as many as this process delivers at a time: each is tried
//! again, and the client of the table by itself repeats a write up to three times. So one lost answer
//! doubles these charges, and a table that takes writes but answers none multiplies them by three for each
//! try of a job. What is charged too often is not refunded.

use std::sync::Arc;

use posthaste_cache::Cache;
use posthaste_model::{AccountId, Clock, DropReason, Mail, PublicUrl};
use posthaste_queue::Job;
use posthaste_store::{AccountCache, AccountSettings, AccountStatus, Monitor, Store, StoreError};

use crate::charges::Charges;
use crate::links::{BrandedLinks, MailLinks};

/// The accounts that mail is sent for, and their settings.
pub struct SenderAccounts {
    store: Store,
    clock: Clock,
    charges: Charges,
    accounts: AccountCache,
    /// By account and change count: unchanged settings are not read again when the account is.
    settings: Cache<(AccountId, u64), Arc<AccountSettings>>,
    branded: BrandedLinks,
}

impl SenderAccounts {
    /// An empty cache over this table.
    pub fn new(store: Store, clock: Clock) -> Self {
        Self {
            accounts: AccountCache::new(store.clone(), clock.clone()),
            settings: Cache::default(),
            branded: BrandedLinks::new(store.clone(), clock.clone()),
            charges: Charges::default(),
            store,
            clock,
        }
    }

    /// Why no mail of the account may leave any more, as its dropped events state: the account or
    /// one above it was suspended or deleted after the mail was accepted. Takes effect within ten
    /// seconds.
    pub(crate) async fn suspension_reason(
        &self,
        id: &AccountId,
    ) -> Result<Option<DropReason>, StoreError> {
        let Some(own) = self.accounts.account(id).await? else {
            return Ok(Some(DropReason::AccountDeleted));
        };
        Ok(match self.accounts.effective_status(&own).await? {
            AccountStatus::Active => None,
            AccountStatus::Disabled => Some(DropReason::AccountDisabled),
            AccountStatus::Suspended | AccountStatus::DisabledAndSuspended => {
                Some(DropReason::AccountSuspended)
            }
        })
    }

    /// The settings for all mail of the account. An account without settings costs no read beyond
    /// its own.
    pub(crate) async fn settings(
        &self,
        id: &AccountId,
    ) -> Result<Arc<AccountSettings>, StoreError> {
        let account = self.accounts.account(id).await?;
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

    /// Where samples of the account's mail go: the parent that asked for them, and its monitor.
    pub(crate) async fn monitor(
        &self,
        id: &AccountId,
    ) -> Result<Option<(AccountId, Monitor)>, StoreError> {
        let account = self.accounts.account(id).await?;
        Ok(account.and_then(|account| Some((account.parent.clone()?, account.monitor.clone()?))))
    }

    /// Where the links of the account's mails lead.
    pub(crate) async fn links(
        &self,
        id: &AccountId,
        shared: Option<&PublicUrl>,
    ) -> Result<MailLinks, StoreError> {
        self.branded.of(&self.accounts, id, shared).await
    }

    /// Charges the credit of a copy at its first attempt; `false` when the account has none left.
    pub(crate) async fn charge_credit(&self, job: &Job, mail: &Mail) -> Result<bool, StoreError> {
        if job.attempt > 0 || mail.notice {
            return Ok(true);
        }
        let account = self.accounts.account(&job.account).await?;
        let Some(account) = account.filter(|account| account.metered) else {
            return Ok(true);
        };
        let spend = |n| {
            let now = self.clock.now();
            self.store.spend_credits(&account, n, now)
        };
        self.charges.charge(&account.id, spend).await
    }

    /// Returns the credit of a copy that was charged and then not offered to the relay.
    pub(crate) async fn return_credit(&self, job: &Job, mail: &Mail) -> Result<(), StoreError> {
        if job.attempt > 0 || mail.notice {
            return Ok(());
        }
        match self.accounts.account(&job.account).await? {
            Some(account) => {
                let now = self.clock.now();
                let give = || self.store.return_credits(&account, 1, now);
                self.store.through_throttles(give).await
            }
            None => Ok(()),
        }
    }
}
