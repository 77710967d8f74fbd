//! How many bounces a day had, by classification and by the recipient's domain
//! (`/v3/suppression/bounces/classifications`).

use std::collections::BTreeMap;

use posthaste_model::AccountId;
use serde::{Deserialize, Serialize};

use crate::table::{Range, Store, StoreError};

/// What a batch adds: by day, classification and domain.
pub type Bounced = BTreeMap<(String, String, String), i64>;

/// The bounces of one day, classification and domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayBounces {
    /// `YYYY-MM-DD`, UTC.
    pub day: String,
    /// As the events name it.
    pub class: String,
    pub domain: String,
    pub count: i64,
}

pub(crate) fn bounces_pk(account: &AccountId) -> String {
    format!("BOUNCED#{account}")
}

impl Store {
    /// The bounces of every day from `start` to `end` (`YYYY-MM-DD`, both included), oldest first.
    pub async fn day_bounces(
        &self,
        account: &AccountId,
        start: &str,
        end: &str,
    ) -> Result<Vec<DayBounces>, StoreError> {
        let mut range = Range {
            from: start.to_owned(),
            to: format!("{end}~"),
            after: None,
        };
        let mut found = Vec::new();
        loop {
            let slice = self
                .slice::<DayBounces>(&bounces_pk(account), &range, 1_000)
                .await?;
            range.after = slice.rows.last().map(|row| row.key.sk.clone());
            found.extend(slice.rows.into_iter().map(|row| row.value));
            if !slice.more || range.after.is_none() {
                return Ok(found);
            }
        }
    }
}
