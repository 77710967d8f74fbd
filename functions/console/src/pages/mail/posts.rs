//! The posts of a mail's events to webhooks, where the service stores them.

use super::MailAnswer;
use super::life::Moment;
use crate::api::encoded;
use crate::pages::webhook::posts::{PostAnswer, PostsAnswer};
use crate::texts;
use crate::visit::PageVisit;

/// Posts of one mail on its page.
const SHOWN: usize = 30;

/// The posts of a mail.
#[derive(Default)]
pub(super) struct MailPosts {
    pub(super) moments: Vec<Moment>,
    /// Whether there may be more, which one call of the API does not look at.
    pub(super) is_cut: bool,
}

/// A moment for each of the latest posts. None where posts are not stored, the reader may not see webhooks, or nothing has
/// happened that could be posted.
pub(super) async fn of(visit: &PageVisit, mail: &MailAnswer) -> MailPosts {
    let Some(first) = mail.events.first() else {
        return MailPosts::default();
    };
    let path = format!(
        "/v3/user/webhooks/event/posts?message_id={}&start_time={}&limit={SHOWN}",
        encoded(&mail.sg_message_id),
        first.timestamp.0
    );
    let posts = visit.api.get::<PostsAnswer>(&path).await;
    let posts = posts.unwrap_or_default();
    MailPosts {
        moments: posts.result.into_iter().map(moment).collect(),
        is_cut: posts.next.is_some(),
    }
}

fn moment(post: PostAnswer) -> Moment {
    let mut words = vec![post.url];
    words.push(match post.status_code {
        Some(status) => texts::mail::answered(status),
        None => post.answer,
    });
    words.extend(post.took_ms.map(texts::took));
    words.push(texts::mail::attempt(post.attempt));
    Moment {
        at: post.posted_at,
        title: texts::mail::posted(&post.kinds),
        tone: if post.status == "ok" { "good" } else { "warn" },
        words,
    }
}
