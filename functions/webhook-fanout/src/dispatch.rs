//! Posts new events of one account to each of its webhooks.

use futures_util::future::join_all;
use posthaste_model::{AccountId, Event};
use posthaste_queue::{BusEvent, Disposition};
use posthaste_store::Webhook;

use crate::App;
use crate::failure::{self, Failed};
use crate::health;
use crate::post;
use crate::record;

/// Posts the events to every enabled webhook that subscribes to them, concurrently, so that a slow
/// webhook does not delay the others.
pub(crate) async fn work(app: &App, account: AccountId, events: Vec<Event>) -> Disposition {
    let webhooks = match app.store.webhooks(&account).await {
        Ok(webhooks) => webhooks,
        Err(error) => {
            tracing::error!(account.id = %account, "webhooks of account {account} cannot be read: {error}");
            return failure::of_store(&error);
        }
    };
    let enabled = webhooks.iter().filter(|webhook| webhook.enabled);
    let told = enabled.map(|webhook| tell(app, webhook, &events));
    let published = publish(app, &events);
    let due = join_all(
        webhooks
            .iter()
            .map(|webhook| health::announce(app, webhook)),
    );
    let (told, published, _) = futures_util::join!(join_all(told), published, due);
    let all = told.into_iter().chain([published]);
    match all.fold(Disposition::Done, Disposition::and) {
        // Counters are not urgent. A batch that is delivered again is recorded then.
        Disposition::Done => record::keep(app, &account, &events).await,
        other => other,
    }
}

async fn tell(app: &App, webhook: &Webhook, events: &[Event]) -> Disposition {
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
        return failure::keep(app, webhook, failed, app.clock.now()).await;
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
