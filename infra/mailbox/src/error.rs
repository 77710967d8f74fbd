//! Errors of the mailbox.

use std::path::PathBuf;

/// A failure of the mailbox's own file; the content of a mail never causes one.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder cannot be made or its file not opened.
    #[error("the mailbox file {path} cannot be opened: {cause}")]
    Open { path: PathBuf, cause: String },
    /// The file has an unknown version.
    #[error(
        "the mailbox file {path} was written by another version; delete it to start with an empty one"
    )]
    Version { path: PathBuf },
    /// The mail alone exceeds the capacity of the mailbox.
    #[error("a mail of {size} bytes does not fit into a mailbox of {most}")]
    TooLarge { size: u64, most: u64 },
    /// The store under the mailbox failed.
    #[error("the mailbox cannot be read or written: {0}")]
    Store(String),
}

impl From<rusqlite::Error> for Error {
    fn from(cause: rusqlite::Error) -> Self {
        Self::Store(cause.to_string())
    }
}

impl From<serde_json::Error> for Error {
    fn from(cause: serde_json::Error) -> Self {
        Self::Store(cause.to_string())
    }
}
