//! Records events besides posting them: statistics, visits, notices by mail, search rows.
//!
//! Recording runs after the posts, and a failure does not return the events to the queue, which
//! would post them twice: what could not be written goes to the retry queue separately. Writing is
//! idempotent, except for the counters of a batch that is split because it exceeds one queue
//! message (24 KB) and whose first count was written but not acknowledged.

use std::time::Duration;

use futures_util::join;
use posthaste_metrics::Metric;
use posthaste_model::{AccountId, Event};
use posthaste_queue::{Disposition, EventBatch, JobError};
use posthaste_runtime::WorkError;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::App;
use crate::{count, forward};

/// The delay before a failed write is retried.
const PAUSE: Duration = Duration::from_secs(60);

/// A message of the retries queue with events that are not recorded yet.
#[derive(Deserialize, Serialize)]
struct UnrecordedEvents<T> {
    unrecorded: T,
}

/// Writes everything now, or queues it for later.
pub(crate) async fn record(app: &App, account: &AccountId, events: &[Event]) -> Disposition {
    match Box::pin(write(app, account, events)).await {
        Disposition::Done => Disposition::Done,
        // Also permanent failures: posting the events again would not help.
        Disposition::Retry | Disposition::Fail => later(app, account, events).await,
    }
}

/// Writes events whose recording was deferred.
pub(crate) async fn again(app: &App, events: Vec<Event>) -> Disposition {
    // They were deferred by account.
    match events.first() {
        Some(first) => Box::pin(write(app, &first.account, &events)).await,
        None => Disposition::Done,
    }
}

async fn write(app: &App, account: &AccountId, events: &[Event]) -> Disposition {
    let observed = async {
        if let Some(observer) = &app.observer {
            observer.happened(events).await;
        }
    };
    let (counted, forwarded, indexed, ()) = join!(
        count::work(app, account, events),
        forward::work(app, account, events),
        index(app, account, events),
        observed,
    );
    counted.and(forwarded).and(indexed)
}

async fn later(app: &App, account: &AccountId, events: &[Event]) -> Disposition {
    let texts = match to_texts(events) {
        Ok(texts) => texts,
        Err(error) => {
            tracing::error!("events cannot be written to the queue: {error}");
            return Disposition::Fail;
        }
    };
    let messages = texts.into_iter().map(|text| (text, PAUSE)).collect();
    match app.retries.send_all(messages).await {
        Ok(()) => Disposition::Done,
        Err(error) => {
            tracing::error!(account.id = %account, "events of account {account} could not be queued for recording: {error}");
            Disposition::Retry
        }
    }
}

fn to_texts(events: &[Event]) -> Result<Vec<String>, JobError> {
    let batches = EventBatch::to_texts(events)?.into_iter();
    let texts = batches.map(|batch| {
        let unrecorded = RawValue::from_string(batch)?;
        Ok::<_, JobError>(serde_json::to_string(&UnrecordedEvents { unrecorded })?)
    });
    texts.collect()
}

/// The events of a deferred message; `None` for any other message.
pub(crate) fn read(text: &str) -> Option<Vec<Event>> {
    let message: UnrecordedEvents<&RawValue> = serde_json::from_str(text).ok()?;
    let batch = EventBatch::from_text(message.unrecorded.get());
    Some(batch.ok()?.events)
}

/// Writes the search rows, if the deployment enables the search. A separate metric shows their
/// cost.
async fn index(app: &App, account: &AccountId, events: &[Event]) -> Disposition {
    let Some(retention) = app.searchable else {
        return Disposition::Done;
    };
    match app.store.index(account, events, retention).await {
        Ok(rows) => {
            posthaste_metrics::record(&[Metric::SearchRows.of(rows)]);
            Disposition::Done
        }
        Err(error) => {
            tracing::error!(account.id = %account, "search rows of account {account} could not be written: {error}");
            WorkError::from(error).disposition()
        }
    }
}

#[cfg(test)]
mod tests {
    use posthaste_model::{EventKind, Timestamp};

    use super::*;

    #[test]
    fn what_is_put_off_comes_back_and_is_no_news() {
        let account = AccountId::from_bytes([7; 10]);
        let event = |n: usize| {
            let (id, email) = (format!("id-{n}"), "a@b.co".to_owned());
            Event::new(id, account.clone(), EventKind::Open, Timestamp(1), email)
        };
        let events: Vec<_> = (0..500).map(event).collect();
        let texts = to_texts(&events).unwrap();
        assert!(texts.len() > 1);
        assert!(
            texts
                .iter()
                .all(|text| EventBatch::from_text(text).is_err())
        );
        let back: Vec<_> = texts.iter().flat_map(|text| read(text).unwrap()).collect();
        assert_eq!(back, events);
        let batches = EventBatch::to_texts(&events).unwrap();
        for other in [batches.first().unwrap().as_str(), "", "{}", "[]"] {
            assert_eq!(read(other), None, "{other}");
        }
        let newer = texts.first().unwrap().replacen("\"v\":1", "\"v\":9", 1);
        assert_eq!(read(&newer), None);
    }
}
