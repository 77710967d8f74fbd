//! Later sends: what is not due yet becomes a due row before the `202`.

use std::time::Duration;

use posthaste_http::Rejection;
use posthaste_model::{BatchId, Timestamp};
use posthaste_queue::{Job, LONGEST_DELAY};

use crate::App;

/// Keeps a part of a mail until its second.
pub(crate) async fn keep(
    app: &App,
    job: &Job,
    at: Timestamp,
    batch: Option<&BatchId>,
) -> Result<(), Rejection> {
    let _ = batch;
    let text = job.to_text().map_err(|e| Rejection::internal(&e))?;
    let wait = at.since(app.clock.now()).max(0);
    let delay = Duration::from_secs(u64::try_from(wait).unwrap_or(0)).min(LONGEST_DELAY);
    let sent = app.queue.send(text, delay).await;
    sent.map_err(|e| Rejection::unavailable(&e))
}
