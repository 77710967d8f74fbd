//! Copies to an address that was forgotten while their job waited.
//!
//! They are sent: who asks to forget what is stored does not cancel what is planned. But what is
//! stored of them goes as soon as no job can need it, whatever the owner of the stack set.

use posthaste_model::RecipientCopy;
use posthaste_queue::Job;
use posthaste_store::StoreError;

use crate::App;

/// Seconds after which no job of a mail can come any more: scheduled 72 hours ahead, and tried for
/// 72 more.
const OVER: i64 = 6 * 86_400;

/// Seconds the table keeps the copy's row.
pub(crate) async fn retention(
    app: &App,
    job: &Job,
    copy: RecipientCopy<'_>,
) -> Result<i64, StoreError> {
    if job.due.is_none() && job.attempt == 0 {
        // It has not waited, so nobody asked in between.
        return Ok(app.retention);
    }
    let email = copy.mailbox.email.folded();
    let erased = app.store.erased_at(&job.account, &email).await?;
    Ok(match erased {
        Some(at) if at >= job.accepted.seconds() => app.retention.min(OVER),
        Some(_) | None => app.retention,
    })
}
