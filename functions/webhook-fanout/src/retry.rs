//! Retries events that one webhook has not accepted yet.

use posthaste_queue::{Disposition, WebhookRetry};

use crate::App;
use crate::failure::{self, Failed};
use crate::health;
use crate::post;

/// Retries when the events are due; the webhook's current settings are read now.
pub(crate) async fn work(app: &App, undelivered: WebhookRetry) -> Disposition {
    let WebhookRetry { retry, events } = undelivered;
    let now = app.clock.now();
    if now < retry.not_before {
        // A queue delays a message for 15 minutes at most: longer waits take several rounds.
        let not_before = retry.not_before;
        let waiting = WebhookRetry { retry, events };
        return failure::queue(app, &waiting, not_before).await;
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
            return failure::of_store(&error);
        }
    };
    health::announce(app, &webhook).await;
    if !webhook.enabled {
        let failed = Failed {
            events,
            attempt: retry.attempt,
            last: "the webhook is disabled".to_owned(),
        };
        return failure::bury(app, &webhook, failed).await;
    }
    post::deliver(app, &webhook, events, retry.attempt).await
}
