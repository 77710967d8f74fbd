//! How many bounces a day had, by classification and by the recipient's domain
//! (`/v3/suppression/bounces/classifications`).

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::Update;
use posthaste_model::{AccountId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::slice::Range;
use crate::stats::{KEPT, unbuilt};
use crate::table::{number, text};
use crate::{Store, StoreError};

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
    pub(crate) fn adding_bounces(
        &self,
        account: &AccountId,
        (day, class, domain): (&str, &str, &str),
        count: i64,
        now: Timestamp,
    ) -> Result<Update, StoreError> {
        let sets = "SET #v = :v, #day = :day, #class = :class, #domain = :domain, #exp = :exp";
        let update = Update::builder()
            .table_name(&*self.table)
            .key("pk", text(bounces_pk(account)))
            .key("sk", text(format!("{day}#{class}#{domain}")))
            .expression_attribute_names("#v", "v")
            .expression_attribute_names("#day", "day")
            .expression_attribute_names("#class", "class")
            .expression_attribute_names("#domain", "domain")
            .expression_attribute_names("#exp", "exp")
            .expression_attribute_names("#count", "count")
            .expression_attribute_values(":v", number(1))
            .expression_attribute_values(":day", text(day))
            .expression_attribute_values(":class", text(class))
            .expression_attribute_values(":domain", text(domain))
            .expression_attribute_values(":exp", number(now.plus(KEPT).0))
            .expression_attribute_values(":count", number(count))
            .update_expression(format!("{sets} ADD #count :count"));
        update.build().map_err(unbuilt)
    }

    /// The bounces of every day from `start` to `end` (`YYYY-MM-DD`, both included), oldest first.
    ///
    /// # Errors
    /// When the table fails.
    pub async fn day_bounces(
        &self,
        account: &AccountId,
        start: &str,
        end: &str,
    ) -> Result<Vec<DayBounces>, StoreError> {
        let mut range = Range {
            from: start.to_owned(),
            to: format!("{end}#~"),
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
