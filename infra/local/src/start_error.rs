//! Why the host did not start, and the exit code that says so.

use std::io;
use std::net::SocketAddr;

use posthaste_blob::BlobError;
use posthaste_runtime::{ConfigError, Error};
use posthaste_store::StoreError;

use crate::certificates::TlsError;
use crate::engine::EngineError;
use crate::folder::FolderError;
use crate::open_flags::UnsafeFlags;
use crate::table::{Table, TableError};

/// Why the host did not start: one line each.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the {what} cannot listen on {address} ({flag}): {error}")]
    Port {
        what: &'static str,
        /// The flag that names the port.
        flag: &'static str,
        address: SocketAddr,
        error: io::Error,
    },
    #[error(transparent)]
    Unsafe(#[from] UnsafeFlags),
    #[error("--api-key: {0}")]
    ApiKey(&'static str),
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Queues(#[from] EngineError),
    #[error(transparent)]
    Table(#[from] TableError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Blob(#[from] BlobError),
    #[error(transparent)]
    Mailbox(#[from] posthaste_mailbox::Error),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("a secret of the data folder cannot be read: {0}")]
    Secret(String),
    #[error("a function does not start: {0}")]
    Function(Error),
}

impl From<Error> for StartError {
    fn from(error: Error) -> Self {
        Self::Function(error)
    }
}

impl From<ConfigError> for StartError {
    fn from(error: ConfigError) -> Self {
        Self::Function(error.into())
    }
}

impl StartError {
    /// The exit code of the process: 2 where something is wrong that a repeat does not change (a file
    /// of the data folder, its name, a certificate), 1 where it may (a port that is taken, a full
    /// disk, a host that still runs).
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Folder(FolderError::Locked(_)) => 1,
            Self::Folder(_)
            | Self::Queues(EngineError::Damaged(_) | EngineError::Newer(_))
            | Self::Table(TableError::Damaged(_) | TableError::Row(..))
            | Self::Mailbox(_)
            | Self::Tls(_)
            | Self::Unsafe(_)
            | Self::ApiKey(_)
            | Self::Secret(_) => 2,
            Self::Port { .. }
            | Self::Queues(_)
            | Self::Table(_)
            | Self::Store(_)
            | Self::Blob(_)
            | Self::Function(_) => 1,
        }
    }

    /// The table's error, if it is one.
    fn of_table(&self) -> Option<&StoreError> {
        match self {
            Self::Store(error) => Some(error),
            _ => None,
        }
    }
}

/// The result of a part of the start; where damage to the table is why it failed, that is said.
pub(crate) fn explained<T, E: Into<StartError>>(
    table: &Table,
    result: Result<T, E>,
) -> Result<T, StartError> {
    result.map_err(|error| {
        let error = error.into();
        let found = table.explain(error.of_table());
        found.map_or(error, StartError::from)
    })
}
