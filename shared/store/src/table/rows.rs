//! Reading and writing one row.

use aws_sdk_dynamodb::types::ReturnValue;
use posthaste_model::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::StoreError;
use super::expression::Expression;
use super::item::{StoredRow, TableItem, key_item, to_item};
use super::store::Store;
use super::update::is_conflict;
use crate::key::Key;

/// What a conditional write found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Put {
    Stored,
    /// The key exists already; nothing was written.
    Taken,
}

/// What [`Store::modify`] is to do with the row.
#[derive(Debug)]
pub enum RowChange<T> {
    Keep,
    Put(T),
    Delete,
}

impl Store {
    /// One row, read consistently.
    pub async fn get<T: DeserializeOwned>(
        &self,
        key: &Key,
    ) -> Result<Option<StoredRow<T>>, StoreError> {
        let got = self
            .client
            .get_item()
            .table_name(&*self.table)
            .set_key(Some(key_item(key)))
            .consistent_read(true)
            .send()
            .await
            .map_err(StoreError::from_sdk)?;
        Ok(got.item.map(|item| self.row(item)).transpose()?.flatten())
    }

    /// Writes a row, replacing any existing one.
    pub async fn put<T: Serialize>(
        &self,
        key: &Key,
        value: &T,
        expires: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        let put = self.client.put_item().table_name(&*self.table);
        let item = to_item(key, value, 1, expires)?;
        let put = put.set_item(Some(item));
        let done = self.send(|| put.clone().send()).await;
        done.map_err(StoreError::from_sdk)?;
        Ok(())
    }

    /// Writes a row if none exists.
    ///
    /// # Errors
    /// When the table fails; a key that exists already is an outcome.
    pub async fn put_new<T: Serialize>(
        &self,
        key: &Key,
        value: &T,
        expires: Option<Timestamp>,
    ) -> Result<Put, StoreError> {
        self.put_if(to_item(key, value, 1, expires)?, None).await
    }

    /// Writes an item if none exists (`rev` `None`) or if the revision is still the one read.
    pub(crate) async fn put_if(
        &self,
        item: TableItem,
        rev: Option<u64>,
    ) -> Result<Put, StoreError> {
        let condition = match rev {
            None => Expression::absent(self.clock.now()),
            Some(rev) => Expression::unchanged(rev),
        };
        let put = self
            .client
            .put_item()
            .table_name(&*self.table)
            .set_item(Some(item))
            .set_condition_expression(condition.text())
            .set_expression_attribute_names(condition.names())
            .set_expression_attribute_values(condition.values());
        match self.send(|| put.clone().send()).await {
            Ok(_) => Ok(Put::Stored),
            Err(e) if is_conflict(&e) => Ok(Put::Taken),
            Err(e) => Err(StoreError::from_sdk(e)),
        }
    }

    /// Reads a row, lets `change` decide, and writes the result only if the row is unchanged;
    /// otherwise starts over. `change` may run several times. Returns what the row is now.
    ///
    /// # Errors
    /// What `change` refused with, or the table's error in that type.
    pub async fn modify<T, E>(
        &self,
        key: &Key,
        expires: Option<Timestamp>,
        mut change: impl FnMut(Option<&T>) -> Result<RowChange<T>, E>,
    ) -> Result<Option<T>, E>
    where
        T: Serialize + DeserializeOwned,
        E: From<StoreError>,
    {
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let row = self.get::<T>(key).await?;
            let rev = row.as_ref().map(|row| row.rev);
            let old = row.map(|row| row.value);
            let (put, now) = match change(old.as_ref())? {
                RowChange::Keep => return Ok(old),
                RowChange::Put(new) => {
                    let item = to_item(key, &new, rev.unwrap_or(0) + 1, expires)?;
                    (self.put_if(item, rev).await?, Some(new))
                }
                RowChange::Delete => match rev {
                    None => return Ok(None),
                    Some(rev) => (self.delete_if(key, rev).await?, None),
                },
            };
            if put == Put::Stored {
                return Ok(now);
            }
        }
        Err(StoreError::Contended(format!("{} {}", key.pk, key.sk)).into())
    }

    pub(crate) async fn delete_if(&self, key: &Key, rev: u64) -> Result<Put, StoreError> {
        let unchanged = Expression::unchanged(rev);
        let delete = self
            .client
            .delete_item()
            .table_name(&*self.table)
            .set_key(Some(key_item(key)))
            .set_condition_expression(unchanged.text())
            .set_expression_attribute_names(unchanged.names())
            .set_expression_attribute_values(unchanged.values());
        match self.send(|| delete.clone().send()).await {
            Ok(_) => Ok(Put::Stored),
            Err(e) if is_conflict(&e) => Ok(Put::Taken),
            Err(e) => Err(StoreError::from_sdk(e)),
        }
    }

    /// Deletes a row; returns whether there was one.
    pub async fn delete(&self, key: &Key) -> Result<bool, StoreError> {
        let delete = self
            .client
            .delete_item()
            .table_name(&*self.table)
            .set_key(Some(key_item(key)))
            .return_values(ReturnValue::AllOld);
        let done = self.send(|| delete.clone().send()).await;
        let done = done.map_err(StoreError::from_sdk)?;
        let old = done.attributes.filter(|old| !old.is_empty());
        Ok(old.is_some_and(|old| !self.is_over(&old)))
    }
}
