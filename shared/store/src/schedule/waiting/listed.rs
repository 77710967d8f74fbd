//! Reading the listings of what waits.

use std::collections::{BTreeMap, BTreeSet};

use posthaste_model::batch::PartStage;
use posthaste_model::{AccountId, MessageId, Timestamp};

use super::WaitingCopies;
use crate::key::Key;
use crate::schedule::scheduled_mail::ScheduledPart;
use crate::table::{PageQuery, Range, Store, StoreError, StoredRow};

/// Seconds by which the clock that accepted a mail may differ from the one that stored its pieces.
const SKEW: i64 = 5;

/// Some of the listings of an account, the latest accepted first.
#[derive(Clone, Debug, Default)]
pub struct WaitingPage {
    pub rows: Vec<WaitingCopies>,
    /// Where to continue; `None` at the end.
    pub next: Option<String>,
}

impl Store {
    /// Mail of an account that waits, accepted at or before `until`, after the place `after`. At
    /// most `limit` rows are looked at.
    pub async fn waiting(
        &self,
        account: &AccountId,
        until: Option<Timestamp>,
        after: Option<String>,
        limit: usize,
    ) -> Result<WaitingPage, StoreError> {
        let range = range(until).after(after);
        let pk = |part| Key::waiting_pk(account, part);
        let page = self.gather::<WaitingCopies>(pk, &range, limit).await?;
        let last = page.rows.last().map(|row| row.key.sk.clone());
        let rows = page.rows.into_iter().map(|row| row.value).collect();
        Ok(WaitingPage {
            rows: self.still_waiting(account, rows).await?,
            next: last.filter(|_| page.more),
        })
    }

    /// What waits of one message.
    pub async fn waiting_of(
        &self,
        account: &AccountId,
        message: &MessageId,
    ) -> Result<Vec<WaitingCopies>, StoreError> {
        let pieces = self.pieces(account, message).await?;
        let accepted = pieces.iter().find_map(|row| row.value.accepted_at);
        let waits = |row: &StoredRow<ScheduledPart>| row.value.stage == PartStage::Waiting;
        let waiting: BTreeSet<Key> = pieces
            .into_iter()
            .filter(waits)
            .map(|row| row.key)
            .collect();
        let Some(accepted) = accepted.filter(|_| !waiting.is_empty()) else {
            return Ok(Vec::new());
        };
        let all = |_: &str| PageQuery::all();
        let rows = self.listings(account, message, accepted, all).await?;
        let waits =
            |row: &WaitingCopies| waiting.contains(&Key::piece(account, message, row.piece));
        Ok(rows.into_iter().filter(waits).collect())
    }

    /// The listing that has one copy of it, if that waits. Reads no other part of the message.
    pub async fn waiting_with(
        &self,
        account: &AccountId,
        message: &MessageId,
        recipient: u32,
    ) -> Result<Option<WaitingCopies>, StoreError> {
        // The last one that begins with this copy or before.
        let behind = recipient.saturating_add(1);
        let last = |after: String| PageQuery {
            after: Some(after),
            backwards: true,
            ..PageQuery::first(1)
        };
        let pk = Key::message_pk(account, message);
        let piece = last(Key::piece(account, message, behind).sk);
        let pieces = self.list::<ScheduledPart>(&pk, Key::pieces(), &piece);
        let piece = pieces.await?.pop();
        let piece = piece.filter(|row| row.value.stage == PartStage::Waiting);
        let Some((key, accepted)) = piece.and_then(|row| Some((row.key, row.value.accepted_at?)))
        else {
            return Ok(None);
        };
        let listing = |prefix: &str| last(format!("{prefix}{behind:05}"));
        let rows = self.listings(account, message, accepted, listing).await?;
        let waits = |row: &WaitingCopies| Key::piece(account, message, row.piece) == key;
        Ok(rows.into_iter().find(waits))
    }

    /// The listings of a message whose pieces were stored at this time: what `page` asks for of those whose keys begin
    /// with a prefix.
    async fn listings(
        &self,
        account: &AccountId,
        message: &MessageId,
        accepted: Timestamp,
        page: impl Fn(&str) -> PageQuery,
    ) -> Result<Vec<WaitingCopies>, StoreError> {
        let pk = Key::waiting_pk_of(account, message);
        // From the likeliest second to the others.
        let apart = (1..=SKEW).flat_map(|seconds| [-seconds, seconds]);
        for seconds in std::iter::once(0).chain(apart) {
            let prefix = Key::seek_message(accepted.plus(seconds), message);
            let rows = self.list(&pk, &prefix, &page(&prefix)).await?;
            if !rows.is_empty() {
                return Ok(rows.into_iter().map(|row| row.value).collect());
            }
        }
        Ok(Vec::new())
    }

    async fn still_waiting(
        &self,
        account: &AccountId,
        rows: Vec<WaitingCopies>,
    ) -> Result<Vec<WaitingCopies>, StoreError> {
        let key = |row: &WaitingCopies| Key::piece(account, &row.message, row.piece);
        let mut pieces: BTreeMap<Key, bool> = rows.iter().map(|row| (key(row), false)).collect();
        let keys: Vec<Key> = pieces.keys().cloned().collect();
        for piece in self.get_many::<ScheduledPart>(&keys).await? {
            pieces.insert(piece.key, piece.value.stage == PartStage::Waiting);
        }
        let waits = |row: &WaitingCopies| pieces.get(&key(row)).copied().unwrap_or_default();
        Ok(rows.into_iter().filter(waits).collect())
    }
}

/// From `until` back to the beginning.
fn range(until: Option<Timestamp>) -> Range {
    let all = Range::all();
    Range {
        from: until.map_or(all.from, Key::backwards),
        ..all
    }
}
