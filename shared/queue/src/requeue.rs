//! A worker's batch on SQS: jobs to retry are sent anew, and a job that may have ended a function
//! is tried alone.
//!
//! SQS counts every receive of a message, whatever its result, and hides a returned message for a
//! whole visibility time (half an hour for mail). So a job that only has to wait is sent anew to
//! its own queue, with a delay that grows from [`FIRST_DELAY`] to [`LONGEST_DELAY`] and a count of
//! its own in the attribute [`RETURNS`]; the message that was received is done. It uses up no
//! receive, and even the longest outage does not make it a dead letter. This costs one
//! `SendMessage` call for every ten jobs. If SQS does not accept it, the message stays, so that nothing is
//! lost, and is shown again in seconds by `ChangeMessageVisibility`. That uses up receives, so it is done for the
//! first [`SOON_RECEIVES`] of them alone: after these the message waits as long as the queue hides it, and is
//! no dead letter before an hour has passed. If the function ends after sending and before its answer, the
//! job exists twice, which its claims absorb as they absorb SQS's own duplicate deliveries.
//!
//! What has failed for good stays on the queue as the same message, since its receives are to count.
//! SQS would show it again only when its visibility ends, so that is set to a few seconds, which grow
//! with each receive (`ChangeMessageVisibility`): a cause that passes, such as a missing right, costs
//! a message seconds instead of half an hour, and what stays is a dead letter within a quarter of an
//! hour.
//!
//! A receive count above 1 then means that an earlier receive ended without an answer, or failed
//! for good. After the template's `maxReceiveCount` of these the message is a dead letter. Messages
//! in a batch with a job that ended the function are counted too; so that they do not become dead
//! letters with it, such suspects are isolated: the rest of the batch is handled and deleted first,
//! one suspect is tried alone, and the others are sent anew, each with a delay of its own and the
//! attribute [`SUSPECT`], which restarts their count. That happens once to a message, so that its
//! receives are bounded.

use std::collections::BTreeSet;

use aws_lambda_events::event::sqs::{BatchItemFailure, SqsBatchResponse, SqsEvent, SqsMessage};
use aws_sdk_sqs::Client;
use aws_sdk_sqs::error::BuildError;
use aws_sdk_sqs::types::{
    ChangeMessageVisibilityBatchRequestEntry, DeleteMessageBatchRequestEntry,
    MessageAttributeValue, MessageSystemAttributeNameForSends, MessageSystemAttributeValue,
    SendMessageBatchRequestEntry,
};
use futures_util::future::join_all;
use posthaste_metrics::Metric;
use posthaste_model::Entropy;

use crate::queue::{BATCH, chunks, group};
use crate::{BatchResult, LONGEST_DELAY, Queue, QueueError};

/// The attribute of a message that counts how often its job was sent anew.
pub const RETURNS: &str = "Returns";

/// The attribute of a message whose job was in progress when a function ended without an answer.
pub const SUSPECT: &str = "Suspect";

/// Seconds before the first retry of a job; each retry doubles them.
const FIRST_DELAY: u64 = 10;

/// The receives after which a job that could not be sent anew is shown soon: the template's `maxReceiveCount` is 5.
const SOON_RECEIVES: u32 = 3;

/// Seconds over which suspects are spread, so that they do not share a batch again.
const SPREAD: u64 = 60;

/// What the attributes add to a message: their names, types and values.
const ATTRIBUTES: usize = 64;

/// Whether the job was handed out before: an earlier receive ended without an answer, or returned
/// it.
pub fn is_repeat(record: &SqsMessage) -> bool {
    is_suspect(record) || returns(record) > 0
}

fn is_suspect(record: &SqsMessage) -> bool {
    let count = record.attributes.get("ApproximateReceiveCount");
    count.is_some_and(|count| count != "1") || is_marked(record)
}

fn is_marked(record: &SqsMessage) -> bool {
    record.message_attributes.contains_key(SUSPECT)
}

