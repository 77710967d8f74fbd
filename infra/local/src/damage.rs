//! Reports a file of the data folder that is found damaged while the host runs.
//!
//! Damage is permanent: retries keep failing, and continuing may lose more. So the part that finds
//! it reports it here, and the host stops with a one-sentence message.

use std::path::Path;
use std::sync::Arc;

use rusqlite::ErrorCode;
use tokio::sync::watch;

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
