//! From the name and JSON of an operation to the embedded table and back.

use dynoxide::{Database, DynoxideError};
use posthaste_store::Answer;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Whether an operation may change the table.
pub(super) fn writes(operation: &str) -> bool {
    const READS: [&str; 8] = [
        "GetItem",
        "BatchGetItem",
        "TransactGetItems",
        "Query",
        "Scan",
        "ListTables",
        "DescribeTable",
        "DescribeTimeToLive",
    ];
    !READS.contains(&operation)
}

/// Runs one operation. What this service never calls is answered as the cloud answers what it
/// does not know. `damaged` hears when the file turns out to be.
pub(super) fn call(
    database: &Database,
    operation: &str,
    body: &[u8],
    damaged: impl FnOnce(&str),
) -> Answer {
    let result = match operation {
        "GetItem" => run(body, |request| database.get_item(request)),
        "PutItem" => run(body, |request| database.put_item(request)),
        "UpdateItem" => run(body, |request| database.update_item(request)),
        "DeleteItem" => run(body, |request| database.delete_item(request)),
        "Query" => run(body, |request| database.query(request)),
        "Scan" => run(body, |request| database.scan(request)),
        "BatchGetItem" => run(body, |request| database.batch_get_item(request)),
        "BatchWriteItem" => run(body, |request| database.batch_write_item(request)),
        "TransactWriteItems" => run(body, |request| database.transact_write_items(request)),
        "TransactGetItems" => run(body, |request| database.transact_get_items(request)),
        "CreateTable" => run(body, |request| database.create_table(request)),
        "DescribeTable" => run(body, |request| database.describe_table(request)),
        "UpdateTimeToLive" => run(body, |request| database.update_time_to_live(request)),
        "DescribeTimeToLive" => run(body, |request| database.describe_time_to_live(request)),
        "ListTables" => run(body, |request| database.list_tables(request)),
        _ => Err(DynoxideError::ValidationException(format!(
            "{operation} is not served here"
        ))),
    };
    match result {
        Ok(body) => Answer { status: 200, body },
        Err(error) => {
            if is_damage(&error) {
                damaged(&error.to_string());
            }
            Answer {
                status: error.status_code(),
                body: error.to_json(),
            }
        }
    }
}

/// Whether the file is damaged. Some of the library's errors keep nothing of SQLite's but its text.
fn is_damage(error: &DynoxideError) -> bool {
    match error {
        DynoxideError::SqliteError(error) => crate::damage::is_damage(error),
        DynoxideError::InternalServerError(text) => {
            text.contains("database disk image is malformed")
                || text.contains("file is not a database")
        }
        _ => false,
    }
}

fn run<Q: DeserializeOwned, A: Serialize>(
    body: &[u8],
    operation: impl FnOnce(Q) -> dynoxide::Result<A>,
) -> dynoxide::Result<String> {
    let unreadable = |e: serde_json::Error| DynoxideError::SerializationException(e.to_string());
    let request = serde_json::from_slice(body).map_err(unreadable)?;
    let answer = operation(request)?;
    serde_json::to_string(&answer).map_err(unreadable)
}
