//! Damaged files of the data folder: those found before anything opens them, and those found while the host runs.
//!
//! Before: header and schema of a database are read in any case. SQLite's `quick_check` reads every page: 0.35 s
//! for 260 MB in the system's cache, and otherwise as long as the disk takes. So it runs on small files, and after
//! an unclean stop on larger ones too. Damage that it misses is found when it is read.
//!
//! While the host runs: damage is permanent, retries keep failing, and continuing may lose more. So the part that
//! finds it reports it here, and the host stops with a one-sentence message.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use tokio::sync::watch;

/// Files of up to so many bytes are read whole at every start.
const SMALL: u64 = 32 << 20;

/// SQLite takes a shorter file for an empty database; its smallest page has so many bytes.
const SHORTEST: u64 = 512;

/// After an unclean stop, files of up to so many bytes are.
const MEDIUM: u64 = 512 << 20;

/// Where damage is reported and waited for; clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Damage(Arc<watch::Sender<Option<String>>>);

impl Default for Damage {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(None)))
    }
}

/// Whether an error says that the file itself is damaged.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    )
}

/// Whether an error says that one row of the file is damaged: bytes of it are not of the type that
/// they were written as.
pub(crate) fn is_damage_of_a_row(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..)
    )
}

/// The sentence about a damaged file that a person can do something about.
pub(crate) fn mendable(file: &Path, cause: &str, remedy: &str) -> String {
    format!("the file {} is damaged ({cause}): {remedy}", file.display())
}

/// The sentence about a damaged file.
pub(crate) fn sentence(file: &Path, cause: &str) -> String {
    let remedy = "put it back from a backup, for nothing here can mend it";
    mendable(file, cause, remedy)
}

/// Checks for damage and returns what it found, if any. A file that is missing or empty has none;
/// one that cannot be opened is left to the part that needs it.
pub(crate) fn of_file(file: &Path, after_a_crash: bool) -> Option<String> {
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

impl Damage {
    /// Reports a damaged file. Only the first report counts.
    pub(crate) fn report(&self, file: &Path, cause: &str) {
        self.0.send_if_modified(|found| {
            let first = found.is_none();
            if first {
                *found = Some(sentence(file, cause));
            }
            first
        });
    }

    /// What was reported so far.
    pub(crate) fn found(&self) -> Option<String> {
        self.0.borrow().clone()
    }

    /// Waits until damage is reported: the sentence that says which.
    pub(crate) async fn wait(&self) -> String {
        let mut found = self.0.subscribe();
        match found.wait_for(Option::is_some).await {
            Ok(found) => found.clone().unwrap_or_default(),
            // Not while `self` holds the sender.
            Err(_) => std::future::pending().await,
        }
    }
}
