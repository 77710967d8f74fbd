//! A table that measures the size of its rows and the cost of writes, by DynamoDB's own rules
//! (Developer Guide, "DynamoDB item sizes and formats" and "Capacity unit consumption for write
//! operations").

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use dynoxide::Database;
use posthaste_store::{Embedded, Store, TableResponse};
use serde_json::{Map, Value, json};

use crate::services::TABLE;

/// Bytes that one write unit pays for.
const UNIT: usize = 1024;

/// A fresh table in this process. Clones are the same one.
#[derive(Clone)]
pub struct Scale(Arc<Inner>);

struct Inner {
    database: Database,
    written: Mutex<Written>,
}

impl fmt::Debug for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scale")
    }
}

/// The cost of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Calls that write, including failed ones.
    pub calls: usize,
    /// Write units: each 1 KB of the larger of a row before and after, twice in a transaction.
    pub units: usize,
}

/// A row as stored in the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weighed {
    pub pk: String,
    pub sk: String,
    /// Bytes as DynamoDB counts them: at most 400 KB are taken.
    pub bytes: usize,
}

type RowMembers = Map<String, Value>;

impl Scale {
    /// An empty table and the store on it.
    ///
    /// # Panics
    /// When no table can be created.
    pub async fn table() -> (Self, Store) {
        let database = Database::memory().expect("a database in memory");
        let scale = Self(Arc::new(Inner {
            database,
            written: Mutex::default(),
        }));
        let store = Store::embedded(Arc::new(scale.clone()), TABLE);
        store.create_table().await.expect("a table can be made");
        (scale, store)
    }

    /// The writes since the last call.
    pub fn take(&self) -> Written {
        let mut written = self
            .0
            .written
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *written)
    }

    /// Every row whose partition key has this prefix.
    ///
    /// # Panics
    /// When the table cannot be read.
    pub fn rows(&self, prefix: &str) -> Vec<Weighed> {
        let mut rows = Vec::new();
        let mut start = Value::Null;
        loop {
            let mut ask = json!({"TableName": TABLE});
            if let (false, Some(ask)) = (start.is_null(), ask.as_object_mut()) {
                ask.insert("ExclusiveStartKey".to_owned(), start);
            }
            let page = self.ask("Scan", &ask);
            let items = page.get("Items").and_then(Value::as_array);
            let items = items.expect("a scan has items");
            rows.extend(items.iter().filter_map(Value::as_object).map(weighed));
            start = page.get("LastEvaluatedKey").cloned().unwrap_or_default();
            if start.is_null() {
                rows.retain(|row| row.pk.starts_with(prefix));
                return rows;
            }
        }
    }

    /// The largest of these rows.
    ///
    /// # Panics
    /// When there is none.
    pub fn heaviest(&self, prefix: &str) -> Weighed {
        let rows = self.rows(prefix).into_iter();
        rows.max_by_key(|row| row.bytes).expect("a row")
    }

    fn ask(&self, operation: &str, body: &Value) -> Value {
        let answer = call(&self.0.database, operation, body.to_string().as_bytes());
        serde_json::from_str(&answer.body).unwrap_or_default()
    }

    fn weigh(&self, key: &RowMembers) -> usize {
        let part = |name: &str| (name.to_owned(), key.get(name).cloned().unwrap_or_default());
        let key: RowMembers = ["pk", "sk"].map(part).into_iter().collect();
        let got = self.ask("GetItem", &json!({"TableName": TABLE, "Key": key}));
        got.get("Item")
            .and_then(Value::as_object)
            .map_or(0, item_bytes)
    }
}

impl Embedded for Scale {
    fn call(
        &self,
        operation: &str,
        body: &[u8],
    ) -> futures_util::future::BoxFuture<'static, Option<TableResponse>> {
        let request = serde_json::from_slice(body).unwrap_or_default();
        let keys = keys(operation, &request);
        let before: Vec<usize> = keys.iter().map(|key| self.weigh(key)).collect();
        let answer = call(&self.0.database, operation, body);
        if !keys.is_empty() {
            let after = keys.iter().map(|key| self.weigh(key));
            let units = |bytes: usize| bytes.div_ceil(UNIT).max(1);
            let units: usize = before
                .iter()
                .zip(after)
                .map(|(b, a)| units(a.max(*b)))
                .sum();
            let times = if operation == "TransactWriteItems" {
                2
            } else {
                1
            };
            let mut written = self
                .0
                .written
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            written.calls += 1;
            written.units += units * times;
        }
        Box::pin(std::future::ready(Some(answer)))
    }
}

/// The keys of the rows that a call writes.
fn keys(operation: &str, request: &Value) -> Vec<RowMembers> {
    let of = |step: &Value| {
        let key = step.get("Key").or_else(|| step.get("Item"))?;
        key.as_object().cloned()
    };
    let inner = |step: &Value| step.as_object()?.values().next().and_then(of);
    let all = |list: Option<&Value>| -> Vec<RowMembers> {
        let list = list.and_then(Value::as_array).into_iter().flatten();
        list.filter_map(inner).collect()
    };
    match operation {
        "PutItem" | "UpdateItem" | "DeleteItem" => of(request).into_iter().collect(),
        "BatchWriteItem" => all(request
            .get("RequestItems")
            .and_then(|tables| tables.get(TABLE))),
        "TransactWriteItems" => all(request.get("TransactItems")),
        _ => Vec::new(),
    }
}

fn weighed(item: &RowMembers) -> Weighed {
    let part = |name: &str| {
        let text = item.get(name).and_then(|value| value.get("S")?.as_str());
        text.unwrap_or_default().to_owned()
    };
    Weighed {
        pk: part("pk"),
        sk: part("sk"),
        bytes: item_bytes(item),
    }
}

/// Names and values of all attributes.
fn item_bytes(item: &RowMembers) -> usize {
    let attributes = item.iter();
    attributes
        .map(|(name, value)| name.len() + bytes(value))
        .sum()
}

/// One value in DynamoDB's JSON.
fn bytes(value: &Value) -> usize {
    let Some((kind, inner)) = value.as_object().and_then(|one| one.iter().next()) else {
        return 0;
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().len();
    // One byte for two digits, one more, and one for the sign: never too little.
    let number = |value: &Value| text(value).div_ceil(2) + 2;
    let list = |of: &dyn Fn(&Value) -> usize| {
        let elements = inner.as_array().into_iter().flatten();
        elements.map(of).sum::<usize>()
    };
    match kind.as_str() {
        "S" => text(inner),
        "N" => number(inner),
        "B" => text(inner).div_ceil(4) * 3,
        "SS" => list(&text),
        "NS" => list(&number),
        "L" => 3 + list(&|element| 1 + bytes(element)),
        "M" => {
            let pairs = inner.as_object().into_iter().flatten();
            3 + pairs
                .map(|(name, value)| 1 + name.len() + bytes(value))
                .sum::<usize>()
        }
        _ => 1,
    }
}

fn call(database: &Database, operation: &str, body: &[u8]) -> TableResponse {
    match posthaste_embedded::run(database, operation, body) {
        Ok(body) => TableResponse { status: 200, body },
        Err(error) => TableResponse {
            status: error.status_code(),
            body: error.to_json(),
        },
    }
}
