//! A row as the table holds it: a serde value plus the attributes of the store.

use std::collections::HashMap;
use std::str::FromStr;

use aws_sdk_dynamodb::types::AttributeValue;
use posthaste_model::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::StoreError;
use super::store::Store;
use crate::key::Key;

pub(crate) type TableItem = HashMap<String, AttributeValue>;

/// A row as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRow<T> {
    pub key: Key,
    pub value: T,
    pub rev: u64,
}

pub(crate) fn text(value: impl Into<String>) -> AttributeValue {
    AttributeValue::S(value.into())
}

pub(crate) fn number(value: impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

pub(crate) fn text_of(item: &TableItem, name: &str) -> Option<String> {
    item.get(name)?.as_s().ok().cloned()
}

pub(crate) fn number_of<N: FromStr>(item: &TableItem, name: &str) -> Option<N> {
    item.get(name)?.as_n().ok()?.parse().ok()
}

pub(crate) fn key_item(key: &Key) -> TableItem {
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

/// The value inside an item, also of one whose time is over: reads go through [`Store::row`].
pub(crate) fn from_item<T: DeserializeOwned>(item: TableItem) -> Result<StoredRow<T>, StoreError> {
    let part = |name: &str| text_of(&item, name).unwrap_or_default();
    let key = Key::new(part("pk"), part("sk"));
    let rev = number_of(&item, "rev").unwrap_or(0);
    let value = serde_dynamo::from_item(item)
        .map_err(|e| StoreError::Unreadable(format!("{} {}: {e}", key.pk, key.sk)))?;
    Ok(StoredRow { key, value, rev })
}

impl Store {
    /// The row inside an item that was read; `None` when its time is over. Reads of rows go
    /// through here, so that they need not know that DynamoDB deletes late. Three do not: that of due
    /// rows, which never expire ([`Store::due_page`]), and the two that look for what an erasure has to
    /// delete, which is also what DynamoDB has yet to delete ([`Store::unindex`], and the scan in
    /// `privacy/erase.rs`).
    pub(super) fn row<T: DeserializeOwned>(
        &self,
        item: TableItem,
    ) -> Result<Option<StoredRow<T>>, StoreError> {
        if self.is_over(&item) {
            Ok(None)
        } else {
            from_item(item).map(Some)
        }
    }

    /// The rows inside these items, without those whose time is over.
    pub(super) fn rows<T: DeserializeOwned>(
        &self,
        items: impl IntoIterator<Item = TableItem>,
    ) -> Result<Vec<StoredRow<T>>, StoreError> {
        let rows = items.into_iter().map(|item| self.row(item).transpose());
        rows.flatten().collect()
    }

    /// Whether DynamoDB may have deleted the row by now.
    pub(super) fn is_over(&self, item: &TableItem) -> bool {
        number_of(item, "exp").is_some_and(|at| Timestamp(at) <= self.clock.now())
    }
}
