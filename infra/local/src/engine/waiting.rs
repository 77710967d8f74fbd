//! Reads what waits in the file, without taking it.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

/// Whether a message, or a dead letter that can still be replayed, is one of those that `is` tells by
/// its queue and its body. Only bodies that contain `text` are asked about.
pub(crate) fn is_any_waiting(
    file: &Path,
    text: &str,
    is: impl Fn(&str, &str) -> bool,
) -> rusqlite::Result<bool> {
    // Without SQLITE_OPEN_CREATE: the engine has made the file.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(file, flags)?;
    let mut statement = database.prepare(
        "SELECT queue, body FROM message WHERE instr(body, ?1) > 0
         UNION ALL SELECT queue, body FROM dead WHERE instr(body, ?1) > 0",
    )?;
    let mut rows = statement.query([text])?;
    while let Some(row) = rows.next()? {
        let (queue, body): (String, String) = (row.get(0)?, row.get(1)?);
        if is(&queue, &body) {
            return Ok(true);
        }
    }
    Ok(false)
}
