//! The dead letters of the local queues: jobs that were handed out too often, or that ended the
//! process. On AWS they have queues of their own, which `aws sqs start-message-move-task` redrives.

use posthaste_model::Millis;
use tokio::sync::mpsc;

use crate::local::ask;
use crate::{EngineCommand, QueueError};

/// A job that is not handed out any more until it is replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadJob {
    /// The id of the message it was.
    pub id: i64,
    /// The queue it came from, and is replayed to.
    pub queue: String,
    /// When it became a dead letter.
    pub at: Millis,
    /// How often it was handed out.
    pub receives: u32,
    /// How often the process died while a worker had it.
    pub deaths: u32,
    /// Size of its body in bytes.
    pub bytes: u64,
}

/// The dead letters of an engine.
#[derive(Clone, Debug)]
pub struct DeadJobs(mpsc::UnboundedSender<EngineCommand>);

impl DeadJobs {
    /// Those of this engine.
    pub fn new(engine: mpsc::UnboundedSender<EngineCommand>) -> Self {
        Self(engine)
    }

    /// All of them, oldest first.
    pub async fn list(&self) -> Result<Vec<DeadJob>, QueueError> {
        ask(&self.0, |done| EngineCommand::ListDead { done }).await
    }

    /// Puts these back on their queues, with their counts reset, and returns how many there were;
    /// durable once this returns.
    pub async fn replay(&self, ids: Vec<i64>) -> Result<usize, QueueError> {
        ask(&self.0, |done| EngineCommand::Replay { ids, done }).await
    }
}
