//! Rescheduling the parts of a mail.

use posthaste_http::Rejection;
use posthaste_model::batch::{MessageTimes, PartStage};
use posthaste_model::{AccountId, MessageId, Timestamp};
use posthaste_queue::Job;
use posthaste_store::{PendingRows, ScheduledPart};

use crate::{App, fail};

/// Reschedules all parts of a mail that are not sent. Every rule is checked before any change.
pub(crate) async fn run(
    app: &App,
    account: &AccountId,
    message: &MessageId,
    to: Timestamp,
) -> Result<(), Rejection> {
    let pieces = app.store.pieces(account, message).await?;
    if pieces.is_empty() {
        return Err(fail::unknown_message());
    }
    let mut moves = Vec::new();
    for row in pieces {
        if row.value.stage == PartStage::Waiting {
            let carried = app.store.carried(account, &row.value).await?;
            check(app, account, &row.value, &carried, to).await?;
            moves.push((row.value, carried));
        }
    }
    if moves.is_empty() {
        return Err(fail::left());
    }
    for (piece, carried) in moves {
        shift(app, account, &piece, &carried, to).await?;
    }
    Ok(())
}

async fn check(
    app: &App,
    account: &AccountId,
    piece: &ScheduledPart,
    carried: &PendingRows,
    to: Timestamp,
) -> Result<(), Rejection> {
    let latest = piece.accepted_at.map(|at| at.plus(app.horizon));
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
    if carried.job().is_none() && to < piece.at {
        return Err(Rejection::on(
            "send_at",
            "the message leaves within minutes: it can be cancelled or put off, but not brought \
             forward",
        ));
    }
    let Some(batch) = &piece.batch else {
        return Ok(());
    };
    let hold = app.store.hold_on(account, batch, app.clock.now()).await?;
    let moved = MessageTimes {
        at: to,
        ..piece.times()
    };
    match hold {
        // Rescheduling must not bypass a pause.
        Some(hold) if hold.reaches(piece.times()) && !hold.reaches(moved) => Err(Rejection::on(
            "send_at",
            "the batch of the message is paused or cancelled: it cannot be moved to before that \
             takes effect",
        )),
        Some(_) | None => Ok(()),
    }
}

/// The row of the part is changed first: from then on the old job waits for the new time too, so a
/// crash in between loses nothing.
async fn shift(
    app: &App,
    account: &AccountId,
    piece: &ScheduledPart,
    carried: &PendingRows,
    to: Timestamp,
) -> Result<(), Rejection> {
    let moved = app.store.move_piece(account, piece, to).await?;
    let moved = moved.map_err(fail::not_moved)?;
    let Some(text) = carried.job() else {
        return Ok(());
    };
    let mut job = Job::from_text(text).map_err(|e| Rejection::internal(&e))?;
    job.due = Some(to);
    let text = job.to_text().map_err(|e| Rejection::internal(&e))?;
    let now = app.store.carry(account, &moved, text, &app.clock).await?;
    let sent = app.send.send_all(now).await;
    sent.map_err(|e| fail::queue(&e))?;
    app.store.forget_carried(carried, to).await?;
    Ok(())
}
