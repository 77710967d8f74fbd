//! The posts that were made to a webhook, and one of them as it was made.

use posthaste_model::Timestamp;
use serde::Deserialize;
use url::form_urlencoded;

use super::super::webhooks::READ;
use crate::api::encoded;
use crate::texts::{self, MailStatus};
use crate::visit::PageVisit;

/// Posts on a page.
const SHOWN: usize = 25;

/// Characters of a body that the page shows, and events of it: it has 15 KB compressed.
const LONGEST_BODY: usize = 6_000;
const MOST_EVENTS: usize = 25;

/// A page of the log.
#[derive(Default)]
pub(super) struct PostLog {
    pub(super) rows: Vec<PostRow>,
    /// `ok`, `failed`, or empty for all.
    pub(super) status: String,
    /// Why there is no log.
    pub(super) problem: Option<String>,
    pub(super) first: Option<String>,
    pub(super) older: Option<String>,
}

/// A post.
pub(super) struct PostRow {
    pub(super) id: String,
    pub(super) at: String,
    pub(super) attempt: u32,
    pub(super) status: MailStatus,
    pub(super) answer: String,
    pub(super) took: String,
    /// How many events, and of what kinds.
    pub(super) events: String,
}

/// A post as it was made.
pub(super) struct OpenPost {
    pub(super) row: PostRow,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
    /// Whether the body is longer.
    pub(super) is_cut: bool,
    pub(super) events: Vec<PostedEvent>,
}

/// An event of a post.
#[derive(Deserialize)]
pub(super) struct PostedEvent {
    #[serde(default)]
    pub(super) event: String,
    #[serde(default)]
    pub(super) email: String,
    #[serde(default)]
    pub(super) sg_event_id: String,
    #[serde(default)]
    pub(super) sg_message_id: String,
}

/// What `/v3/user/webhooks/event/posts` answers.
#[derive(Default, Deserialize)]
pub(in crate::pages) struct PostsAnswer {
    pub(in crate::pages) result: Vec<PostAnswer>,
    pub(in crate::pages) next: Option<String>,
}

#[derive(Deserialize)]
pub(in crate::pages) struct PostAnswer {
    post_id: String,
    pub(in crate::pages) posted_at: Timestamp,
    pub(in crate::pages) attempt: u32,
    pub(in crate::pages) url: String,
    pub(in crate::pages) status: String,
    pub(in crate::pages) status_code: Option<u16>,
    pub(in crate::pages) answer: String,
    pub(in crate::pages) took_ms: Option<u64>,
    events: usize,
    pub(in crate::pages) kinds: Vec<String>,
}

#[derive(Deserialize)]
struct OpenPostAnswer {
    #[serde(flatten)]
    post: PostAnswer,
    headers: std::collections::BTreeMap<String, String>,
    body: String,
}

impl PostRow {
    fn of(post: PostAnswer) -> Self {
        let word = post
            .status_code
            .map_or_else(|| texts::NO_ANSWER.to_owned(), |code| code.to_string());
        Self {
            status: MailStatus {
                word,
                tone: if post.status == "ok" { "good" } else { "bad" },
            },
            events: format!("{}: {}", texts::events(post.events), post.kinds.join(", ")),
            took: post.took_ms.map(texts::took).unwrap_or_default(),
            at: post.posted_at.iso(),
            attempt: post.attempt,
            answer: post.answer,
            id: post.post_id,
        }
    }
}

impl PostedEvent {
    /// Whether the API can post it again: it is one of a mail.
    pub(super) fn is_of_mail(&self) -> bool {
        !self.sg_message_id.is_empty() && !self.sg_event_id.is_empty()
    }
}

/// The posts to a webhook, latest first.
pub(super) async fn page(visit: &PageVisit, webhook: &str) -> PostLog {
    let status = match visit.params.text("status") {
        known @ ("ok" | "failed") => known.to_owned(),
        _ => String::new(),
    };
    let after = visit.params.text("after");
    let place = |after: Option<&str>| {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in [
            ("status", status.as_str()),
            ("after", after.unwrap_or_default()),
        ] {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        format!(
            "/console/webhooks/{}?{}#posts",
            encoded(webhook),
            query.finish()
        )
    };
    let mut path = format!(
        "/v3/user/webhooks/event/posts?limit={SHOWN}&webhook_id={}",
        encoded(webhook)
    );
    for (name, value) in [("status", status.as_str()), ("after", after)] {
        if !value.is_empty() {
            path = format!("{path}&{name}={}", encoded(value));
        }
    }
    let first = (!after.is_empty()).then(|| place(None));
    match visit.api.get::<PostsAnswer>(&path).await {
        Ok(found) => PostLog {
            rows: found.result.into_iter().map(PostRow::of).collect(),
            older: found.next.as_deref().map(|next| place(Some(next))),
            problem: None,
            first,
            status,
        },
        Err(error) => PostLog {
            problem: Some(error.without(READ)),
            status,
            ..PostLog::default()
        },
    }
}

/// The post of this id.
///
/// # Errors
/// Why it cannot be shown, in words.
pub(super) async fn open(visit: &PageVisit, id: &str) -> Result<OpenPost, String> {
    let path = format!("/v3/user/webhooks/event/posts/{}", encoded(id));
    let found = visit.api.get::<OpenPostAnswer>(&path).await;
    let found = found.map_err(|error| error.without(READ))?;
    let mut events: Vec<PostedEvent> = serde_json::from_str(&found.body).unwrap_or_default();
    events.truncate(MOST_EVENTS);
    let mut body = found.body;
    let end = body.char_indices().nth(LONGEST_BODY).map(|(end, _)| end);
    if let Some(end) = end {
        body.truncate(end);
    }
    Ok(OpenPost {
        row: PostRow::of(found.post),
        headers: found.headers.into_iter().collect(),
        is_cut: end.is_some(),
        body,
        events,
    })
}
