//! Posts to webhooks as they were made: the last ones of each webhook, and those that failed. An extension of the v3
//! API.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use posthaste_http::{Caller, PathParams, Query, QueryReader, Rejection};
use posthaste_model::{Event, MessageId, Problem, Timestamp, WebhookId};
use posthaste_queue::WebhookRetry;
use posthaste_store::{PostFilter, PostId, WebhookPost};
use posthaste_webhook::{batch, event_json};
use serde::Serialize;

use crate::App;

/// Posts in a page when the request does not say how many, and at most.
pub(crate) const PAGE: usize = 100;

/// One post.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PostView {
    post_id: String,
    webhook_id: String,
    /// When it was made (Unix time).
    posted_at: i64,
    /// The number of the attempt; the first is 1.
    attempt: u32,
    /// The receiver, without a password.
    url: String,
    /// `ok` when the receiver took the events.
    #[cfg_attr(test, schemars(extend("enum" = ["ok", "failed"])))]
    status: &'static str,
    /// What the receiver answered; `null` when it did not answer.
    status_code: Option<u16>,
    /// The beginning of the answer, or why there was none.
    answer: String,
    /// How long the receiver took to answer, in milliseconds; `null` when it did not answer.
    took_ms: Option<u64>,
    /// How many events were posted.
    events: usize,
    /// Their kinds, each once.
    kinds: Vec<&'static str>,
}

/// A page of posts.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PostList {
    result: Vec<PostView>,
    /// Pass this as `after` for the next page; `null` on the last one. A page may be shorter than `limit`, even empty,
    /// and not be the last: a request looks at 500 posts.
    next: Option<String>,
}

/// One post with what was sent.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PostDetail {
    #[serde(flatten)]
    post: PostView,
    /// The headers of the signature, where posts are signed.
    headers: BTreeMap<&'static str, String>,
    /// The body byte for byte, as it was signed; a part of it where the events were too many for one row.
    body: String,
}

impl PostView {
    fn new(id: &PostId, post: WebhookPost, events: &[Event]) -> Self {
        let mut kinds: Vec<_> = events.iter().map(|event| event.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        Self {
            post_id: id.to_string(),
            webhook_id: post.webhook.to_string(),
            posted_at: post.at.0,
            attempt: post.attempt,
            url: post.url,
            status: if post.accepted { "ok" } else { "failed" },
            status_code: post.status,
            answer: post.answer,
            took_ms: post.took_ms,
            events: events.len(),
            kinds: kinds.into_iter().map(|kind| kind.wire()).collect(),
        }
    }
}

/// The events of a post; none of one that a newer release wrote.
fn events(post: &WebhookPost) -> Vec<Event> {
    WebhookRetry::from_text(&post.message).map_or_else(|_| Vec::new(), |inside| inside.events)
}

/// What a request asks for.
struct PostQuery {
    filter: PostFilter,
    webhook: Option<WebhookId>,
    /// The mail, and the position of its recipient.
    mail: Option<(MessageId, Option<u32>)>,
}

impl PostQuery {
    fn read(query: &mut QueryReader<'_>) -> Self {
        let webhook = |text: &str| WebhookId::parse(text).ok();
        let webhook = query.parsed("webhook_id", webhook, "Invalid id provided.");
        let mail = query.parsed(
            "message_id",
            MessageId::read_copy,
            "message_id must be an X-Message-Id or an sg_message_id",
        );
        let end = |text: &str| match text {
            "ok" => Some(true),
            "failed" => Some(false),
            _ => None,
        };
        let accepted = query.parsed("status", end, "status must be ok or failed");
        let mut second = |name: &str| {
            let message = format!("{name} must be a Unix timestamp");
            query.parsed(name, |text| text.parse().ok().map(Timestamp), &message)
        };
        let (since, until) = (second("start_time"), second("end_time"));
        if since.zip(until).is_some_and(|(since, until)| since > until) {
            query.refuse("end_time", "end_time must not be before start_time");
        }
        let after = query.parsed("after", PostId::parse, "after is not the next of a page");
        Self {
            filter: PostFilter {
                webhooks: Vec::new(),
                accepted,
                since,
                until,
                after,
                limit: query.limit_within(PAGE, 1..=PAGE),
            },
            webhook,
            mail,
        }
    }

    fn holds(&self, post: &WebhookPost) -> bool {
        let Some((message, recipient)) = &self.mail else {
            return true;
        };
        let is_of = |event: &Event| {
            let is_copy = recipient.is_none_or(|recipient| recipient == event.recipient);
            is_copy && event.message.as_ref() == Some(message)
        };
        events(post).iter().any(is_of)
    }
}

/// `GET …/posts?webhook_id&message_id&status&start_time&end_time&limit&after`: the latest first.
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<PostList>, Rejection> {
    let mut wanted = query.checked(PostQuery::read)?;
    wanted.filter.webhooks = match &wanted.webhook {
        Some(webhook) => vec![webhook.clone()],
        None => {
            let all = app.store.webhooks(caller.id()).await?.into_iter();
            all.map(|webhook| webhook.id).collect()
        }
    };
    let holds = |post: &WebhookPost| wanted.holds(post);
    let page = app.store.post_page(caller.id(), &wanted.filter, holds);
    let page = page.await?;
    let size = page.posts.iter().map(|(_, post)| post.message.len()).sum();
    let show = || {
        let posts = page.posts.into_iter().map(|(id, post)| {
            let inside = events(&post);
            PostView::new(&id, post, &inside)
        });
        posts.collect()
    };
    Ok(Json(PostList {
        result: posthaste_offload::run(size, show).await,
        next: page.next.map(|next| next.to_string()),
    }))
}

/// `GET …/posts/{post_id}`.
pub(crate) async fn one(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<Json<PostDetail>, Rejection> {
    let unknown = || {
        let message = "no such post: the last 100 of each webhook and those that failed are stored for seven days";
        Rejection::unknown_id([Problem::on("post_id", message)])
    };
    let id = PostId::parse(&id).ok_or_else(unknown)?;
    let post = app.store.post(caller.id(), &id).await?;
    let post = post.ok_or_else(unknown)?;
    let show = || {
        let inside = events(&post);
        let texts: Vec<_> = inside.iter().map(event_json).collect();
        let bodies = batch::pack(&texts).into_iter();
        let bodies = bodies.map(|packed| String::from_utf8_lossy(&packed.body).into_owned());
        let mut headers = BTreeMap::new();
        if let Some(signature) = &post.signature {
            headers.insert("X-Twilio-Email-Event-Webhook-Signature", signature.clone());
            let at = post.at.to_string();
            headers.insert("X-Twilio-Email-Event-Webhook-Timestamp", at);
        }
        PostDetail {
            headers,
            body: bodies.collect(),
            post: PostView::new(&id, post.clone(), &inside),
        }
    };
    Ok(Json(posthaste_offload::run(post.message.len(), show).await))
}
