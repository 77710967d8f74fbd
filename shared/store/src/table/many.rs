//! Reading, writing and deleting many rows at once.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{DeleteRequest, KeysAndAttributes, PutRequest, WriteRequest};
use posthaste_model::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::StoreError;
use super::item::{StoredRow, key_item, to_item};
use super::store::{Store, unbuilt};
use crate::key::Key;

impl Store {
    /// Many rows at once, in no order; keys without a row are skipped.
    ///
    /// # Errors
    /// [`StoreError::Throttled`] when DynamoDB keeps leaving keys unread.
    pub async fn get_many<T: DeserializeOwned>(
        &self,
        keys: &[Key],
    ) -> Result<Vec<StoredRow<T>>, StoreError> {
        // DynamoDB's limit for one BatchGetItem.
        const MOST: usize = 100;
        let mut rows = Vec::new();
        for chunk in keys.chunks(MOST) {
            let ask = KeysAndAttributes::builder()
                .set_keys(Some(chunk.iter().map(key_item).collect()))
                .consistent_read(true)
                .build()
                .map_err(unbuilt)?;
            let mut left = Some(HashMap::from([(self.table.to_string(), ask)]));
            let mut attempts = self.conflict_attempts();
            while let Some(request) = left.take().filter(|r| !r.is_empty()) {
                if !attempts.next().await {
                    return Err(StoreError::Throttled("keys were left unread".to_owned()));
                }
                let got = self
                    .client
                    .batch_get_item()
                    .set_request_items(Some(request));
                let got = got.send().await.map_err(StoreError::from_sdk)?;
                let items = got.responses.unwrap_or_default().into_values().flatten();
                rows.extend(self.rows(items)?);
                left = got.unprocessed_keys;
            }
        }
        Ok(rows)
    }

    /// Writes many rows, replacing existing ones. Not atomic: a failure may leave some written.
    ///
    /// # Errors
    /// When the table fails or keeps leaving rows unwritten.
    pub async fn put_many<T: Serialize>(
        &self,
        rows: &[(Key, T)],
        expires: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        let mut writes = Vec::with_capacity(rows.len());
        for (key, value) in rows {
            writes.push(put_request(key, value, expires)?);
        }
        self.write_many(writes).await
    }

    /// Deletes many rows. Not atomic.
    ///
    /// # Errors
    /// When the table fails or keeps leaving rows undeleted.
    pub async fn delete_many(&self, keys: &[Key]) -> Result<(), StoreError> {
        let mut writes = Vec::with_capacity(keys.len());
        for key in keys {
            let delete = DeleteRequest::builder()
                .set_key(Some(key_item(key)))
                .build()
                .map_err(unbuilt)?;
            writes.push(WriteRequest::builder().delete_request(delete).build());
        }
        self.write_many(writes).await
    }

    pub(crate) async fn write_many(&self, writes: Vec<WriteRequest>) -> Result<(), StoreError> {
        // DynamoDB's limit for one BatchWriteItem.
        const MOST: usize = 25;
        // A list of 10,000 recipients at 10,000 times has 30,000 rows, and the gateway waits 29 seconds.
        const AT_ONCE: usize = 8;
        let chunks: Vec<&[WriteRequest]> = writes.chunks(MOST).collect();
        for several in chunks.chunks(AT_ONCE) {
            let calls = several.iter().map(|chunk| self.write_chunk(chunk));
            futures_util::future::try_join_all(calls).await?;
        }
        Ok(())
    }

    async fn write_chunk(&self, chunk: &[WriteRequest]) -> Result<(), StoreError> {
        let mut request = HashMap::from([(self.table.to_string(), chunk.to_vec())]);
        let mut attempts = self.conflict_attempts();
        while attempts.next().await {
            let write = self.client.batch_write_item();
            let done = write.set_request_items(Some(request)).send().await;
            let left = done.map_err(StoreError::from_sdk)?.unprocessed_items;
            match left.filter(|left| !left.is_empty()) {
                None => return Ok(()),
                Some(left) => request = left,
            }
        }
        Err(StoreError::Throttled("rows were left unwritten".to_owned()))
    }
}

/// One row of [`Store::write_many`], replacing any existing one.
pub(crate) fn put_request<T: Serialize>(
    key: &Key,
    value: &T,
    expires: Option<Timestamp>,
) -> Result<WriteRequest, StoreError> {
    let put = PutRequest::builder().set_item(Some(to_item(key, value, 1, expires)?));
    let put = put.build().map_err(unbuilt)?;
    Ok(WriteRequest::builder().put_request(put).build())
}
