//! Transactions over several rows (at most 100), with counters that enforce a limit.

use aws_sdk_dynamodb::types::{
    ConditionCheck, Delete, Put as PutOp, TransactWriteItem, Update, builders::UpdateBuilder,
};
use posthaste_model::Timestamp;
use serde::Serialize;

use crate::table::{TableItem, number, text, to_item};
use crate::{Key, Store, StoreError};

/// One step of a transaction.
pub struct Write {
    pub(crate) item: TransactWriteItem,
}

/// How a transaction ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Transact {
    Done,
    /// The condition of the step with this index did not hold; nothing was written.
    Refused(usize),
}

pub(crate) fn unbuilt(error: aws_sdk_dynamodb::error::BuildError) -> StoreError {
    StoreError::Unreachable(error.to_string())
}

fn keys(key: &Key) -> TableItem {
    TableItem::from([
        ("pk".to_owned(), text(&key.pk)),
        ("sk".to_owned(), text(&key.sk)),
    ])
}

impl Store {
    /// A step that writes a row if none exists.
    ///
    /// # Errors
    /// When the value has no form in the table.
    pub fn write_new<T: Serialize>(
        &self,
        key: &Key,
        value: &T,
        expires: Option<Timestamp>,
    ) -> Result<Write, StoreError> {
        let put = PutOp::builder()
            .table_name(&*self.table)
            .set_item(Some(to_item(key, value, 1, expires)?))
            .condition_expression("attribute_not_exists(pk)")
            .build()
            .map_err(unbuilt)?;
        let item = TransactWriteItem::builder().put(put).build();
        Ok(Write { item })
    }

    /// A step that writes a row, replacing any existing one.
    ///
    /// # Errors
    /// When the value has no form in the table.
    pub fn write<T: Serialize>(
        &self,
        key: &Key,
        value: &T,
        expires: Option<Timestamp>,
    ) -> Result<Write, StoreError> {
        let put = PutOp::builder()
            .table_name(&*self.table)
            .set_item(Some(to_item(key, value, 1, expires)?))
            .build()
            .map_err(unbuilt)?;
        let item = TransactWriteItem::builder().put(put).build();
        Ok(Write { item })
    }

    /// A step that overwrites a row which must exist.
    ///
    /// # Errors
    /// When the value has no form in the table.
    pub fn write_existing<T: Serialize>(
        &self,
        key: &Key,
        value: &T,
        expires: Option<Timestamp>,
    ) -> Result<Write, StoreError> {
        let put = PutOp::builder()
            .table_name(&*self.table)
            .set_item(Some(to_item(key, value, 1, expires)?))
            .condition_expression("attribute_exists(pk)")
            .build()
            .map_err(unbuilt)?;
        let item = TransactWriteItem::builder().put(put).build();
        Ok(Write { item })
    }

    /// A step that overwrites a row which must be unchanged since it was read.
    ///
    /// # Errors
    /// When the value has no form in the table.
    pub fn write_unchanged<T: Serialize>(
        &self,
        key: &Key,
        value: &T,
        rev: u64,
    ) -> Result<Write, StoreError> {
        self.write_unchanged_until(key, value, rev, None)
    }

    /// [`Store::write_unchanged`] for a row that expires.
    ///
    /// # Errors
    /// When the value has no form in the table.
    pub fn write_unchanged_until<T: Serialize>(
        &self,
        key: &Key,
        value: &T,
        rev: u64,
        expires: Option<Timestamp>,
    ) -> Result<Write, StoreError> {
        let put = PutOp::builder()
            .table_name(&*self.table)
            .set_item(Some(to_item(key, value, rev + 1, expires)?))
            .condition_expression("#rev = :rev")
            .expression_attribute_names("#rev", "rev")
            .expression_attribute_values(":rev", number(rev))
            .build()
            .map_err(unbuilt)?;
        let item = TransactWriteItem::builder().put(put).build();
        Ok(Write { item })
    }

    /// A step that writes nothing: the row must be unchanged since it was read.
    ///
    /// # Errors
    /// Never for a key built by this crate.
    pub fn write_nothing(&self, key: &Key, rev: u64) -> Result<Write, StoreError> {
        let check = ConditionCheck::builder()
            .table_name(&*self.table)
            .set_key(Some(keys(key)))
            .condition_expression("#rev = :rev")
            .expression_attribute_names("#rev", "rev")
            .expression_attribute_values(":rev", number(rev))
            .build()
            .map_err(unbuilt)?;
        let item = TransactWriteItem::builder().condition_check(check).build();
        Ok(Write { item })
    }

    /// A step that writes a row, replacing any existing one, under a revision that differs from
    /// `rev` and from the few that follow it.
    ///
    /// # Errors
    /// When the value has no form in the table.
    pub fn write_afresh<T: Serialize>(
        &self,
        key: &Key,
        value: &T,
        rev: u64,
    ) -> Result<Write, StoreError> {
        const FAR: u64 = 1 << 32;
        let put = PutOp::builder()
            .table_name(&*self.table)
            .set_item(Some(to_item(key, value, rev + FAR, None)?))
            .build()
            .map_err(unbuilt)?;
        let item = TransactWriteItem::builder().put(put).build();
        Ok(Write { item })
    }

