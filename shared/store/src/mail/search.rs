//! Search rows: one per copy in the order of time, and a pointer to it under its recipient. Written
//! only where an owner enabled the search, because each costs a write.
//!
//! A search over time reads the rows themselves, many in a unit of 4 KB; only the few mails to one address are
//! read one by one. Rows of release 0.1 lie the other way round, for as long as they are stored: the row under its
//! recipient, and the pointer, with the address, in the order of time.

use std::collections::BTreeMap;

use futures_util::{StreamExt as _, TryStreamExt as _};
use posthaste_model::{AccountId, EmailAddress, Event, MessageId, Timestamp};
use serde::{Deserialize, Serialize};

use super::messages::Recipient;
use super::search_row::Seek;
use crate::key::Key;
use crate::table::{
    PageQuery, Put, Range, ResultPage, Store, StoreError, StoredRow, text_of, to_item,
};

/// How many copies are written concurrently.
const AT_ONCE: usize = 16;

/// What lies at either place of a copy.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum SearchPlace {
    Row(Box<Seek>),
    Pointer(Pointer),
}

/// Where the row is: at the other place, whose key follows from this one's and, of a row of before, from the address.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Pointer {
    /// The recipient as it compares.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    to: String,
}

/// Rows of the search that were looked at.
#[derive(Clone, Debug, Default)]
pub struct Sought {
    pub rows: Vec<Seek>,
    /// Where to continue; `None` at the end.
    pub next: Option<String>,
}

