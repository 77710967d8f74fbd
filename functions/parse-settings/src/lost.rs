//! Mails that no receiver accepted within 72 hours, or that one rejected: listed, and replayed on
//! request. An extension of the v3 API.

use std::time::Duration;

use axum::Json;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use posthaste_http::{Caller, Rejection};
use posthaste_queue::Inbound;
use posthaste_store::{LostMail, StoredRow};
use serde::Serialize;

use crate::App;

/// The default number of mails in one response.
const PAGE: usize = 100;

/// Mails replayed by one call; the answer says whether there are more.
const REPLAYED: usize = 200;

/// Seconds for which a replayed mail is stored: longer than it can be in progress.
const KNOWN: i64 = 30 * 86_400;

#[derive(Serialize)]
pub(crate) struct LostMailView {
    id: String,
    hostname: String,
    received_at: i64,
    gave_up_at: i64,
    attempts: u32,
    reason: String,
}

#[derive(Serialize)]
pub(crate) struct LostMailList {
    result: Vec<LostMailView>,
    /// Pass this as `after` for the next page; `null` on the last one.
    next: Option<String>,
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
    RawQuery(query): RawQuery,
) -> Result<Json<LostMailList>, Rejection> {
    let (mut limit, mut after) = (PAGE, None);
    for (name, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        match &*name {
            "limit" => match value.parse() {
                Ok(number @ 1..=PAGE) => limit = number,
                Ok(_) | Err(_) => {
                    return Err(Rejection::on(
                        "limit",
                        format!("limit must be from 1 to {PAGE}"),
                    ));
                }
            },
            "after" if !value.is_empty() => after = Some(value.into_owned()),
            _ => {}
        }
    }
    let rows = app.store.lost_mails(caller.id(), after, limit).await?;
    let last = rows.last().filter(|_| rows.len() >= limit);
    Ok(Json(LostMailList {
        next: last.map(|row| row.key.sk.clone()),
        result: rows
            .iter()
            .map(|row| LostMailView::from(&row.value))
            .collect(),
    }))
}

#[derive(Serialize)]
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
    let rows = app.store.lost_mails(caller.id(), None, REPLAYED).await?;
    for row in &rows {
        again(&app, row).await?;
    }
    let (mails, more) = (rows.len(), rows.len() >= REPLAYED);
    tracing::info!(account.id = %caller.id(), "replayed {mails} received mails");
    Ok((StatusCode::ACCEPTED, Json(ReplayedMails { mails, more })))
}

/// Revived and queued first, then deleted: a failure in between repeats a mail and loses none, nor
/// does it post twice what arrived meanwhile.
async fn again(app: &App, row: &StoredRow<LostMail>) -> Result<(), Rejection> {
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
