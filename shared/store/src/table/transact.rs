//! Transactions over several rows (at most 100), with counters that enforce a limit.

use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{ConditionCheck, Delete, Put as PutOp, TransactWriteItem, Update};
use posthaste_model::Timestamp;
use serde::Serialize;

use super::error::StoreError;
use super::expression::{Expression, UpdateBuilder};
use super::item::{TableItem, key_item, number, to_item};
use super::store::{Store, unbuilt};
use crate::key::Key;

/// One step of a transaction.
#[derive(Clone)]
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

impl Store {
    /// A step that writes a row if none exists.
    pub fn write_new<T: Serialize>(
        &self,
        key: &Key,
        value: &T,
        expires: Option<Timestamp>,
    ) -> Result<Write, StoreError> {
        let absent = Expression::absent(self.clock.now());
        self.put_step(to_item(key, value, 1, expires)?, absent)
    }

    /// A step that writes a row, replacing any existing one.
    pub fn write<T: Serialize>(
        &self,
        key: &Key,
        value: &T,
        expires: Option<Timestamp>,
    ) -> Result<Write, StoreError> {
        self.put_step(to_item(key, value, 1, expires)?, Expression::default())
    }

    /// A step that overwrites a row which must exist.
    pub fn write_existing<T: Serialize>(
        &self,
        key: &Key,
        value: &T,
        expires: Option<Timestamp>,
    ) -> Result<Write, StoreError> {
        self.put_step(to_item(key, value, 1, expires)?, Expression::exists())
    }

    /// A step that overwrites a row which must be unchanged since it was read.
    pub fn write_unchanged<T: Serialize>(
        &self,
        key: &Key,
        value: &T,
        rev: u64,
    ) -> Result<Write, StoreError> {
        self.write_unchanged_until(key, value, rev, None)
    }

    /// [`Store::write_unchanged`] for a row that expires.
    pub fn write_unchanged_until<T: Serialize>(
        &self,
        key: &Key,
        value: &T,
        rev: u64,
        expires: Option<Timestamp>,
    ) -> Result<Write, StoreError> {
        let item = to_item(key, value, rev + 1, expires)?;
        self.put_step(item, Expression::unchanged(rev))
    }

    /// A step that writes a row, replacing any existing one, under a revision that differs from
    /// `rev` and from the few that follow it.
    pub fn write_afresh<T: Serialize>(
        &self,
        key: &Key,
        value: &T,
        rev: u64,
    ) -> Result<Write, StoreError> {
        const FAR: u64 = 1 << 32;
        let item = to_item(key, value, rev + FAR, None)?;
        self.put_step(item, Expression::default())
    }

    fn put_step(&self, item: TableItem, condition: Expression) -> Result<Write, StoreError> {
        let put = PutOp::builder()
            .table_name(&*self.table)
            .set_item(Some(item))
            .set_condition_expression(condition.text())
            .set_expression_attribute_names(condition.names())
            .set_expression_attribute_values(condition.values())
            .build()
            .map_err(unbuilt)?;
        let item = TransactWriteItem::builder().put(put).build();
        Ok(Write { item })
    }

    /// A step that writes nothing: the row must be unchanged since it was read.
    pub fn write_nothing(&self, key: &Key, rev: u64) -> Result<Write, StoreError> {
        let unchanged = Expression::unchanged(rev);
        let check = ConditionCheck::builder()
            .table_name(&*self.table)
            .set_key(Some(key_item(key)))
            .set_condition_expression(unchanged.text())
            .set_expression_attribute_names(unchanged.names())
            .set_expression_attribute_values(unchanged.values())
            .build()
            .map_err(unbuilt)?;
        let item = TransactWriteItem::builder().condition_check(check).build();
        Ok(Write { item })
    }

    /// A step that deletes a row which must exist.
    pub fn write_delete(&self, key: &Key) -> Result<Write, StoreError> {
        self.delete_step(key, &Expression::exists())
    }

    /// A step that deletes a row which must be unchanged since it was read.
    pub fn write_delete_unchanged(&self, key: &Key, rev: u64) -> Result<Write, StoreError> {
        self.delete_step(key, &Expression::unchanged(rev))
    }

