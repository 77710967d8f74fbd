//! Runs a worker on a local queue the way Lambda runs it on SQS: real events, partial failures.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use posthaste_queue::{BatchResult, Local, ReceivedMessage, SqsEvent, SqsMessage};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::table::Disk;

/// How long a poller waits when the queue file fails.
const AFTER_AN_ERROR: Duration = Duration::from_secs(1);

/// How a queue is polled; the figures of `template.yaml`, scaled down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Concurrent batches.
    pub(crate) pollers: usize,
    /// Messages in a batch.
    pub(crate) batch: usize,
    /// How long a message is hidden while it is worked on.
    pub(crate) visibility: Duration,
    /// How long a message that failed is hidden.
    pub(crate) again: Duration,
}

/// Starts pollers that end, after their current batch, once `stop` is set.
pub(crate) fn start<W, F>(
    queue: &Local,
    pace: Pace,
    disk: &Disk,
    stop: &watch::Receiver<bool>,
    work: W,
) -> Vec<JoinHandle<()>>
where
    W: Fn(SqsEvent) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = BatchResult> + Send + 'static,
{
    (0..pace.pollers)
        .map(|_| {
            let (queue, disk, work) = (queue.clone(), disk.clone(), work.clone());
            tokio::spawn(poll(queue, pace, disk, stop.clone(), work))
        })
        .collect()
}

async fn poll<W, F>(queue: Local, pace: Pace, disk: Disk, mut stop: watch::Receiver<bool>, work: W)
where
    W: Fn(SqsEvent) -> F,
    F: Future<Output = BatchResult>,
{
    loop {
        let received = tokio::select! {
            biased;
            _ = stop.wait_for(|stop| *stop) => return,
            received = queue.receive(pace.batch, pace.visibility) => received,
        };
        let messages = match received {
            Ok(messages) => messages,
            // The engine that closes drops those that wait, perhaps between the two looks above.
            Err(_) if queue.is_closed() || *stop.borrow() => return,
            // A full disk may be freed later; a poller that ended would not resume then.
            Err(error) => {
                tracing::warn!(queue.name = queue.name(), "queue {}: {error}", queue.name());
                tokio::select! {
                    _ = stop.wait_for(|stop| *stop) => return,
                    () = tokio::time::sleep(AFTER_AN_ERROR) => continue,
                }
            }
        };
        if messages.is_empty() {
            continue;
        }
        #[cfg(debug_assertions)]
        abort_on(&messages);
        // The results are on the disk before the messages are deleted. If they are not, all
        // messages are given back; if the worker panicked outside of its jobs, all have failed.
        let worked = AssertUnwindSafe(disk.durable(work(event(&messages))));
        let result = match worked.catch_unwind().await {
            Ok(Some(result)) => result,
            Ok(None) => BatchResult {
                again: messages.iter().map(|m| m.id.to_string()).collect(),
                failed: Vec::new(),
            },
            Err(_) => BatchResult {
                again: Vec::new(),
                failed: messages.iter().map(|m| m.id.to_string()).collect(),
            },
        };
        if let Err(error) = settle(&queue, &messages, &result, pace.again).await {
            tracing::error!(queue.name = queue.name(), "queue {}: {error}", queue.name());
        }
    }
}

/// Specifies a text for drills; a job that contains it ends the process when its worker handles it.
#[cfg(debug_assertions)]
const ABORT_ON: &str = "POSTHASTE_DRILL_ABORT_ON";

/// Ends the process as a stack overflow does, if one of these jobs contains the text of the variable.
#[cfg(debug_assertions)]
fn abort_on(messages: &[ReceivedMessage]) {
    let Some(text) = posthaste_runtime::variables().get(ABORT_ON) else {
        return;
    };
    if messages.iter().any(|message| message.body.contains(&text)) {
        std::process::abort();
    }
}

/// The messages as Lambda would hand them to a function.
fn event(messages: &[ReceivedMessage]) -> SqsEvent {
    let mut event = SqsEvent::default();
    for message in messages {
        let mut record = SqsMessage::default();
        record.message_id = Some(message.id.to_string());
        record.body = Some(message.body.clone());
        let count = message.count.to_string();
        record
            .attributes
            .insert("ApproximateReceiveCount".to_owned(), count);
        event.records.push(record);
    }
    event
}

/// Deletes handled messages and hides the rest for a while. A job that waits for an external
/// dependency uses up no attempts; one that its worker cannot handle becomes a dead letter after a
/// while.
async fn settle(
    queue: &Local,
    messages: &[ReceivedMessage],
    result: &BatchResult,
    again: Duration,
) -> Result<(), posthaste_queue::QueueError> {
    let (mut done, mut waiting, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for message in messages {
        let id = message.id.to_string();
        if result.failed.contains(&id) {
            failed.push(message.id);
        } else if result.again.contains(&id) {
            waiting.push(message.id);
        } else {
            done.push(message.id);
        }
    }
    if !done.is_empty() {
        queue.delete(done).await?;
    }
    if !waiting.is_empty() {
        queue.give_back(waiting, again).await?;
    }
    if !failed.is_empty() {
        queue.fail(failed, again).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
