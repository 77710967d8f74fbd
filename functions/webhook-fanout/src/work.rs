//! Splits a batch of queue messages into pieces of work and reports their results to the queue.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;

use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _};
use posthaste_model::{AccountId, Event, Timestamp};
use posthaste_queue::{BatchResult, Disposition, EventBatch, SqsEvent, WebhookRetry};

use crate::{App, record};

/// New events of one account, and the messages that contained them.
#[derive(Default)]
struct AccountEvents {
    events: Vec<Event>,
    messages: BTreeSet<usize>,
}

/// Events that wait for one webhook after the same number of attempts, and the messages that
/// contained them. They are posted together: a slow webhook gets one post at a time.
struct Waiting {
    undelivered: WebhookRetry,
    messages: BTreeSet<usize>,
}

/// One piece of work and the messages that depend on it.
struct Piece<'a> {
    messages: BTreeSet<usize>,
    run: BoxFuture<'a, Disposition>,
}

/// Handles a batch of either queue. A message is deleted once its events have been accepted by
/// their webhooks and recorded, or stored on the retry queue or as dead letters.
pub async fn handle(app: &App, event: &SqsEvent) -> BatchResult {
    let mut new_events: BTreeMap<AccountId, AccountEvents> = BTreeMap::new();
    let mut retries: Vec<Waiting> = Vec::new();
    let mut pieces = Vec::new();
    let mut dispositions = BTreeMap::new();
    for (i, record) in event.records.iter().enumerate() {
        let text = record.body.as_deref().unwrap_or_default();
        match EventBatch::from_text(text) {
            Ok(batch) => {
                for event in batch.events {
                    let of_account = new_events.entry(event.account.clone()).or_default();
                    of_account.events.push(event);
                    of_account.messages.insert(i);
                }
            }
            Err(no_events) => match WebhookRetry::from_text(text) {
                Ok(undelivered) => join(&mut retries, undelivered, i, app.clock.now()),
                Err(no_retry) => match record::read(text) {
                    Some(events) => pieces.push(Piece {
                        messages: BTreeSet::from([i]),
                        run: record::again(app, events).boxed(),
                    }),
                    // It goes to the dead letters, where a release that can read it picks it up.
                    None => {
                        tracing::error!("an event message cannot be read: {no_events}; {no_retry}");
                        dispositions.insert(i, Disposition::Fail);
                    }
                },
            },
        }
    }
    for Waiting {
        undelivered,
        messages,
    } in retries
    {
        pieces.push(Piece {
            messages,
            run: crate::dispatch::retry(app, undelivered).boxed(),
        });
    }
    for (account, AccountEvents { events, messages }) in new_events {
        pieces.push(Piece {
            messages,
            run: crate::dispatch::dispatch(app, account, events).boxed(),
        });
    }
    for (i, disposition) in run(app, pieces).await {
        let known = dispositions.entry(i).or_insert(Disposition::Done);
        *known = known.and(disposition);
    }
    let mut result = BatchResult::default();
    for (i, record) in event.records.iter().enumerate() {
        let disposition = dispositions.get(&i).copied().unwrap_or(Disposition::Done);
        result.add(record.message_id.clone().unwrap_or_default(), disposition);
    }
    result
}

/// Merges message `i` with entries it can be posted with. Entries that must wait stay separate.
fn join(retries: &mut Vec<Waiting>, undelivered: WebhookRetry, i: usize, now: Timestamp) {
    let new = &undelivered.retry;
    let same = retries.iter_mut().find(|waiting| {
        let old = &waiting.undelivered.retry;
        let together =
            old.account == new.account && old.webhook == new.webhook && old.attempt == new.attempt;
        together && old.not_before <= now && new.not_before <= now
    });
    match same {
        Some(waiting) => {
            waiting.undelivered.events.extend(undelivered.events);
            waiting.messages.insert(i);
        }
        None => retries.push(Waiting {
            undelivered,
            messages: BTreeSet::from([i]),
        }),
    }
}

/// The results of the pieces, by message position. A panic in one piece does not affect the others.
async fn run(app: &App, pieces: Vec<Piece<'_>>) -> Vec<(usize, Disposition)> {
    // Collected up front: a lazy stream would have a type that callers cannot send.
    let running: Vec<_> = pieces.into_iter().map(end).collect();
    let ends = futures_util::stream::iter(running).buffer_unordered(app.concurrency.max(1));
    ends.collect::<Vec<_>>()
        .await
        .into_iter()
        .flatten()
        .collect()
}

/// The results of a piece's messages.
async fn end(piece: Piece<'_>) -> Vec<(usize, Disposition)> {
    let ended = AssertUnwindSafe(piece.run).catch_unwind().await;
    let disposition = ended.unwrap_or_else(|_| {
        tracing::error!("a post panicked; its events are retried");
        Disposition::Fail
    });
    piece
        .messages
        .into_iter()
        .map(|i| (i, disposition))
        .collect()
}
