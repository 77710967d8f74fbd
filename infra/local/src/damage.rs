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

/// The sentence about a damaged file.
pub(crate) fn sentence(file: &Path, cause: &str) -> String {
    format!(
        "the file {} is damaged ({cause}): put it back from a backup, for nothing here can mend it",
        file.display()
    )
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
