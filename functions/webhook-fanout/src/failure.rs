//! Routes events that a webhook did not accept to the retry queue or the dead letters.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _};
use posthaste_model::{AccountId, EmailAddress, Event, Timestamp};
use posthaste_queue::{Disposition, Retry, WebhookRetry};
use posthaste_runtime::WorkError;
use posthaste_store::{DeadLetter, StoreError, Webhook};
use posthaste_webhook::{Attempted, Next, RetryAfter};

use crate::App;

/// Events that were not accepted.
pub(crate) struct Failed {
    pub events: Vec<Event>,
    /// The number of failed attempts.
    pub attempt: u32,
    /// The result of the last attempt.
    pub last: String,
}

/// After a failed attempt: each event is retried for 24 hours, then becomes a dead letter.
pub(crate) async fn failed(
    app: &App,
    webhook: &Webhook,
    failed: Failed,
    retry_after: Option<RetryAfter>,
) -> Disposition {
    let now = app.clock.now();
    let roll = app.entropy.below(u64::MAX);
    let next = |event: &Event| {
        app.retry_policy.schedule.next(Attempted {
            started: event.at,
            now,
            attempt: failed.attempt,
            retry_after,
            roll,
        })
    };
    let is_over = |event: &Event| next(event) == Next::GiveUp;
    let (over, alive): (Vec<_>, Vec<_>) = failed.events.iter().cloned().partition(is_over);
    let soonest = alive.iter().filter_map(|event| match next(event) {
        Next::At(at) => Some(at),
        Next::GiveUp => None,
    });
    let soonest = soonest.min().unwrap_or(now);
    let with = |events| Failed {
        events,
        attempt: failed.attempt,
        last: failed.last.clone(),
    };
    let queued = enqueue(app, webhook, with(alive), soonest).await;
    queued.and(put_dead_letter(app, webhook, with(over)).await)
}

/// Queues events for an attempt at `at`.
pub(crate) async fn enqueue(
    app: &App,
    webhook: &Webhook,
    failed: Failed,
    at: Timestamp,
) -> Disposition {
    let waiting = WebhookRetry {
        retry: Retry {
            account: webhook.account.clone(),
            webhook: webhook.id.clone(),
            attempt: failed.attempt,
            not_before: at,
            last: failed.last,
        },
        events: failed.events,
    };
    send(app, &waiting, at).await
}

/// Puts events on the retry queue, to be delivered at `at` or as shortly before as the queue
/// allows.
pub(crate) async fn send(app: &App, waiting: &WebhookRetry, at: Timestamp) -> Disposition {
    let wait = at.since(app.clock.now()).max(0);
    let wait = Duration::from_secs(wait.try_into().unwrap_or(0));
    let texts = match waiting.to_texts() {
        Ok(texts) => texts,
        Err(error) => {
            tracing::error!("events cannot be written to the queue: {error}");
            return Disposition::Fail;
        }
    };
    let messages = texts.into_iter().map(|text| (text, wait)).collect();
    match app.retries.send_all(messages).await {
        Ok(()) => Disposition::Done,
        Err(error) => {
            tracing::error!("events could not be queued for another attempt: {error}");
            Disposition::Retry
        }
    }
}

/// Stores expired events as dead letters, except those of people who were erased after the events
/// happened.
pub(crate) async fn put_dead_letter(app: &App, webhook: &Webhook, failed: Failed) -> Disposition {
    if failed.events.is_empty() {
        return Disposition::Done;
    }
    tracing::warn!(
        webhook.id = %webhook.id,
        "dead letter of webhook {} with {} events: {}", webhook.id, failed.events.len(), failed.last
    );
    match write_letters(app, webhook, failed).await {
        Ok(()) => Disposition::Done,
        Err(error) => {
            tracing::error!("dead letters could not be stored: {error}");
            error.disposition()
        }
    }
}

/// The events of people who have not been erased since.
async fn remembered(
    app: &App,
    account: &AccountId,
    mut events: Vec<Event>,
) -> Result<Vec<Event>, StoreError> {
    let people: BTreeSet<String> = events.iter().map(|event| folded(&event.email)).collect();
    let looks: Vec<_> = people
        .into_iter()
        .map(|who| async move {
            let erased = app.store.erased_at(account, &who).await?;
            Ok::<_, StoreError>(erased.map(|at| (who, at)))
        })
        .collect();
    let looks = futures_util::stream::iter(looks).buffer_unordered(app.concurrency.max(1));
    let erased: Vec<Option<(String, Timestamp)>> = looks.try_collect().await?;
    let erased: BTreeMap<String, Timestamp> = erased.into_iter().flatten().collect();
    events.retain(|event| {
        let at = erased.get(&folded(&event.email));
        at.is_none_or(|at| event.at > *at)
    });
    Ok(events)
}

/// The folded form of an address; an invalid address matches no address that can be erased.
fn folded(email: &str) -> String {
    EmailAddress::parse_stored(email).map_or_else(|_| String::new(), |email| email.folded())
}

async fn write_letters(app: &App, webhook: &Webhook, failed: Failed) -> Result<(), WorkError> {
    let events = remembered(app, &webhook.account, failed.events).await?;
    let now = app.clock.now();
    let waiting = WebhookRetry {
        retry: Retry {
            account: webhook.account.clone(),
            webhook: webhook.id.clone(),
            attempt: failed.attempt,
            // Not the time of storage: the same events must give the same letter.
            not_before: Timestamp(0),
            last: String::new(),
        },
        events,
    };
    for message in waiting.to_texts()? {
        let part = WebhookRetry::from_text(&message)?;
        let times = || part.events.iter().map(|event| event.at);
        let letter = DeadLetter {
            account: webhook.account.clone(),
            webhook: webhook.id.clone(),
            first: times().min().unwrap_or(now),
            last: times().max().unwrap_or(now),
            events: part.events.len().try_into().unwrap_or(u32::MAX),
            died_at: now,
            attempts: failed.attempt,
            reason: failed.last.clone(),
            message,
        };
        let expires = now.plus(app.retry_policy.dead_letters);
        app.store.put_dead_letter(&letter, expires).await?;
    }
    Ok(())
}
