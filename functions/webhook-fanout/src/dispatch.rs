//! Posts new events of an account to each of its webhooks, and waiting events to theirs.

use futures_util::future::join_all;
use posthaste_model::{AccountId, Event};
use posthaste_queue::{BusEvent, Disposition, WebhookRetry};
use posthaste_runtime::WorkError;
use posthaste_store::Webhook;

use crate::App;
use crate::failure::{self, Failed};
use crate::health;
use crate::post;
use crate::record;

/// Posts the events to every enabled webhook that subscribes to them, concurrently, so that a slow
/// webhook does not delay the others.
pub(crate) async fn dispatch(app: &App, account: AccountId, events: Vec<Event>) -> Disposition {
    let webhooks = match app.store.webhooks(&account).await {
        Ok(webhooks) => webhooks,
        Err(error) => {
            tracing::error!(account.id = %account, "webhooks of account {account} cannot be read: {error}");
            return WorkError::from(error).disposition();
        }
    };
    let enabled = webhooks.iter().filter(|webhook| webhook.enabled);
    let posted = enabled.map(|webhook| post_wanted(app, webhook, &events));
    let published = publish(app, &events);
    let due = join_all(
        webhooks
            .iter()
            .map(|webhook| health::announce(app, webhook)),
    );
    let (posted, published, _) = futures_util::join!(join_all(posted), published, due);
    let all = posted.into_iter().chain([published]);
    match all.fold(Disposition::Done, Disposition::and) {
        // Counters are not urgent. A batch that is delivered again is recorded then.
        Disposition::Done => record::record(app, &account, &events).await,
        other => other,
    }
}

async fn post_wanted(app: &App, webhook: &Webhook, events: &[Event]) -> Disposition {
    let wanted = events
        .iter()
        .filter(|event| webhook.kinds.contains(&event.kind));
    let wanted: Vec<Event> = wanted.cloned().collect();
    if wanted.is_empty() {
        return Disposition::Done;
    }
    if let Some(why) = health::skip_reason(webhook) {
        // The retries detect its recovery; new events do not wait for it here.
        let failed = Failed {
            events: wanted,
            attempt: 0,
            last: why.to_owned(),
        };
        return failure::enqueue(app, webhook, failed, app.clock.now()).await;
    }
    post::deliver(app, webhook, wanted, 0).await
}

/// Publishes every event on the bus, if the deployment enables that.
async fn publish(app: &App, events: &[Event]) -> Disposition {
    if !app.publish_events {
        return Disposition::Done;
    }
    let notices: Vec<_> = events
        .iter()
        .filter_map(|event| {
            let detail = posthaste_webhook::event_json(event);
            Some(BusEvent {
                account: event.account.clone(),
                kind: "Email Event".to_owned(),
                detail: serde_json::from_str(&detail).ok()?,
            })
        })
        .collect();
    match app.bus.publish(&notices).await {
        Ok(()) => Disposition::Done,
        Err(error) => {
            tracing::error!("events could not be published: {error}");
            Disposition::Retry
        }
    }
}

/// Retries when the events are due; the webhook's current settings are read now.
pub(crate) async fn retry(app: &App, waiting: WebhookRetry) -> Disposition {
    let WebhookRetry { retry, events } = waiting;
    let now = app.clock.now();
    if now < retry.not_before {
        // A queue delays a message for 15 minutes at most: longer waits take several rounds.
        let not_before = retry.not_before;
        let waiting = WebhookRetry { retry, events };
        return failure::send(app, &waiting, not_before).await;
    }
    let webhook = match app.store.webhook(&retry.account, &retry.webhook).await {
        Ok(Some(webhook)) => webhook,
        Ok(None) => {
            tracing::info!(
                webhook.id = %retry.webhook,
                "webhook {} is gone; {} events for it are dropped", retry.webhook, events.len()
            );
            return Disposition::Done;
        }
        Err(error) => {
            tracing::error!(webhook.id = %retry.webhook, "webhook {} cannot be read: {error}", retry.webhook);
            return WorkError::from(error).disposition();
        }
    };
    health::announce(app, &webhook).await;
    if !webhook.enabled {
        let failed = Failed {
            events,
            attempt: retry.attempt,
            last: "the webhook is disabled".to_owned(),
        };
        return failure::put_dead_letter(app, &webhook, failed).await;
    }
    post::deliver(app, &webhook, events, retry.attempt).await
}
