//! The posts of a mail's events to webhooks, where the service stores them.

use posthaste_model::{MessageId, Verp};
use posthaste_queue::WebhookRetry;
use posthaste_store::{Store, StoreError, WebhookPost};

use super::life::Moment;
use crate::visit::PageVisit;

/// The scope of a reader who may see webhooks.
const SCOPE: &str = "user.webhooks.event.settings.read";

/// A moment for each post. None where posts are not stored, or the reader may not see webhooks.
pub(super) async fn moments(visit: &PageVisit, id: &str) -> Vec<Moment> {
    let Some(copy) = copy(visit, id).filter(|_| visit.caller.key.holds(SCOPE)) else {
        return Vec::new();
    };
    match posts(&visit.store, &copy).await {
        Ok(moments) => moments,
        Err(error) => {
            tracing::warn!(%error, "the posts of a mail could not be read: {error}");
            Vec::new()
        }
    }
}

/// The copy of an `sg_message_id`: `<message>.posthaste-0.<recipient>.0`.
fn copy(visit: &PageVisit, id: &str) -> Option<Verp> {
    let mut parts = id.split('.');
    let message = MessageId::parse(parts.next()?).ok()?;
    let recipient = parts.nth(1)?.parse().ok()?;
    let account = visit.caller.id().clone();
    Some(Verp {
        account,
        message,
        recipient,
    })
}

async fn posts(store: &Store, copy: &Verp) -> Result<Vec<Moment>, StoreError> {
    let mut found = Vec::new();
    for webhook in store.webhooks(&copy.account).await? {
        let all = store.posts(&copy.account, &webhook.id).await?;
        found.extend(all.iter().filter_map(|post| about(post, copy)));
    }
    Ok(found)
}

/// The moment of a post, if it is about this copy.
fn about(post: &WebhookPost, copy: &Verp) -> Option<Moment> {
    let inside = WebhookRetry::from_text(&post.message).ok()?;
    let events = inside.events.iter().filter(|event| {
        event.message.as_ref() == Some(&copy.message) && event.recipient == copy.recipient
    });
    let kinds: Vec<_> = events.map(|event| event.kind.wire()).collect();
    if kinds.is_empty() {
        return None;
    }
    let mut words = vec![post.url.clone()];
    words.push(match post.status {
        Some(status) => format!("answered {status}"),
        None => post.answer.clone(),
    });
    words.extend(post.took_ms.map(|ms| format!("{ms} ms")));
    words.push(format!("attempt {}", post.attempt));
    if post.signature.is_some() {
        words.push("signed".to_owned());
    }
    Some(Moment {
        at: post.at.0,
        title: format!("Posted to a webhook: {}", kinds.join(", ")),
        tone: if post.accepted { "good" } else { "warn" },
        words,
    })
}
