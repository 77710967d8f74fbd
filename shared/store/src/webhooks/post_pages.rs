//! Pages of the posts to an account's webhooks, the latest first, and single posts by their id.

use std::collections::VecDeque;
use std::fmt;

use futures_util::future::try_join_all;
use posthaste_model::{AccountId, Timestamp, WebhookId};

use super::posts::WebhookPost;
use crate::key::Key;
use crate::table::{PageQuery, Store, StoreError, StoredRow};

/// Posts of one webhook and one end that are read at a time: a post may have 60 KB.
const CHUNK: usize = 25;

/// Posts that one page looks at, whatever the filter passes over.
const MOST_READ: usize = 500;

/// The id of a stored post: `WEBHOOK.A.SECOND.HASH`, where `A` is `F` of a post that failed. Safe in a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostId {
    webhook: WebhookId,
    is_accepted: bool,
    at: Timestamp,
    hash: String,
}

impl PostId {
    /// Reads an id from external input.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let webhook = WebhookId::parse(parts.next()?).ok()?;
        let is_accepted = match parts.next()? {
            "A" => true,
            "F" => false,
            _ => return None,
        };
        let at = parts.next()?;
        let hash = parts.next()?;
        let is_number = at.len() == 12 && at.bytes().all(|byte| byte.is_ascii_digit());
        let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let is_hash = hash.len() == 16 && hash.bytes().all(is_safe);
        if !is_number || !is_hash || parts.next().is_some() {
            return None;
        }
        Some(Self {
            webhook,
            is_accepted,
            at: Timestamp(at.parse().ok()?),
            hash: hash.to_owned(),
        })
    }

    /// Of the post with this sort key.
    fn of_sk(sk: &str) -> Option<Self> {
        Self::parse(&sk.replace('#', "."))
    }

    fn sk(&self) -> String {
        self.to_string().replace('.', "#")
    }

    fn prefix(&self) -> String {
        WebhookPost::prefix(&self.webhook, self.is_accepted)
    }
}

impl fmt::Display for PostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = if self.is_accepted { 'A' } else { 'F' };
        write!(f, "{}.{end}.{:012}.{}", self.webhook, self.at.0, self.hash)
    }
}

/// Which posts to list.
#[derive(Clone, Debug, Default)]
pub struct PostFilter {
    /// The webhooks, in any order.
    pub webhooks: Vec<WebhookId>,
    /// Only posts that were accepted, or only those that failed.
    pub accepted: Option<bool>,
    /// Only posts of this second or later.
    pub since: Option<Timestamp>,
    /// Only posts of this second or earlier.
    pub until: Option<Timestamp>,
    /// Only posts after this one, in the order of the list.
    pub after: Option<PostId>,
    /// At most this many posts.
    pub limit: usize,
}

/// Some posts, the latest first.
#[derive(Clone, Debug)]
pub struct PostPage {
    pub posts: Vec<(PostId, WebhookPost)>,
    /// Where the next page begins; `None` at the end. A page may hold fewer posts than were asked for, even none,
    /// and have one after it: what a page looks at is bounded.
    pub next: Option<PostId>,
}

/// The posts of one webhook that were accepted, or those that failed.
struct PostSource {
    prefix: String,
    /// The sort key to continue after, backwards.
    after: Option<String>,
    read: VecDeque<StoredRow<WebhookPost>>,
    is_over: bool,
}

impl PostSource {
    fn new(prefix: String, filter: &PostFilter) -> Self {
        // Sort keys of the second have more behind it: reading backwards from the bare second leaves it out.
        let before = |second: i64| format!("{prefix}{:012}", second.max(0));
        let until = filter.until.map(|until| before(until.0.saturating_add(1)));
        let after = filter.after.as_ref().map(|last| {
            let own = last.prefix();
            match prefix.cmp(&own) {
                std::cmp::Ordering::Equal => last.sk(),
                // At the same second the larger sort key comes first.
                std::cmp::Ordering::Less => before(last.at.0.saturating_add(1)),
                std::cmp::Ordering::Greater => before(last.at.0),
            }
        });
        let after = match (until, after) {
            (Some(until), Some(after)) => Some(until.min(after)),
            (one, other) => one.or(other),
        };
        Self {
            prefix,
            after,
            read: VecDeque::new(),
            is_over: false,
        }
    }

    /// Reads more, where nothing is left of what was read before.
    async fn fill(&mut self, store: &Store, pk: &str) -> Result<(), StoreError> {
        if self.is_over || !self.read.is_empty() {
            return Ok(());
        }
        let page = PageQuery {
            limit: CHUNK,
            after: self.after.take(),
            backwards: true,
        };
        let rows: Vec<StoredRow<WebhookPost>> = store.list(pk, &self.prefix, &page).await?;
        self.is_over = rows.len() < CHUNK;
        self.after = rows.last().map(|row| row.key.sk.clone());
        self.read.extend(rows);
        Ok(())
    }
}

impl Store {
    /// A page of posts that `holds` lets through.
    pub async fn post_page(
        &self,
        account: &AccountId,
        filter: &PostFilter,
        holds: impl Fn(&WebhookPost) -> bool,
    ) -> Result<PostPage, StoreError> {
        let pk = Key::posts_pk(account);
        let mut sources: Vec<PostSource> = Vec::new();
        for webhook in &filter.webhooks {
            let ends = [true, false].into_iter();
            let ends = ends.filter(|end| filter.accepted.is_none_or(|only| only == *end));
            sources
                .extend(ends.map(|end| PostSource::new(WebhookPost::prefix(webhook, end), filter)));
        }
        let mut page = PostPage {
            posts: Vec::new(),
            next: None,
        };
        for _ in 0..MOST_READ {
            try_join_all(sources.iter_mut().map(|source| source.fill(self, &pk))).await?;
            let latest = sources
                .iter_mut()
                .filter(|source| !source.read.is_empty())
                .max_by_key(|source| {
                    source
                        .read
                        .front()
                        .map(|row| (row.value.at, row.key.sk.clone()))
                });
            let Some(row) = latest.and_then(|source| source.read.pop_front()) else {
                page.next = None;
                return Ok(page);
            };
            if filter.since.is_some_and(|since| row.value.at < since) {
                page.next = None;
                return Ok(page);
            }
            let Some(id) = PostId::of_sk(&row.key.sk) else {
                return Err(StoreError::Unreadable(row.key.sk));
            };
            page.next = Some(id.clone());
            if holds(&row.value) {
                page.posts.push((id, row.value));
            }
            if page.posts.len() >= filter.limit {
                break;
            }
        }
        Ok(page)
    }

    /// One post.
    pub async fn post(
        &self,
        account: &AccountId,
        id: &PostId,
    ) -> Result<Option<WebhookPost>, StoreError> {
        let key = Key::new(Key::posts_pk(account), id.sk());
        let row = self.get::<WebhookPost>(&key).await?;
        Ok(row.map(|row| row.value))
    }
}
