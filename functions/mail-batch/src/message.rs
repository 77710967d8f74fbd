//! One scheduled mail, by its `X-Message-Id`: read, cancelled, rescheduled. An extension: the v3
//! API has only batches.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, PathParams, Rejection};
use posthaste_model::MessageId;
use posthaste_model::batch::PartStage;
use posthaste_store::ScheduledPart;

use crate::wire::{ScheduledMessage, Send, Shift};
use crate::{App, fail, moving};

/// A message id, or an `sg_message_id`, which begins with one.
fn read(text: &str) -> Result<MessageId, Rejection> {
    let id = text.split('.').next().unwrap_or_default();
    MessageId::parse(id).map_err(|_| fail::unknown_message())
}

async fn show(
    app: &App,
    caller: &Caller,
    message_id: MessageId,
) -> Result<Json<ScheduledMessage>, Rejection> {
    let now = app.clock.now();
    let mut sends = Vec::new();
    for row in app.store.pieces(caller.id(), &message_id).await? {
        let piece: ScheduledPart = row.value;
        let hold = match &piece.batch {
            Some(batch) => app.store.hold_on(caller.id(), batch, now).await?,
            None => None,
        };
        sends.push(Send::new(piece, hold, now));
    }
    match sends.is_empty() {
        true => Err(fail::unknown_message()),
        false => Ok(Json(ScheduledMessage { message_id, sends })),
    }
}

/// `GET /v3/user/scheduled_sends/messages/{message_id}`: the times and states of its parts.
pub(crate) async fn one(
    State(app): State<App>,
    caller: Caller,
    PathParams(message): PathParams<String>,
) -> Result<Json<ScheduledMessage>, Rejection> {
    show(&app, &caller, read(&message)?).await
}

/// `DELETE /v3/user/scheduled_sends/messages/{message_id}`: cancels the parts that are not sent.
/// Their copies are dropped at their time, with the reason `Cancelled`. There is no ten-minute rule
/// here: the response is final.
pub(crate) async fn cancel(
    State(app): State<App>,
    caller: Caller,
    PathParams(message): PathParams<String>,
) -> Result<StatusCode, Rejection> {
    let message = read(&message)?;
    let (pieces, held) = app.store.cancel_message(caller.id(), &message).await?;
    if pieces.is_empty() {
        return Err(fail::unknown_message());
    }
    if !pieces
        .iter()
        .any(|piece| piece.stage == PartStage::Cancelled)
    {
        return Err(fail::left());
    }
    // Parts held past their time are dropped at once.
    let jobs = held
        .iter()
        .map(|row| (row.value.job.clone(), Duration::ZERO));
    let sent = app.send.send_all(jobs.collect()).await;
    sent.map_err(|e| fail::queue(&e))?;
    app.store.forget_held(&held).await?;
    tracing::info!(account.id = %caller.id(), message.id = %message, "cancelled message {message}");
    Ok(StatusCode::NO_CONTENT)
}

/// `PATCH /v3/user/scheduled_sends/messages/{message_id}`: reschedules the parts that are not sent;
/// a time in the past means at once.
pub(crate) async fn shift(
    State(app): State<App>,
    caller: Caller,
    PathParams(message): PathParams<String>,
    JsonBody(wire): JsonBody<Shift>,
) -> Result<Json<ScheduledMessage>, Rejection> {
    let message = read(&message)?;
    let to = wire.check(app.clock.now(), app.horizon)?;
    moving::run(&app, caller.id(), &message, to).await?;
    tracing::info!(account.id = %caller.id(), message.id = %message, "moved message {message} to {to}");
    show(&app, &caller, message).await
}
