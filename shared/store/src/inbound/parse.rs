//! Where received mail is posted: one setting per hostname, and each hostname once in the whole
//! service. The hostname is held by a row of its own, found before the account is known.

use std::collections::BTreeMap;
use std::fmt;

use posthaste_model::{AccountId, PolicyId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::table::{PageQuery, Range, Store, StoreError, StoredRow, Transact};

/// An inbound parse setting (SPEC.md, "Inbound parse setting").
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParseSetting {
    pub account: AccountId,
    /// Lower case, in A-labels.
    pub hostname: String,
    /// As the owner wrote it.
    pub url: String,
    /// The same URL in its standard form: what is posted to.
    pub target: String,
    pub spam_check: bool,
    pub send_raw: bool,
    pub created_at: Timestamp,
    /// The policy by which posts are signed and authorized.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security_policy: Option<PolicyId>,
}

// The URL may hold credentials.
impl fmt::Debug for ParseSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ParseSetting({})", self.hostname)
    }
}

/// The result of a creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum SettingCreation {
    Stored,
    /// An account has a setting for the hostname.
    Taken,
    /// The account has no such security policy.
    NoPolicy,
}

/// The result of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum SettingChange {
    Done(Box<ParseSetting>),
    Missing,
    /// The account has no such security policy; nothing was changed.
    NoPolicy,
}

/// The owner of a hostname.
#[derive(Debug, Serialize, Deserialize)]
struct HostnameHolder {
    account: AccountId,
}

/// Mails received on a day.
#[derive(Debug, Serialize, Deserialize)]
struct Count {
    #[serde(default)]
    received: i64,
}