/// The row of a copy, or where a first one is to be written.
struct SearchEntry {
    key: Key,
    row: Option<Seek>,
    /// Of what lies there.
    rev: Option<u64>,
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
        let place = Key::seek_place(row.accepted_at, message, recipient);
        let of_address = Key::new(Key::seek_pk(account, &folded(&row.email)), &place);
        let in_time = Key::new(Key::seeks_pk_of(account, message), &place);
        let expires = Some(row.accepted_at.plus(retention));
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let SearchEntry { key, row: old, rev } =
                self.search_entry(&in_time, &of_address).await?;
            let is_first = old.is_none();
            let mut seek = old.unwrap_or_else(|| Seek::of(&row, message, recipient));
            let mut new = 0;
            for event in &events {
                new += usize::from(seek.add(event));
            }
            if new == 0 {
                return Ok(0);
            }
            if is_first {
                // Before the row, because an erasure finds the row by it; one without a row is skipped.
                self.put(&of_address, &Pointer::default(), expires).await?;
            }
            let item = to_item(&key, &seek, rev.unwrap_or(0) + 1, expires)?;
            if self.put_if(item, rev).await? == Put::Stored {
                return Ok(1 + usize::from(is_first));
            }
        }
        Err(StoreError::Contended(format!(
            "the search row of copy {recipient} of message {message} of account {account}"
        )))
    }

    async fn search_entry(
        &self,
        in_time: &Key,
        of_address: &Key,
    ) -> Result<SearchEntry, StoreError> {
        let first = self.get::<SearchPlace>(in_time).await?;
        let rev = first.as_ref().map(|found| found.rev);
        let at_first = |row| SearchEntry {
            key: in_time.clone(),
            row,
            rev,
        };
        match first.map(|found| found.value) {
            None => Ok(at_first(None)),
            Some(SearchPlace::Row(row)) => Ok(at_first(Some(*row))),
            Some(SearchPlace::Pointer(_)) => {
                let other = self.get::<SearchPlace>(of_address).await?;
                Ok(match other.map(|found| (found.value, found.rev)) {
                    Some((SearchPlace::Row(row), rev)) => SearchEntry {
                        key: of_address.clone(),
                        row: Some(*row),
                        rev: Some(rev),
                    },
                    // Of a row of before that was never written.
                    None | Some((SearchPlace::Pointer(_), _)) => at_first(None),
                })
            }
        }
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
        let slice = self.slice(&pk, &range(until, after), limit).await?;
        self.sought(account, slice).await
    }

    /// The mails of an account in the same way: about so many of them, as many as reading them took.
    pub async fn seek(
        &self,
        account: &AccountId,
        until: Option<Timestamp>,
        after: Option<String>,
        about: usize,
    ) -> Result<Sought, StoreError> {
        let pk = |part| Key::seeks_pk(account, part);
        let slice = self.gather_about(pk, &range(until, after), about).await?;
        self.sought(account, slice).await
    }

    /// The copies of a message, or one of them, in the same way.
    pub async fn seek_message(
        &self,
        (account, message, recipient): (&AccountId, &MessageId, Option<u32>),
        after: Option<&str>,
        limit: usize,
    ) -> Result<Sought, StoreError> {
        let copies = match recipient {
            Some(number) => {
                let copy = self.recipient(account, message, number).await?;
                copy.map(|copy| (number, copy)).into_iter().collect()
            }
            None => {
                let last = after.and_then(Key::copy_of_place);
                let last = last.map(|(_, number)| Key::recipient(account, message, number).sk);
                let page = PageQuery {
                    after: last,
                    ..PageQuery::first(limit)
                };
                self.numbered(account, message, &page).await?
            }
        };
        let pk = Key::seeks_pk_of(account, message);
        let key = |(number, copy): &(u32, Recipient)| {
            Key::new(&pk, Key::seek_place(copy.accepted_at, message, *number))
        };
        let keys: Vec<Key> = copies.iter().map(key).collect();
        let rows = self.get_many::<SearchPlace>(&keys).await?;
        let more = recipient.is_none() && keys.len() == limit;
        let found = self.sought(account, ResultPage { rows, more: false });
        Ok(Sought {
            next: keys.last().filter(|_| more).map(|key| key.sk.clone()),
            ..found.await?
        })
    }

    /// The rows of these places.
    async fn sought(
        &self,
        account: &AccountId,
        page: ResultPage<SearchPlace>,
    ) -> Result<Sought, StoreError> {
        let last = page.rows.last().map(|row| row.key.sk.clone());
        let (mut rows, mut elsewhere) = (Vec::with_capacity(page.rows.len()), Vec::new());
        for StoredRow { key, value, .. } in page.rows {
            match value {
                SearchPlace::Row(row) => rows.push((key.sk, *row)),
                SearchPlace::Pointer(Pointer { to }) if to.is_empty() => {
                    elsewhere.extend(Key::seek_in_time(account, key.sk));
                }
                SearchPlace::Pointer(Pointer { to }) => {
                    elsewhere.push(Key::new(Key::seek_pk(account, &to), key.sk));
                }
            }
        }
        for found in self.get_many::<SearchPlace>(&elsewhere).await? {
            if let SearchPlace::Row(row) = found.value {
                rows.push((found.key.sk, *row));
            }
        }
        rows.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(Sought {
            rows: rows.into_iter().map(|(_, row)| row).collect(),
            next: last.filter(|_| page.more),
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
            let (items, more) = self.items(&pk, &range(None, None), LOT).await?;
            let places: Vec<String> = items
                .iter()
                .filter_map(|item| text_of(item, "sk"))
                .collect();
            copies.extend(places.iter().filter_map(|place| Key::copy_of_place(place)));
            let in_time = places.iter().cloned();
            let in_time: Vec<Key> = in_time
                .filter_map(|place| Key::seek_in_time(account, place))
                .collect();
            // Those of the address last: a repeated call finds the others by them.
            self.delete_many(&in_time).await?;
            let of_address: Vec<Key> = places.iter().map(|place| Key::new(&pk, place)).collect();
            self.delete_many(&of_address).await?;
            if !more {
                return Ok(copies);
            }
        }
    }
}

/// From `until` back to the beginning, behind the place `after`.
fn range(until: Option<Timestamp>, after: Option<String>) -> Range {
    let all = Range::all();
    let from = until.map_or(all.from, Key::backwards);
    Range {
        // DynamoDB refuses to go on from a place before the first.
        after: after.filter(|after| *after >= from),
        from,
        to: all.to,
    }
}
