//! Event counts of a day, per account and per category (`/v3/stats`).
//!
//! Counters are added once per batch of events, in one transaction with a mark of that batch: a
//! repeated batch is a no-op. Events that come again in another batch than the first time are
//! counted again; that takes a queue failure in between.
//!
//! Every batch of an account adds to the same row. A transaction that meets another there turns to one
//! of [`SPREAD_ROWS`] rows of the same counters, so a busy account is counted in several rows at a time, and
//! any other in one. Readers add them up.

use std::collections::BTreeMap;

use posthaste_model::{AccountId, MessageId, Segmentation, Timestamp};
use serde::{Deserialize, Serialize};

use super::bounced::{Bounced, bounces_pk};
use super::hours::Hours;
use super::segments::{SegmentCounts, segment_of};
use super::spread::{FIRST_ROW, SPREAD_ROWS, all_rows};
use crate::key::{Key, fitting, share};
use crate::table::{
    PageQuery, Put, Store, StoreError, StoredRow, Transact, UpdateBuilder, Write, number, text,
};

/// Seconds the counters of a day are stored: the longest useful look back, with a margin.
const KEPT: i64 = 400 * 86_400;

/// Seconds the mark of a batch is stored: longer than any queue keeps the batch (SQS: 14 days).
const MARKED: i64 = 15 * 86_400;

/// Counters of one row and the mark, at most, in one transaction (DynamoDB: 100 items).
const ROWS: usize = 99;

/// Counters that one update adds to, at most: an update has at most 4 KB of text (DynamoDB), of which a counter takes 30
/// bytes.
const COUNTERS: usize = 120;

/// Every counter, by its name in the API (API facts, stats rows).
pub const METRICS: [&str; 16] = [
    "blocks",
    "bounce_drops",
    "bounces",
    "clicks",
    "deferred",
    "delivered",
    "invalid_emails",
    "opens",
    "processed",
    "requests",
    "spam_report_drops",
    "spam_reports",
    "unique_clicks",
    "unique_opens",
    "unsubscribe_drops",
    "unsubscribes",
];

/// The counters of one day: of the whole account, or of one category.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayStats {
    /// `YYYY-MM-DD`, UTC.
    pub day: String,
    /// Empty for the whole account.
    #[serde(default)]
    pub category: String,
    #[serde(flatten)]
    pub counters: BTreeMap<String, serde_json::Value>,
}

impl DayStats {
    /// One counter.
    pub fn metric(&self, name: &str) -> i64 {
        let value = self.counters.get(name);
        value.and_then(serde_json::Value::as_i64).unwrap_or(0)
    }

    /// The counters of a segmentation, in no order: the code of the segment, the metric, and its count.
    pub fn segments(&self, by: Segmentation) -> impl Iterator<Item = (&str, &'static str, i64)> {
        self.counters.iter().filter_map(move |(name, count)| {
            let (code, metric) = segment_of(name, by)?;
            Some((code, metric, count.as_i64()?))
        })
    }
}

/// What a batch adds: by day and category (empty: the whole account), then by metric.
pub type Added = BTreeMap<(String, String), BTreeMap<&'static str, i64>>;

/// Everything that a batch adds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub counters: Added,
    pub bounces: Bounced,
    /// How mails ended, by the hour. Each day in it is among `counters`, for the whole account.
    pub hours: Hours,
    /// Events by mailbox provider, client, device and browser; its days are among `counters` likewise.
    pub segments: SegmentCounts,
}

/// A row to add to: its place after the partition, its attributes, and the counters.
struct CounterRow<'a> {
    pk: String,
    /// The day.
    day: &'a str,
    /// What follows it in the sort key.
    rest: String,
    words: Vec<(&'static str, &'a str)>,
    counters: Vec<(&'a str, i64)>,
    /// How many rows of the same counters the batch has before this one, which lies in another row than they.
    others: u16,
}

