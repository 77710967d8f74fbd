//! `DELETE /v3/messages/recipients/{email}`, an extension: erases the stored data of one address,
//! which are copies of mails with their events, search rows (also of scheduled mail), undelivered
//! events and received mails, bodies of large mails; and every requested download, because a query
//! may name the address.
//!
//! The table has no index of addresses when the search is off, so it is scanned page by page; the
//! position is stored in the table, and the next run continues from there. Mail in progress is
//! skipped: its job holds the address, and would write it again. Suppression list entries stay
//! unless requested, because they keep the person from receiving mail.
//!
//! Data in queues cannot be found; a mark of the erasure applies when it would be stored: events
//! that wait for a webhook do not become dead letters, and scheduled mail is sent, but its rows are
//! stored no longer than its jobs (six days). The mark holds no address, and expires after eight
//! days.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use futures_util::future::BoxFuture;
use posthaste_blob::{Blob, BlobError};
use posthaste_http::{Caller, PathParams, Query, Rejection};
use posthaste_model::{AccountId, EmailAddress, Masked, Timestamp};
use posthaste_queue::{Inbound, JobError, WebhookRetry};
use posthaste_store::{
    CopyState, CopyTrace, DeadLetter, DeadLetterFilter, Store, StoreError, StoredRow, WebhookPost,
};
use serde_json::json;

use crate::App;

/// Seconds after which no job of a mail can remain: scheduled 72 hours ahead, and retried for 72
/// more.
const OVER: i64 = 6 * 86_400;

/// Rows read at a time.
const LOT: usize = 100;

/// Why an erasure stopped. The next call resumes it.
#[derive(Debug, thiserror::Error)]
pub enum Unerased {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Blob(#[from] BlobError),
    #[error("events that no webhook took cannot be read: {0}")]
    Job(#[from] JobError),
    #[error("{0}")]
    Elsewhere(String),
}

/// One address of one account, to be erased.
#[derive(Clone, Copy)]
pub struct Eraser<'a> {
    pub store: &'a Store,
    pub blob: &'a Blob,
    pub account: &'a AccountId,
    pub address: &'a EmailAddress,
    /// Whether to remove it from the suppression lists too.
    pub suppressions: bool,
    /// What a host stores beside the table and the bucket.
    pub elsewhere: Option<&'a OtherStore>,
}

/// Erases an address of an account from what a host stores beside the table and the bucket, and returns how
/// much was erased: the mailbox of the local host.
#[derive(Clone)]
pub struct OtherStore(Arc<EraseAddress>);

type EraseAddress =
    dyn Fn(AccountId, EmailAddress) -> BoxFuture<'static, Result<usize, String>> + Send + Sync;

impl OtherStore {
    /// Wraps the function that erases.
    pub fn new(
        erase: impl Fn(AccountId, EmailAddress) -> BoxFuture<'static, Result<usize, String>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self(Arc::new(erase))
    }
}

impl std::fmt::Debug for OtherStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OtherStore(…)")
    }
}

/// The progress of an erasure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Rows and bodies that this run has deleted or changed.
    pub erased: usize,
    /// Mails to the address that have not ended.
    pub under_way: usize,
    /// Whether the whole table was looked through.
    pub complete: bool,
}

