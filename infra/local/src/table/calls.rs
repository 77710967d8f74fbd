//! Calls of the embedded table: which of them write, and the answers for a damaged file.

use dynoxide::{Database, DynoxideError};
use posthaste_store::TableResponse;

use crate::damage;

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

/// How much of the file is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// Its structure: other calls fail too, and going on may lose more.
    File,
    /// A row: whatever does not need it works.
    Row,
}

/// Runs one operation. `damaged` is notified when the file is, and gives the sentence that the caller
/// gets.
pub(super) fn call(
    database: &Database,
    operation: &str,
    body: &[u8],
    damaged: impl FnOnce(Extent, &str) -> Option<String>,
) -> TableResponse {
    match posthaste_embedded::run(database, operation, body) {
        Ok(body) => TableResponse { status: 200, body },
        Err(error) => {
            let found = damage_of(&error).and_then(|extent| damaged(extent, &error.to_string()));
            let error = found.map_or(error, DynoxideError::InternalServerError);
            TableResponse {
                status: error.status_code(),
                body: error.to_json(),
            }
        }
    }
}

/// Whether the file is damaged. Some of the library's errors retain only SQLite's text.
pub(super) fn damage_of(error: &DynoxideError) -> Option<Extent> {
    const FILE: [&str; 3] = [
        "database disk image is malformed",
        "file is not a database",
        "not a valid database",
    ];
    // Of rusqlite, and of the library about what it wrote itself (`Bad item JSON`, …).
    const ROW: [&str; 4] = [
        "invalid utf-8",
        "Conversion error",
        "Invalid column type",
        "Bad ",
    ];
    match error {
        DynoxideError::SqliteError(error) if damage::is_damage(error) => Some(Extent::File),
        DynoxideError::SqliteError(error) if damage::is_damage_of_a_row(error) => Some(Extent::Row),
        DynoxideError::InternalServerError(text) => {
            if FILE.iter().any(|known| text.contains(known)) {
                Some(Extent::File)
            } else {
                let is_row = ROW.iter().any(|known| text.contains(known));
                is_row.then_some(Extent::Row)
            }
        }
        _ => None,
    }
}
