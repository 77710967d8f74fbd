//! Handles a batch of jobs one by one: each job is reported by itself, and one that panics does not
//! affect the others.
//!
//! A job that ends the process (a stack overflow, no memory, a function's timeout) takes its batch
//! with it: no answer is given for any of it. How such ends are counted, and how the other jobs of
//! the batch stay out of the dead letters, is described in `requeue.rs` for SQS and in
//! `suspects.rs` of `infra/local` for the local engine.

use std::panic::AssertUnwindSafe;

use aws_lambda_events::event::sqs::{SqsEvent, SqsMessage};
use futures_util::{FutureExt as _, StreamExt as _};
use tracing::field::Empty;
use tracing::{Instrument as _, Span};

/// The result of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Disposition {
    /// Handled, or never to be handled: the queue deletes it.
    Done,
    /// Cannot be handled now: a throttle, a conflict, an outage, a lost answer. It is retried,
    /// without a limit.
    Retry,
    /// Cannot be handled however often it is retried. After a few tries it is a dead letter, from
    /// where a release that can handle it may replay it.
    Fail,
}

impl Disposition {
    /// The result of a job with two parts. Retry takes precedence over failure.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Retry, _) | (_, Self::Retry) => Self::Retry,
            (Self::Fail, _) | (_, Self::Fail) => Self::Fail,
            (Self::Done, Self::Done) => Self::Done,
        }
    }
}

/// The results of a batch, by message id. Those that are not listed are done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct BatchResult {
    /// Those of [`Disposition::Retry`].
    pub again: Vec<String>,
    /// Those of [`Disposition::Fail`], and those that panicked.
    pub failed: Vec<String>,
}

impl BatchResult {
    /// Adds the result of one message.
    pub fn add(&mut self, id: String, verdict: Disposition) {
        match verdict {
            Disposition::Done => {}
            Disposition::Retry => self.again.push(id),
            Disposition::Fail => self.failed.push(id),
        }
    }

    /// The ids of the messages that are not done.
    pub fn unfinished(&self) -> impl Iterator<Item = &str> {
        self.again.iter().chain(&self.failed).map(String::as_str)
    }
}

/// Runs `work` on the records of a batch, at most `concurrency` at a time, and returns the result
/// of each, `None` for one that panicked.
pub async fn gather<'a, F, T>(
    event: &'a SqsEvent,
    concurrency: usize,
    work: impl Fn(&'a SqsMessage) -> F,
) -> Vec<(String, Option<T>)>
where
    F: Future<Output = T>,
{
    // Built up front: a stream that builds them lazily has no type a caller could send.
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
        .buffer_unordered(concurrency.max(1))
        .collect()
        .await
}

/// The fields of every log line about a record. The code that reads the record adds account and
/// message.
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

/// Runs `work` on the records of a batch and returns their results.
pub async fn each<'a, F>(
    event: &'a SqsEvent,
    concurrency: usize,
    work: impl Fn(&'a SqsMessage) -> F,
) -> BatchResult
where
    F: Future<Output = Disposition>,
{
    let mut result = BatchResult::default();
    for (id, end) in gather(event, concurrency, work).await {
        result.add(id, end.unwrap_or(Disposition::Fail));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_job_has_its_own_end_and_one_that_panics_has_failed() {
        let mut event = SqsEvent::default();
        for body in ["done", "again", "panic", "done", "fail"] {
            let mut record = SqsMessage::default();
            record.message_id = Some(format!("{body}-{}", event.records.len()));
            record.body = Some(body.to_owned());
            event.records.push(record);
        }

        let mut result = each(&event, 2, |record| async move {
            match record.body.as_deref() {
                Some("done") => Disposition::Done,
                Some("again") => Disposition::Retry,
                Some("fail") => Disposition::Fail,
                other => panic!("an unexpected job: {other:?}"),
            }
        })
        .await;

        result.failed.sort_unstable();
        assert_eq!(result.again, ["again-1"]);
        assert_eq!(result.failed, ["fail-4", "panic-2"]);
        assert_eq!(result.unfinished().count(), 3);
    }

    #[test]
    fn what_can_pass_is_waited_for_before_the_rest_is_given_up() {
        use Disposition::{Done, Fail, Retry};
        for (one, other, both) in [
            (Done, Done, Done),
            (Done, Fail, Fail),
            (Done, Retry, Retry),
            (Fail, Retry, Retry),
        ] {
            assert_eq!((one.and(other), other.and(one)), (both, both));
        }
    }
}
