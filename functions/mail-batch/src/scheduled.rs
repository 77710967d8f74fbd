//! Cancelling and pausing batches, and undoing it.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, PathParams, Rejection};
use posthaste_model::BatchId;
use posthaste_model::batch::Hold;
use posthaste_store::{HoldError, Reach};

use crate::wire::{CreateBatch, Scheduled, Update};
use crate::{App, fail, release};

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
    let invalid = || Rejection::on("batch_id", fail::INVALID);
    let batch = BatchId::parse(&batch_id).map_err(|_| invalid())?;
    let since = app.clock.now();
    if !app.store.batch_exists(caller.id(), &batch, since).await? {
        return Err(invalid());
    }
    let hold = Hold { status, since };
    check_reach(&app, &caller, &batch, hold).await?;
    let held = app
        .store
        .hold_batch(caller.id(), &batch, hold, app.horizon)
        .await?;
    match held {
        Ok(()) => {}
        Err(HoldError::Unknown) => return Err(invalid()),
        Err(HoldError::Exists) => return Err(fail::exists()),
        Err(HoldError::Full) => return Err(fail::full()),
    }
    let word = status.word();
    tracing::info!(account.id = %caller.id(), batch.id = %batch, "set batch {batch} to {word}");
    Ok((StatusCode::CREATED, Json(Scheduled { batch_id, status })))
}

/// A status that would affect none of the batch's messages is rejected, not ignored.
async fn check_reach(
    app: &App,
    caller: &Caller,
    batch: &BatchId,
    hold: Hold,
) -> Result<(), Rejection> {
    match app.store.reach(caller.id(), batch, hold).await? {
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
    check_reach(&app, &caller, &batch, hold).await?;
    let turned = app
        .store
        .turn_hold(caller.id(), &batch, status, &app.clock)
        .await?;
    let ordered = turned.ok_or_else(fail::unknown_batch)?;
    release::begin(&app, caller.id(), &batch, ordered).await;
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
    let lifted = app.store.lift_hold(caller.id(), &batch, &app.clock).await?;
    let ordered = lifted.ok_or_else(fail::unknown_batch)?;
    release::begin(&app, caller.id(), &batch, ordered).await;
    tracing::info!(account.id = %caller.id(), batch.id = %batch, "took the status off batch {batch}");
    Ok(StatusCode::NO_CONTENT)
}
