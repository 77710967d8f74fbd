//! Counter rows of the rate limits: instances lease permits from them in blocks.

use posthaste_model::{AccountId, Timestamp};

use crate::key::Key;
use crate::table::{Store, StoreError};

/// Which requests are counted together.
#[derive(Clone, Copy, Debug)]
pub struct RateWindow<'a> {
    pub account: &'a AccountId,
    /// Method and path template.
    pub endpoint: &'a str,
    /// The number of the period since the epoch.
    pub number: i64,
    /// The second the period ends.
    pub end: Timestamp,
}

impl Store {
    /// Takes `block` permits out of a window and returns how many were taken in total, this block
    /// included. What exceeds the limit is not granted; the caller works that out.
    pub async fn lease(&self, window: RateWindow<'_>, block: u32) -> Result<i64, StoreError> {
        // A margin past the end, so that a slow clock never meets a deleted row.
        const KEEP: i64 = 300;
        let key = Key::rate(window.account, window.endpoint, window.number);
        let taken = self
            .add(
                &key,
                &[("n", i64::from(block))],
                Some(window.end.plus(KEEP)),
            )
            .await?;
        Ok(taken.first().copied().unwrap_or_default())
    }
}
