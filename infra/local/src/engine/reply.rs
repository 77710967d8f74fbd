//! Workers that wait for messages, and what is answered after the commit.

use std::time::Duration;

use posthaste_model::Millis;
use posthaste_queue::{DeadJob, ReceivedMessage};
use tokio::sync::oneshot;

type CommandResult<T> = oneshot::Sender<Result<T, String>>;

/// A worker that waits for messages.
pub(super) struct Waiter {
    pub(super) queue: String,
    pub(super) most: usize,
    pub(super) visibility: Duration,
    pub(super) done: CommandResult<Vec<ReceivedMessage>>,
}

/// What is answered after the commit.
pub(super) enum CommitReply {
    Done(CommandResult<()>),
    Messages(CommandResult<Vec<ReceivedMessage>>, Vec<ReceivedMessage>),
    Dead(CommandResult<Vec<DeadJob>>, Vec<DeadJob>),
    Replayed(CommandResult<usize>, usize),
}

impl CommitReply {
    /// Answers, once the transaction has ended. An answer that is no longer waited for is not an
    /// error of the engine.
    pub(super) fn send(self, end: Result<(), String>) {
        match self {
            Self::Done(done) => drop(done.send(end)),
            Self::Messages(done, messages) => drop(done.send(end.map(|()| messages))),
            Self::Dead(done, letters) => drop(done.send(end.map(|()| letters))),
            Self::Replayed(done, count) => drop(done.send(end.map(|()| count))),
        }
    }
}

/// The instant `delay` from now, in milliseconds.
pub(super) fn after(now: Millis, delay: Duration) -> i64 {
    let delay = i64::try_from(delay.as_millis()).unwrap_or(i64::MAX);
    now.0.saturating_add(delay)
}
