//! Reading the rows of one partition.

use serde::de::DeserializeOwned;

use super::error::StoreError;
use super::expression::{Expression, names_of};
use super::item::{StoredRow, key_item, text, text_of};
use super::store::Store;
use crate::key::Key;

/// Which part of a collection to read.
#[derive(Clone, Debug, Default)]
pub struct PageQuery {
    /// At most this many rows; 0 means all of them.
    pub limit: usize,
    /// Only rows after this sort key (in the direction of reading).
    pub after: Option<String>,
    /// Read from the end.
    pub backwards: bool,
}

impl PageQuery {
    /// All rows, in order.
    pub fn all() -> Self {
        Self::default()
    }

    /// The first `limit` rows.
    pub fn first(limit: usize) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }
}

/// How many rows are asked for once those before were over, at least: a caller that wants one row is
/// not to read a thousand of them one by one.
pub(super) const PAST_OVER: usize = 100;

impl Store {
    /// Rows of one partition whose sort key starts with `prefix`, read consistently. Continues over
    /// DynamoDB's 1 MB pages until the requested page is full.
    pub async fn list<T: DeserializeOwned>(
        &self,
        pk: &str,
        prefix: &str,
        page: &PageQuery,
    ) -> Result<Vec<StoredRow<T>>, StoreError> {
        let pk_is = ("pk", text(pk));
        let within = if prefix.is_empty() {
            Expression::new("#pk = :pk", [pk_is])
        } else {
            Expression::new(
                "#pk = :pk AND begins_with(#sk, :prefix)",
                [pk_is, ("prefix", text(prefix))],
            )
        };
        let (mut rows, mut some) = (Vec::new(), page.limit);
        let mut start = page
            .after
            .as_ref()
            .map(|after| key_item(&Key::new(pk, after)));
        loop {
            let mut query = self
                .client
                .query()
                .table_name(&*self.table)
                .consistent_read(true)
                .scan_index_forward(!page.backwards)
                .set_key_condition_expression(within.text())
                .set_expression_attribute_names(within.names())
                .set_expression_attribute_values(within.values());
            if page.limit > 0 {
                query = query.limit(i32::try_from(some).unwrap_or(i32::MAX));
            }
            let got = query
                .set_exclusive_start_key(start.take())
                .send()
                .await
                .map_err(StoreError::from_sdk)?;
            rows.extend(self.rows(got.items.unwrap_or_default())?);
            start = got.last_evaluated_key.filter(|key| !key.is_empty());
            let full = page.limit > 0 && rows.len() >= page.limit;
            if full || start.is_none() {
                if page.limit > 0 {
                    rows.truncate(page.limit);
                }
                return Ok(rows);
            }
            some = page.limit.saturating_sub(rows.len()).max(PAST_OVER);
        }
    }

    /// The keys of every row of a partition, whatever the rows hold, also of those whose time is over:
    /// what is to be deleted.
    pub(crate) async fn row_keys(&self, pk: &str) -> Result<Vec<Key>, StoreError> {
        const KEYS: &str = "#pk, #sk";
        let within = Expression::new("#pk = :pk", [("pk", text(pk))]);
        let mut keys = Vec::new();
        let mut start = None;
        loop {
            let query = self
                .client
                .query()
                .table_name(&*self.table)
                .consistent_read(true)
                .set_key_condition_expression(within.text())
                .projection_expression(KEYS)
                .set_expression_attribute_names(names_of([KEYS]))
                .set_expression_attribute_values(within.values());
            let got = query
                .set_exclusive_start_key(start.take())
                .send()
                .await
                .map_err(StoreError::from_sdk)?;
            for item in got.items.unwrap_or_default() {
                if let Some(sk) = text_of(&item, "sk") {
                    keys.push(Key::new(pk, sk));
                }
            }
            start = got.last_evaluated_key.filter(|key| !key.is_empty());
            if start.is_none() {
                return Ok(keys);
            }
        }
    }
}
