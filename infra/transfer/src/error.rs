//! Why a transfer ends before its end.

use std::io;

use posthaste_store::StoreError;

use crate::journal::JournalFault;
use crate::service::BadAddress;

/// Why a transfer ended before its end.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The command line names what cannot be.
    #[error("{0}")]
    Usage(String),
    /// The state of a folder does not allow it.
    #[error("{0}")]
    Refused(String),
    /// The other service refuses the key.
    #[error("the other service refuses the key: {0}")]
    Key(String),
    /// No API answers at the address, or none of its calls can be read.
    #[error("the other service cannot be read: {0}")]
    Source(String),
    /// A file cannot be read or written.
    #[error("a file of the folder: {0}")]
    File(#[from] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A function of this service fails.
    #[error("the account cannot be written to: {0}")]
    Target(String),
}

impl TransferError {
    /// The exit code: 1 for a table, a file or another service that fails, 2 for a wrong command line, 4 for what the present state does
    /// not allow.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::File(_) | Self::Store(_) | Self::Target(_) | Self::Source(_) => 1,
            Self::Usage(_) => 2,
            Self::Refused(_) | Self::Key(_) => 4,
        }
    }
}

impl From<JournalFault> for TransferError {
    fn from(fault: JournalFault) -> Self {
        match fault {
            JournalFault::Folder(path, error) => Self::File(io::Error::new(
                error.kind(),
                format!("{}: {error}", path.display()),
            )),
            JournalFault::Locked(_)
            | JournalFault::Other(..)
            | JournalFault::Foreign(_)
            | JournalFault::Line(..) => Self::Refused(fault.to_string()),
        }
    }
}

impl From<BadAddress> for TransferError {
    fn from(error: BadAddress) -> Self {
        Self::Usage(error.to_string())
    }
}
