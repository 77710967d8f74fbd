//! Stores posts for their owner to look at, where the deployment enables that: each costs a write.

use futures_util::future::join_all;
use http::HeaderMap;
use posthaste_model::{Event, Timestamp};
use posthaste_queue::{Retry, WebhookRetry};
use posthaste_store::{Webhook, WebhookPost};
use posthaste_webhook::{PostOutcome, RetryFate, SIGNATURE, Schedule};
use url::Url;

use crate::App;

/// Characters of an answer that are stored.
const SHOWN: usize = 500;

/// One post and its result.
pub(crate) struct MadePost<'a> {
    pub webhook: &'a Webhook,
    pub url: &'a Url,
    pub events: &'a [Event],
    /// The number of the attempt; the first is 1.
    pub attempt: u32,
    pub at: Timestamp,
    /// The fields of the post, which hold its signature.
    pub headers: &'a HeaderMap,
    pub outcome: &'a PostOutcome,
}

/// Stores a post. A failure is logged: the post was made.
pub(crate) async fn store(app: &App, made: &MadePost<'_>) {
    if !app.stores_posts {
        return;
    }
    let rows = match rows(made) {
        Ok(rows) => rows,
        Err(error) => {
            tracing::error!("a post cannot be written: {error}");
            return;
        }
    };
    let writes = rows.iter().map(|row| app.store.put_post(row));
    for written in join_all(writes).await {
        if let Err(error) = written {
            let id = &made.webhook.id;
            tracing::warn!(webhook.id = %id, "a post to webhook {id} could not be stored: {error}");
        }
    }
}

/// The rows of a post: one, unless its events do not fit into a message of a queue.
fn rows(made: &MadePost<'_>) -> Result<Vec<WebhookPost>, posthaste_queue::JobError> {
    let webhook = made.webhook;
    let events = WebhookRetry {
        retry: Retry {
            account: webhook.account.clone(),
            webhook: webhook.id.clone(),
            attempt: 0,
            not_before: Timestamp(0),
            last: String::new(),
        },
        events: made.events.to_vec(),
    };
    let mut url = made.url.clone();
    // Without a host a URL has neither, and nothing is posted to such a one.
    let _ = (url.set_username(""), url.set_password(None));
    let (status, answer, took_ms): (_, String, _) = match made.outcome {
        PostOutcome::Answered(answer) => {
            let text = String::from_utf8_lossy(&answer.body_head);
            let text = text.chars().take(SHOWN).collect();
            (Some(answer.status.as_u16()), text, Some(answer.took_ms))
        }
        silent @ (PostOutcome::Refused(_)
        | PostOutcome::Unreachable { .. }
        | PostOutcome::TimedOut
        | PostOutcome::NoToken(_)
        | PostOutcome::Unsecured(_)) => (None, silent.to_string(), None),
    };
    let signature = made.headers.get(SIGNATURE);
    let signature = signature.and_then(|value| value.to_str().ok());
    let texts = events.to_texts()?.into_iter();
    let row = |message| WebhookPost {
        account: webhook.account.clone(),
        webhook: webhook.id.clone(),
        at: made.at,
        attempt: made.attempt,
        url: url.to_string(),
        accepted: Schedule::Events.fate(made.outcome) == RetryFate::Done,
        status,
        answer: answer.clone(),
        took_ms,
        signature: signature.map(str::to_owned),
        message,
    };
    Ok(texts.map(row).collect())
}
