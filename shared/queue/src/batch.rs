//! From "handle one job" to "handle a batch": only the jobs that want another try are returned,
//! and one that panics does not take the others with it.
//!
//! A job that ends the process (a stack overflow, no memory, the end of a function's time) takes its
//! batch with it: no answer is given for any of it. The local engine counts such receives by
//! themselves, tries what was in the works alone, and gives up the fourth time (`suspects` in
//! `infra/local`). SQS keeps one count of all receives, whatever came of them: a killer is a dead
//! letter after the template's `maxReceiveCount` of 20, each a visibility time apart (10 hours for
//! mail), and jobs that share its batch repeat with it meanwhile, which their claims absorb. To
//! count deaths alone there, a job that is given back has to be sent anew, with a delay and a count
//! of its own: `ApproximateReceiveCount` above 1 then tells of a receive without an answer, and
//! `maxReceiveCount` can come down to that of the local engine.

use std::panic::AssertUnwindSafe;

use aws_lambda_events::event::sqs::{BatchItemFailure, SqsBatchResponse, SqsEvent, SqsMessage};
use futures_util::{FutureExt as _, StreamExt as _};
use tracing::field::Empty;
use tracing::{Instrument as _, Span};

/// What becomes of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// Handled, or never to be handled: the queue forgets it.
    Done,
    /// Hand it out again after its visibility time; after enough of that it is a dead letter.
    Again,
}

/// Runs `work` on the records of a batch, at most `at_once` at a time, and gives back what each
/// made of it, `None` for one that panicked.
pub async fn gather<'a, F, T>(
    event: &'a SqsEvent,
    at_once: usize,
    work: impl Fn(&'a SqsMessage) -> F,
) -> Vec<(String, Option<T>)>
where
    F: Future<Output = T>,
{
    // Made up front: a stream that makes them as it goes has no type a caller could send.
    let running: Vec<_> = event
        .records
        .iter()
        .map(|record| {
            let id = record.message_id.clone().unwrap_or_default();
            let span = span(record, &id);
            let running = AssertUnwindSafe(work(record)).catch_unwind();
            let running = async move {
                let end = running.await.ok();
                if end.is_none() {
                    tracing::error!(job.id = %id, "job {id} panicked; it will be tried again");
                }
                (id, end)
            };
            running.instrument(span)
        })
        .collect();
    futures_util::stream::iter(running)
        .buffer_unordered(at_once.max(1))
        .collect()
        .await
}

/// What every line about a record is found by. Whoever reads the record adds whose and which mail it is.
fn span(record: &SqsMessage, id: &str) -> Span {
    let queue = record.event_source_arn.as_deref().unwrap_or_default();
    let queue = queue.rsplit(':').next().unwrap_or_default();
    tracing::info_span!(
        "job",
        queue.name = queue,
        job.id = id,
        account.id = Empty,
        message.id = Empty
    )
}

/// Runs `work` on the records of a batch; those that want another try come back.
pub async fn each<'a, F>(
    event: &'a SqsEvent,
    at_once: usize,
    work: impl Fn(&'a SqsMessage) -> F,
) -> SqsBatchResponse
where
    F: Future<Output = Verdict>,
{
    let ends = gather(event, at_once, work).await;
    let again = ends
        .into_iter()
        .filter(|(_, end)| *end != Some(Verdict::Done));
    returned(again.map(|(id, _)| id))
}

/// The answer that hands these jobs back to the queue.
pub fn returned(ids: impl IntoIterator<Item = String>) -> SqsBatchResponse {
    let mut response = SqsBatchResponse::default();
    for id in ids {
        let mut failure = BatchItemFailure::default();
        failure.item_identifier = id;
        response.batch_item_failures.push(failure);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_jobs_that_want_another_try_come_back_even_when_one_panics() {
        let mut event = SqsEvent::default();
        for body in ["done", "again", "panic", "done"] {
            let mut record = SqsMessage::default();
            record.message_id = Some(format!("{body}-{}", event.records.len()));
            record.body = Some(body.to_owned());
            event.records.push(record);
        }

        let response = each(&event, 2, |record| async move {
            match record.body.as_deref() {
                Some("done") => Verdict::Done,
                Some("again") => Verdict::Again,
                other => panic!("a job nobody foresaw: {other:?}"),
            }
        })
        .await;

        let mut failed: Vec<_> = response
            .batch_item_failures
            .iter()
            .map(|f| f.item_identifier.as_str())
            .collect();
        failed.sort_unstable();
        assert_eq!(failed, ["again-1", "panic-2"]);
    }
}
