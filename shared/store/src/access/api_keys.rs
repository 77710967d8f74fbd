//! API keys: the secret is shown once and stored only as a hash.
//!
//! A key has two rows: one in its account's partition, where it is listed and counted, and one
//! under its own id, where a request finds it. Both are written in one transaction.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use posthaste_model::{AccountId, Entropy, KeyId, Timestamp, scope};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::key::Key;
use crate::table::{PageQuery, Store, StoreError, Transact, Write};

/// A full API key as the caller sent it: `SG.<22>.<43>`, 69 characters (SPEC, "API key").
/// Hash it, compare it, never print it.
#[derive(Clone)]
pub struct Secret {
    id: KeyId,
    text: String,
}

impl Secret {
    /// A new key.
    pub fn generate(entropy: &Entropy) -> Self {
        let id = entropy.key_id();
        let secret = URL_SAFE_NO_PAD.encode(entropy.bytes::<32>());
        Self {
            text: format!("SG.{id}.{secret}"),
            id,
        }
    }

    /// Reads a key from a header; `None` when it is malformed.
    pub fn parse(text: &str) -> Option<Self> {
        let (id, secret) = text.strip_prefix("SG.")?.split_once('.')?;
        let url_safe = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        (secret.len() == 43 && secret.bytes().all(url_safe)).then_some(())?;
        Some(Self {
            id: KeyId::parse(id).ok()?,
            text: text.to_owned(),
        })
    }

    /// The public half.
    pub fn id(&self) -> &KeyId {
        &self.id
    }

    /// The key in clear, for the one time it is shown.
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// What is stored. The secret has 256 random bits, so a plain hash cannot be brute-forced.
    pub fn hash(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(self.text.as_bytes()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({}.…)", self.id)
    }
}

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
    /// What a restricted or billing key may do; empty for a full one.
    #[serde(default)]
    pub scopes: Vec<String>,
    pub hash: String,
    pub created_at: Timestamp,
    /// Whether mail of this key never leaves and is recorded instead.
    #[serde(rename = "test", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_test: bool,
}

impl ApiKey {
    /// Whether the secret matches this key, compared in constant time.
    pub fn is_opened_by(&self, secret: &Secret) -> bool {
        bool::from(self.hash.as_bytes().ct_eq(secret.hash().as_bytes()))
    }

    /// Whether the key holds the scope.
    pub fn holds(&self, name: &str) -> bool {
        match self.kind {
            KeyKind::Full => scope::in_full_access(name),
            KeyKind::Restricted | KeyKind::Billing => self.scopes.iter().any(|held| held == name),
        }
    }

    /// Every scope the key holds, sorted.
    pub fn all_scopes(&self) -> Vec<String> {
        match self.kind {
            KeyKind::Full => scope::full_access()
                .into_iter()
                .map(str::to_owned)
                .collect(),
            KeyKind::Restricted | KeyKind::Billing => {
                let mut scopes = self.scopes.clone();
                scopes.sort_unstable();
                scopes.dedup();
                scopes
            }
        }
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
            let mut steps = vec![
                self.write_unchanged(&own, &key, row.rev)?,
                self.write_existing(&Key::api_key_by_id(id), &key, None)?,
            ];
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
    use super::*;

    #[test]
    fn a_key_has_69_characters_and_does_not_print() {
        let secret = Secret::generate(&Entropy::counting());
        assert_eq!(secret.expose().len(), 69);
        let read = Secret::parse(secret.expose()).unwrap();
        assert_eq!(read.hash(), secret.hash());
        let printed = format!("{secret:?}");
        let hidden = secret.expose().rsplit('.').next().unwrap();
        assert!(!printed.contains(hidden), "{printed}");
    }

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

    #[test]
    fn what_has_not_the_form_of_a_key_is_none() {
        let good = Secret::generate(&Entropy::counting()).expose().to_owned();
        let quoted = format!("\"{good}\"");
        let longer = format!("{good}a");
        let other = good.replacen("SG", "XX", 1);
        for bad in [
            "",
            "SG.",
            "SG.a.b",
            &quoted,
            &longer,
            &other,
            good.get(..68).unwrap(),
        ] {
            assert!(Secret::parse(bad).is_none(), "{bad:?}");
        }
    }
}