    /// A step that adds one to a number of a row which must exist, and to its revision, so that
    /// earlier readers of the row can tell that it changed.
    ///
    /// # Errors
    /// Never for a key built by this crate.
    pub fn write_bump(&self, key: &Key, name: &str) -> Result<Write, StoreError> {
        let update = Update::builder()
            .table_name(&*self.table)
            .set_key(Some(keys(key)))
            .update_expression("ADD #n :one, #rev :one")
            .condition_expression("attribute_exists(pk)")
            .expression_attribute_names("#n", name)
            .expression_attribute_names("#rev", "rev")
            .expression_attribute_values(":one", number(1))
            .build()
            .map_err(unbuilt)?;
        let item = TransactWriteItem::builder().update(update).build();
        Ok(Write { item })
    }

    /// A step that deletes a row which must exist.
    ///
    /// # Errors
    /// Never for a key built by this crate.
    pub fn write_delete(&self, key: &Key) -> Result<Write, StoreError> {
        let delete = Delete::builder()
            .table_name(&*self.table)
            .set_key(Some(keys(key)))
            .condition_expression("attribute_exists(pk)")
            .build()
            .map_err(unbuilt)?;
        let item = TransactWriteItem::builder().delete(delete).build();
        Ok(Write { item })
    }

    /// A step that deletes a row which must be unchanged since it was read.
    ///
    /// # Errors
    /// Never for a key built by this crate.
    pub fn write_delete_unchanged(&self, key: &Key, rev: u64) -> Result<Write, StoreError> {
        let delete = Delete::builder()
            .table_name(&*self.table)
            .set_key(Some(keys(key)))
            .condition_expression("#rev = :rev")
            .expression_attribute_names("#rev", "rev")
            .expression_attribute_values(":rev", number(rev))
            .build()
            .map_err(unbuilt)?;
        let item = TransactWriteItem::builder().delete(delete).build();
        Ok(Write { item })
    }

    /// A step that deletes a row, whether it exists or not.
    ///
    /// # Errors
    /// Never for a key built by this crate.
    pub fn write_absent(&self, key: &Key) -> Result<Write, StoreError> {
        let delete = Delete::builder()
            .table_name(&*self.table)
            .set_key(Some(keys(key)))
            .build()
            .map_err(unbuilt)?;
        let item = TransactWriteItem::builder().delete(delete).build();
        Ok(Write { item })
    }

    /// A step that takes one of `limit` places of a counter row.
    ///
    /// # Errors
    /// Never for a key built by this crate.
    pub fn write_take(&self, counter: &Key, limit: i64) -> Result<Write, StoreError> {
        let update = self
            .counting(counter, 1)
            .condition_expression("attribute_not_exists(#n) OR #n < :limit");
        let update = update.expression_attribute_values(":limit", number(limit));
        let item = TransactWriteItem::builder()
            .update(update.build().map_err(unbuilt)?)
            .build();
        Ok(Write { item })
    }

    /// A step that releases `places` of a counter row.
    ///
    /// # Errors
    /// Never for a key built by this crate.
    pub fn write_give_many(&self, counter: &Key, places: i64) -> Result<Write, StoreError> {
        let update = self.counting(counter, -places);
        let item = TransactWriteItem::builder()
            .update(update.build().map_err(unbuilt)?)
            .build();
        Ok(Write { item })
    }

    /// A step that releases a place of a counter row.
    ///
    /// # Errors
    /// Never for a key built by this crate.
    pub fn write_give(&self, counter: &Key) -> Result<Write, StoreError> {
        self.write_give_many(counter, 1)
    }

    fn counting(&self, counter: &Key, by: i64) -> UpdateBuilder {
        Update::builder()
            .table_name(&*self.table)
            .set_key(Some(keys(counter)))
            .update_expression("ADD #n :by")
            .expression_attribute_names("#n", "n")
            .expression_attribute_values(":by", number(by))
    }

    /// Runs the steps, all or nothing. A transaction that collides with another is tried again.
    ///
    /// # Errors
    /// When the table fails; a condition that does not hold is an outcome.
    pub async fn transact(&self, steps: Vec<Write>) -> Result<Transact, StoreError> {
        const MAX_ATTEMPTS: u32 = 12;
        let items: Vec<_> = steps.into_iter().map(|step| step.item).collect();
        for _ in 0..MAX_ATTEMPTS {
            let run = self.client.transact_write_items();
            let run = run.set_transact_items(Some(items.clone()));
            let Err(error) = run.send().await else {
                return Ok(Transact::Done);
            };
            let reasons = error
                .as_service_error()
                .filter(|e| e.is_transaction_canceled_exception())
                .and_then(|e| match e {
                    aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError::TransactionCanceledException(e) => Some(e.cancellation_reasons().to_vec()),
                    _ => None,
                });
            let Some(reasons) = reasons else {
                return Err(StoreError::from_sdk(error));
            };
            let failed = |code: &str| reasons.iter().position(|r| r.code() == Some(code));
            if let Some(step) = failed("ConditionalCheckFailed") {
                return Ok(Transact::Refused(step));
            }
            // The refusal of one step, as a cancelled transaction reports it.
            let refused = ["ValidationError", "ItemCollectionSizeLimitExceeded"];
            if refused.into_iter().any(|code| failed(code).is_some()) {
                return Err(StoreError::Validation(
                    StoreError::from_sdk(error).to_string(),
                ));
            }
            if failed("TransactionConflict").is_none() {
                return Err(StoreError::from_sdk(error));
            }
        }
        Err(StoreError::Contended("transaction".to_owned()))
    }
}
