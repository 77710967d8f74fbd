//! Sends the messages held by a pause: as many as fit into a request. The sweep sends the rest,
//! from the order that was written with the change.

use std::time::Duration;

use posthaste_model::{AccountId, BatchId, Timestamp};
use posthaste_queue::QueueError;
use posthaste_store::StoreError;

use crate::App;

/// Messages of one step.
const PAGE: usize = 100;

/// A request does not work on this for longer, in milliseconds.
const BUDGET: i64 = 5_000;

#[derive(Debug, thiserror::Error)]
enum ReleaseError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Queue(#[from] QueueError),
}

/// Releases messages until none is left or time is up. Errors are only logged: the change is made,
/// and the order remains.
pub(crate) async fn begin(app: &App, account: &AccountId, batch: &BatchId, ordered: Timestamp) {
    if let Err(error) = run(app, account, batch, ordered).await {
        tracing::warn!(batch.id = %batch, error = %error, "batch {batch} is left to the sweep: {error}");
    }
}

async fn run(
    app: &App,
    account: &AccountId,
    batch: &BatchId,
    ordered: Timestamp,
) -> Result<(), ReleaseError> {
    let end = app.clock.now_ms().0.saturating_add(BUDGET);
    while app.clock.now_ms().0 < end {
        let times = (ordered, app.clock.now());
        let released = app.store.released(account, batch, times, PAGE).await?;
        if released.done {
            app.store.forget_release(account, batch, ordered).await?;
        }
        if released.rows.is_empty() {
            return Ok(());
        }
        let job = |job: &String| (job.clone(), Duration::ZERO);
        let jobs = released.rows.iter().map(|row| job(&row.value.job));
        app.send.send_all(jobs.collect()).await?;
        app.store.forget_held(&released.rows).await?;
    }
    Ok(())
}
