//! Why a command failed.

use posthaste_mailer::SesError;
use posthaste_queue::QueueError;
use posthaste_store::StoreError;

/// One line for the operator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// What was given is not what the command takes.
    #[error("{0}")]
    Usage(String),
    /// Nothing of this name is there.
    #[error("{0}")]
    NotFound(String),
    /// It cannot be done as things stand.
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Queue(#[from] QueueError),
    #[error(transparent)]
    Ses(#[from] SesError),
    #[error("its webhooks were not notified, run it again: {0}")]
    Untold(String),
    #[error("not everything was erased, run it again: {0}")]
    Unerased(String),
}

impl CommandError {
    /// The exit code: 1 when table, queue or SES failed, 2 for a wrong command line, 3 when nothing of
    /// the name is there, 4 when it cannot be done as things stand.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Store(_)
            | Self::Queue(_)
            | Self::Ses(_)
            | Self::Untold(_)
            | Self::Unerased(_) => 1,
            Self::Usage(_) => 2,
            Self::NotFound(_) => 3,
            Self::Refused(_) => 4,
        }
    }
}
