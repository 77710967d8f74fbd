//! Due rows: work that waits longer than a queue can delay it, one row per piece, in buckets of a
//! minute.
//!
//! # Why nothing is lost
//!
//! A row lies in `DUE#<minute>#<shard>`; the minute is listed in `DUES#…`, and the sweep reads
//! exactly the minutes that are listed. So a row is found as long as its minute is listed after the
//! row is written, and three rules ensure that despite delays, repeats and crashes:
//!
//! 1. A writer lists the minute no later than in the call that writes the row, unless it has done
//!    so before (it remembers).
//! 2. A minute is removed from the list only [`GRACE`] seconds after its end, when it was read and
//!    found empty, and only if it was not listed anew since before that read (its revision is the
//!    same).
//! 3. A writer that finds, after its row is written, that the minute is over by its own clock,
//!    lists the minute anew, whatever it remembers. So rule 2's grace has to cover only the
//!    difference between two clocks, not how long a call may take.
//!
//! Rows are deleted only after a queue took them. What is taken twice is absorbed by the claim of
//! `delivery` (and by the ids of events for the other lanes).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use aws_sdk_dynamodb::types::WriteRequest;
use futures_util::future::try_join_all;
use posthaste_model::{AccountId, Clock, MessageId, Millis, Timestamp};
use serde::{Deserialize, Serialize};

use crate::key::{Key, LAST, MINUTE_PARTS, minute, padded, share};
use crate::table::{Put, Range, Store, StoreError, StoredRow, from_item, put_request, text_of};

/// What is due within so many seconds goes to its queue at once, with a delay.
///
/// More than the sweep looks ahead, so that a minute is complete by the time the sweep comes to it,
/// and less than a queue can delay (15 minutes).
pub const NEAR: i64 = 300;

/// Seconds a minute stays listed after its end, at least: more than the clocks of two machines
/// differ.
pub const GRACE: i64 = 300;

/// The consumer of a due row when its time comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DueTarget {
    /// The send queue: a job of `delivery`.
    Send,
    /// The queue of `webhook-fanout`.
    Webhook,
    /// The queue of `inbound-parse`.
    Inbound,
    /// The sweep itself: a held message has outlived its shelf life.
    Expire,
    /// The sweep itself: what a batch held back is released.
    Release,
    /// The sweep itself: an erasure of addresses goes on.
    Erase,
    /// The sweep itself: an alert is looked at.
    Alert,
    /// The sweep itself: a job that posts events again goes on.
    Replay,
}

impl DueTarget {
    fn word(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Webhook => "webhook",
            Self::Inbound => "inbound",
            Self::Expire => "expire",
            Self::Release => "release",
            Self::Erase => "erase",
            Self::Alert => "alert",
            Self::Replay => "replay",
        }
    }
}

/// Work that is due at a second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Due {
    /// The queue that the message goes to.
    #[serde(rename = "lane")]
    pub target: DueTarget,
    pub account: AccountId,
    /// When it leaves.
    pub at: Timestamp,
    /// Distinguishes it from other work of the account at this second: writing the same id twice
    /// writes one row. Printable ASCII without spaces.
    pub id: String,
    /// The message, verbatim; at most 256 KB.
    pub body: String,
}

impl Due {
    /// A job of the send queue for the piece of a mail that begins with recipient `first`.
    pub fn send(
        at: Timestamp,
        account: &AccountId,
        (message, first, attempt): (&MessageId, u32, u32),
        body: String,
    ) -> Self {
        Self {
            target: DueTarget::Send,
            account: account.clone(),
            at,
            id: format!("{message}#{first:05}#{attempt:03}"),
            body,
        }
    }

    /// How long from `now` until it leaves.
    pub fn wait(&self, now: Millis) -> Duration {
        let millis = self.at.millis().0.saturating_sub(now.0);
        Duration::from_millis(u64::try_from(millis).unwrap_or(0))
    }

    /// The sort key: by account first, so that the sweep can step over one that floods a minute.
    fn sk(&self) -> String {
        let (account, at, target) = (&self.account, padded(self.at), self.target.word());
        format!("{account}#{at}#{target}#{}", self.id)
    }