impl CounterRow<'_> {
    /// The row for an attempt: the first one writes the row that every account has.
    fn key(&self, batch: &str, attempt: u16) -> Key {
        let (day, rest) = (self.day, &self.rest);
        let attempt = attempt.saturating_add(self.others);
        let others = SPREAD_ROWS.len();
        let other = usize::from(share(&[batch], u16::MAX)) + usize::from(attempt);
        let mark = match attempt {
            0 => FIRST_ROW,
            _ => SPREAD_ROWS
                .get(other % others)
                .copied()
                .unwrap_or(FIRST_ROW),
        };
        Key::new(self.pk.clone(), format!("{day}{mark}{rest}"))
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct First {
    event: String,
}

/// Rows of counters that are read at a time.
const PAGE: usize = 500;

pub(crate) fn day_pk(account: &AccountId) -> String {
    format!("STATS#{account}")
}

impl Store {
    /// Adds the counts of a batch, unless the batch was counted before. `batch` names it.
    ///
    /// # Errors
    /// When the table fails; some of a huge batch may be counted then, and is not counted again.
    pub async fn count_batch(
        &self,
        account: &AccountId,
        batch: &str,
        tally: &Tally,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let nothing = BTreeMap::<String, String>::new();
        let mut rows = Vec::new();
        for ((day, category), counters) in &tally.counters {
            let mut counters: Vec<(&str, i64)> =
                counters.iter().map(|(name, by)| (*name, *by)).collect();
            if category.is_empty() {
                counters.extend(tally.hours.of_day(day));
                counters.extend(tally.segments.of_day(day));
            }
            for (others, counters) in (0..).zip(counters.chunks(COUNTERS)) {
                rows.push(CounterRow {
                    pk: day_pk(account),
                    day,
                    rest: fitting(category).into_owned(),
                    words: vec![("day", day.as_str()), ("category", category)],
                    counters: counters.to_vec(),
                    others,
                });
            }
        }
        for ((day, class, domain), count) in &tally.bounces {
            rows.push(CounterRow {
                pk: bounces_pk(account),
                day,
                rest: format!("{class}#{domain}"),
                words: vec![("day", day.as_str()), ("class", class), ("domain", domain)],
                counters: vec![("count", *count)],
                others: 0,
            });
        }
        for (part, rows) in rows.chunks(ROWS).enumerate() {
            let mark = Key::new(format!("COUNTED#{account}#{batch}"), format!("{part:04}"));
            let steps = |attempt| -> Result<Vec<Write>, StoreError> {
                let mark = self.write_new(&mark, &nothing, Some(now.plus(MARKED)));
                let rows = rows.iter().map(|row| {
                    let key = row.key(batch, attempt);
                    self.write_counters(&key, &row.words, &row.counters, now.plus(KEPT))
                });
                std::iter::once(mark).chain(rows).collect()
            };
            // The counters of an account collide all the time: every batch adds to those of today.
            match self.transact_anew(steps).await? {
                // Only the mark has a condition: the batch was counted before.
                Transact::Done | Transact::Refused(_) => {}
            }
        }
        Ok(())
    }

    /// A step that adds to the counters of a row, and creates it with these attributes if
    /// necessary.
    fn write_counters(
        &self,
        key: &Key,
        words: &[(&str, &str)],
        counters: &[(&str, i64)],
        expires: Timestamp,
    ) -> Result<Write, StoreError> {
        let mut update = UpdateBuilder::default()
            .set("v", number(1))
            .set("exp", number(expires.0));
        for (name, word) in words {
            update = update.set(name, text(*word));
        }
        for (name, by) in counters {
            update = update.add(name, *by);
        }
        self.write_update(key, &update)
    }

    /// The id of the first event of its kind for a copy: of this one, if none was reported before.
    /// The answer is the same every time.
    pub async fn first_of(
        &self,
        account: &AccountId,
        (message, recipient): (&MessageId, u32),
        (kind, event): (&str, &str),
        now: Timestamp,
    ) -> Result<String, StoreError> {
        let pk = Key::message_pk(account, message);
        let key = Key::new(pk, format!("FIRST#{recipient:05}#{kind}"));
        let first = First {
            event: event.to_owned(),
        };
        if self.put_new(&key, &first, Some(now.plus(KEPT))).await? == Put::Stored {
            return Ok(first.event);
        }
        let held = self.get::<First>(&key).await?;
        Ok(held.map_or(first.event, |row| row.value.event))
    }

    /// The counters of the whole account on these days (`YYYY-MM-DD`), in no order. An account may have a category for
    /// each of its mails; none of their rows is read.
    pub async fn account_day_stats(
        &self,
        account: &AccountId,
        days: impl IntoIterator<Item = String>,
    ) -> Result<Vec<DayStats>, StoreError> {
        let of_day = |day: String| {
            let key = move |mark| Key::new(day_pk(account), format!("{day}{mark}"));
            all_rows().map(key)
        };
        let keys: Vec<Key> = days.into_iter().flat_map(of_day).collect();
        let rows = self.get_many::<DayStats>(&keys).await?;
        Ok(rows.into_iter().map(|row| row.value).collect())
    }

    /// The counters of the whole account on these days, which follow each other, the oldest first. One page reads them with
    /// those of categories where these are few; otherwise the account's rows are read by their keys, which costs more and
    /// does not grow.
    pub async fn account_span_stats(
        &self,
        account: &AccountId,
        days: Vec<String>,
    ) -> Result<Vec<DayStats>, StoreError> {
        let (Some(first), Some(last)) = (days.first(), days.last()) else {
            return Ok(Vec::new());
        };
        let page = PageQuery {
            limit: PAGE,
            // Just before the first row of the first day.
            after: Some(format!("{first}!")),
            backwards: false,
        };
        let rows = self.list::<DayStats>(&day_pk(account), "", &page).await?;
        let is_past = |row: &StoredRow<DayStats>| row.value.day > *last;
        if rows.len() == PAGE && !rows.last().is_some_and(is_past) {
            return self.account_day_stats(account, days).await;
        }
        let rows = rows.into_iter().filter(|row| !is_past(row));
        let whole = rows.filter(|row| row.value.category.is_empty());
        Ok(whole.map(|row| row.value).collect())
    }

    /// The counters of every day from `start` to `end` (`YYYY-MM-DD`, both included), of the
    /// account and of each category.
    pub async fn day_stats(
        &self,
        account: &AccountId,
        start: &str,
        end: &str,
    ) -> Result<Vec<DayStats>, StoreError> {
        // Just before the first row of the first day.
        let mut after = Some(format!("{start}!"));
        let mut found = Vec::new();
        loop {
            let page = PageQuery {
                limit: PAGE,
                after: after.take(),
                backwards: false,
            };
            let rows = self.list::<DayStats>(&day_pk(account), "", &page).await?;
            let last = rows.len() < PAGE;
            after = rows.last().map(|row| row.key.sk.clone());
            for row in rows {
                if row.value.day.as_str() > end {
                    return Ok(found);
                }
                found.push(row.value);
            }
            if last {
                return Ok(found);
            }
        }
    }
}
