//! Mails that no receiver accepted within 72 hours, or that one rejected: listed, and replayed on
//! request. An extension of the v3 API.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, MAX_REPLAYED, Query, Rejection, UndeliveredPage, UndeliveredQuery};
use posthaste_queue::Inbound;
use posthaste_store::{LostMail, StoredRow};
use serde::Serialize;

use crate::App;

/// Seconds for which a replayed mail is stored: longer than it can be in progress.
const KNOWN: i64 = 30 * 86_400;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LostMailView {
    id: String,
    hostname: String,
    received_at: i64,
    gave_up_at: i64,
    attempts: u32,
    reason: String,
}

impl From<&LostMail> for LostMailView {
    fn from(lost: &LostMail) -> Self {
        Self {
            id: lost.id.clone(),
            hostname: lost.hostname.clone(),
            received_at: lost.received.0,
            gave_up_at: lost.died_at.0,
            attempts: lost.attempts,
            reason: lost.reason.clone(),
        }
    }
}

/// `GET …/undelivered?limit&after`.
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<UndeliveredPage<LostMailView>>, Rejection> {
    let UndeliveredQuery { limit, after } = query.checked(UndeliveredQuery::read)?;
    let rows = app.store.lost_mails(caller.id(), after, limit).await?;
    Ok(Json(UndeliveredPage::of(&rows, limit)))
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ReplayedMails {
    /// The number of mails queued again.
    mails: usize,
    /// Whether mails remain: call again.
    more: bool,
}

/// `POST …/undelivered/replay`: queues the mails again and deletes them here. One that fails again
/// is stored again.
pub(crate) async fn replay(
    State(app): State<App>,
    caller: Caller,
) -> Result<(StatusCode, Json<ReplayedMails>), Rejection> {
    let rows = app
        .store
        .lost_mails(caller.id(), None, MAX_REPLAYED)
        .await?;
    for row in &rows {
        requeue(&app, row).await?;
    }
    let (mails, more) = (rows.len(), rows.len() >= MAX_REPLAYED);
    tracing::info!(account.id = %caller.id(), "replayed {mails} received mails");
    Ok((StatusCode::ACCEPTED, Json(ReplayedMails { mails, more })))
}

/// Revived and queued first, then deleted: a failure in between repeats a mail and loses none, nor
/// does it post twice what arrived meanwhile.
async fn requeue(app: &App, row: &StoredRow<LostMail>) -> Result<(), Rejection> {
    let now = app.clock.now();
    let lost = &row.value;
    let mut job = Inbound::from_text(&lost.job).map_err(|e| Rejection::internal(&e))?;
    // A new window; the attempt count continues, so that no old job is mistaken for a new one.
    job.received = now;
    let which = (&lost.account, lost.id.as_str(), job.attempt);
    // After an interrupted or concurrent replay the mail may have been posted already.
    if app.store.revive_arrival(which, now.plus(KNOWN)).await? {
        let text = job.to_text().map_err(|e| Rejection::internal(&e))?;
        let sent = app.inbound.send(text, Duration::ZERO).await;
        sent.map_err(|e| Rejection::unavailable(&e))?;
    }
    app.store.forget_lost_mail(row).await?;
    Ok(())
}
