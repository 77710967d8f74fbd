//! What just happened in one account, for each of its webhooks.

use futures_util::future::join_all;
use posthaste_model::{AccountId, Event};
use posthaste_queue::{Notice, Verdict};
use posthaste_store::Webhook;

use crate::App;
use crate::end::{self, Failed};
use crate::health;
use crate::post;
use crate::records;

/// Posts the events to every webhook that is enabled and asks for them; all webhooks at once, so
/// that a slow one delays none of the others.
pub(crate) async fn work(app: &App, account: AccountId, events: Vec<Event>) -> Verdict {
    let webhooks = match app.store.webhooks(&account).await {
        Ok(webhooks) => webhooks,
        Err(error) => {
            tracing::error!(account.id = %account, "webhooks of account {account} cannot be read: {error}");
            return end::of_store(&error);
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
    match all.fold(Verdict::Done, Verdict::and) {
        // Nobody waits for a counter. What comes again is written down then.
        Verdict::Done => records::keep(app, &account, &events).await,
        other => other,
    }
}

async fn tell(app: &App, webhook: &Webhook, events: &[Event]) -> Verdict {
    let wanted = events
        .iter()
        .filter(|event| webhook.kinds.contains(&event.kind));
    let wanted: Vec<Event> = wanted.cloned().collect();
    if wanted.is_empty() {
        return Verdict::Done;
    }
    if let Some(why) = health::apart(webhook) {
        // Its retries find out when it is well again; nobody waits for it here.
        let failed = Failed {
            events: wanted,
            attempt: 0,
            last: why.to_owned(),
        };
        return end::keep(app, webhook, failed, app.clock.now()).await;
    }
    post::deliver(app, webhook, wanted, 0).await
}

/// Every event as a notice on the bus, where the owner of the stack asked for that.
async fn publish(app: &App, events: &[Event]) -> Verdict {
    if !app.publish_events {
        return Verdict::Done;
    }
    let notices: Vec<_> = events
        .iter()
        .filter_map(|event| {
            let detail = posthaste_webhook::event_json(event);
            Some(Notice {
                account: event.account.clone(),
                kind: "Email Event".to_owned(),
                detail: serde_json::from_str(&detail).ok()?,
            })
        })
        .collect();
    match app.bus.publish(&notices).await {
        Ok(()) => Verdict::Done,
        Err(error) => {
            tracing::error!("events could not be published: {error}");
            Verdict::Again
        }
    }
}