impl Store {
    /// Writes a new setting; `Taken` when any account has one for the hostname. A setting whose
    /// account has lost the domain since is replaced, because its mail would not be delivered.
    pub async fn create_parse(
        &self,
        setting: &ParseSetting,
    ) -> Result<SettingCreation, StoreError> {
        let holder = HostnameHolder {
            account: setting.account.clone(),
        };
        let own = Key::parse_setting(&setting.account, &setting.hostname);
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let mut steps = vec![
                self.write_new(&Key::parse_host(&setting.hostname), &holder, None)?,
                self.write_new(&own, setting, None)?,
            ];
            if let Some(policy) = &setting.security_policy {
                steps.push(self.write_use_of_policy(&setting.account, policy)?);
            }
            match self.transact(steps).await? {
                Transact::Done => return Ok(SettingCreation::Stored),
                Transact::Refused(2) => return Ok(SettingCreation::NoPolicy),
                Transact::Refused(_) => {}
            }
            if !self.make_room(setting).await? {
                return Ok(SettingCreation::Taken);
            }
        }
        Ok(SettingCreation::Taken)
    }

    /// Whether a hostname that was taken may be free by now: its holder is gone, or had lost the
    /// domain and was removed.
    async fn make_room(&self, setting: &ParseSetting) -> Result<bool, StoreError> {
        let host = Key::parse_host(&setting.hostname);
        let Some(row) = self.get::<HostnameHolder>(&host).await? else {
            return Ok(true);
        };
        let account = row.value.account;
        if account == setting.account || self.may_receive(&account, &setting.hostname).await? {
            return Ok(false);
        }
        let steps = vec![
            self.write_delete_unchanged(&host, row.rev)?,
            self.write_delete(&Key::parse_setting(&account, &setting.hostname))?,
        ];
        // After a lost race, the next read shows the holder.
        let _ = self.transact(steps).await?;
        Ok(true)
    }

    /// Whether an account has a valid domain for a hostname (SPEC, "Inbound parse setting"):
    /// checked for each mail, because a domain can be deleted, taken back or invalid by then.
    async fn may_receive(&self, account: &AccountId, hostname: &str) -> Result<bool, StoreError> {
        Ok(self.valid_domain(account, hostname).await?.is_some())
    }

    /// The settings of an account, by hostname.
    pub async fn parse_settings(
        &self,
        account: &AccountId,
    ) -> Result<Vec<ParseSetting>, StoreError> {
        let pk = Key::account_pk(account);
        let rows: Vec<StoredRow<ParseSetting>> =
            self.list(&pk, "PARSE#", &PageQuery::all()).await?;
        Ok(rows.into_iter().map(|row| row.value).collect())
    }

    /// The setting of an account for a hostname.
    pub async fn parse_setting(
        &self,
        account: &AccountId,
        hostname: &str,
    ) -> Result<Option<ParseSetting>, StoreError> {
        let row = self.get(&Key::parse_setting(account, hostname)).await?;
        Ok(row.map(|row| row.value))
    }

    /// The setting that mail for this hostname is posted by, of whatever account; none while its
    /// account has no valid domain for it.
    pub async fn receiver(&self, hostname: &str) -> Result<Option<ParseSetting>, StoreError> {
        let Some(row) = self
            .get::<HostnameHolder>(&Key::parse_host(hostname))
            .await?
        else {
            return Ok(None);
        };
        let account = row.value.account;
        if self.may_receive(&account, hostname).await? {
            self.parse_setting(&account, hostname).await
        } else {
            Ok(None)
        }
    }

    /// Changes a setting; `change` may run several times and leaves account and hostname alone.
    pub async fn update_parse(
        &self,
        account: &AccountId,
        hostname: &str,
        mut change: impl FnMut(&mut ParseSetting),
    ) -> Result<SettingChange, StoreError> {
        let key = Key::parse_setting(account, hostname);
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let Some(row) = self.get::<ParseSetting>(&key).await? else {
                return Ok(SettingChange::Missing);
            };
            let mut setting = row.value.clone();
            change(&mut setting);
            let mut steps = vec![self.write_unchanged(&key, &setting, row.rev)?];
            let policy = setting.security_policy.as_ref();
            if let Some(policy) = policy.filter(|_| row.value.security_policy.as_ref() != policy) {
                steps.push(self.write_use_of_policy(account, policy)?);
            }
            match self.transact(steps).await? {
                Transact::Done => return Ok(SettingChange::Done(Box::new(setting))),
                Transact::Refused(1) => return Ok(SettingChange::NoPolicy),
                Transact::Refused(_) => {}
            }
        }
        Err(StoreError::Contended(format!("{hostname} of {account}")))
    }

    /// Deletes a setting and frees its hostname; `false` when the account has none.
    pub async fn delete_parse(
        &self,
        account: &AccountId,
        hostname: &str,
    ) -> Result<bool, StoreError> {
        let own = Key::parse_setting(account, hostname);
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let Some(row) = self.get::<ParseSetting>(&own).await? else {
                return Ok(false);
            };
            // Once the setting is deleted, the hostname may belong to another account.
            let steps = vec![
                self.write_delete_unchanged(&own, row.rev)?,
                self.write_delete(&Key::parse_host(hostname))?,
            ];
            if self.transact(steps).await? == Transact::Done {
                return Ok(true);
            }
        }
        Err(StoreError::Contended(format!("{hostname} of {account}")))
    }

    /// Counts one received mail for the day it came.
    pub async fn count_received(
        &self,
        account: &AccountId,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let key = Key::received(account, &at.day());
        self.add(&key, &[("received", 1), ("rev", 1)], None).await?;
        Ok(())
    }

    /// Received mails by day, from `first` to `last` (`2026-01-31`); days without any are left out.
    pub async fn received(
        &self,
        account: &AccountId,
        first: &str,
        last: &str,
    ) -> Result<BTreeMap<String, i64>, StoreError> {
        let pk = Key::received_pk(account);
        let mut range = Range {
            from: first.to_owned(),
            to: last.to_owned(),
            after: None,
        };
        let mut days = BTreeMap::new();
        loop {
            let slice = self.slice::<Count>(&pk, &range, 1000).await?;
            range.after = slice.rows.last().map(|row| row.key.sk.clone());
            days.extend(
                slice
                    .rows
                    .into_iter()
                    .map(|row| (row.key.sk, row.value.received)),
            );
            if !slice.more {
                return Ok(days);
            }
        }
    }
}
