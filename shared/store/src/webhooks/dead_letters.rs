//! Events that a webhook did not accept in time, stored until they are replayed.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use posthaste_model::{AccountId, Timestamp, WebhookId, cut};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::key::Key;
use crate::table::largest::REASON;
use crate::table::{PageQuery, Store, StoreError, StoredRow};

/// Some events of one webhook, in their delivery format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadLetter {
    pub account: AccountId,
    pub webhook: WebhookId,
    /// When the first and the last of the events happened.
    pub first: Timestamp,
    pub last: Timestamp,
    pub events: u32,
    /// When attempts ended, how many there were, and how the last one ended.
    pub died_at: Timestamp,
    pub attempts: u32,
    pub reason: String,
    /// The queue message that carries them; at most 60 KB except for a single huge event.
    pub message: String,
}

/// The expiry of a letter.
#[derive(Debug, Deserialize)]
struct Expiry {
    exp: Timestamp,
}

/// Which dead letters to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeadLetterFilter {
    /// The first event happened at or after this second.
    pub since: Option<Timestamp>,
    /// The first event happened at or before this second.
    pub until: Option<Timestamp>,
    pub webhook: Option<WebhookId>,
    /// Only letters after this key, as returned with an earlier page.
    pub after: Option<String>,
    /// At most this many letters.
    pub limit: usize,
}

impl DeadLetter {
    /// The same events of the same webhook have the same key, so storing them twice is a no-op.
    fn key(&self) -> Key {
        let hash = URL_SAFE_NO_PAD.encode(Sha256::digest(self.message.as_bytes()));
        let hash = hash.get(..16).unwrap_or_default();
        let first = self.first.0.max(0);
        Key::new(
            Key::dead_letters_pk(&self.account),
            format!("{first:012}#{}#{hash}", self.webhook),
        )
    }
}

impl Store {
    /// Stores a letter until `expires`.
    pub async fn put_dead_letter(
        &self,
        letter: &DeadLetter,
        expires: Timestamp,
    ) -> Result<(), StoreError> {
        let letter = DeadLetter {
            reason: cut(&letter.reason, REASON).to_owned(),
            ..letter.clone()
        };
        self.put(&letter.key(), &letter, Some(expires)).await
    }

    /// Replaces an older letter and keeps its expiry; does nothing when the older one is gone.
    pub async fn rebury(&self, old: &Key, letter: &DeadLetter) -> Result<(), StoreError> {
        match self.get::<Expiry>(old).await? {
            Some(row) => self.put_dead_letter(letter, row.value.exp).await,
            None => Ok(()),
        }
    }

    /// Letters of an account, those with the oldest events first.
    pub async fn dead_letters(
        &self,
        account: &AccountId,
        wanted: &DeadLetterFilter,
    ) -> Result<Vec<StoredRow<DeadLetter>>, StoreError> {
        // Read in pages: a filter may skip most rows.
        const PAGE: usize = 100;
        let pk = Key::dead_letters_pk(account);
        let since = wanted.since.map(|at| format!("{:012}", at.0.max(0)));
        let mut after = wanted.after.clone().max(since);
        let mut found = Vec::new();
        loop {
            let page = PageQuery {
                limit: PAGE,
                after: after.take(),
                backwards: false,
            };
            let rows: Vec<StoredRow<DeadLetter>> = self.list(&pk, "", &page).await?;
            let last = rows.len() < PAGE;
            after = rows.last().map(|row| row.key.sk.clone());
            for row in rows {
                if wanted.until.is_some_and(|until| row.value.first > until) {
                    return Ok(found);
                }
                if wanted
                    .webhook
                    .as_ref()
                    .is_none_or(|id| *id == row.value.webhook)
                {
                    found.push(row);
                }
                if found.len() >= wanted.limit {
                    return Ok(found);
                }
            }
            if last {
                return Ok(found);
            }
        }
    }

    /// Deletes letters that were replayed.
    pub async fn delete_dead_letters(&self, keys: &[Key]) -> Result<(), StoreError> {
        self.delete_many(keys).await
    }
}
