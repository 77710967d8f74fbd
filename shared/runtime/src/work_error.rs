//! Why a worker could not finish a piece of work, and what follows for its message.

use posthaste_blob::BlobError;
use posthaste_queue::{Disposition, JobError, QueueError};
use posthaste_store::StoreError;

/// Why a worker could not finish a piece of work.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Blob(#[from] BlobError),
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// What follows the work cannot be written to a queue, or was written by a newer release.
    #[error("a job cannot be written or read: {0}")]
    Job(#[from] JobError),
    /// A release that can read the message may replay it from the dead letters.
    #[error("the message cannot be read: {0}")]
    Unreadable(String),
    /// What a host stores beside the table and the bucket cannot be read or changed.
    #[error("the store beside the table fails: {0}")]
    Elsewhere(String),
    /// Another run has claimed the same work and has not ended.
    #[error("another run has this work in progress")]
    Busy,
}

impl WorkError {
    /// [`Disposition::Retry`] if a later run of the same message may succeed without a change of
    /// the message, [`Disposition::Fail`] if none can.
    pub fn disposition(&self) -> Disposition {
        match self {
            Self::Store(error) if !error.is_transient() => Disposition::Fail,
            Self::Job(_) | Self::Unreadable(_) => Disposition::Fail,
            Self::Store(_) | Self::Blob(_) | Self::Queue(_) | Self::Elsewhere(_) | Self::Busy => {
                Disposition::Retry
            }
        }
    }

    /// The table's refusal, if no retry can change it.
    pub fn permanent(&self) -> Option<&StoreError> {
        match self {
            Self::Store(error) if error.is_permanent() => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_later_run_may_pass_is_retried() {
        let text = || "x".to_owned();
        for (error, want) in [
            (StoreError::Throttled(text()).into(), Disposition::Retry),
            (StoreError::Unreachable(text()).into(), Disposition::Retry),
            (StoreError::Unreadable(text()).into(), Disposition::Fail),
            (StoreError::Validation(text()).into(), Disposition::Fail),
            (BlobError::Unreachable(text()).into(), Disposition::Retry),
            (QueueError(text()).into(), Disposition::Retry),
            (JobError::TooNew(9).into(), Disposition::Fail),
            (WorkError::Unreadable(text()), Disposition::Fail),
            (WorkError::Elsewhere(text()), Disposition::Retry),
            (WorkError::Busy, Disposition::Retry),
        ] {
            let error: WorkError = error;
            assert_eq!(error.disposition(), want, "{error}");
        }
    }
}
