//! Events that a webhook did not accept within 24 hours: listed, and replayed on request. An
//! extension of the v3 API.

use axum::Json;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, Rejection};
use posthaste_model::{Problems, Timestamp, WebhookId};
use posthaste_queue::WebhookRetry;
use posthaste_store::{DeadLetter, DeadLetterFilter, StoredRow};
use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::App;

/// The default and maximum number of letters in one response.
const PAGE: usize = 100;
const LARGEST_PAGE: usize = 500;

/// Letters replayed by one call; the answer says whether there are more.
const REPLAYED: usize = 200;

/// One dead letter as the API shows it.
#[derive(Serialize)]
pub(crate) struct DeadLetterView {
    webhook_id: String,
    events: u32,
    first_event_at: i64,
    last_event_at: i64,
    gave_up_at: i64,
    attempts: u32,
    reason: String,
}

#[derive(Serialize)]
pub(crate) struct DeadLetterList {
    result: Vec<DeadLetterView>,
    /// Pass this as `after` for the next page; `null` on the last one.
    next: Option<String>,
}

impl From<&DeadLetter> for DeadLetterView {
    fn from(letter: &DeadLetter) -> Self {
        Self {
            webhook_id: letter.webhook.to_string(),
            events: letter.events,
            first_event_at: letter.first.0,
            last_event_at: letter.last.0,
            gave_up_at: letter.died_at.0,
            attempts: letter.attempts,
            reason: letter.reason.clone(),
        }
    }
}

/// `GET …/undelivered?since&until&webhook_id&limit&after`: `since` and `until` are seconds, and
/// are compared with the oldest event of a letter.
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    RawQuery(query): RawQuery,
) -> Result<Json<DeadLetterList>, Rejection> {
    let wanted = read_query(query.as_deref().unwrap_or_default())?;
    let rows = app.store.dead_letters(caller.id(), &wanted).await?;
    let full = rows.len() >= wanted.limit;
    let last = rows.last().filter(|_| full);
    Ok(Json(DeadLetterList {
        next: last.map(|row| row.key.sk.clone()),
        result: rows
            .iter()
            .map(|row| DeadLetterView::from(&row.value))
            .collect(),
    }))
}

fn read_query(query: &str) -> Result<DeadLetterFilter, Rejection> {
    let mut wanted = DeadLetterFilter {
        limit: PAGE,
        ..DeadLetterFilter::default()
    };
    let mut found = Problems::default();
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        let second = || value.parse().ok().map(Timestamp);
        match &*name {
            "since" | "until" if second().is_none() => {
                found.add(&*name, format!("{name} must be a Unix timestamp"));
            }
            "since" => wanted.since = second(),
            "until" => wanted.until = second(),
            "webhook_id" => match WebhookId::parse(&value) {
                Ok(id) => wanted.webhook = Some(id),
                Err(_) => found.add("webhook_id", "Invalid id provided."),
            },
            "limit" => match value.parse() {
                Ok(limit @ 1..=LARGEST_PAGE) => wanted.limit = limit,
                Ok(_) | Err(_) => {
                    found.add("limit", format!("limit must be from 1 to {LARGEST_PAGE}"));
                }
            },
            "after" => wanted.after = Some(value.into_owned()),
            _ => {}
        }
    }
    found.into_result()?;
    Ok(wanted)
}

/// The letters to replay; all of them by default.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct RetrySelection {
    since: Option<i64>,
    until: Option<i64>,
    webhook_id: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct ReplayedLetters {
    /// The number of events queued again.
    events: u64,
    /// Whether selected letters remain: call again.
    more: bool,
}

/// `POST …/undelivered/replay`: queues letters again and deletes them. A letter that fails again is
/// stored again, so nothing is lost; one that is replayed twice at the same moment is posted twice,
/// with the same event ids.
pub(crate) async fn replay(
    State(app): State<App>,
    caller: Caller,
    JsonBody(choice): JsonBody<RetrySelection>,
) -> Result<(StatusCode, Json<ReplayedLetters>), Rejection> {
    let webhook = choice.webhook_id.as_deref().map(WebhookId::parse);
    let unknown = |_| Rejection::on("webhook_id", "Invalid id provided.");
    let wanted = DeadLetterFilter {
        since: choice.since.map(Timestamp),
        until: choice.until.map(Timestamp),
        webhook: webhook.transpose().map_err(unknown)?,
        after: None,
        limit: REPLAYED,
    };
    let rows = app.store.dead_letters(caller.id(), &wanted).await?;
    let mut events = 0;
    for row in &rows {
        events += u64::from(row.value.events);
        send(&app, row).await?;
    }
    let more = rows.len() >= REPLAYED;
    tracing::info!(account.id = %caller.id(), "replayed {events} events of account {}", caller.id());
    Ok((StatusCode::ACCEPTED, Json(ReplayedLetters { events, more })))
}

/// Queued first, then deleted: a failure in between repeats events but loses none.
async fn send(app: &App, row: &StoredRow<DeadLetter>) -> Result<(), Rejection> {
    let now = app.clock.now();
    let mut undelivered =
        WebhookRetry::from_text(&row.value.message).map_err(|e| Rejection::internal(&e))?;
    undelivered.retry.attempt = 0;
    undelivered.retry.not_before = now;
    let texts = undelivered
        .to_texts()
        .map_err(|e| Rejection::internal(&e))?;
    let messages = texts.into_iter().map(|text| (text, Duration::ZERO));
    let sent = app.retries.send_all(messages.collect()).await;
    sent.map_err(|e| Rejection::unavailable(&e))?;
    app.store.unbury(std::slice::from_ref(&row.key)).await?;
    Ok(())
}
