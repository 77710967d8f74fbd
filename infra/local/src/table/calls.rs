//! Calls of the embedded table: which of them write, and the answers for a damaged file.

use dynoxide::{Database, DynoxideError};
use posthaste_store::TableResponse;

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

/// Runs one operation. `damaged` is notified when the file is.
pub(super) fn call(
    database: &Database,
    operation: &str,
    body: &[u8],
    damaged: impl FnOnce(&str),
) -> TableResponse {
    match posthaste_embedded::run(database, operation, body) {
        Ok(body) => TableResponse { status: 200, body },
        Err(error) => {
            if is_damage(&error) {
                damaged(&error.to_string());
            }
            TableResponse {
                status: error.status_code(),
                body: error.to_json(),
            }
        }
    }
}

/// Whether the file is damaged. Some of the library's errors retain only SQLite's text.
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
