//! Turns a batch of queue messages into events.

use std::time::Duration;

use posthaste_blob::BlobError;
use posthaste_metrics::Metric;
use posthaste_model::{Event, EventKind, Masked};
use posthaste_queue::{
    BatchResult, BounceMail, Disposition, EventBatch, SesReceipt, SnsContent, SqsEvent, SqsMessage,
    gather, is_repeat,
};
use posthaste_runtime::WorkError;
use serde::Deserialize;
use serde_json::Value;

use crate::App;
use crate::ask;
use crate::feedback::SesFeedback;
use crate::leave;
use crate::record::record;
use crate::sending_status;
use crate::ses::SesEvent;

/// The result of a message.
#[derive(Default)]
struct Done {
    event: Option<Event>,
    /// A raw mail that is no longer needed.
    blob: Option<String>,
}

/// Handles a batch of the feedback queue.
pub async fn handle(app: &App, event: &SqsEvent) -> BatchResult {
    let ends = gather(event, app.concurrency, |message| work(app, message)).await;
    let (mut result, mut done) = (BatchResult::default(), Vec::new());
    let (mut events, mut blobs) = (Vec::new(), Vec::new());
    for (id, end) in ends {
        match end {
            Some(Ok(end)) => {
                events.extend(end.event);
                blobs.extend(end.blob);
                done.push(id);
            }
            Some(Err(WorkError::Busy)) => {
                tracing::info!(
                    "feedback waits: its copy is being handed over, or SES is asked too often"
                );
                result.add(id, Disposition::Retry);
            }
            Some(Err(error)) => {
                tracing::error!(error = %error, "feedback could not be processed: {error}");
                result.add(id, error.disposition());
            }
            None => result.add(id, Disposition::Fail),
        }
    }
    // Published once for the whole batch. If that fails, the messages are retried and publish
    // again.
    if let Err(error) = publish(app, &events).await {
        tracing::error!(error = %error, "events could not be queued: {error}");
        for id in done {
            result.add(id, error.disposition());
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
    let of = |kind| events.iter().filter(|event| event.kind == kind).count();
    // With the metric names that delivery uses: with SES the outcome of a mail is known only here.
    posthaste_metrics::record(&[
        Metric::FeedbackEvents.of(events.len()),
        Metric::Delivered.of(of(EventKind::Delivered)),
        Metric::Deferred.of(of(EventKind::Deferred)),
        Metric::Bounced.of(of(EventKind::Bounce)),
        Metric::Dropped.of(of(EventKind::Dropped)),
        Metric::SpamReports.of(of(EventKind::SpamReport)),
    ]);
    Ok(())
}

async fn work(app: &App, delivered: &SqsMessage) -> Result<Done, WorkError> {
    let text = delivered.body.as_deref().unwrap_or_default();
    let again = is_repeat(delivered);
    let ReadMessage { feedback, blob } = read(app, text).await?;
    let Some(word) = feedback else {
        return Ok(Done { event: None, blob });
    };
    let event = record(app, &word, again).await?;
    if let Some(event) = &event {
        let (who, message) = (Masked(&event.email), &word.message);
        tracing::debug!(message.id = %message, "feedback {} about message {message} to {who}", event.kind.wire());
    }
    Ok(Done { event, blob })
}

/// What a message contains.
#[derive(Default)]
struct ReadMessage {
    feedback: Option<SesFeedback>,
    /// The raw mail that the message names.
    blob: Option<String>,
}

/// Reads a message: an event of SES, a mail to the bounce domain, or an announcement of AWS.
///
/// What is none of these is logged and not retried: every retry would end the same, and only as a
/// dead letter with an alarm. An event or a job of a known kind that cannot be read is an error.
async fn read(app: &App, text: &str) -> Result<ReadMessage, WorkError> {
    let unreadable = |error: serde_json::Error| WorkError::Unreadable(error.to_string());
    let text = match SnsContent::read(text) {
        SnsContent::Message(text) => text,
        SnsContent::Announcement(kind) => {
            tracing::info!("an announcement of AWS on the feedback queue: {kind}");
            return Ok(ReadMessage::default());
        }
    };
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    if sending_status::read(&value) {
        return Ok(ReadMessage::default());
    }
    if let Some(event) = SesEvent::in_message(&value) {
        return Ok(ReadMessage {
            feedback: event.map_err(unreadable)?.feedback(app.clock.now()),
            blob: None,
        });
    }
    if value.get("ses_message").is_some() {
        ask::ask(app, &text).await?;
        return Ok(ReadMessage::default());
    }
    // Every job of this service has a version, those of later releases too.
    let own = value.get("v").or(value.get("blob"));
    let mail = match (value.get("receipt"), own) {
        (Some(_), _) => bounce_mail(SesReceipt::deserialize(&value).map_err(unreadable)?),
        (None, Some(_)) => BounceMail::from_text(&text)?,
        (None, None) => {
            tracing::warn!(
                "a message of {} bytes on the feedback queue is of no known type; it is dropped",
                text.len()
            );
            return Ok(ReadMessage::default());
        }
    };
    let _alone = app.mail_in_memory.lock().await;
    let raw = match app.blob.get(&mail.blob).await {
        Ok(raw) => raw,
        // Read by an earlier run of the same message.
        Err(BlobError::Missing(_)) => return Ok(ReadMessage::default()),
        Err(error) => return Err(error.into()),
    };
    let now = app.clock.now();
    let feedback = if mail.to.iter().any(|address| leave::is_meant(app, address)) {
        leave::word(app, &raw, now).await?
    } else {
        let read = || crate::mail::word(app, &mail.from, &mail.to, &raw, now);
        posthaste_offload::run(raw.len(), read).await
    };
    if feedback.is_none() {
        let from = Masked(&mail.from);
        tracing::debug!(
            "a mail from {from} to the bounce domain reports nothing about a mail of this service"
        );
    }
    Ok(ReadMessage {
        feedback,
        blob: Some(mail.blob),
    })
}

fn bounce_mail(receipt: SesReceipt) -> BounceMail {
    BounceMail {
        v: 1,
        blob: receipt.object_key,
        from: receipt.source,
        to: receipt.recipients,
    }
}
