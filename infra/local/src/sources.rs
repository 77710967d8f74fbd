//! The sources of a copy's details on the mailbox page, out of the table: its events, and the posts of them to
//! webhooks.

use std::sync::Arc;

use futures_util::FutureExt as _;
use posthaste_mailbox::{PostAgain, PostSpan, Sources};
use posthaste_model::{Clock, Entropy, Event, Timestamp, Verp};
use posthaste_queue::{Queue, WebhookRetry};
use posthaste_replay::{LONGEST_SPAN, MailEvents, PostedAgain, Replayer, SpanStart, events_of};
use posthaste_store::{Recipient, ReplaySpan, Store, StoreError, WebhookPost};
use posthaste_webhook::event_json;
use serde_json::{Value, json};

use crate::start::HostSettings;

/// The sources of the mailbox page. Posts that are made again go to the queue `retries`.
pub(crate) fn sources(store: &Store, retries: &Queue, settings: &HostSettings) -> Sources {
    let again = Arc::new(Again {
        store: store.clone(),
        retries: retries.clone(),
        clock: settings.clock.clone(),
        entropy: settings.entropy.clone(),
        searches: settings.search_days > 0,
    });
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
        post_again: Some(post_again(&again)),
        post_span: Some(post_span(&again)),
        ..Sources::default()
    }
}

/// The events of a copy as a webhook gets them.
fn posted(copy: &Verp, row: &Recipient) -> Vec<Value> {
    let events = events_of(&copy.account, &copy.message, row);
    let shown = events.iter().map(event_json);
    shown
        .filter_map(|event| serde_json::from_str(&event).ok())
        .collect()
}

/// Posts events of a copy again: all of them, or the one of this id. Each webhook that subscribes to them gets
/// them anew, with the same ids. Returns how many events were queued.
fn post_again(again: &Arc<Again>) -> PostAgain {
    let again = Arc::clone(again);
    Arc::new(move |trace, id| {
        let again = Arc::clone(&again);
        async move {
            let copy = trace.verp.ok_or("the service did not make this mail")?;
            let mail = MailEvents {
                message: copy.message,
                recipient: Some(copy.recipient),
                event: id,
            };
            let posted = again.replayer().mail(&copy.account, &mail, None).await;
            match posted.map_err(|error| error.to_string())? {
                PostedAgain::Queued(queued) => Ok(queued.events),
                PostedAgain::NoEvent => Err("There is no such event.".to_owned()),
                PostedAgain::NoWebhook => Err(NO_WEBHOOK.to_owned()),
            }
        }
        .boxed()
    })
}

const NO_WEBHOOK: &str = "No enabled webhook subscribes to these events.";

/// Posts the events of a span of time again, of every account.
fn post_span(again: &Arc<Again>) -> PostSpan {
    let again = Arc::clone(again);
    Arc::new(move |first, last| {
        let again = Arc::clone(&again);
        async move { again.span(first, last).await }.boxed()
    })
}

/// What posts events again.
struct Again {
    store: Store,
    retries: Queue,
    clock: Clock,
    entropy: Entropy,
    /// Whether mails can be searched.
    searches: bool,
}

impl Again {
    fn replayer(&self) -> Replayer<'_> {
        Replayer {
            store: &self.store,
            retries: &self.retries,
            clock: &self.clock,
        }
    }

    /// A sentence about what was queued, or about what is in the way.
    async fn span(&self, first: Timestamp, last: Timestamp) -> Result<String, String> {
        if !self.searches {
            return Err("A span of time needs the search: start with --search-days.".to_owned());
        }
        if last.since(first) > LONGEST_SPAN {
            return Err("A span of time has at most seven days.".to_owned());
        }
        let failed = |error: &dyn std::fmt::Display| error.to_string();
        let (mut events, mut running, mut webhooks) = (0, false, 0);
        for account in self.store.accounts().await.map_err(|e| failed(&e))? {
            let own = self.store.webhooks(&account.id).await;
            let own = own.map_err(|e| failed(&e))?;
            let enabled = own.iter().filter(|webhook| webhook.enabled).count();
            if enabled == 0 {
                continue;
            }
            webhooks += enabled;
            let span = ReplaySpan {
                first,
                last,
                webhook: None,
            };
            let id = self.entropy.replay_id();
            let started = self.replayer().start(&account.id, id, span).await;
            match started.map_err(|e| failed(&e))? {
                SpanStart::Job(replay) => {
                    events += replay.events;
                    running |= replay.finished_at.is_none();
                }
                SpanStart::Other(_) => {
                    let why = "Another span is being posted again; wait a minute until it is done.";
                    return Err(why.to_owned());
                }
            }
        }
        if webhooks == 0 {
            return Err("No webhook is enabled.".to_owned());
        }
        let noun = if events == 1 {
            "event is"
        } else {
            "events are"
        };
        Ok(match (events, running) {
            (0, false) => {
                return Err("No webhook subscribes to an event of this span.".to_owned());
            }
            (_, false) => format!("{events} {noun} posted again."),
            (_, true) => format!("{events} {noun} posted again; the rest follows within minutes."),
        })
    }
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