    /// A step that deletes a row, whether it exists or not.
    pub fn write_absent(&self, key: &Key) -> Result<Write, StoreError> {
        self.delete_step(key, &Expression::default())
    }

    fn delete_step(&self, key: &Key, condition: &Expression) -> Result<Write, StoreError> {
        let delete = Delete::builder()
            .table_name(&*self.table)
            .set_key(Some(key_item(key)))
            .set_condition_expression(condition.text())
            .set_expression_attribute_names(condition.names())
            .set_expression_attribute_values(condition.values())
            .build()
            .map_err(unbuilt)?;
        let item = TransactWriteItem::builder().delete(delete).build();
        Ok(Write { item })
    }

    /// A step that updates a row.
    pub(crate) fn write_update(
        &self,
        key: &Key,
        update: &UpdateBuilder,
    ) -> Result<Write, StoreError> {
        let update = Update::builder()
            .table_name(&*self.table)
            .set_key(Some(key_item(key)))
            .update_expression(update.text())
            .set_condition_expression(update.condition_text())
            .set_expression_attribute_names(update.names())
            .set_expression_attribute_values(update.values())
            .build()
            .map_err(unbuilt)?;
        let item = TransactWriteItem::builder().update(update).build();
        Ok(Write { item })
    }

    /// A step that adds one to a number of a row which must exist, and to its revision, so that
    /// earlier readers of the row can tell that it changed.
    pub fn write_bump(&self, key: &Key, name: &str) -> Result<Write, StoreError> {
        let bump = UpdateBuilder::default().add(name, 1).add("rev", 1);
        self.write_update(key, &bump.only_if(Expression::exists()))
    }

    /// A step that adds one to the revision of a row which must exist, so that a change of the row
    /// that was read before is refused.
    pub fn write_touch(&self, key: &Key) -> Result<Write, StoreError> {
        let touch = UpdateBuilder::default().add("rev", 1);
        self.write_update(key, &touch.only_if(Expression::exists()))
    }

    /// A step that takes one of `limit` places of a counter row.
    pub fn write_take(&self, counter: &Key, limit: i64) -> Result<Write, StoreError> {
        let take = UpdateBuilder::default().add("n", 1).condition(
            "attribute_not_exists(#n) OR #n < :limit",
            [("limit", number(limit))],
        );
        self.write_update(counter, &take)
    }

    /// A step that releases `places` of a counter row.
    pub fn write_give_many(&self, counter: &Key, places: i64) -> Result<Write, StoreError> {
        let give = UpdateBuilder::default().add("n", -places);
        self.write_update(counter, &give)
    }

    /// A step that releases a place of a counter row.
    pub fn write_give(&self, counter: &Key) -> Result<Write, StoreError> {
        self.write_give_many(counter, 1)
    }

    /// Runs the steps, all or nothing. A transaction that collides with another is tried again.
    ///
    /// # Errors
    /// When the table fails; a condition that does not hold is an outcome.
    pub async fn transact(&self, steps: Vec<Write>) -> Result<Transact, StoreError> {
        self.transact_anew(|_| Ok(steps.clone())).await
    }

    /// The same with steps that may differ by the number of the attempt, from 0: so writers that collide
    /// can turn to other rows.
    pub(crate) async fn transact_anew(
        &self,
        steps: impl Fn(u16) -> Result<Vec<Write>, StoreError>,
    ) -> Result<Transact, StoreError> {
        let mut attempts = self.conflict_attempts();
        let mut number = 0;
        while attempts.next().await {
            let items = steps(number)?.into_iter().map(|step| step.item).collect();
            number += 1;
            let run = self.client.transact_write_items();
            let run = run.set_transact_items(Some(items));
            let Err(error) = run.send().await else {
                return Ok(Transact::Done);
            };
            let reasons = error
                .as_service_error()
                .filter(|e| e.is_transaction_canceled_exception())
                .and_then(|e| match e {
                    TransactWriteItemsError::TransactionCanceledException(e) => {
                        Some(e.cancellation_reasons().to_vec())
                    }
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