impl Eraser<'_> {
    /// Erases what can be found at once, then scans `pages` pages of the table.
    pub async fn run(&self, now: Timestamp, pages: usize) -> Result<Progress, Unerased> {
        let mut progress = Progress::default();
        let folded = self.address.folded();
        // First, so that dead letters stored from now on respect the mark.
        self.store.mark_erased(self.account, &folded, now).await?;
        progress.erased += self.letters().await?;
        progress.erased += self.posts().await?;
        progress.erased += self.lost_mails().await?;
        if let Some(OtherStore(erase)) = self.elsewhere {
            let erased = erase(self.account.clone(), self.address.clone()).await;
            progress.erased += erased.map_err(Unerased::Elsewhere)?;
        }
        if self.suppressions {
            progress.erased += self.lists(&folded).await?;
        }
        progress.erased += self.store.forget_downloads(self.account).await?;
        // Found at once by the search, where it was on; the rest by looking at everything.
        let known = self.store.unindex(self.account, &folded).await?;
        progress.erased += known.len();
        for (message, recipient) in known {
            let trace = self.store.trace(self.account, &message, recipient).await?;
            if let Some(trace) = trace {
                progress.erased += self.copy(&trace, now).await?.unwrap_or(0);
            }
        }
        for _ in 0..pages {
            let page = self.store.look_through(self.account, &folded).await?;
            let mut left = page.left;
            for listing in &page.listings {
                progress.erased += self.store.unlist_waiting(listing, &folded).await?;
            }
            for trace in &page.found {
                match self.copy(trace, now).await? {
                    Some(erased) => progress.erased += erased,
                    None => left += 1,
                }
            }
            progress.under_way = left;
            self.store
                .looked_through(self.account, &folded, (&page, left), now)
                .await?;
            if page.is_last() {
                progress.complete = true;
                break;
            }
        }
        Ok(progress)
    }

    /// Erases a copy and returns the number of rows; `None` when it is in progress.
    async fn copy(&self, trace: &CopyTrace, now: Timestamp) -> Result<Option<usize>, Unerased> {
        let over = now.since(trace.accepted_at) >= OVER;
        if !over && matches!(trace.state, CopyState::Claimed | CopyState::Deferred) {
            return Ok(None);
        }
        let body = format!("mail/{}/{}", self.account, trace.message);
        if over {
            self.blob.delete(&body).await?;
        } else if self.blob.has(&body).await? {
            // Jobs of its other recipients may still need it.
            return Ok(None);
        }
        let (message, recipient) = (&trace.message, trace.recipient);
        let erased = self.store.forget_copy(self.account, message, recipient);
        Ok(Some(erased.await?))
    }

    /// Removes the address's events from the dead letters.
    async fn letters(&self) -> Result<usize, Unerased> {
        let mut wanted = DeadLetterFilter {
            limit: LOT,
            ..DeadLetterFilter::default()
        };
        let mut changed = 0;
        loop {
            let rows = self.store.dead_letters(self.account, &wanted).await?;
            for row in &rows {
                changed += usize::from(self.letter(row).await?);
            }
            match rows.last() {
                Some(last) => wanted.after = Some(last.key.sk.clone()),
                None => return Ok(changed),
            }
        }
    }

    /// Whether the letter held an event of the address.
    async fn letter(&self, row: &StoredRow<DeadLetter>) -> Result<bool, Unerased> {
        let letter = &row.value;
        let mut inside = WebhookRetry::from_text(&letter.message)?;
        let before = inside.events.len();
        inside.events.retain(|event| !self.is(&event.email));
        if inside.events.len() == before {
            return Ok(false);
        }
        // The new ones first: a failure in between leaves the old one for the next run.
        for message in inside.to_texts()? {
            let part = WebhookRetry::from_text(&message)?;
            let rest = DeadLetter {
                events: u32::try_from(part.events.len()).unwrap_or(u32::MAX),
                message,
                ..letter.clone()
            };
            self.store.rebury(&row.key, &rest).await?;
        }
        self.store
            .delete_dead_letters(std::slice::from_ref(&row.key))
            .await?;
        Ok(true)
    }

    /// Erases posts to webhooks that held an event of the address.
    async fn posts(&self) -> Result<usize, Unerased> {
        let holds = |post: &WebhookPost| match WebhookRetry::from_text(&post.message) {
            Ok(inside) => inside.events.iter().any(|event| self.is(&event.email)),
            Err(_) => true,
        };
        Ok(self.store.erase_posts(self.account, holds).await?)
    }

    /// Erases received mails in the dead letters, from the address or to it.
    async fn lost_mails(&self) -> Result<usize, Unerased> {
        let (mut after, mut forgotten) = (None, 0);
        loop {
            let rows = self.store.lost_mails(self.account, after, LOT).await?;
            after = rows.last().map(|row| row.key.sk.clone());
            if after.is_none() {
                return Ok(forgotten);
            }
            for row in rows {
                let Ok(job) = Inbound::from_text(&row.value.job) else {
                    continue;
                };
                if self.is(&job.from) || self.is(&job.to) {
                    let last = !job.shared || self.store.release_raw(&job.blob, &job.id).await?;
                    if last {
                        self.blob.delete(&job.blob).await?;
                    }
                    self.store.forget_lost_mail(&row).await?;
                    forgotten += 1;
                }
            }
        }
    }

    /// Removes the address from every list.
    async fn lists(&self, folded: &str) -> Result<usize, Unerased> {
        let gone = self.store.unsuppress_everywhere(self.account, folded);
        Ok(gone.await?)
    }

    fn is(&self, text: &str) -> bool {
        EmailAddress::parse_stored(text).is_ok_and(|other| other.folded() == self.address.folded())
    }
}

/// Pages of the table that one call looks through, 1 MB each: some seconds.
const PAGES: usize = 20;

/// 204 when nothing is left; 202 with the remainder, and then the client repeats the call.
pub(crate) async fn forget(
    State(app): State<App>,
    caller: Caller,
    PathParams(email): PathParams<String>,
    query: Query,
) -> Result<Response, Rejection> {
    let address = EmailAddress::parse_stored(&email);
    let address = address.map_err(|_| Rejection::on("email", "the email is not an address"))?;
    let eraser = Eraser {
        store: &app.store,
        blob: &app.blob,
        account: caller.id(),
        address: &address,
        suppressions: query.checked(|query| query.flag("suppressions"))?,
        elsewhere: app.elsewhere.as_ref(),
    };
    let done = eraser.run(app.clock.now(), PAGES).await;
    let progress = done.map_err(|error: Unerased| Rejection::unavailable(&error))?;
    let who = Masked(&email);
    tracing::info!(account.id = %caller.id(), "{} rows of {who} were erased", progress.erased);
    Ok(answer(&progress))
}

fn answer(progress: &Progress) -> Response {
    let message = match progress {
        Progress {
            complete: false, ..
        } => "The rest of the table is still to be looked through. Send the request again.",
        Progress { under_way: 0, .. } => return StatusCode::NO_CONTENT.into_response(),
        _ => {
            "Mails to this address are still under way. Send the request again when they have \
             ended, at most six days from now."
        }
    };
    let body = json!({
        "status": "pending",
        "message": message,
        "erased": progress.erased,
        "under_way": progress.under_way,
    });
    (StatusCode::ACCEPTED, Json(body)).into_response()
}
