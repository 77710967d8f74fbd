//! Posts to event webhooks, as their owner looks at them: the last ones of each webhook, and those that failed.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use posthaste_model::{AccountId, Timestamp, WebhookId, cut};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::key::Key;
use crate::table::largest::REASON;
use crate::table::{PageQuery, Store, StoreError, StoredRow};

/// Seconds for which a post is stored.
pub const POST_LIFE: i64 = 7 * 86_400;

/// Accepted posts that are stored of each webhook, and failed ones that are listed.
pub const LISTED_POSTS: usize = 100;

/// One post of some events, or a part of one whose events do not fit into a message of a queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookPost {
    pub account: AccountId,
    pub webhook: WebhookId,
    pub at: Timestamp,
    /// The number of the attempt; the first is 1.
    pub attempt: u32,
    /// The receiver, without a password.
    pub url: String,
    /// Whether the receiver took the events.
    pub accepted: bool,
    /// The status of the answer; `None` when there was no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The beginning of the answer, or why there was none.
    pub answer: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// The signature, where posts are signed: of the second `at` and the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The events in the form of a queue's message, from which they can be posted again; at most 60 KB
    /// except for a single huge event.
    pub message: String,
}

impl WebhookPost {
    /// The part of a sort key that posts of a webhook share, those that were accepted and others apart.
    pub(super) fn prefix(webhook: &WebhookId, accepted: bool) -> String {
        format!("{webhook}#{}#", if accepted { 'A' } else { 'F' })
    }

    /// The same attempt has the same key, so storing it twice is a no-op. With whether old posts are removed
    /// after it: reading them costs more than the post, so one in sixteen does.
    fn key(&self) -> (Key, bool) {
        let hash = Sha256::new()
            .chain_update(self.attempt.to_be_bytes())
            .chain_update(&self.message)
            .finalize();
        let trims = hash.first().is_some_and(|byte| byte % 16 == 0);
        let hash = URL_SAFE_NO_PAD.encode(hash);
        let prefix = Self::prefix(&self.webhook, self.accepted);
        let at = self.at.0.max(0);
        let sk = format!("{prefix}{at:012}#{}", hash.get(..16).unwrap_or_default());
        (Key::new(Key::posts_pk(&self.account), sk), trims)
    }
}

impl Store {
    /// Stores a post. Of those that were accepted the oldest beyond [`LISTED_POSTS`] go, soon after.
    pub async fn put_post(&self, post: &WebhookPost) -> Result<(), StoreError> {
        let post = WebhookPost {
            answer: cut(&post.answer, REASON).to_owned(),
            ..post.clone()
        };
        let expires = post.at.plus(POST_LIFE);
        let (key, trims) = post.key();
        self.put(&key, &post, Some(expires)).await?;
        if post.accepted && trims {
            let rows = self
                .posts_in(&post.account, &post.webhook, true, 2 * LISTED_POSTS)
                .await?;
            let old = rows.get(LISTED_POSTS..).unwrap_or_default();
            let old: Vec<_> = old.iter().map(|row| row.key.clone()).collect();
            self.delete_many(&old).await?;
        }
        Ok(())
    }

    /// The last posts of a webhook, the latest first: at most [`LISTED_POSTS`] that were accepted, and as many
    /// that failed.
    pub async fn posts(
        &self,
        account: &AccountId,
        webhook: &WebhookId,
    ) -> Result<Vec<WebhookPost>, StoreError> {
        let mut posts = Vec::new();
        for accepted in [true, false] {
            let rows = self
                .posts_in(account, webhook, accepted, LISTED_POSTS)
                .await?;
            posts.extend(rows.into_iter().map(|row| row.value));
        }
        posts.sort_by_key(|post| std::cmp::Reverse((post.at, post.attempt)));
        Ok(posts)
    }

    async fn posts_in(
        &self,
        account: &AccountId,
        webhook: &WebhookId,
        accepted: bool,
        limit: usize,
    ) -> Result<Vec<StoredRow<WebhookPost>>, StoreError> {
        let page = PageQuery {
            limit,
            after: None,
            backwards: true,
        };
        let prefix = WebhookPost::prefix(webhook, accepted);
        self.list(&Key::posts_pk(account), &prefix, &page).await
    }

    /// Removes the posts of an account that hold what is to be erased; returns how many.
    pub async fn erase_posts(
        &self,
        account: &AccountId,
        holds: impl Fn(&WebhookPost) -> bool,
    ) -> Result<usize, StoreError> {
        const PAGE: usize = 100;
        let pk = Key::posts_pk(account);
        let (mut after, mut erased) = (None, 0);
        loop {
            let page = PageQuery {
                limit: PAGE,
                after: after.take(),
                backwards: false,
            };
            let rows: Vec<StoredRow<WebhookPost>> = self.list(&pk, "", &page).await?;
            let found = rows.iter().filter(|row| holds(&row.value));
            let found: Vec<_> = found.map(|row| row.key.clone()).collect();
            self.delete_many(&found).await?;
            erased += found.len();
            after = rows.last().map(|row| row.key.sk.clone());
            if rows.len() < PAGE || after.is_none() {
                return Ok(erased);
            }
        }
    }
}
