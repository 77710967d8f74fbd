//! The refusals of this function, in the words that clients know (API facts, "Batches and scheduled
//! sends") where there are any.

use posthaste_http::{Rejection, UNKNOWN_ID};
use posthaste_model::Problem;
use posthaste_model::batch::NOTICE;
use posthaste_queue::QueueError;
use posthaste_store::MoveError;

/// 400 of `GET /v3/mail/batch/{batch_id}`.
pub(crate) fn not_valid() -> Rejection {
    Rejection::bad(INVALID).with_help(UNKNOWN_ID)
}

/// 400 for such a batch id in a body.
pub(crate) fn not_valid_in_body() -> Rejection {
    Rejection::on("batch_id", INVALID).with_help(UNKNOWN_ID)
}

const INVALID: &str = "invalid batch id";

/// The message about a field that must be there.
pub(crate) const MISSING: &str = "missing required argument";

/// 400: no rows are written for mails that wait.
pub(crate) fn not_listed() -> Rejection {
    Rejection::bad(
        "the search over messages is disabled on this service, and with it the list of scheduled mails",
    )
}

/// 404 for a batch without a status, or without an id of ours.
pub(crate) fn unknown_batch() -> Rejection {
    Rejection::unknown_id([Problem::on("", "batch id not found")])
}

/// 404 for a message that was never sent later.
pub(crate) fn unknown_message() -> Rejection {
    Rejection::unknown_id([Problem::plain("message id not found")])
}

/// 400: the batch has a status.
pub(crate) fn exists() -> Rejection {
    Rejection::on(
        "batch_id",
        "a status for this batch id exists, try PATCH to update the status",
    )
}

/// 400: a hundred batches have one.
pub(crate) fn full() -> Rejection {
    Rejection::on("", "max limit reached")
}

/// 400: nothing is left that a status could reach.
pub(crate) fn too_late() -> Rejection {
    let minutes = NOTICE / 60;
    Rejection::on(
        "batch_id",
        format!(
            "every message of this batch leaves within {minutes} minutes and can no longer be \
             cancelled or paused"
        ),
    )
}

/// 400: the message cannot be cancelled or moved any more.
pub(crate) fn left() -> Rejection {
    Rejection::bad("the message has left already or was dropped")
}

pub(crate) fn not_moved(error: MoveError) -> Rejection {
    match error {
        MoveError::TooLate => left(),
        MoveError::TooOften => Rejection::on("send_at", error.to_string()),
        MoveError::Store(error) => error.into(),
    }
}

pub(crate) fn queue(error: &QueueError) -> Rejection {
    Rejection::unavailable(error)
}
