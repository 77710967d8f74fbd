//! Search rows: one per copy under its recipient, and a pointer to it in the order of time. Written
//! only where an owner enabled the search, because each costs a write.

use std::collections::BTreeMap;

use futures_util::{StreamExt as _, TryStreamExt as _};
use posthaste_model::{AccountId, EmailAddress, Event, MessageId, Timestamp};
use serde::{Deserialize, Serialize};

use super::search_row::Seek;
use crate::key::Key;
use crate::table::{Put, Range, Store, StoreError, from_item, to_item};

/// How many copies are written concurrently.
const AT_ONCE: usize = 16;

/// A row in the order of time.
#[derive(Debug, Serialize, Deserialize)]
struct Pointer {
    /// The recipient as it compares.
    to: String,
}

/// Rows of the search that were looked at.
#[derive(Clone, Debug, Default)]
pub struct Sought {
    pub rows: Vec<Seek>,
    /// Where to continue; `None` at the end.
    pub next: Option<String>,
}

/// The comparable form of an address; text that is not an address is unchanged.
fn folded(text: &str) -> String {
    EmailAddress::parse_stored(text)
        .map_or_else(|_| text.to_lowercase(), |address| address.folded())
}

impl Store {
    /// Writes what these events mean for the search, and stores it for `retention` seconds after
    /// each mail was accepted. Returns how many rows were written. A repeat of the same events is a
    /// no-op. Events of copies that have no row any more are skipped.
    ///
    /// # Errors
    /// When the table fails or a row keeps changing; some may be written then.
    pub async fn index(
        &self,
        account: &AccountId,
        events: &[Event],
        retention: i64,
    ) -> Result<usize, StoreError> {
        let mut copies: BTreeMap<(&str, u32), Vec<&Event>> = BTreeMap::new();
        for event in events {
            if let Some(message) = &event.message {
                let copy = (message.as_str(), event.recipient);
                copies.entry(copy).or_default().push(event);
            }
        }
        let writes: Vec<_> = copies
            .into_iter()
            .map(|((_, recipient), events)| self.index_copy(account, recipient, events, retention))
            .collect();
        futures_util::stream::iter(writes)
            .buffer_unordered(AT_ONCE)
            .try_fold(0, |sum, written| async move { Ok(sum + written) })
            .await
    }

    async fn index_copy(
        &self,
        account: &AccountId,
        recipient: u32,
        events: Vec<&Event>,
        retention: i64,
    ) -> Result<usize, StoreError> {
        let Some(message) = events.first().and_then(|event| event.message.as_ref()) else {
            return Ok(0);
        };
        let Some(row) = self.recipient(account, message, recipient).await? else {
            return Ok(0);
        };
        let to = folded(&row.email);
        let place = Key::seek_place(row.accepted_at, message, recipient);
        let key = Key::new(Key::seek_pk(account, &to), &place);
        let expires = Some(row.accepted_at.plus(retention));
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let old = self.get::<Seek>(&key).await?;
            let rev = old.as_ref().map(|old| old.rev);
            let mut seek = old.map_or_else(|| Seek::of(&row, message, recipient), |old| old.value);
            let mut new = 0;
            for event in &events {
                new += usize::from(seek.add(event));
            }
            if new == 0 {
                return Ok(0);
            }
            let mut written = 1;
            if rev.is_none() {
                // The pointer is written first: one without a target yet is skipped.
                let pointer = Key::new(Key::seeks_pk_of(account, message), &place);
                self.put(&pointer, &Pointer { to: to.clone() }, expires)
                    .await?;
                written += 1;
            }
            let item = to_item(&key, &seek, rev.unwrap_or(0) + 1, expires)?;
            if self.put_if(item, rev).await? == Put::Stored {
                return Ok(written);
            }
        }
        Err(StoreError::Contended(format!(
            "the search row of copy {recipient} of message {message} of account {account}"
        )))
    }

    /// The mails to an address, latest first: at most `limit`, accepted at or before `until`,
    /// after the place `after`.
    pub async fn seek_to(
        &self,
        (account, to): (&AccountId, &str),
        until: Option<Timestamp>,
        after: Option<String>,
        limit: usize,
    ) -> Result<Sought, StoreError> {
        let pk = Key::seek_pk(account, &folded(to));
        let range = range(until).after(after);
        let slice = self.slice::<Seek>(&pk, &range, limit).await?;
        let last = slice.rows.last().map(|row| row.key.sk.clone());
        Ok(Sought {
            next: last.filter(|_| slice.more),
            rows: slice.rows.into_iter().map(|row| row.value).collect(),
        })
    }

    /// The mails of an account in the same way.
    pub async fn seek(
        &self,
        account: &AccountId,
        until: Option<Timestamp>,
        after: Option<String>,
        limit: usize,
    ) -> Result<Sought, StoreError> {
        let range = range(until).after(after);
        let pk = |part| Key::seeks_pk(account, part);
        let slice = self.gather::<Pointer>(pk, &range, limit).await?;
        let last = slice.rows.last().map(|row| row.key.sk.clone());
        let keys: Vec<Key> = slice
            .rows
            .iter()
            .map(|row| Key::new(Key::seek_pk(account, &row.value.to), &row.key.sk))
            .collect();
        // They are returned in no order.
        let mut found = self.get_many::<Seek>(&keys).await?;
        found.sort_by(|a, b| a.key.sk.cmp(&b.key.sk));
        Ok(Sought {
            next: last.filter(|_| slice.more),
            rows: found.into_iter().map(|row| row.value).collect(),
        })
    }

    /// Deletes the search rows of an address, and returns which copies they were of.
    ///
    /// # Errors
    /// When the table fails; a repeated call resumes.
    pub async fn unindex(
        &self,
        account: &AccountId,
        to: &str,
    ) -> Result<Vec<(MessageId, u32)>, StoreError> {
        const LOT: usize = 500;
        let pk = Key::seek_pk(account, &folded(to));
        let mut copies = Vec::new();
        loop {
            // Also rows whose time is over and that DynamoDB has yet to delete.
            let (items, more) = self.items(&pk, &range(None), LOT).await?;
            let mut keys = Vec::with_capacity(items.len() * 2);
            for item in items {
                let row = from_item::<Seek>(item)?;
                let pointer = Key::seeks_pk_of(account, &row.value.message);
                keys.push(Key::new(pointer, &row.key.sk));
                keys.push(row.key);
                copies.push((row.value.message, row.value.recipient));
            }
            self.delete_many(&keys).await?;
            if !more {
                return Ok(copies);
            }
        }
    }
}

/// From `until` back to the beginning.
fn range(until: Option<Timestamp>) -> Range {
    let all = Range::all();
    match until {
        None => all,
        Some(until) => Range {
            from: Key::backwards(until),
            ..all
        },
    }
}
