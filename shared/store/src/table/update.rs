//! Updates of single rows, and counters.

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::update_item::builders::UpdateItemFluentBuilder;
use aws_sdk_dynamodb::types::ReturnValue;
use posthaste_model::{AccountId, Timestamp};

use super::error::StoreError;
use super::expression::UpdateBuilder;
use super::item::{key_item, number, number_of};
use super::store::Store;
use crate::key::Key;

impl Store {
    /// The call that updates a row.
    pub(crate) fn update_call(&self, key: &Key, update: &UpdateBuilder) -> UpdateItemFluentBuilder {
        self.client
            .update_item()
            .table_name(&*self.table)
            .set_key(Some(key_item(key)))
            .update_expression(update.text())
            .set_condition_expression(update.condition_text())
            .set_expression_attribute_names(update.names())
            .set_expression_attribute_values(update.values())
    }

    /// Updates a row, or creates it with what the update sets; `false` when its condition does not
    /// hold.
    pub(crate) async fn update(
        &self,
        key: &Key,
        update: &UpdateBuilder,
    ) -> Result<bool, StoreError> {
        let call = self.update_call(key, update);
        match self.send(|| call.clone().send()).await {
            Ok(_) => Ok(true),
            Err(e) if is_conflict(&e) => Ok(false),
            Err(e) => Err(StoreError::from_sdk(e)),
        }
    }

    /// Adds to counters of one row and returns their new values, in the same order.
    pub async fn add(
        &self,
        key: &Key,
        counters: &[(&str, i64)],
        expires: Option<Timestamp>,
    ) -> Result<Vec<i64>, StoreError> {
        let mut update = UpdateBuilder::default();
        for (name, by) in counters {
            update = update.add(name, *by);
        }
        if let Some(at) = expires {
            update = update.set_once("exp", number(at.0));
        }
        let call = self.update_call(key, &update);
        let call = call.return_values(ReturnValue::AllNew);
        let done = self.send(|| call.clone().send()).await;
        let item = done.map_err(StoreError::from_sdk)?.attributes;
        let item = item.unwrap_or_default();
        let values = counters.iter().map(|(name, _)| number_of(&item, name));
        Ok(values.map(Option::unwrap_or_default).collect())
    }

    /// The next number of this kind within an account; none is given twice.
    pub(crate) async fn next_id(&self, account: &AccountId, what: &str) -> Result<i64, StoreError> {
        let counter = Key::count(account, what);
        let counted = self.add(&counter, &[("n", 1)], None).await?;
        Ok(counted.first().copied().unwrap_or(1))
    }
}

/// Whether the write was refused by its own condition.
pub(crate) fn is_conflict<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> bool {
    ProvideErrorMetadata::code(error) == Some("ConditionalCheckFailedException")
}
