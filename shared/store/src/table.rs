//! The primitives every family of rows is built from.
//!
//! A row is a serde value plus four attributes of the store: `v`, the form of the row (1); `rev`, a
//! revision that [`Store::modify`] guards with; `exp`, when DynamoDB may delete it (TTL deletes
//! late, so reads filter on it too); and the key itself.

use std::collections::HashMap;
use std::sync::Arc;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, KeySchemaElement, KeyType, KeysAndAttributes,
    PutRequest, ReturnValue, ScalarAttributeType, TimeToLiveSpecification, WriteRequest,
};
use posthaste_model::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::due::Dues;
use crate::{Key, StoreError};

/// Partitions for the due rows of one minute, unless configured otherwise: enough for some 4,000 of
/// them a second.
const DUE_SHARDS: u16 = 4;

pub(crate) type TableItem = HashMap<String, AttributeValue>;

/// The table. Cheap to clone; the connection is made at the first call.
#[derive(Clone)]
pub struct Store {
    pub(crate) client: Client,
    pub(crate) table: Arc<str>,
    pub(crate) dues: Arc<Dues>,
}

/// A row as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRow<T> {
    pub key: Key,
    pub value: T,
    pub rev: u64,
}

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

pub(crate) fn text(value: impl Into<String>) -> AttributeValue {
    AttributeValue::S(value.into())
}

