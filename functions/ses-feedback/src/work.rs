//! Turns a batch of queue messages into events.

use std::time::Duration;

use posthaste_blob::BlobError;
use posthaste_model::{Event, EventKind, Masked};
use posthaste_queue::{
    BatchResult, BounceMail, Disposition, EventBatch, JobError, QueueError, SqsEvent, SqsMessage,
    gather, is_repeat,
};
use posthaste_store::StoreError;
use serde::Deserialize;
use serde_json::Value;

use crate::App;
use crate::leave;
use crate::ses::Bridged;
use crate::tell::{Untold, tell};
use crate::word::SesFeedback;

/// An error that a later run of the same message may resolve.
#[derive(Debug, thiserror::Error)]
enum WorkError {
    #[error(transparent)]
    Untold(#[from] Untold),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Blob(#[from] BlobError),
    #[error(transparent)]
    Queue(#[from] QueueError),
    #[error("the events have no form on the queue: {0}")]
    Job(#[from] JobError),
    /// It goes to the dead letters, where a release that can read it picks it up.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
}

impl WorkError {
    /// Whether the error is transient.
    fn verdict(&self) -> Disposition {
        match self {
            Self::Job(_) | Self::Unreadable(_) => Disposition::Fail,
            Self::Store(error) | Self::Untold(Untold::Store(error)) if !error.is_transient() => {
                Disposition::Fail
            }
            Self::Store(_) | Self::Untold(_) | Self::Blob(_) | Self::Queue(_) => Disposition::Retry,
        }
    }
}

/// The result of a message.
#[derive(Default)]
struct Done {
    event: Option<Event>,
    /// A raw mail that is no longer needed.
    blob: Option<String>,
}

/// A mail that SES has stored in the bucket, as announced by the topic of the receipt rule.
#[derive(Deserialize)]
struct SesNotice {
    #[serde(default)]
    mail: ReceivedMail,
    receipt: Receipt,
}

#[derive(Default, Deserialize)]
struct ReceivedMail {
    #[serde(default)]
    source: String,
}

#[derive(Deserialize)]
struct Receipt {
    recipients: Vec<String>,
    action: ReceiptAction,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReceiptAction {
    object_key: String,
}

/// Handles a batch of the feedback queue.
pub async fn handle(app: &App, event: &SqsEvent) -> BatchResult {
    let ends = gather(event, app.at_once, |record| work(app, record)).await;
    let (mut result, mut done) = (BatchResult::default(), Vec::new());
    let (mut events, mut blobs) = (Vec::new(), Vec::new());
    for (id, end) in ends {
        match end {
            Some(Ok(end)) => {
                events.extend(end.event);
                blobs.extend(end.blob);
                done.push(id);
            }
            Some(Err(WorkError::Untold(Untold::Early))) => {
                tracing::info!("feedback came before its copy was handed over; it waits");
                result.add(id, Disposition::Retry);
            }
            Some(Err(trouble)) => {
                tracing::error!(error = %trouble, "feedback must wait: {trouble}");
                result.add(id, trouble.verdict());
            }
            None => result.add(id, Disposition::Fail),
        }
    }
    // Published once for the whole batch. If that fails, the messages are retried and publish
    // again.
    if let Err(trouble) = publish(app, &events).await {
        tracing::error!(error = %trouble, "events could not be queued: {trouble}");
        for id in done {
            result.add(id, trouble.verdict());
        }
        return result;
    }
    for blob in blobs {
        if let Err(error) = app.blob.delete(&blob).await {
            // It is not read again, and the bucket's lifecycle rule deletes it.
            tracing::warn!(error = %error, "a mail that was read could not be deleted: {error}");
        }
    }
    result
}

async fn publish(app: &App, events: &[Event]) -> Result<(), WorkError> {
    if events.is_empty() {
        return Ok(());
    }
    // Suppressions first: both writes can be repeated, neither may be skipped.
    app.store.apply_suppressions(events).await?;
    let texts = EventBatch::to_texts(events)?;
    let messages = texts.into_iter().map(|text| (text, Duration::ZERO));
    app.events.send_all(messages.collect()).await?;
    let [delivered, deferred, bounced, dropped, spam_reports] = [
        EventKind::Delivered,
        EventKind::Deferred,
        EventKind::Bounce,
        EventKind::Dropped,
        EventKind::SpamReport,
    ]
    .map(|kind| events.iter().filter(|event| event.kind == kind).count());
    // With the metric names that delivery uses: with SES the outcome of a mail is known only here.
    tracing::info!(
        target: "metrics",
        feedback_events = events.len(), delivered, deferred, bounced, dropped, spam_reports
    );
    Ok(())
}

async fn work(app: &App, record: &SqsMessage) -> Result<Done, WorkError> {
    let text = record.body.as_deref().unwrap_or_default();
    let again = is_repeat(record);
    let Some((word, blob)) = read(app, text).await? else {
        return Ok(Done::default());
    };
    let Some(word) = word else {
        return Ok(Done { event: None, blob });
    };
    let event = tell(app, &word, again).await?;
    if let Some(event) = &event {
        let (who, message) = (Masked(&event.email), &word.message);
        tracing::debug!(message.id = %message, "{} told of message {message} to {who}", event.kind.wire());
    }
    Ok(Done { event, blob })
}

/// The feedback in a message, and the raw mail it named; `None` when that was read before.
async fn read(
    app: &App,
    text: &str,
) -> Result<Option<(Option<SesFeedback>, Option<String>)>, WorkError> {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    if value
        .get("source")
        .is_some_and(|source| source == "aws.ses")
    {
        let bridged = Bridged::deserialize(&value);
        let bridged = bridged.map_err(|error| WorkError::Unreadable(error.to_string()))?;
        return Ok(Some((bridged.word(app.clock.now()), None)));
    }
    let mail = match SesNotice::deserialize(&value) {
        Ok(notice) => BounceMail {
            v: 1,
            blob: notice.receipt.action.object_key,
            from: notice.mail.source,
            to: notice.receipt.recipients,
        },
        Err(_) => {
            BounceMail::from_text(text).map_err(|error| WorkError::Unreadable(error.to_string()))?
        }
    };
    let raw = match app.blob.get(&mail.blob).await {
        Ok(raw) => raw,
        // Read by an earlier run of the same message.
        Err(BlobError::Missing(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let now = app.clock.now();
    let word = match mail.to.iter().any(|address| leave::is_meant(app, address)) {
        true => leave::word(app, &raw, now).await?,
        false => {
            let read = || crate::mail::word(app, (&mail.from, &mail.to), &raw, now);
            posthaste_offload::run(raw.len(), read).await
        }
    };
    if word.is_none() {
        let from = Masked(&mail.from);
        tracing::debug!(
            "a mail from {from} to the bounce domain is no report about a mail of ours"
        );
    }
    Ok(Some((word, Some(mail.blob))))
}
