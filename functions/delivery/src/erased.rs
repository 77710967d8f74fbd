//! Copies to an address that was erased while their job waited.
//!
//! They are sent: a request to erase stored data does not cancel scheduled mail. But the data
//! stored about them expires as soon as no job can need it, whatever retention is configured.

use posthaste_model::RecipientCopy;
use posthaste_queue::Job;
use posthaste_store::StoreError;

use crate::App;

/// Seconds after which no job of a mail can remain: scheduled 72 hours ahead, and retried for 72
/// more.
const OVER: i64 = 6 * 86_400;

/// Seconds for which the table stores the copy's row.
pub(crate) async fn retention(
    app: &App,
    job: &Job,
    copy: RecipientCopy<'_>,
) -> Result<i64, StoreError> {
    if job.due.is_none() && job.attempt == 0 {
        // The job has not waited, so no erasure can have happened in between.
        return Ok(app.retention);
    }
    let email = copy.mailbox.email.folded();
    let erased = app.store.erased_at(&job.account, &email).await?;
    Ok(match erased {
        Some(at) if at >= job.accepted.seconds() => app.retention.min(OVER),
        Some(_) | None => app.retention,
    })
}
