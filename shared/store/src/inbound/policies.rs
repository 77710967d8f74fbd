//! Security policies: how posts of received mail are signed and authorized. Parse settings name them.
//!
//! A setting names only a policy that exists: attaching one changes the revision of its row in the
//! same transaction, and a deletion requires that revision unchanged since it looked for settings.

use std::fmt;

use posthaste_model::{AccountId, PolicyId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::table::{PageQuery, RowChange, Store, StoreError, StoredRow, Transact, Write};
use crate::webhooks::Signing;

/// A security policy of webhooks. Its secrets are sealed before they are stored.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecurityPolicy {
    pub id: PolicyId,
    pub account: AccountId,
    pub name: String,
    pub created_at: Timestamp,
    /// `None` where posts carry no token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oauth: Option<PolicyOauth>,
    /// `None` where posts are not signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing: Option<Signing>,
}

/// The OAuth server of a policy, and the client that asks it for tokens.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyOauth {
    pub client_id: String,
    /// Sealed.
    pub client_secret: String,
    pub token_url: String,
    #[serde(default)]
    pub scopes: Vec<String>,
}

// A token URL may hold credentials.
impl fmt::Debug for SecurityPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecurityPolicy({})", self.id)
    }
}

/// The result of a deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum PolicyDeletion {
    Done,
    Missing,
    /// The parse settings of these hostnames use it; nothing was changed.
    Used(Vec<String>),
}

impl Store {
    /// The policies of an account, the oldest first.
    pub async fn security_policies(
        &self,
        account: &AccountId,
    ) -> Result<Vec<SecurityPolicy>, StoreError> {
        let pk = Key::account_pk(account);
        let rows: Vec<StoredRow<SecurityPolicy>> =
            self.list(&pk, "POLICY#", &PageQuery::all()).await?;
        let mut policies: Vec<_> = rows.into_iter().map(|row| row.value).collect();
        policies.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        Ok(policies)
    }

    /// One policy of an account.
    pub async fn security_policy(
        &self,
        account: &AccountId,
        id: &PolicyId,
    ) -> Result<Option<SecurityPolicy>, StoreError> {
        let row = self.get(&Key::security_policy(account, id)).await?;
        Ok(row.map(|row| row.value))
    }

    /// Writes a new policy; `false` when the account has reached `limit`.
    pub async fn create_security_policy(
        &self,
        policy: &SecurityPolicy,
        limit: i64,
    ) -> Result<bool, StoreError> {
        let key = Key::security_policy(&policy.account, &policy.id);
        let steps = vec![
            self.write_take(&policy_count(&policy.account), limit)?,
            self.write_new(&key, policy, None)?,
        ];
        match self.transact(steps).await? {
            Transact::Done => Ok(true),
            Transact::Refused(0) => Ok(false),
            Transact::Refused(_) => Err(StoreError::Contended(policy.id.to_string())),
        }
    }

    /// Changes a policy; `change` may run several times. The policy as it is now, or `None` when
    /// there is none.
    ///
    /// # Errors
    /// What `change` refused with, or the table's error in that type.
    pub async fn change_security_policy<E: From<StoreError>>(
        &self,
        account: &AccountId,
        id: &PolicyId,
        mut change: impl FnMut(SecurityPolicy) -> Result<SecurityPolicy, E>,
    ) -> Result<Option<SecurityPolicy>, E> {
        let key = Key::security_policy(account, id);
        self.modify::<SecurityPolicy, E>(&key, None, |row| {
            let Some(old) = row else {
                return Ok(RowChange::Keep);
            };
            let new = change(old.clone())?;
            Ok(if new == *old {
                RowChange::Keep
            } else {
                RowChange::Put(new)
            })
        })
        .await
    }

    /// Deletes a policy that no parse setting uses, or, with `force`, detaches it from those that do
    /// first. A repeat after a failure resumes where it stopped.
    pub async fn delete_security_policy(
        &self,
        account: &AccountId,
        id: &PolicyId,
        force: bool,
    ) -> Result<PolicyDeletion, StoreError> {
        let key = Key::security_policy(account, id);
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let Some(row) = self.get::<SecurityPolicy>(&key).await? else {
                return Ok(PolicyDeletion::Missing);
            };
            let settings = self.parse_settings(account).await?.into_iter();
            let users = settings.filter(|setting| setting.security_policy.as_ref() == Some(id));
            let users: Vec<_> = users.map(|setting| setting.hostname).collect();
            if !users.is_empty() && !force {
                return Ok(PolicyDeletion::Used(users));
            }
            for hostname in &users {
                let detach = |setting: &mut crate::ParseSetting| {
                    setting.security_policy.take_if(|used| *used == *id);
                };
                let _detached = self.update_parse(account, hostname, detach).await?;
            }
            let steps = vec![
                self.write_delete_unchanged(&key, row.rev)?,
                self.write_give(&policy_count(account))?,
            ];
            if self.transact(steps).await? == Transact::Done {
                return Ok(PolicyDeletion::Done);
            }
        }
        Err(StoreError::Contended(id.to_string()))
    }

    /// A step that requires a policy to exist, and tells a deletion that it is used.
    pub(super) fn write_use_of_policy(
        &self,
        account: &AccountId,
        id: &PolicyId,
    ) -> Result<Write, StoreError> {
        self.write_touch(&Key::security_policy(account, id))
    }
}

fn policy_count(account: &AccountId) -> Key {
    Key::count(account, "POLICIES")
}
