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
        const LOT: usize = 1_000;
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
}
