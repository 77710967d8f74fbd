//! Cancelling and pausing batches, and undoing it.
//!
//! When a pause ends, the messages it held are sent: as many as fit into the request. The sweep
//! sends the rest, by the order that is written together with the change.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, PathParams, Rejection};
use posthaste_model::batch::{BatchStatus, Hold};
use posthaste_model::{AccountId, BatchId, Timestamp};
use posthaste_queue::QueueError;
use posthaste_store::{HoldError, Reach, StoreError};

use crate::wire::{CreateBatch, Scheduled, Update};
use crate::{App, fail};

/// Messages of one step.
const PAGE: usize = 100;

/// A request does not work on this for longer, in milliseconds.
const BUDGET: i64 = 5_000;

/// `POST /v3/user/scheduled_sends`: cancels or pauses a batch that has no status yet.
///
/// Decided per message: those due in less than ten minutes are sent anyway. Rejected only when the
/// batch holds messages and all of them are due too soon. Whatever is added to the batch from now on
/// is held, however soon it is due.
pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    JsonBody(wire): JsonBody<CreateBatch>,
) -> Result<(StatusCode, Json<Scheduled>), Rejection> {
    let (batch_id, status) = wire.check()?;
    let batch = BatchId::parse(&batch_id).map_err(|_| fail::not_valid_in_body())?;
    hold(&app, caller.id(), &batch, status).await?;
    Ok((StatusCode::CREATED, Json(Scheduled { batch_id, status })))
}

/// Cancels or pauses a batch that has no status yet.
pub async fn hold(
    app: &App,
    account: &AccountId,
    batch: &BatchId,
    status: BatchStatus,
) -> Result<(), Rejection> {
    let since = app.clock.now();
    if !app.store.batch_exists(account, batch, since).await? {
        return Err(fail::not_valid_in_body());
    }
    let hold = Hold { status, since };
    check_reach(app, account, batch, hold).await?;
    let held = app.store.hold_batch(account, batch, hold, app.horizon);
    match held.await {
        Ok(()) => {}
        Err(HoldError::Unknown) => return Err(fail::not_valid_in_body()),
        Err(HoldError::Exists) => return Err(fail::exists()),
        Err(HoldError::Full) => return Err(fail::full()),
        Err(HoldError::Store(error)) => return Err(error.into()),
    }
    let word = status.word();
    tracing::info!(account.id = %account, batch.id = %batch, "set batch {batch} to {word}");
    Ok(())
}

/// A status that would affect none of the batch's messages is rejected, not ignored.
async fn check_reach(
    app: &App,
    account: &AccountId,
    batch: &BatchId,
    hold: Hold,
) -> Result<(), Rejection> {
    match app.store.reach(account, batch, hold).await? {
        Reach::Empty | Reach::Some => Ok(()),
        Reach::None => Err(fail::too_late()),
    }
}

/// `GET /v3/user/scheduled_sends`: every batch that has a status.
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
) -> Result<Json<Vec<Scheduled>>, Rejection> {
    let holds = app.store.holds(caller.id(), app.clock.now()).await?;
    let scheduled = holds.into_iter().map(|(batch_id, hold)| Scheduled {
        batch_id,
        status: hold.status,
    });
    Ok(Json(scheduled.collect()))
}

/// `GET /v3/user/scheduled_sends/{batch_id}`: an array of one, or of none for a batch without a
/// status.
pub(crate) async fn one(
    State(app): State<App>,
    caller: Caller,
    PathParams(batch_id): PathParams<String>,
) -> Result<Json<Vec<Scheduled>>, Rejection> {
    let hold = match BatchId::parse(&batch_id) {
        Ok(batch) => {
            app.store
                .hold_on(caller.id(), &batch, app.clock.now())
                .await?
        }
        Err(_) => None,
    };
    let scheduled = hold.map(|hold| Scheduled {
        batch_id,
        status: hold.status,
    });
    Ok(Json(scheduled.into_iter().collect()))
}

/// `PATCH /v3/user/scheduled_sends/{batch_id}`: turns a cancel into a pause or vice versa. Messages
/// already held stay held, so a cancel also discards those that a pause held past their time.
pub(crate) async fn update(
    State(app): State<App>,
    caller: Caller,
    PathParams(batch_id): PathParams<String>,
    JsonBody(wire): JsonBody<Update>,
) -> Result<StatusCode, Rejection> {
    let status = wire.check()?;
    let batch = BatchId::parse(&batch_id).map_err(|_| fail::unknown_batch())?;
    let now = app.clock.now();
    let Some(hold) = app.store.hold_on(caller.id(), &batch, now).await? else {
        return Err(fail::unknown_batch());
    };
    check_reach(&app, caller.id(), &batch, hold).await?;
    let turned = app
        .store
        .turn_hold(caller.id(), &batch, status, &app.clock)
        .await?;
    let ordered = turned.ok_or_else(fail::unknown_batch)?;
    release(&app, caller.id(), &batch, ordered).await;
    let word = status.word();
    tracing::info!(account.id = %caller.id(), batch.id = %batch, "turned batch {batch} to {word}");
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /v3/user/scheduled_sends/{batch_id}`: removes the status. Messages held past their time
/// are sent at once; cancelled messages past their time stay dropped.
pub(crate) async fn delete(
    State(app): State<App>,
    caller: Caller,
    PathParams(batch_id): PathParams<String>,
) -> Result<StatusCode, Rejection> {
    let batch = BatchId::parse(&batch_id).map_err(|_| fail::unknown_batch())?;
    lift(&app, caller.id(), &batch).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes the status of a batch, so that it goes on.
pub async fn lift(app: &App, account: &AccountId, batch: &BatchId) -> Result<(), Rejection> {
    let lifted = app.store.lift_hold(account, batch, &app.clock).await?;
    let ordered = lifted.ok_or_else(fail::unknown_batch)?;
    release(app, account, batch, ordered).await;
    tracing::info!(account.id = %account, batch.id = %batch, "took the status off batch {batch}");
    Ok(())
}

#[derive(Debug, thiserror::Error)]
enum ReleaseError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Queue(#[from] QueueError),
}

/// Releases messages until none is left or time is up. Errors are only logged: the change is made,
/// and the order remains.
async fn release(app: &App, account: &AccountId, batch: &BatchId, ordered: Timestamp) {
    if let Err(error) = release_all(app, account, batch, ordered).await {
        tracing::warn!(batch.id = %batch, error = %error, "batch {batch} is left to the sweep: {error}");
    }
}

async fn release_all(
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
