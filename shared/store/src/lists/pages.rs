//! A list in the order of time, latest first.

use posthaste_model::{AccountId, Timestamp};
use serde::{Deserialize, Serialize};

use super::suppressions::{Mark, SuppressionList};
use crate::key::{Key, LAST};
use crate::table::{Range, Store, StoreError};

/// One address of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuppressedAddress {
    pub email: String,
    #[serde(flatten)]
    pub mark: Mark,
}

/// Which part of a list to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DateWindow {
    /// From when to when, both included.
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    /// How many to skip first.
    pub offset: usize,
    pub limit: usize,
}

impl DateWindow {
    /// The latest `limit` entries.
    pub fn first(limit: usize) -> Self {
        Self {
            from: None,
            to: None,
            offset: 0,
            limit,
        }
    }
}

/// A page of a list that begins behind a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListPart {
    pub rows: Vec<SuppressedAddress>,
    /// Where the next page goes on, if there may be one.
    pub next: Option<String>,
}

/// Entries that such a page examines, where few of them match.
pub const EXAMINED_ENTRIES: usize = 2_000;

/// Entries read at a time.
const LOT: usize = 1_000;

impl SuppressedAddress {
    /// Whether a text is a place in a list: a time and an address.
    pub fn is_place(text: &str) -> bool {
        // DynamoDB's limit for a sort key.
        const MOST: usize = 1_024;
        let time = text.split_once('#').map(|(time, _)| time);
        text.len() <= MOST
            && time.is_some_and(|time| time.len() == 10 && time.bytes().all(|b| b.is_ascii_digit()))
    }
}

impl DateWindow {
    fn range(&self) -> Range {
        let latest = self.to.map(Key::backwards).unwrap_or_default();
        let earliest = self.from.map(Key::backwards).unwrap_or_default();
        Range {
            // A key that begins with the time sorts after the bare time.
            from: format!("{latest}!"),
            to: format!("{earliest}{LAST}"),
            after: None,
        }
    }
}

impl Store {
    /// Addresses of a list that match `wanted`, latest first.
    pub async fn list_page(
        &self,
        account: &AccountId,
        list: SuppressionList,
        window: &DateWindow,
        wanted: impl Fn(&SuppressedAddress) -> bool,
    ) -> Result<Vec<SuppressedAddress>, StoreError> {
        let DateWindow { offset, limit, .. } = *window;
        let name = list.name();
        let (mut found, mut skipped, mut after) = (Vec::new(), 0, None);
        while found.len() < limit {
            let pk = |part| Key::suppressions_pk(account, &name, part);
            let range = window.range().after(after.take());
            let lot = (offset.saturating_sub(skipped))
                .saturating_add(limit - found.len())
                .clamp(1, LOT);
            let slice = self.gather::<SuppressedAddress>(pk, &range, lot).await?;
            after = slice.rows.last().map(|row| row.key.sk.clone());
            for row in slice.rows.into_iter().filter(|row| wanted(&row.value)) {
                if skipped < offset {
                    skipped += 1;
                } else {
                    found.push(row.value);
                }
                if found.len() == limit {
                    break;
                }
            }
            if !slice.more || after.is_none() {
                break;
            }
        }
        Ok(found)
    }

    /// The same behind a place: at most `limit` of those that match, found among [`EXAMINED_ENTRIES`]. What is read does
    /// not grow with what lies before the place, and the offset of the window is not looked at.
    pub async fn list_part(
        &self,
        (account, list): (&AccountId, SuppressionList),
        window: &DateWindow,
        mut after: Option<String>,
        wanted: impl Fn(&SuppressedAddress) -> bool,
    ) -> Result<ListPart, StoreError> {
        let name = list.name();
        let range = window.range();
        // DynamoDB refuses to go on from outside of the range.
        after = after.filter(|after| *after >= range.from);
        let (mut part, mut examined) = (ListPart::default(), 0);
        let (mut lot, mut last) = (window.limit.saturating_add(1), None);
        while examined < EXAMINED_ENTRIES && after.as_ref().is_none_or(|after| *after <= range.to) {
            let pk = |part| Key::suppressions_pk(account, &name, part);
            let range = range.clone().after(after.take());
            let some = lot.min(LOT).min(EXAMINED_ENTRIES - examined);
            let slice = self
                .gather_about::<SuppressedAddress>(pk, &range, some)
                .await?;
            lot = lot.saturating_mul(4);
            examined += slice.rows.len().max(1);
            after = slice.rows.last().map(|row| row.key.sk.clone());
            for row in slice.rows.into_iter().filter(|row| wanted(&row.value)) {
                if part.rows.len() == window.limit {
                    part.next = last;
                    return Ok(part);
                }
                last = Some(row.key.sk);
                part.rows.push(row.value);
            }
            if !slice.more {
                return Ok(part);
            }
        }
        part.next = after.filter(|after| *after <= range.to);
        Ok(part)
    }
}