fn returns(record: &SqsMessage) -> u32 {
    let returns = record.message_attributes.get(RETURNS);
    let text = returns.and_then(|returns| returns.string_value.as_deref());
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Handles a batch that Lambda received from one of these queues, and returns Lambda's answer: the
/// messages that stay on the queue.
pub async fn handle_sqs(
    queues: &[&Queue],
    event: SqsEvent,
    entropy: &Entropy,
    handle: impl AsyncFn(&SqsEvent) -> BatchResult,
) -> SqsBatchResponse {
    let source = Source::of(queues, &event);
    let Some(source) = source else {
        let result = handle(&event).await;
        return response(result.unfinished().map(str::to_owned));
    };
    let is_alone = event.records.len() == 1;
    let (mut suspects, rest): (Vec<_>, Vec<_>) = event
        .records
        .into_iter()
        .partition(|record| !is_alone && is_suspect(record));
    let rest = batch(rest);
    let mut stay = Vec::new();
    if !rest.records.is_empty() {
        let result = handle(&rest).await;
        stay = source.settle(&rest, &result, entropy).await;
    }
    if !suspects.is_empty() {
        let one = usize::try_from(entropy.below(suspects.len() as u64)).unwrap_or(0);
        let tried = batch(vec![suspects.swap_remove(one)]);
        stay.extend(source.spread(&suspects, entropy).await);
        // If the function ends now, none of these was in progress.
        let kept = |record: &&SqsMessage| !stay.contains(&id(record));
        let gone = rest.records.iter().chain(&suspects).filter(kept);
        source.delete(gone).await;
        let result = handle(&tried).await;
        stay.extend(source.settle(&tried, &result, entropy).await);
    }
    response(stay)
}

fn batch(records: Vec<SqsMessage>) -> SqsEvent {
    let mut event = SqsEvent::default();
    event.records = records;
    event
}

fn id(record: &SqsMessage) -> String {
    record.message_id.clone().unwrap_or_default()
}

fn response(ids: impl IntoIterator<Item = String>) -> SqsBatchResponse {
    let mut response = SqsBatchResponse::default();
    for id in ids {
        let mut failure = BatchItemFailure::default();
        failure.item_identifier = id;
        response.batch_item_failures.push(failure);
    }
    response
}

/// The seconds before the next retry of a job after `returns` retries: a quarter of them random, so
/// that jobs that were returned together spread out.
fn delay(returns: u32, entropy: &Entropy) -> u64 {
    let step = FIRST_DELAY.saturating_mul(1 << returns.min(32));
    let step = step.min(LONGEST_DELAY.as_secs());
    step - entropy.below(step / 4 + 1)
}

/// How often SQS has handed the message out.
fn receives(record: &SqsMessage) -> u32 {
    let count = record.attributes.get("ApproximateReceiveCount");
    count.and_then(|count| count.parse().ok()).unwrap_or(1)
}

/// The seconds before a message that stays is received again: 10, 40, 160, 640.
fn stay_delay(record: &SqsMessage, entropy: &Entropy) -> u64 {
    let before = receives(record).saturating_sub(1);
    delay(before.saturating_mul(2), entropy)
}

/// A message that replaces one that was received.
struct Anew<'a> {
    record: &'a SqsMessage,
    /// Seconds.
    delay: u64,
    returns: u32,
    suspect: bool,
}