pub(crate) fn number(value: impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

fn key_item(key: &Key) -> TableItem {
    TableItem::from([
        ("pk".to_owned(), text(&key.pk)),
        ("sk".to_owned(), text(&key.sk)),
    ])
}

/// A value as an item, with the store's own attributes added.
pub(crate) fn to_item<T: Serialize>(
    key: &Key,
    value: &T,
    rev: u64,
    expires: Option<Timestamp>,
) -> Result<TableItem, StoreError> {
    let mut item: TableItem =
        serde_dynamo::to_item(value).map_err(|e| StoreError::Unreadable(e.to_string()))?;
    item.extend(key_item(key));
    item.insert("v".to_owned(), number(1));
    item.insert("rev".to_owned(), number(rev));
    if let Some(at) = expires {
        item.insert("exp".to_owned(), number(at.0));
    }
    Ok(item)
}

/// The value inside an item.
pub(crate) fn from_item<T: DeserializeOwned>(item: TableItem) -> Result<StoredRow<T>, StoreError> {
    let part = |name: &str| item.get(name).and_then(|v| v.as_s().ok()).cloned();
    let key = Key::new(
        part("pk").unwrap_or_default(),
        part("sk").unwrap_or_default(),
    );
    let rev = number_of(&item, "rev").unwrap_or(0);
    let value = serde_dynamo::from_item(item)
        .map_err(|e| StoreError::Unreadable(format!("{} {}: {e}", key.pk, key.sk)))?;
    Ok(StoredRow { key, value, rev })
}

pub(crate) fn number_of<N: std::str::FromStr>(item: &TableItem, name: &str) -> Option<N> {
    item.get(name)?.as_n().ok()?.parse().ok()
}

impl Store {
    /// The table `table`, reached with the configuration of `runtime`.
    pub fn open(config: &aws_config::SdkConfig, table: &str) -> Self {
        Self::of(Client::new(config), table)
    }

    pub(crate) fn of(client: Client, table: &str) -> Self {
        Self {
            client,
            table: table.into(),
            dues: Arc::new(Dues::new(DUE_SHARDS)),
        }
    }

    /// With another number of partitions for the due rows of one minute. It may change at any
    /// time: the sweep reads what was written, not what is configured.
    #[must_use]
    pub fn with_due_shards(self, shards: u16) -> Self {
        let dues = Arc::new(Dues::new(shards));
        Self { dues, ..self }
    }

    /// Creates the table, for the local host and tests; in the cloud `template.yaml` does.
    ///
    /// # Errors
    /// When the table can neither be found nor made.
    pub async fn create_table(&self) -> Result<(), StoreError> {
        let described = self.client.describe_table().table_name(&*self.table);
        if described.send().await.is_ok() {
            return Ok(());
        }
        let mut create = self
            .client
            .create_table()
            .table_name(&*self.table)
            .billing_mode(BillingMode::PayPerRequest);
        for (name, kind) in [("pk", KeyType::Hash), ("sk", KeyType::Range)] {
            let definition = AttributeDefinition::builder()
                .attribute_name(name)
                .attribute_type(ScalarAttributeType::S);
            let element = KeySchemaElement::builder()
                .attribute_name(name)
                .key_type(kind);
            let unbuilt =
                |e: aws_sdk_dynamodb::error::BuildError| StoreError::Unreachable(e.to_string());
            create = create
                .attribute_definitions(definition.build().map_err(unbuilt)?)
                .key_schema(element.build().map_err(unbuilt)?);
        }
        create.send().await.map_err(StoreError::from_sdk)?;
        let ttl = TimeToLiveSpecification::builder()
            .attribute_name("exp")
            .enabled(true)
            .build()
            .map_err(|e| StoreError::Unreachable(e.to_string()))?;
        let update = self.client.update_time_to_live().table_name(&*self.table);
        update
            .time_to_live_specification(ttl)
            .send()
            .await
            .map_err(StoreError::from_sdk)?;
        Ok(())
    }

    /// One row, read consistently.
    ///
    /// # Errors
    /// When the table fails or the row is not of this form.
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
        got.item.map(from_item).transpose()
    }

    /// Writes a row, replacing any existing one.
    ///
    /// # Errors
    /// When the table fails.
    pub async fn put<T: Serialize>(
        &self,
        key: &Key,
        value: &T,
        expires: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        let put = self.client.put_item().table_name(&*self.table);
        let item = to_item(key, value, 1, expires)?;
        put.set_item(Some(item))
            .send()
            .await
            .map_err(StoreError::from_sdk)?;
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
        let mut put = self
            .client
            .put_item()
            .table_name(&*self.table)
            .set_item(Some(item));
        put = match rev {
            None => put.condition_expression("attribute_not_exists(pk)"),
            Some(rev) => put
                .condition_expression("#rev = :rev")
                .expression_attribute_names("#rev", "rev")
                .expression_attribute_values(":rev", number(rev)),
        };
        match put.send().await {
            Ok(_) => Ok(Put::Stored),
            Err(e) if is_conflict(&e) => Ok(Put::Taken),
            Err(e) => Err(StoreError::from_sdk(e)),
        }
    }

    /// Reads a row, lets `change` decide, and writes the result only if the row is unchanged;
    /// otherwise starts over. `change` may run several times. Returns what the row is now.
    ///
    /// # Errors
    /// When the table fails or the row keeps changing; `E` is whatever `change` refused with.
    pub async fn modify<T, E>(
        &self,
        key: &Key,
        expires: Option<Timestamp>,
        mut change: impl FnMut(Option<&T>) -> Result<RowChange<T>, E>,
    ) -> Result<Result<Option<T>, E>, StoreError>
    where
        T: Serialize + DeserializeOwned,
    {
        const MAX_ATTEMPTS: u32 = 12;
        for _ in 0..MAX_ATTEMPTS {
            let row = self.get::<T>(key).await?;
            let rev = row.as_ref().map(|row| row.rev);
            let old = row.map(|row| row.value);
            let (put, now) = match change(old.as_ref()) {
                Err(refused) => return Ok(Err(refused)),
                Ok(RowChange::Keep) => return Ok(Ok(old)),
                Ok(RowChange::Put(new)) => {
                    let item = to_item(key, &new, rev.unwrap_or(0) + 1, expires)?;
                    (self.put_if(item, rev).await?, Some(new))
                }
                Ok(RowChange::Delete) => match rev {
                    None => return Ok(Ok(None)),
                    Some(rev) => (self.delete_if(key, rev).await?, None),
                },
            };
            if put == Put::Stored {
                return Ok(Ok(now));
            }
        }
        Err(StoreError::Contended(format!("{} {}", key.pk, key.sk)))
    }

    pub(crate) async fn delete_if(&self, key: &Key, rev: u64) -> Result<Put, StoreError> {
        let delete = self
            .client
            .delete_item()
            .table_name(&*self.table)
            .set_key(Some(key_item(key)))
            .condition_expression("#rev = :rev")
            .expression_attribute_names("#rev", "rev")
            .expression_attribute_values(":rev", number(rev));
        match delete.send().await {
            Ok(_) => Ok(Put::Stored),
            Err(e) if is_conflict(&e) => Ok(Put::Taken),
            Err(e) => Err(StoreError::from_sdk(e)),
        }
    }

    /// Deletes a row; returns whether there was one.
    ///
    /// # Errors
    /// When the table fails.
    pub async fn delete(&self, key: &Key) -> Result<bool, StoreError> {
        let done = self
            .client
            .delete_item()
            .table_name(&*self.table)
            .set_key(Some(key_item(key)))
            .return_values(ReturnValue::AllOld)
            .send()
            .await
            .map_err(StoreError::from_sdk)?;
        Ok(done.attributes.is_some_and(|old| !old.is_empty()))
    }

    /// Rows of one partition whose sort key starts with `prefix`, read consistently. Continues over
    /// DynamoDB's 1 MB pages until the requested page is full.
    ///
    /// # Errors
    /// When the table fails or a row is not of this form.
    pub async fn list<T: DeserializeOwned>(
        &self,
        pk: &str,
        prefix: &str,
        page: &PageQuery,
    ) -> Result<Vec<StoredRow<T>>, StoreError> {
        let mut rows = Vec::new();
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
                .expression_attribute_names("#pk", "pk")
                .expression_attribute_values(":pk", text(pk));
            query = if prefix.is_empty() {
                query.key_condition_expression("#pk = :pk")
            } else {
                query
                    .key_condition_expression("#pk = :pk AND begins_with(#sk, :prefix)")
                    .expression_attribute_names("#sk", "sk")
                    .expression_attribute_values(":prefix", text(prefix))
            };
            if page.limit > 0 {
                let left = page.limit.saturating_sub(rows.len());
                query = query.limit(i32::try_from(left).unwrap_or(i32::MAX));
            }
            let got = query
                .set_exclusive_start_key(start.take())
                .send()
                .await
                .map_err(StoreError::from_sdk)?;
            for item in got.items.unwrap_or_default() {
                rows.push(from_item(item)?);
            }
            start = got.last_evaluated_key.filter(|key| !key.is_empty());
            let full = page.limit > 0 && rows.len() >= page.limit;
            if full || start.is_none() {
                return Ok(rows);
            }
        }
    }

    /// The keys of every row of a partition, whatever the rows hold.
    ///
    /// # Errors
    /// When the table fails.
    pub(crate) async fn row_keys(&self, pk: &str) -> Result<Vec<Key>, StoreError> {
        let mut keys = Vec::new();
        let mut start = None;
        loop {
            let query = self
                .client
                .query()
                .table_name(&*self.table)
                .consistent_read(true)
                .key_condition_expression("#pk = :pk")
                .projection_expression("#pk, #sk")
                .expression_attribute_names("#pk", "pk")
                .expression_attribute_names("#sk", "sk")
                .expression_attribute_values(":pk", text(pk));
            let got = query
                .set_exclusive_start_key(start.take())
                .send()
                .await
                .map_err(StoreError::from_sdk)?;
            for item in got.items.unwrap_or_default() {
                if let Some(sk) = item.get("sk").and_then(|sk| sk.as_s().ok()) {
                    keys.push(Key::new(pk, sk));
                }
            }
            start = got.last_evaluated_key.filter(|key| !key.is_empty());
            if start.is_none() {
                return Ok(keys);
            }
        }
    }

    /// Adds to counters of one row and returns their new values, in the same order.
    ///
    /// # Errors
    /// When the table fails.
    pub async fn add(
        &self,
        key: &Key,
        counters: &[(&str, i64)],
        expires: Option<Timestamp>,
    ) -> Result<Vec<i64>, StoreError> {
        let mut update = self
            .client
            .update_item()
            .table_name(&*self.table)
            .set_key(Some(key_item(key)))
            .return_values(ReturnValue::AllNew);
        let mut adds = Vec::new();
        for (i, (name, by)) in counters.iter().enumerate() {
            adds.push(format!("#c{i} :c{i}"));
            update = update
                .expression_attribute_names(format!("#c{i}"), *name)
                .expression_attribute_values(format!(":c{i}"), number(by));
        }
        let mut expression = format!("ADD {}", adds.join(", "));
        if let Some(at) = expires {
            expression.push_str(" SET #exp = if_not_exists(#exp, :exp)");
            update = update
                .expression_attribute_names("#exp", "exp")
                .expression_attribute_values(":exp", number(at.0));
        }
        let done = update
            .update_expression(expression)
            .send()
            .await
            .map_err(StoreError::from_sdk)?;
        let item = done.attributes.unwrap_or_default();
        let values = counters.iter().map(|(name, _)| number_of(&item, name));
        Ok(values.map(Option::unwrap_or_default).collect())
    }

    /// Many rows at once, in no order; keys without a row are skipped.
    ///
    /// # Errors
    /// When the table fails or keeps leaving keys unread.
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
                .map_err(|e| StoreError::Unreachable(e.to_string()))?;
            let mut left = Some(HashMap::from([(self.table.to_string(), ask)]));
            let mut rounds = 0;
            while let Some(request) = left.take().filter(|r| !r.is_empty()) {
                rounds += 1;
                if rounds > 10 {
                    return Err(StoreError::Throttled("keys were left unread".to_owned()));
                }
                let got = self
                    .client
                    .batch_get_item()
                    .set_request_items(Some(request));
                let got = got.send().await.map_err(StoreError::from_sdk)?;
                for item in got.responses.unwrap_or_default().into_values().flatten() {
                    rows.push(from_item(item)?);
                }
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
            let put = PutRequest::builder().set_item(Some(to_item(key, value, 1, expires)?));
            let put = put
                .build()
                .map_err(|e| StoreError::Unreachable(e.to_string()))?;
            writes.push(WriteRequest::builder().put_request(put).build());
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
            let delete = aws_sdk_dynamodb::types::DeleteRequest::builder()
                .set_key(Some(key_item(key)))
                .build()
                .map_err(|e| StoreError::Unreachable(e.to_string()))?;
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
        const MAX_ATTEMPTS: u32 = 10;
        let mut request = HashMap::from([(self.table.to_string(), chunk.to_vec())]);
        for _ in 0..MAX_ATTEMPTS {
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

/// Whether the write was refused by its own condition.
pub(crate) fn is_conflict<E, R>(error: &aws_sdk_dynamodb::error::SdkError<E, R>) -> bool
where
    E: aws_sdk_dynamodb::error::ProvideErrorMetadata,
{
    aws_sdk_dynamodb::error::ProvideErrorMetadata::code(error)
        == Some("ConditionalCheckFailedException")
}
