//! One scheduled mail, by its `X-Message-Id`: read, cancelled, rescheduled. An extension: the v3
//! API has only batches.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, PathParams, Rejection};
use posthaste_model::batch::{MessageTimes, PartStage};
use posthaste_model::{AccountId, MessageId, Timestamp};
use posthaste_queue::Job;
use posthaste_store::{PendingRows, ScheduledPart};

use crate::wire::{ScheduledMessage, Send, Shift};
use crate::{App, fail};

/// A message id, or an `sg_message_id`, which begins with one.
fn read(text: &str) -> Result<MessageId, Rejection> {
    let id = text.split('.').next().unwrap_or_default();
    MessageId::parse(id).map_err(|_| fail::unknown_message())
}

/// The parts of a scheduled mail; none of a mail that was sent at once.
pub async fn sends_of(
    app: &App,
    account: &AccountId,
    message: &MessageId,
) -> Result<Vec<Send>, Rejection> {
    let now = app.clock.now();
    let mut sends = Vec::new();
    for row in app.store.pieces(account, message).await? {
        let part: ScheduledPart = row.value;
        let hold = match &part.batch {
            Some(batch) => app.store.hold_on(account, batch, now).await?,
            None => None,
        };
        sends.push(Send::new(part, hold, now));
    }
    Ok(sends)
}

async fn show(
    app: &App,
    caller: &Caller,
    message_id: MessageId,
) -> Result<Json<ScheduledMessage>, Rejection> {
    let sends = sends_of(app, caller.id(), &message_id).await?;
    if sends.is_empty() {
        Err(fail::unknown_message())
    } else {
        Ok(Json(ScheduledMessage { message_id, sends }))
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
    cancel_message(&app, caller.id(), &read(&message)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Cancels the parts of a mail that are not sent.
pub async fn cancel_message(
    app: &App,
    account: &AccountId,
    message: &MessageId,
) -> Result<(), Rejection> {
    let (parts, held) = app.store.cancel_message(account, message).await?;
    if parts.is_empty() {
        return Err(fail::unknown_message());
    }
    if !parts.iter().any(|part| part.stage == PartStage::Cancelled) {
        return Err(fail::left());
    }
    // Parts held past their time are dropped at once.
    let jobs = held
        .iter()
        .map(|row| (row.value.job.clone(), Duration::ZERO));
    let sent = app.send.send_all(jobs.collect()).await;
    sent.map_err(|e| fail::queue(&e))?;
    app.store.forget_held(&held).await?;
    tracing::info!(account.id = %account, message.id = %message, "cancelled message {message}");
    Ok(())
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
    reschedule(&app, caller.id(), &message, to).await?;
    tracing::info!(account.id = %caller.id(), message.id = %message, "moved message {message} to {to}");
    show(&app, &caller, message).await
}

/// Reschedules all parts of a mail that are not sent. Every rule is checked before any change.
pub async fn reschedule(
    app: &App,
    account: &AccountId,
    message: &MessageId,
    to: Timestamp,
) -> Result<(), Rejection> {
    let parts = app.store.pieces(account, message).await?;
    if parts.is_empty() {
        return Err(fail::unknown_message());
    }
    let mut moves = Vec::new();
    for row in parts {
        if row.value.stage == PartStage::Waiting {
            let pending = app.store.pending_rows(account, &row.value).await?;
            check_move(app, account, &row.value, &pending, to).await?;
            moves.push((row.value, pending));
        }
    }
    if moves.is_empty() {
        return Err(fail::left());
    }
    for (part, pending) in moves {
        move_part(app, account, &part, &pending, to).await?;
    }
    Ok(())
}

async fn check_move(
    app: &App,
    account: &AccountId,
    part: &ScheduledPart,
    pending: &PendingRows,
    to: Timestamp,
) -> Result<(), Rejection> {
    let latest = part.accepted_at.map(|at| at.plus(app.horizon));
    if let Some(latest) = latest.filter(|latest| to > *latest) {
        let hours = app.horizon / 3_600;
        return Err(Rejection::on(
            "send_at",
            format!(
                "the message has to leave within {hours} hours of its acceptance: at {latest} or before"
            ),
        ));
    }
    // A queued job cannot be recalled: it arrives at its time, and can only be postponed.
    if pending.job().is_none() && to < part.at {
        return Err(Rejection::on(
            "send_at",
            "the message leaves within minutes: it can be cancelled or put off, but not brought \
             forward",
        ));
    }
    let Some(batch) = &part.batch else {
        return Ok(());
    };
    let hold = app.store.hold_on(account, batch, app.clock.now()).await?;
    let moved = MessageTimes {
        at: to,
        ..part.times()
    };
    match hold {
        // Rescheduling must not bypass a pause.
        Some(hold) if hold.reaches(part.times()) && !hold.reaches(moved) => Err(Rejection::on(
            "send_at",
            "the batch of the message is paused or cancelled: it cannot be moved to before that \
             takes effect",
        )),
        Some(_) | None => Ok(()),
    }
}

/// The row of the part is changed first: from then on the old job waits for the new time too, so a
/// crash in between loses nothing.
async fn move_part(
    app: &App,
    account: &AccountId,
    part: &ScheduledPart,
    pending: &PendingRows,
    to: Timestamp,
) -> Result<(), Rejection> {
    let moved = app.store.move_piece(account, part, to).await;
    let moved = moved.map_err(fail::not_moved)?;
    let Some(text) = pending.job() else {
        return Ok(());
    };
    let mut job = Job::from_text(text).map_err(|e| Rejection::internal(&e))?;
    job.due = Some(to);
    let text = job.to_text().map_err(|e| Rejection::internal(&e))?;
    let now = app.store.carry(account, &moved, text, &app.clock).await?;
    let sent = app.send.send_all(now).await;
    sent.map_err(|e| fail::queue(&e))?;
    app.store.forget_pending_rows(pending, to).await?;
    Ok(())
}