impl Anew<'_> {
    fn size(&self) -> usize {
        self.record.body.as_deref().unwrap_or_default().len() + ATTRIBUTES
    }

    fn entry(&self, position: usize) -> Result<SendMessageBatchRequestEntry, BuildError> {
        let text = |kind: &str, value: String| {
            let value = MessageAttributeValue::builder().string_value(value);
            value.data_type(kind).build()
        };
        let attributes = &self.record.attributes;
        let body = self.record.body.as_deref().unwrap_or_default();
        // A message of a release before has none.
        let kept = attributes.get("MessageGroupId").cloned();
        let mut entry = SendMessageBatchRequestEntry::builder()
            .id(position.to_string())
            .message_body(body)
            .delay_seconds(i32::try_from(self.delay).unwrap_or(0))
            .set_message_group_id(kept.or_else(|| group(body)))
            .message_attributes(RETURNS, text("Number", self.returns.to_string())?);
        if self.suspect {
            entry = entry.message_attributes(SUSPECT, text("Number", 1.to_string())?);
        }
        if let Some(trace) = attributes.get("AWSTraceHeader") {
            let value = MessageSystemAttributeValue::builder().string_value(trace);
            let value = value.data_type("String").build()?;
            let name = MessageSystemAttributeNameForSends::AwsTraceHeader;
            entry = entry.message_system_attributes(name, value);
        }
        entry.build()
    }
}

/// The queue that a batch came from.
struct Source<'a> {
    client: &'a Client,
    url: &'a str,
}