    /// Which of `shards` partitions it lies in.
    pub(crate) fn shard(&self, shards: u16) -> u16 {
        share(&[self.account.as_str(), &self.id], shards)
    }

    pub(crate) fn key(&self, shard: u16) -> Key {
        Key::new(Key::due_pk(minute(self.at), shard), self.sk())
    }
}

/// A listed minute: its partitions may hold due rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minute {
    /// Minutes since the epoch.
    number: i64,
    pub shards: u16,
    listed: Vec<(Key, u64)>,
}

impl Minute {
    /// Whether it may be removed from the list once it is empty.
    pub fn is_over(&self, now: Timestamp) -> bool {
        end(self.number).plus(GRACE) <= now
    }

    /// Its first second.
    pub fn start(&self) -> Timestamp {
        Timestamp(self.number * 60)
    }
}

fn end(minute: i64) -> Timestamp {
    Timestamp((minute + 1) * 60)
}

/// Where to continue reading in one partition of a minute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DueCursor {
    /// Only rows of this account.
    only: Option<AccountId>,
    after: Option<String>,
}

/// Some due rows of one partition.
#[derive(Clone, Debug)]
pub struct DuePage {
    pub rows: Vec<StoredRow<Due>>,
    /// Rows that this release cannot read; they stay where they are.
    pub unreadable: usize,
    /// Where the others are, if there are any: first those of other accounts, then the rest of an
    /// account that filled this page alone.
    pub next: Option<DueCursor>,
    pub rest: Option<DueCursor>,
}

/// A listed minute needs no attributes of its own: the key carries everything.
#[derive(Debug, Serialize, Deserialize)]
struct ListedMinute {}

impl Store {
    /// Stores work until its second. Idempotent by key; durable once this returns. Work for the
    /// past is found by the next sweep.
    ///
    /// Prefer [`Store::defer`], which keeps what is due soon out of the table.
    ///
    /// # Errors
    /// When the table fails; some of the rows may be written then.
    pub async fn put_due(&self, dues: &[Due], clock: &Clock) -> Result<(), StoreError> {
        self.put_due_with(Vec::new(), dues, clock).await
    }

    /// Stores what is due later than [`NEAR`] seconds from now, and returns the rest as (body,
    /// delay) for the caller to send to the queue of its target. All of `dues` must have one target.
    ///
    /// # Errors
    /// When the table fails; then nothing was given back, and the caller repeats all of it.
    pub async fn defer(
        &self,
        dues: Vec<Due>,
        clock: &Clock,
    ) -> Result<Vec<(String, Duration)>, StoreError> {
        self.defer_with(Vec::new(), dues, clock).await
    }

    /// The same, with other rows written in the same calls.
    pub(crate) async fn defer_with(
        &self,
        others: Vec<WriteRequest>,
        dues: Vec<Due>,
        clock: &Clock,
    ) -> Result<Vec<(String, Duration)>, StoreError> {
        let now = clock.now_ms();
        let limit = now.seconds().plus(NEAR);
        let (near, far): (Vec<Due>, Vec<Due>) = dues.into_iter().partition(|due| due.at <= limit);
        self.put_due_with(others, &far, clock).await?;
        let sent = near.into_iter().map(|due| {
            let wait = due.wait(now);
            (due.body, wait)
        });
        Ok(sent.collect())
    }

    pub(crate) async fn put_due_with(
        &self,
        mut writes: Vec<WriteRequest>,
        dues: &[Due],
        clock: &Clock,
    ) -> Result<(), StoreError> {
        let shards = self.minutes.shards;
        let minutes: BTreeSet<i64> = dues.iter().map(|due| minute(due.at)).collect();
        let unlisted = self.minutes.unlisted(&minutes);
        for number in &unlisted {
            writes.push(put_request(
                &Key::minute(*number, shards),
                &ListedMinute {},
                None,
            )?);
        }
        for due in dues {
            let key = due.key(due.shard(shards));
            writes.push(put_request(&key, due, None)?);
        }
        self.write_many(writes).await?;
        self.minutes.remember(&unlisted);
        let now = clock.now();
        for late in minutes.into_iter().filter(|number| end(*number) <= now) {
            let key = Key::minute(late, shards);
            self.add(&key, &[("rev", 1)], None).await?;
        }
        Ok(())
    }

