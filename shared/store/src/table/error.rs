//! Errors of the table, in terms that a caller can act on.

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use posthaste_model::causes;

/// The table did not do what was requested. Internal: none of this is shown to API callers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Too much at once: the same call may succeed in a moment.
    #[error("the table is throttled: {0}")]
    Throttled(String),
    /// Another writer kept changing the same row.
    #[error("row {0} changed under us too often")]
    Contended(String),
    /// A row does not have the form this release reads.
    #[error("row cannot be read: {0}")]
    Unreadable(String),
    /// The table rejects the request itself, every time: a row above 400 KB, a key that is too long
    /// (DynamoDB's `ValidationException`). Repeating it cannot help.
    #[error("the table refuses the request: {0}")]
    Validation(String),
    /// Anything else: no network, no table, no permission.
    #[error("the table cannot be reached: {0}")]
    Unreachable(String),
}

impl StoreError {
    pub(crate) fn from_sdk<E, R>(error: SdkError<E, R>) -> Self
    where
        E: ProvideErrorMetadata + std::error::Error + 'static,
        R: std::fmt::Debug + 'static,
    {
        let code = error.code().unwrap_or_default().to_owned();
        let text = match error.message() {
            Some(message) if !code.is_empty() => format!("{code}: {message}"),
            Some(_) | None => causes(&error),
        };
        match code.as_str() {
            "ThrottlingException"
            | "ProvisionedThroughputExceededException"
            | "RequestLimitExceeded"
            | "TransactionConflictException"
            | "TransactionInProgressException" => Self::Throttled(text),
            "ValidationException" | "ItemCollectionSizeLimitExceededException" => {
                Self::Validation(text)
            }
            _ => Self::Unreachable(text),
        }
    }

    /// Whether the same call may succeed later without anybody's help. A job that meets another error
    /// becomes a dead letter, which can be replayed once the cause is gone: a row that cannot be read
    /// may be of a newer release.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Throttled(_) | Self::Contended(_) | Self::Unreachable(_) => true,
            Self::Unreadable(_) | Self::Validation(_) => false,
        }
    }

    /// Whether the same call fails every time, so that repeating it only delays the end.
    pub fn is_permanent(&self) -> bool {
        matches!(self, Self::Validation(_))
    }
}
