//! The handles of the durable local queues and of their dead letters. The engine itself runs in
//! `infra/local`; the messages between them are defined here, so that no function links a database it
//! does not use.

use std::time::Duration;

use posthaste_model::Millis;
use tokio::sync::{mpsc, oneshot};

use crate::client::QueueError;

type Done<T> = oneshot::Sender<Result<T, String>>;

/// Sends a request to the engine and waits for its answer.
async fn ask<T>(
    engine: &mpsc::UnboundedSender<EngineCommand>,
    make: impl FnOnce(Done<T>) -> EngineCommand,
) -> Result<T, QueueError> {
    let (done, answer) = oneshot::channel();
    let closed = || QueueError("the local queue engine has stopped".to_owned());
    engine.send(make(done)).map_err(|_| closed())?;
    answer.await.map_err(|_| closed())?.map_err(QueueError)
}

/// A request to the engine.
#[derive(Debug)]
pub enum EngineCommand {
    /// Store these messages; answered once they are on disk.
    Send {
        queue: String,
        messages: Vec<(String, Duration)>,
        done: Done<()>,
    },
    /// Hand out up to `most` messages, waiting until there is one.
    Receive {
        queue: String,
        most: usize,
        visibility: Duration,
        done: Done<Vec<ReceivedMessage>>,
    },
    /// Delete messages that were handled.
    Delete {
        queue: String,
        ids: Vec<i64>,
        done: Done<()>,
    },
    /// Read the clock again: it was moved.
    Tick,
    /// The host stops: hand out nothing more. A job that a worker still has when the process ends
    /// is handed out again at the next start, and this does not count against it.
    Close,
    /// Hand messages out again after a while.
    Return {
        queue: String,
        ids: Vec<i64>,
        after: Duration,
        /// Whether the receive counts towards the dead letters.
        counts: bool,
        done: Done<()>,
    },
    /// List the dead letters.
    ListDead { done: Done<Vec<DeadJob>> },
    /// Say when nothing is left to do for the moment: no message can be handed out, and no worker has
    /// one. Answered with the time at which the next becomes visible.
    Quiet { done: Done<Option<Millis>> },
    /// Put these dead letters back on their queues; answered with their number, once on disk.
    Replay { ids: Vec<i64>, done: Done<usize> },
}

/// A message handed out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedMessage {
    pub id: i64,
    pub body: String,
    /// How often it has been handed out, this time included.
    pub count: u32,
}

/// One local queue.
#[derive(Clone, Debug)]
pub struct Local {
    name: String,
    engine: mpsc::UnboundedSender<EngineCommand>,
}

impl Local {
    /// The queue `name` of an engine.
    pub fn new(name: &str, engine: mpsc::UnboundedSender<EngineCommand>) -> Self {
        Self {
            name: name.to_owned(),
            engine,
        }
    }

    /// The queue's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the engine has stopped: no later call can succeed.
    pub fn is_closed(&self) -> bool {
        self.engine.is_closed()
    }

    pub(crate) async fn send(&self, messages: Vec<(String, Duration)>) -> Result<(), QueueError> {
        let queue = self.name.clone();
        let make = |done| EngineCommand::Send {
            queue,
            messages,
            done,
        };
        ask(&self.engine, make).await
    }

    /// Takes up to `most` messages, waiting for the first; each is hidden for `visibility`.
    pub async fn receive(
        &self,
        most: usize,
        visibility: Duration,
    ) -> Result<Vec<ReceivedMessage>, QueueError> {
        let queue = self.name.clone();
        let make = |done| EngineCommand::Receive {
            queue,
            most,
            visibility,
            done,
        };
        ask(&self.engine, make).await
    }

    /// Deletes messages that were handled.
    pub async fn delete(&self, ids: Vec<i64>) -> Result<(), QueueError> {
        let queue = self.name.clone();
        ask(&self.engine, |done| EngineCommand::Delete {
            queue,
            ids,
            done,
        })
        .await
    }

    /// Notifies the engine that the clock was moved by hand.
    pub fn tick(&self) -> Result<(), QueueError> {
        let closed = |_| QueueError("the local queue engine has stopped".to_owned());
        self.engine.send(EngineCommand::Tick).map_err(closed)
    }

    /// Makes messages visible again after a while: they wait for something external, and their
    /// receives no longer count.
    pub async fn give_back(&self, ids: Vec<i64>, after: Duration) -> Result<(), QueueError> {
        self.put_back(ids, after, false).await
    }

    /// Makes messages that could not be handled visible again after a while: after enough failures
    /// they are dead letters.
    pub async fn fail(&self, ids: Vec<i64>, after: Duration) -> Result<(), QueueError> {
        self.put_back(ids, after, true).await
    }

    async fn put_back(
        &self,
        ids: Vec<i64>,
        after: Duration,
        counts: bool,
    ) -> Result<(), QueueError> {
        let queue = self.name.clone();
        let make = |done| EngineCommand::Return {
            queue,
            ids,
            after,
            counts,
            done,
        };
        ask(&self.engine, make).await
    }
}

/// Knows when the workers of an engine have nothing left to do: for a clock that is turned by hand.
#[derive(Clone, Debug)]
pub struct QuietWatch(mpsc::UnboundedSender<EngineCommand>);

impl QuietWatch {
    /// That of this engine.
    pub fn new(engine: mpsc::UnboundedSender<EngineCommand>) -> Self {
        Self(engine)
    }

    /// Waits until no message can be handed out and no worker has one, and returns when the next
    /// becomes visible. Reads the clock again first.
    pub async fn quiet(&self) -> Result<Option<Millis>, QueueError> {
        ask(&self.0, |done| EngineCommand::Quiet { done }).await
    }
}

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

/// The dead letters of an engine: jobs that were handed out too often, or that ended the process. On
/// AWS they have queues of their own, which `aws sqs start-message-move-task` redrives.
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
