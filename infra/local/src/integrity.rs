//! Checks whether a database of the data folder is readable, before anything opens it.
//!
//! Header and schema are read in any case. SQLite's `quick_check` reads every page: 0.35 s for 260
//! MB in the system's cache, and otherwise as long as the disk takes. So it runs on small files,
//! and after an unclean stop on larger ones too. Damage that it misses is found when it is read,
//! and stops the host then (see `damage`).

use std::fs;
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::damage::is_damage;

/// Files of up to so many bytes are read whole at every start.
const SMALL: u64 = 32 << 20;

/// SQLite takes a shorter file for an empty database; its smallest page has so many bytes.
const SHORTEST: u64 = 512;

/// After an unclean stop, files of up to so many bytes are.
const MEDIUM: u64 = 512 << 20;

/// Checks for damage and returns what it found, if any. A file that is missing or empty has none;
/// one that cannot be opened is left to the part that needs it.
pub(crate) fn damage(file: &Path, after_a_crash: bool) -> Option<String> {
    let size = fs::metadata(file).ok()?.len();
    if size == 0 {
        return None;
    }
    if size < SHORTEST {
        return Some("it is too short for a database".to_owned());
    }
    let most = if after_a_crash { MEDIUM } else { SMALL };
    let look = || -> rusqlite::Result<String> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let database = Connection::open_with_flags(file, flags)?;
        // The part that opens it next goes on with the same log.
        database.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        database.query_row("SELECT count(*) FROM sqlite_schema", [], |row| {
            row.get::<_, i64>(0)
        })?;
        if size > most {
            return Ok("ok".to_owned());
        }
        database.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
    };
    match look() {
        Ok(found) if found == "ok" => None,
        Ok(found) => Some(found.lines().last().unwrap_or_default().to_owned()),
        Err(error) => is_damage(&error).then(|| error.to_string()),
    }
}
