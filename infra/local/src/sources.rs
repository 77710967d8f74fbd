//! The sources of a copy's details on the mailbox page, out of the table: its events, and the posts of them to
//! webhooks.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use posthaste_mailbox::{PostAgain, Sources};
use posthaste_model::{Clock, Event, EventKind, Timestamp, Verp};
use posthaste_queue::{Queue, Retry, WebhookRetry};
use posthaste_store::{Recipient, Store, StoreError, VisitKind, WebhookPost};
use posthaste_webhook::event_json;
use serde_json::{Value, json};

/// The sources of the mailbox page. Posts that are made again go to the queue `retries`.
pub(crate) fn sources(store: &Store, retries: &Queue, clock: &Clock) -> Sources {
    let post_again = post_again(store, retries, clock);
    let (store, posts) = (store.clone(), store.clone());
    Sources {
        events: Some(Arc::new(move |trace| {
            let store = store.clone();
            Box::pin(async move {
                let Some(verp) = trace.verp else {
                    return Vec::new();
                };
                let row = store
                    .recipient(&verp.account, &verp.message, verp.recipient)
                    .await;
                row.ok()
                    .flatten()
                    .map(|row| posted(&verp, &row))
                    .unwrap_or_default()
            })
        })),
        webhooks: Some(Arc::new(move |trace| {
            let store = posts.clone();
            Box::pin(async move {
                let Some(copy) = trace.verp else {
                    return Vec::new();
                };
                posts_about(&store, &copy).await.unwrap_or_default()
            })
        })),
        post_again: Some(post_again),
        ..Sources::default()
    }
}

/// The events of a copy, with what its reader did, in chronological order.
fn events_of(copy: &Verp, row: &Recipient) -> Vec<Event> {
    let mut all = row.events();
    // Those that are stored as visits have what each of them has to itself.
    let first = all.first().cloned();
    for (visits, kind) in [
        (VisitKind::Open, EventKind::Open),
        (VisitKind::Click, EventKind::Click),
    ] {
        all.extend(row.visits(visits).into_iter().map(|visit| {
            let account = copy.account.clone();
            let event = Event::new(visit.id, account, kind, visit.at, row.email.clone());
            Event {
                message: Some(copy.message.clone()),
                recipient: copy.recipient,
                category: first.as_ref().and_then(|first| first.category.clone()),
                custom_args: first
                    .as_ref()
                    .map(|first| first.custom_args.clone())
                    .unwrap_or_default(),
                url: visit.url,
                useragent: visit.agent,
                ..event
            }
        }));
    }
    // Events of the same second stay in the order they were written.
    all.sort_by_key(|event| event.at);
    all
}

/// The events of a copy as a webhook gets them.
fn posted(copy: &Verp, row: &Recipient) -> Vec<Value> {
    let events = events_of(copy, row);
    let shown = events.iter().map(event_json);
    shown
        .filter_map(|event| serde_json::from_str(&event).ok())
        .collect()
}

/// Posts events of a copy again: all of them, or the one of this id. Each webhook that subscribes to them gets
/// them anew, with the same ids. Returns how many posts were queued.
fn post_again(store: &Store, retries: &Queue, clock: &Clock) -> PostAgain {
    let (store, retries, clock) = (store.clone(), retries.clone(), clock.clone());
    Arc::new(move |trace, id| {
        let (store, retries, clock) = (store.clone(), retries.clone(), clock.clone());
        async move {
            let copy = trace.verp.ok_or("the service did not make this mail")?;
            let texts = again(&store, &copy, id.as_deref(), clock.now()).await?;
            let count = texts.len();
            let messages = texts.into_iter().map(|text| (text, Duration::ZERO));
            let sent = retries.send_all(messages.collect()).await;
            sent.map_err(|error| error.to_string())?;
            Ok(count)
        }
        .boxed()
    })
}

/// The messages of the retry queue that post events of a copy again.
async fn again(
    store: &Store,
    copy: &Verp,
    id: Option<&str>,
    now: Timestamp,
) -> Result<Vec<String>, String> {
    let Verp {
        account,
        message,
        recipient,
    } = copy;
    let row = store.recipient(account, message, *recipient).await;
    let row = row.map_err(|error| error.to_string())?;
    let mut events = row.map(|row| events_of(copy, &row)).unwrap_or_default();
    events.retain(|event| id.is_none_or(|id| event.id == id));
    let webhooks = store.webhooks(account).await;
    let webhooks = webhooks.map_err(|error| error.to_string())?;
    let mut texts = Vec::new();
    for webhook in webhooks.into_iter().filter(|webhook| webhook.enabled) {
        let wanted = events
            .iter()
            .filter(|event| webhook.kinds.contains(&event.kind));
        let wanted: Vec<_> = wanted.cloned().collect();
        if wanted.is_empty() {
            continue;
        }
        let post = WebhookRetry {
            retry: Retry {
                account: account.clone(),
                webhook: webhook.id,
                attempt: 0,
                not_before: now,
                last: String::new(),
            },
            events: wanted,
        };
        texts.extend(post.to_texts().map_err(|error| error.to_string())?);
    }
    if texts.is_empty() {
        return Err("no enabled webhook subscribes to these events".to_owned());
    }
    Ok(texts)
}

/// The posts about a copy, oldest first, among the last ones of each webhook.
async fn posts_about(store: &Store, copy: &Verp) -> Result<Vec<Value>, StoreError> {
    let mut found = Vec::new();
    for webhook in store.webhooks(&copy.account).await? {
        for post in store.posts(&copy.account, &webhook.id).await? {
            let Ok(inside) = WebhookRetry::from_text(&post.message) else {
                continue;
            };
            let is_about = |event: &Event| {
                event.message.as_ref() == Some(&copy.message) && event.recipient == copy.recipient
            };
            if inside.events.iter().any(is_about) {
                found.push((post.at, post.attempt, described(&post, &inside.events)));
            }
        }
    }
    found.sort_by_key(|(at, attempt, _)| (*at, *attempt));
    Ok(found.into_iter().map(|(_, _, post)| post).collect())
}

/// A post as the page shows it.
fn described(post: &WebhookPost, events: &[Event]) -> Value {
    let body = events.iter().map(event_json);
    let body = body.filter_map(|event| serde_json::from_str::<Value>(&event).ok());
    let mut shown = json!({
        "url": post.url,
        "webhook_id": post.webhook,
        "at": post.at,
        "attempt": post.attempt,
        "events": events.iter().map(|event| event.kind.wire()).collect::<Vec<_>>(),
        "body": body.collect::<Vec<_>>(),
    });
    let answer = if post.status.is_some() {
        "answer"
    } else {
        "error"
    };
    let signed_at = post.signature.as_ref().map(|_| post.at);
    for (name, value) in [
        ("status", json!(post.status)),
        (answer, json!(post.answer)),
        ("took_ms", json!(post.took_ms)),
        ("signature", json!(post.signature)),
        ("signature_timestamp", json!(signed_at)),
    ] {
        if let Some(members) = shown.as_object_mut().filter(|_| !value.is_null()) {
            members.insert(name.to_owned(), value);
        }
    }
    shown
}
