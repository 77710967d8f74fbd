//! Copies that were handed to a service that reports their outcome later, by the hour: so that those
//! of which nothing was heard can be found without a scan of the table.
//!
//! Each process writes one row for the copies of a batch, not one for each copy. A day later the sweep
//! reads the rows of the hour and the states of these copies, and forgets the hour.

use std::collections::BTreeSet;

use posthaste_model::{AccountId, MessageId, Millis, Timestamp};
use serde::{Deserialize, Serialize};

use super::messages::CopyState;
use crate::key::{Key, SPREAD, share};
use crate::table::{PageQuery, Put, Store, StoreError, StoredRow, to_item};

/// Seconds for which the rows of an hour are stored.
const KEPT: i64 = 4 * 86_400;

/// Copies in one row, of some 100 bytes each.
const COPIES: usize = 400;

/// Partitions of an hour.
pub const HANDED_PARTS: u16 = SPREAD;

/// A copy, and the id that the service gave it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandedCopy {
    #[serde(rename = "a")]
    pub account: AccountId,
    #[serde(rename = "m")]
    pub message: MessageId,
    #[serde(rename = "n")]
    pub recipient: u32,
    #[serde(rename = "id")]
    pub service_id: String,
}

/// Copies that were handed over together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandedCopies {
    pub copies: Vec<HandedCopy>,
}

/// How far the watch over copies without news has come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewsWatch {
    /// Hours since the epoch.
    pub hour: i64,
    pub part: u16,
    pub after: Option<String>,
    /// Copies of the hour without news so far.
    pub without_news: usize,
    /// When the next question about a copy may be asked.
    pub next_question: Timestamp,
}

#[derive(Deserialize)]
struct StateOfCopy {
    #[serde(default)]
    state: CopyState,
}

fn watch_key() -> Key {
    Key::new("HANDED", "WATCH")
}

fn part_pk(hour: i64, part: u16) -> String {
    format!("HANDED#{hour:08}#{part}")
}

impl Store {
    /// Stores which copies were handed over just now.
    pub async fn note_handed(&self, copies: &[HandedCopy], now: Millis) -> Result<(), StoreError> {
        let hour = now.seconds().0.div_euclid(3_600);
        let row = |some: &[HandedCopy]| {
            let first = some.first()?;
            let (message, recipient) = (&first.message, first.recipient);
            let part = share(&[message.as_str()], HANDED_PARTS);
            let sk = format!("{:014}#{message}#{recipient:05}", now.0.max(0));
            let copies = some.to_vec();
            Some((Key::new(part_pk(hour, part), sk), HandedCopies { copies }))
        };
        let rows: Vec<_> = copies.chunks(COPIES).filter_map(row).collect();
        self.put_many(&rows, Some(now.seconds().plus(KEPT))).await
    }

    /// At most `limit` rows of copies that were handed over in an hour (since the epoch), of one of its
    /// [`HANDED_PARTS`] parts, after this sort key.
    pub async fn handed_in(
        &self,
        hour: i64,
        part: u16,
        after: Option<String>,
        limit: usize,
    ) -> Result<Vec<StoredRow<HandedCopies>>, StoreError> {
        let page = PageQuery {
            limit,
            after,
            backwards: false,
        };
        self.list(&part_pk(hour, part), "", &page).await
    }

    /// Those of these copies of which nothing was heard since.
    pub async fn without_news<'a>(
        &self,
        copies: &'a [HandedCopy],
    ) -> Result<Vec<&'a HandedCopy>, StoreError> {
        let key = |copy: &HandedCopy| Key::recipient(&copy.account, &copy.message, copy.recipient);
        let mut keys: Vec<Key> = copies.iter().map(key).collect();
        keys.sort_unstable();
        // A batch takes a key once, and a copy may have been handed over twice.
        keys.dedup();
        let rows = self.get_many::<StateOfCopy>(&keys).await?;
        let silent = rows
            .into_iter()
            .filter(|row| row.value.state == CopyState::Handed);
        let silent: BTreeSet<Key> = silent.map(|row| row.key).collect();
        Ok(copies
            .iter()
            .filter(|copy| silent.contains(&key(copy)))
            .collect())
    }

    /// How far the watch has come, and its revision.
    pub async fn news_watch(&self) -> Result<Option<StoredRow<NewsWatch>>, StoreError> {
        self.get(&watch_key()).await
    }

    /// Stores how far the watch has come, unless another process did since it was read. Whether it was
    /// stored.
    pub async fn save_news_watch(
        &self,
        watch: &NewsWatch,
        rev: Option<u64>,
    ) -> Result<bool, StoreError> {
        let item = to_item(&watch_key(), watch, rev.unwrap_or(0) + 1, None)?;
        Ok(self.put_if(item, rev).await? == Put::Stored)
    }
}