impl<'a> Source<'a> {
    /// The queue that the messages name. Lambda never mixes queues in a batch.
    fn of(queues: &[&'a Queue], event: &SqsEvent) -> Option<Self> {
        let arn = event.records.first()?.event_source_arn.as_deref()?;
        let name = arn.rsplit(':').next()?;
        let found = queues.iter().find_map(|queue| queue.sqs_named(name));
        if found.is_none() {
            tracing::error!(
                queue.name = name,
                "no variable of this function names queue {name}"
            );
        }
        found.map(|(client, url)| Self { client, url })
    }

    /// Sends the jobs to retry anew, and returns the ids of the messages that stay.
    async fn settle(
        &self,
        event: &SqsEvent,
        result: &BatchResult,
        entropy: &Entropy,
    ) -> Vec<String> {
        let has_failed = |record: &&SqsMessage| result.failed.contains(&id(record));
        self.show_soon(event.records.iter().filter(has_failed), entropy)
            .await;
        let mut stay = result.failed.clone();
        let again: BTreeSet<&String> = result.again.iter().collect();
        let records = event.records.iter();
        let again = records.filter(|record| again.contains(&id(record)));
        let anew: Vec<_> = again
            .map(|record| Anew {
                record,
                delay: delay(returns(record), entropy),
                returns: returns(record).saturating_add(1),
                suspect: false,
            })
            .collect();
        if let Some(most_returns) = anew.iter().map(|anew| anew.returns).max() {
            posthaste_metrics::record(&[Metric::MostReturns.of(most_returns)]);
        }
        stay.extend(self.send(anew, entropy).await);
        stay
    }

    /// Shortens the visibility of messages that stay. One for which that fails is shown when the
    /// queue's own visibility ends.
    async fn show_soon(&self, records: impl Iterator<Item = &SqsMessage>, entropy: &Entropy) {
        let entries = records.enumerate().filter_map(|(i, record)| {
            let seconds = i32::try_from(stay_delay(record, entropy)).unwrap_or(0);
            let entry = ChangeMessageVisibilityBatchRequestEntry::builder()
                .id(i.to_string())
                .receipt_handle(record.receipt_handle.clone()?)
                .visibility_timeout(seconds);
            entry.build().ok()
        });
        let entries: Vec<_> = entries.collect();
        let calls = entries.chunks(BATCH).map(async |chunk| {
            let change = self.client.change_message_visibility_batch();
            let change = change.queue_url(self.url).set_entries(Some(chunk.to_vec()));
            let changed = change.send().await.map_err(QueueError::from_sdk)?;
            match changed.failed.first() {
                None => Ok(()),
                Some(failed) => Err(QueueError(failed.code().to_owned())),
            }
        });
        for done in join_all(calls).await {
            if let Err(error) = done {
                tracing::warn!(error = %error, "jobs that stay cannot be shown sooner: {error}");
            }
        }
    }

    /// Sends suspects anew, each with a delay of its own, and returns the ids of those that stay.
    async fn spread(&self, suspects: &[SqsMessage], entropy: &Entropy) -> Vec<String> {
        let (marked, new): (Vec<_>, Vec<_>) = suspects.iter().partition(|record| is_marked(record));
        let anew = new.into_iter().map(|record| Anew {
            record,
            delay: 1 + entropy.below(SPREAD),
            returns: returns(record),
            suspect: true,
        });
        let mut stay = self.send(anew.collect(), entropy).await;
        stay.extend(marked.into_iter().map(id));
        stay
    }

    /// Returns the ids of the messages whose replacement SQS did not accept. They stay, and are shown again soon.
    async fn send(&self, anew: Vec<Anew<'_>>, entropy: &Entropy) -> Vec<String> {
        let chunks = chunks(anew, Anew::size);
        let sent = join_all(chunks.iter().map(async |chunk| {
            let refused = self.send_chunk(chunk).await.unwrap_or_else(|error| {
                tracing::error!(error = %error, "jobs could not be sent anew, they stay: {error}");
                (0..chunk.len()).collect()
            });
            let records = chunk.iter().map(|anew| anew.record).enumerate();
            let stay = records.filter(move |(position, _)| refused.contains(position));
            stay.map(|(_, record)| record).collect::<Vec<_>>()
        }));
        let stay = sent.await.concat();
        let may_return = |record: &&&SqsMessage| receives(record) <= SOON_RECEIVES;
        let soon = stay.iter().filter(may_return).copied();
        self.show_soon(soon, entropy).await;
        stay.into_iter().map(id).collect()
    }

    /// The positions of the messages that SQS refused.
    async fn send_chunk(&self, chunk: &[Anew<'_>]) -> Result<BTreeSet<usize>, QueueError> {
        let entries = chunk.iter().enumerate();
        let entries: Result<_, _> = entries.map(|(i, anew)| anew.entry(i)).collect();
        let entries = entries.map_err(|e| QueueError(e.to_string()))?;
        let send = self.client.send_message_batch().queue_url(self.url);
        let sent = send.set_entries(Some(entries)).send().await;
        let sent = sent.map_err(QueueError::from_sdk)?;
        let taken = sent.successful.iter().map(|taken| taken.id.as_str());
        let taken: BTreeSet<usize> = taken.filter_map(|id| id.parse().ok()).collect();
        for failed in &sent.failed {
            let why = failed.message().unwrap_or(failed.code());
            tracing::error!("a job could not be sent anew, it stays: {why}");
        }
        Ok((0..chunk.len()).filter(|i| !taken.contains(i)).collect())
    }

    /// Deletes messages ahead of the answer. One that could not be deleted is handled twice.
    async fn delete(&self, records: impl Iterator<Item = &SqsMessage>) {
        let handles: Vec<_> = records.filter_map(|r| r.receipt_handle.clone()).collect();
        let calls = handles.chunks(BATCH).map(async |chunk| {
            let entries: Result<_, _> = chunk
                .iter()
                .enumerate()
                .map(|(i, handle)| {
                    let entry = DeleteMessageBatchRequestEntry::builder().id(i.to_string());
                    entry.receipt_handle(handle).build()
                })
                .collect();
            let entries = entries.map_err(|e| QueueError(e.to_string()))?;
            let delete = self.client.delete_message_batch().queue_url(self.url);
            let deleted = delete.set_entries(Some(entries)).send().await;
            let deleted = deleted.map_err(QueueError::from_sdk)?;
            match deleted.failed.first() {
                None => Ok(()),
                Some(failed) => Err(QueueError(failed.code().to_owned())),
            }
        });
        for done in join_all(calls).await {
            if let Err(error) = done {
                tracing::warn!(error = %error, "handled jobs could not be deleted: {error}");
            }
        }
    }
}

#[cfg(test)]
mod tests;
