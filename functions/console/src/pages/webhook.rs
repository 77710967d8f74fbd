//! One event webhook: its settings, its signature, a test, the posts that were made to it, and what it did not take.

pub(super) mod posts;

use askama::Template;
use posthaste_model::Timestamp;
use serde::Deserialize;

use super::webhooks::{ListedWebhook, READ, WITH_STATUS, WebhookRights};
use crate::api::{ReadError, encoded};
use crate::content::{PageContent, PageResult};
use crate::texts;
use crate::visit::PageVisit;
use posts::{OpenPost, PostLog};

/// Posts that were given up, on the page.
const UNDELIVERED: usize = 10;

/// What a receiver verifies posts with, in two languages.
const VERIFIERS: [(&str, &str); 2] = [
    ("Node", include_str!("../../snippets/verify-node.txt")),
    ("Python", include_str!("../../snippets/verify-python.txt")),
];

#[derive(Template)]
#[template(path = "webhook.html")]
struct WebhookPage {
    webhook: ListedWebhook,
    posts: PostLog,
    /// The post of the address, or why it is not there.
    open: Option<Result<OpenPost, String>>,
    undelivered: Vec<LetterRow>,
    /// Whether there are more than are shown.
    has_more_undelivered: bool,
    /// Why they are not shown.
    letters_problem: Option<String>,
    verifiers: [(&'static str, &'static str); 2],
    rights: WebhookRights,
}

/// Events that the receiver did not take in a day.
struct LetterRow {
    events: String,
    first: String,
    gave_up: String,
    attempts: u32,
    reason: String,
}

#[derive(Deserialize)]
struct LettersAnswer {
    result: Vec<LetterAnswer>,
}

#[derive(Deserialize)]
struct LetterAnswer {
    events: u32,
    first_event_at: i64,
    gave_up_at: i64,
    attempts: u32,
    reason: String,
}

impl LetterRow {
    fn of(letter: LetterAnswer) -> Self {
        Self {
            events: texts::events(usize::try_from(letter.events).unwrap_or(usize::MAX)),
            first: Timestamp(letter.first_event_at).iso(),
            gave_up: Timestamp(letter.gave_up_at).iso(),
            attempts: letter.attempts,
            reason: letter.reason,
        }
    }
}

pub(crate) async fn show(visit: PageVisit, id: String) -> PageResult {
    let path = format!(
        "/v3/user/webhooks/event/settings/{}?{WITH_STATUS}",
        encoded(&id)
    );
    let webhook = visit.api.get::<ListedWebhook>(&path).await?;
    let open = match visit.params.text("post") {
        "" => None,
        post => Some(posts::open(&visit, post).await),
    };
    let (posts, letters) = futures_util::join!(
        posts::page(&visit, &webhook.id),
        undelivered(&visit, &webhook.id),
    );
    let (mut letters, letters_problem) = match letters {
        Ok(letters) => (letters, None),
        Err(error) => (Vec::new(), Some(error.without(READ))),
    };
    let has_more_undelivered = letters.len() > UNDELIVERED;
    letters.truncate(UNDELIVERED);
    let page = WebhookPage {
        posts,
        open,
        undelivered: letters,
        has_more_undelivered,
        letters_problem,
        verifiers: VERIFIERS,
        rights: WebhookRights::of(&visit.caller.key),
        webhook,
    };
    let title = page.webhook.title().to_owned();
    PageContent::of(title, &page)
}

async fn undelivered(visit: &PageVisit, id: &str) -> Result<Vec<LetterRow>, ReadError> {
    let path = format!(
        "/v3/user/webhooks/event/undelivered?limit={}&webhook_id={}",
        UNDELIVERED + 1,
        encoded(id)
    );
    let letters = visit.api.get::<LettersAnswer>(&path).await?.result;
    Ok(letters.into_iter().map(LetterRow::of).collect())
}