    /// The listed minutes that begin at `until` or before, oldest first.
    pub async fn due_minutes(&self, until: Timestamp) -> Result<Vec<Minute>, StoreError> {
        let to = format!("{}{LAST}", Key::minute_prefix(minute(until)));
        let range = Range { to, ..Range::all() };
        let parts = (0..MINUTE_PARTS).map(|part| self.listed(part, range.clone()));
        let mut minutes: BTreeMap<i64, Minute> = BTreeMap::new();
        for row in try_join_all(parts).await?.into_iter().flatten() {
            let Some((number, shards)) = read_minute(&row.key.sk) else {
                return Err(StoreError::Unreadable(row.key.sk));
            };
            let minute = minutes.entry(number).or_insert(Minute {
                number,
                shards,
                listed: Vec::new(),
            });
            minute.shards = minute.shards.max(shards);
            minute.listed.push((row.key, row.rev));
        }
        Ok(minutes.into_values().collect())
    }

    async fn listed(
        &self,
        part: u16,
        mut range: Range,
    ) -> Result<Vec<StoredRow<ListedMinute>>, StoreError> {
        let pk = Key::minutes_pk(part);
        let mut rows = Vec::new();
        loop {
            let slice = self.slice(&pk, &range, 1000).await?;
            rows.extend(slice.rows);
            if !slice.more {
                return Ok(rows);
            }
            range.after = rows.last().map(|row| row.key.sk.clone());
        }
    }

    /// Some rows of one partition of a minute, at most `limit`, from `place` on.
    pub async fn due_page(
        &self,
        minute: &Minute,
        shard: u16,
        place: &DueCursor,
        limit: usize,
    ) -> Result<DuePage, StoreError> {
        let mut range = Range::all().after(place.after.clone());
        if let Some(account) = &place.only {
            range.from = format!("{account}#");
            range.to = format!("{account}#{LAST}");
        }
        let pk = Key::due_pk(minute.number, shard);
        let (items, more) = self.items(&pk, &range, limit).await?;
        let last = items.last().and_then(|item| text_of(item, "sk"));
        let count = items.len();
        let rows: Vec<StoredRow<Due>> = items
            .into_iter()
            .filter_map(|i| from_item(i).ok())
            .collect();
        let unreadable = count - rows.len();
        let (next, rest) = match last.filter(|_| more) {
            None => (None, None),
            Some(last) => places(place, &rows, last),
        };
        Ok(DuePage {
            rows,
            unreadable,
            next,
            rest,
        })
    }

    /// Deletes rows that were taken.
    ///
    /// # Errors
    /// When the table fails; what is left is taken again.
    pub async fn forget_due(&self, rows: &[StoredRow<Due>]) -> Result<(), StoreError> {
        let keys: Vec<Key> = rows.iter().map(|row| row.key.clone()).collect();
        self.delete_many(&keys).await
    }

    /// Removes a minute that was read and found empty after it [was over](Minute::is_over).
    pub async fn close_minute(&self, minute: &Minute) -> Result<bool, StoreError> {
        let mut closed = true;
        for (key, rev) in &minute.listed {
            closed &= self.delete_if(key, *rev).await? == Put::Stored;
        }
        Ok(closed)
    }
}

/// After a full page: an account that filled it alone waits until the others were read.
fn places(
    place: &DueCursor,
    rows: &[StoredRow<Due>],
    last: String,
) -> (Option<DueCursor>, Option<DueCursor>) {
    let on = |only: Option<AccountId>, after| {
        Some(DueCursor {
            only,
            after: Some(after),
        })
    };
    if place.only.is_some() {
        return (None, on(place.only.clone(), last));
    }
    match (rows.first(), rows.last()) {
        (Some(first), Some(end)) if first.value.account == end.value.account => {
            let account = end.value.account.clone();
            let others = format!("{account}#{LAST}");
            (on(None, others), on(Some(account), end.key.sk.clone()))
        }
        _ => (on(None, last), None),
    }
}

fn read_minute(sk: &str) -> Option<(i64, u16)> {
    let (number, shards) = sk.split_once('#')?;
    Some((number.parse().ok()?, shards.parse().ok()?))
}
