//! API keys: the secret is shown once and stored only as a hash.
//!
//! A key has two rows: one in its account's partition, where it is listed and counted, and one
//! under its own id, where a request finds it. Both are written in one transaction.

use std::collections::HashMap;

use posthaste_model::{AccountId, KeyId, Timestamp, scope};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use super::secret::Secret;
use crate::key::Key;
use crate::table::{PageQuery, Store, StoreError, Transact, UpdateBuilder, Write, number};

/// Seconds between two writes of when a key was last used.
const KEY_TOUCH: i64 = 3_600;

/// The kind of key (SPEC, "Authentication").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyKind {
    Full,
    Restricted,
    Billing,
}

/// One API key, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiKey {
    pub id: KeyId,
    pub account: AccountId,
    pub name: String,
    pub kind: KeyKind,
    /// What a restricted or billing key may do; what a full one may do besides, which a session of the console has alone.
    #[serde(default)]
    pub scopes: Vec<String>,
    pub hash: String,
    pub created_at: Timestamp,
    /// Whether mail of this key never leaves and is recorded instead.
    #[serde(rename = "test", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_test: bool,
    /// When a request with it was last admitted, not older than an hour; `None`: never, as far as is noted. Only
    /// the row by which requests find the key has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_at: Option<Timestamp>,
}

impl ApiKey {
    /// Whether the secret matches this key, compared in constant time.
    pub fn is_opened_by(&self, secret: &Secret) -> bool {
        bool::from(self.hash.as_bytes().ct_eq(secret.hash().as_bytes()))
    }

    /// Whether the key holds the scope.
    pub fn holds(&self, name: &str) -> bool {
        let is_full = self.kind == KeyKind::Full && scope::in_full_access(name);
        is_full || self.scopes.iter().any(|held| held == name)
    }

    /// Whether a use at `now` is to be noted: the last one that is noted was an hour before, or more.
    pub fn is_use_due(&self, now: Timestamp) -> bool {
        self.used_at.is_none_or(|at| now.since(at) >= KEY_TOUCH)
    }

    /// Every scope the key holds, sorted.
    pub fn all_scopes(&self) -> Vec<String> {
        let mut scopes = self.scopes.clone();
        if self.kind == KeyKind::Full {
            scopes.extend(scope::full_access().into_iter().map(str::to_owned));
        }
        scopes.sort_unstable();
        scopes.dedup();
        scopes
    }
}

/// A key as it was read just now, used to create other keys; or a session of the console that has
/// full access without one.
#[derive(Clone, Debug)]
pub struct Maker {
    pub key: ApiKey,
    /// The row that must not change meanwhile.
    place: Key,
    rev: u64,
}

impl Maker {
    /// A session, as the key that it stands for.
    pub(super) fn of_session(key: ApiKey, place: Key, rev: u64) -> Self {
        Self { key, place, rev }
    }
}

/// The result of creating a key with another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Granted {
    Done,
    /// The account has reached its limit.
    Full,
    /// The creating key was changed or revoked since it was read.
    Outdated,
}

/// The result of changing what a key may do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Regranted {
    Done(Box<ApiKey>),
    /// There is no such key.
    Missing,
    /// The authorizing key was changed or revoked since it was read.
    Outdated,
}

impl Store {
    /// Writes a new key unless the account holds `limit` already; `false` then. Race-free: two
    /// creates at one below the limit give one key.
    pub async fn create_key(&self, key: &ApiKey, limit: i64) -> Result<bool, StoreError> {
        match self.add_key(key, limit, None).await? {
            Granted::Done => Ok(true),
            Granted::Full => Ok(false),
            // Without a creating key, none can be outdated.
            Granted::Outdated => Err(StoreError::Contended(key.id.to_string())),
        }
    }

    /// A key of this account, to create others with.
    pub async fn maker(
        &self,
        account: &AccountId,
        id: &KeyId,
    ) -> Result<Option<Maker>, StoreError> {
        let row = self.get::<ApiKey>(&Key::api_key(account, id)).await?;
        Ok(row.map(|row| Maker {
            key: row.value,
            place: row.key,
            rev: row.rev,
        }))
    }

    /// As [`Store::create_key`], if the creating key is unchanged since it was read: one that is
    /// revoked or narrowed at the same time creates nothing.
    pub async fn grant_key(
        &self,
        key: &ApiKey,
        limit: i64,
        maker: &Maker,
    ) -> Result<Granted, StoreError> {
        self.add_key(key, limit, Some(maker)).await
    }

    pub(crate) fn steps_of_key(&self, key: &ApiKey, limit: i64) -> Result<Vec<Write>, StoreError> {
        Ok(vec![
            self.write_take(&Key::count(&key.account, "KEYS"), limit)?,
            self.write_new(&Key::api_key(&key.account, &key.id), key, None)?,
            self.write_new(&Key::api_key_by_id(&key.id), key, None)?,
        ])
    }

    async fn add_key(
        &self,
        key: &ApiKey,
        limit: i64,
        maker: Option<&Maker>,
    ) -> Result<Granted, StoreError> {
        let mut steps = self.steps_of_key(key, limit)?;
        if let Some(maker) = maker {
            steps.push(self.write_nothing(&maker.place, maker.rev)?);
        }
        match self.transact(steps).await? {
            Transact::Done => Ok(Granted::Done),
            Transact::Refused(0) => Ok(Granted::Full),
            Transact::Refused(3) => Ok(Granted::Outdated),
            Transact::Refused(_) => Err(StoreError::Contended(key.id.to_string())),
        }
    }

