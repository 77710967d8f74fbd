//! What all copies of a job share, and the errors that a later run of the job may resolve.

use posthaste_model::Mail;
use posthaste_queue::{Disposition, Job, QueueError};
use posthaste_render::Effective;
use posthaste_store::{AccountSettings, StoreError};

/// The duration of a claim in seconds: longer than the longest hand-over can take
/// (`posthaste_mailer::Timeouts::total`) and what comes before it.
pub(crate) const LEASE: i64 = 900;

/// What all copies of a job share.
#[derive(Clone, Copy)]
pub(crate) struct JobContext<'a> {
    pub(crate) job: &'a Job,
    pub(crate) mail: &'a Mail,
    /// The settings of the account.
    pub(crate) settings: &'a AccountSettings,
    /// The settings that apply to this mail.
    pub(crate) effective: &'a Effective,
}

/// An error that a later run of the same job may resolve.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Queue(#[from] QueueError),
    #[error("the next attempt has no form on the queue: {0}")]
    Job(#[from] posthaste_queue::JobError),
    #[error("another process is handing this copy over")]
    Busy,
}

impl WorkError {
    /// Whether the error is transient.
    pub(crate) fn disposition(&self) -> Disposition {
        match self {
            Self::Job(_) => Disposition::Fail,
            Self::Store(error) if !error.is_transient() => Disposition::Fail,
            Self::Store(_) | Self::Queue(_) | Self::Busy => Disposition::Retry,
        }
    }

    /// The table's refusal, if no retry can change it.
    pub(crate) fn permanent(&self) -> Option<&StoreError> {
        match self {
            Self::Store(error) if error.is_permanent() => Some(error),
            Self::Store(_) | Self::Queue(_) | Self::Job(_) | Self::Busy => None,
        }
    }
}
