//! The file of the queues.

use std::path::{Path, PathBuf};

use posthaste_model::Millis;
use rusqlite::Connection;

use super::EngineError;
use super::suspects::{self, Suspects};
use crate::damage;

/// Version of the file; stored in SQLite's `user_version`. The first release ignores what later
/// releases added, so a downgrade to it remains possible.
const VERSION: i64 = 1;

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS message (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    queue TEXT NOT NULL,
    visible INTEGER NOT NULL,  -- milliseconds; handed out from then on
    taken INTEGER NOT NULL DEFAULT 0,  -- handed out and not yet deleted or returned
    count INTEGER NOT NULL DEFAULT 0,  -- how often it was handed out
    body TEXT NOT NULL,
    account TEXT NOT NULL DEFAULT '-'  -- whose it is, for fairness; '-' of none
);
CREATE INDEX IF NOT EXISTS message_visible ON message (queue, visible, id);
CREATE TABLE IF NOT EXISTS suspect (
    id INTEGER PRIMARY KEY,  -- of a message
    deaths INTEGER NOT NULL  -- how often in a row the process died while a worker had it
);
CREATE TABLE IF NOT EXISTS dead (
    id INTEGER PRIMARY KEY,
    queue TEXT NOT NULL,
    at INTEGER NOT NULL,
    count INTEGER NOT NULL,
    body TEXT NOT NULL,
    deaths INTEGER NOT NULL DEFAULT 0
);";

/// Opens the file, makes the messages that an earlier process held visible at once, and reports
/// which of them may have ended that process.
pub(super) fn open(
    file: Option<&Path>,
    now: Millis,
) -> Result<(Connection, Suspects), EngineError> {
    let path = file.map_or_else(|| PathBuf::from(":memory:"), Path::to_owned);
    let prepare = || -> rusqlite::Result<Option<(Connection, Suspects)>> {
        let mut database = match file {
            None => Connection::open_in_memory()?,
            Some(file) => Connection::open(file)?,
        };
        database.pragma_update(None, "journal_mode", "WAL")?;
        database.pragma_update(None, "synchronous", "FULL")?;
        // A larger log before a checkpoint: most messages are deleted by then.
        database.pragma_update(None, "wal_autocheckpoint", 4000)?;
        let version: i64 = database.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if version > VERSION {
            return Ok(None);
        }
        database.execute_batch(TABLES)?;
        if !database.column_exists(None::<&str>, "dead", "deaths")? {
            // A file of 0.1.
            let column = "ALTER TABLE dead ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0";
            database.execute_batch(column)?;
        }
        if !database.column_exists(None::<&str>, "message", "account")? {
            // A file of a release before fairness. What waits in it has none.
            let column = "ALTER TABLE message ADD COLUMN account TEXT NOT NULL DEFAULT '-'";
            database.execute_batch(column)?;
        }
        database.execute_batch(
            "CREATE INDEX IF NOT EXISTS message_account ON message (queue, account, visible, id)",
        )?;
        database.pragma_update(None, "user_version", VERSION)?;
        let suspects = suspects::take_stock(&mut database, now)?;
        database.set_prepared_statement_cache_capacity(32);
        Ok(Some((database, suspects)))
    };
    match prepare() {
        Ok(Some(opened)) => Ok(opened),
        Ok(None) => Err(EngineError::Newer(path)),
        Err(error) if damage::is_damage(&error) || damage::is_damage_of_a_row(&error) => Err(
            EngineError::Damaged(damage::sentence(&path, &error.to_string())),
        ),
        Err(error) => Err(EngineError::Open(path, error)),
    }
}
