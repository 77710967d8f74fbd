//! Events that a webhook did not accept within 24 hours: listed, and replayed on request. An
//! extension of the v3 API.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{
    Caller, JsonBody, MAX_REPLAYED, Query, QueryReader, Rejection, UndeliveredPage,
    UndeliveredQuery,
};
use posthaste_model::{Timestamp, WebhookId};
use posthaste_queue::WebhookRetry;
use posthaste_store::{DeadLetter, DeadLetterFilter, StoredRow};
use serde::{Deserialize, Serialize};

use crate::App;

/// One dead letter as the API shows it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct DeadLetterView {
    webhook_id: String,
    events: u32,
    first_event_at: i64,
    last_event_at: i64,
    gave_up_at: i64,
    attempts: u32,
    reason: String,
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
    query: Query,
) -> Result<Json<UndeliveredPage<DeadLetterView>>, Rejection> {
    let wanted = query.checked(filter)?;
    let rows = app.store.dead_letters(caller.id(), &wanted).await?;
    Ok(Json(UndeliveredPage::of(&rows, wanted.limit)))
}

fn filter(query: &mut QueryReader<'_>) -> DeadLetterFilter {
    let mut second = |name: &str| {
        let message = format!("{name} must be a Unix timestamp");
        query.parsed(name, |text| text.parse().ok().map(Timestamp), &message)
    };
    let (since, until) = (second("since"), second("until"));
    let UndeliveredQuery { limit, after } = UndeliveredQuery::read(query);
    let id = |text: &str| WebhookId::parse(text).ok();
    DeadLetterFilter {
        since,
        until,
        webhook: query.parsed("webhook_id", id, "Invalid id provided."),
        after,
        limit,
    }
}

/// The letters to replay; all of them by default.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct RetrySelection {
    since: Option<i64>,
    until: Option<i64>,
    webhook_id: Option<String>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
        limit: MAX_REPLAYED,
    };
    let rows = app.store.dead_letters(caller.id(), &wanted).await?;
    let mut events = 0;
    for row in &rows {
        events += u64::from(row.value.events);
        requeue(&app, row).await?;
    }
    let more = rows.len() >= MAX_REPLAYED;
    tracing::info!(account.id = %caller.id(), "replayed {events} events of account {}", caller.id());
    Ok((StatusCode::ACCEPTED, Json(ReplayedLetters { events, more })))
}

/// Queued first, then deleted: a failure in between repeats events but loses none.
async fn requeue(app: &App, row: &StoredRow<DeadLetter>) -> Result<(), Rejection> {
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
    app.store
        .delete_dead_letters(std::slice::from_ref(&row.key))
        .await?;
    Ok(())
}