    /// The key with this id, of whatever account.
    pub async fn key_by_id(&self, id: &KeyId) -> Result<Option<ApiKey>, StoreError> {
        let row = self.get(&Key::api_key_by_id(id)).await?;
        Ok(row.map(|row| row.value))
    }

    /// The keys of an account, oldest first.
    pub async fn keys(&self, account: &AccountId) -> Result<Vec<ApiKey>, StoreError> {
        let pk = Key::account_pk(account);
        let rows = self.list::<ApiKey>(&pk, "KEY#", &PageQuery::all()).await?;
        let mut keys: Vec<_> = rows.into_iter().map(|row| row.value).collect();
        keys.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        Ok(keys)
    }

    /// Changes a key of this account; `change` may run several times, each time on what the row
    /// is then, so a narrowing is never undone by a rename that read the key before it.
    /// The key as it is now, or `None` when there is none.
    pub async fn update_key(
        &self,
        account: &AccountId,
        id: &KeyId,
        change: impl FnMut(&mut ApiKey),
    ) -> Result<Option<ApiKey>, StoreError> {
        match self.rewrite_key(account, id, None, change).await? {
            Regranted::Done(key) => Ok(Some(*key)),
            Regranted::Missing => Ok(None),
            // Without an authorizing key, none can be outdated.
            Regranted::Outdated => Err(StoreError::Contended(id.to_string())),
        }
    }

    /// The same, if the authorizing key is unchanged since it was read.
    pub async fn regrant_key(
        &self,
        account: &AccountId,
        id: &KeyId,
        maker: &Maker,
        change: impl FnMut(&mut ApiKey),
    ) -> Result<Regranted, StoreError> {
        self.rewrite_key(account, id, Some(maker), change).await
    }

    async fn rewrite_key(
        &self,
        account: &AccountId,
        id: &KeyId,
        maker: Option<&Maker>,
        mut change: impl FnMut(&mut ApiKey),
    ) -> Result<Regranted, StoreError> {
        let own = Key::api_key(account, id);
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let Some(row) = self.get::<ApiKey>(&own).await? else {
                return Ok(Regranted::Missing);
            };
            let mut key = row.value;
            change(&mut key);
            let found = self.key_by_id(id).await?;
            let mut steps = vec![self.write_unchanged(&own, &key, row.rev)?];
            key.used_at = found.and_then(|found| found.used_at);
            steps.push(self.write_existing(&Key::api_key_by_id(id), &key, None)?);
            match maker {
                None => {}
                // A row may appear in a transaction only once: the first step covers this one.
                Some(maker) if maker.place == own && maker.rev == row.rev => {}
                Some(maker) if maker.place == own => return Ok(Regranted::Outdated),
                Some(maker) => steps.push(self.write_nothing(&maker.place, maker.rev)?),
            }
            match self.transact(steps).await? {
                Transact::Done => return Ok(Regranted::Done(Box::new(key))),
                Transact::Refused(2) => return Ok(Regranted::Outdated),
                Transact::Refused(_) => {}
            }
        }
        Err(StoreError::Contended(id.to_string()))
    }

    /// One key of this account.
    pub async fn key(&self, account: &AccountId, id: &KeyId) -> Result<Option<ApiKey>, StoreError> {
        let row = self.get(&Key::api_key(account, id)).await?;
        Ok(row.map(|row| row.value))
    }

    /// The keys of an account, oldest first, each with when it was last used.
    pub async fn keys_with_use(&self, account: &AccountId) -> Result<Vec<ApiKey>, StoreError> {
        let mut keys = self.keys(account).await?;
        let places: Vec<_> = keys.iter().map(|key| Key::api_key_by_id(&key.id)).collect();
        let rows = self.get_many::<ApiKey>(&places).await?;
        let used = rows
            .into_iter()
            .map(|row| (row.value.id, row.value.used_at));
        let used: HashMap<_, _> = used.collect();
        for key in &mut keys {
            key.used_at = used.get(&key.id).copied().flatten();
        }
        Ok(keys)
    }

    /// Notes that a key was used, at most once in an hour over all processes; whether it was noted.
    /// One write, to the row by which requests find the key.
    pub async fn touch_key(&self, key: &ApiKey, now: Timestamp) -> Result<bool, StoreError> {
        if !key.is_use_due(now) {
            return Ok(false);
        }
        // A key that was revoked meanwhile must not be there again.
        let used = UpdateBuilder::default()
            .set("used_at", number(now.0))
            .condition(
                "attribute_exists(pk) AND (attribute_not_exists(#used_at) OR #used_at <= :before)",
                [("before", number(now.plus(-KEY_TOUCH).0))],
            );
        self.update(&Key::api_key_by_id(&key.id), &used).await
    }

    /// Deletes a key of this account; `false` when there is none.
    pub async fn delete_key(&self, account: &AccountId, id: &KeyId) -> Result<bool, StoreError> {
        let steps = vec![
            self.write_give(&Key::count(account, "KEYS"))?,
            self.write_delete(&Key::api_key(account, id))?,
            self.write_delete(&Key::api_key_by_id(id))?,
        ];
        Ok(self.transact(steps).await? == Transact::Done)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn secrets_are_compared_in_constant_time() {
        let source = include_str!("api_keys.rs");
        let (_, body) = source.split_once("fn is_opened_by").unwrap();
        let (body, _) = body.split_once("\n    }").unwrap();
        assert!(body.contains(".ct_eq("), "{body}");
        // `==` stops at the first byte that differs, so its timing reveals which one that was.
        let (code, _) = source.split_once("#[cfg(test)]").unwrap();
        for line in code.lines().filter(|line| line.contains("hash")) {
            assert!(!line.contains("==") && !line.contains("!="), "{line}");
        }
    }
}
