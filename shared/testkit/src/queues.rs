//! Queues in memory: they store messages until a test takes them, and never deliver by themselves.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use posthaste_queue::{EngineCommand, Local, Queue, SqsEvent, SqsMessage};
use tokio::sync::mpsc;

use crate::{CallFate, FailAfter};

/// A message as it was sent, with the delay it was sent with.
pub type Sent = (String, Duration);

#[derive(Default)]
struct State {
    queues: HashMap<String, VecDeque<Sent>>,
    broken: bool,
    faults: FailAfter,
}

/// A set of queues.
#[derive(Clone)]
pub struct Queues {
    state: Arc<Mutex<State>>,
    engine: mpsc::UnboundedSender<EngineCommand>,
}

impl Queues {
    /// An empty set; a queue is created when it is first named. They end with the test's runtime.
    pub fn start() -> Self {
        Self::failing_after(FailAfter::default())
    }

    /// The same; once the limit of calls is reached, sending fails.
    pub fn failing_after(faults: FailAfter) -> Self {
        let (engine, mut commands) = mpsc::unbounded_channel();
        let state = Arc::new(Mutex::new(State {
            faults,
            ..State::default()
        }));
        let kept = Arc::clone(&state);
        tokio::spawn(async move {
            while let Some(command) = commands.recv().await {
                obey(&mut lock(&kept), command);
            }
        });
        Self { state, engine }
    }

    /// The queue of this name, to send to.
    pub fn queue(&self, name: &str) -> Queue {
        Queue::local(Local::new(name, self.engine.clone()))
    }

    /// Takes all messages of the queue, in the order they were sent.
    pub fn drain(&self, name: &str) -> Vec<Sent> {
        let taken = lock(&self.state).queues.remove(name);
        taken.unwrap_or_default().into()
    }

    /// Whether sending fails from now on.
    pub fn set_broken(&self, broken: bool) {
        lock(&self.state).broken = broken;
    }
}

/// An event in the form a worker receives; the messages are named by their position.
pub fn sqs_event(bodies: impl IntoIterator<Item = String>) -> SqsEvent {
    let mut event = SqsEvent::default();
    for (i, body) in bodies.into_iter().enumerate() {
        let mut message = SqsMessage::default();
        message.message_id = Some(i.to_string());
        message.body = Some(body);
        event.records.push(message);
    }
    event
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn obey(state: &mut State, command: EngineCommand) {
    // The caller may have stopped waiting; the answer has no other receiver.
    match command {
        EngineCommand::Send {
            queue,
            messages,
            done,
        } => {
            let mut fate = state.faults.call();
            if state.broken {
                fate = CallFate::Fail;
            }
            if fate != CallFate::Fail {
                state.queues.entry(queue).or_default().extend(messages);
            }
            let answer = match fate {
                CallFate::Pass => Ok(()),
                CallFate::Deaf | CallFate::Fail => Err("the test broke the queues".to_owned()),
            };
            let _ = done.send(answer);
        }
        EngineCommand::Receive { done, .. } => {
            let _ = done.send(Err("a test takes messages with `drain`".to_owned()));
        }
        // These queues do not deliver, so they need no clock.
        EngineCommand::Tick | EngineCommand::Close => {}
        EngineCommand::Delete { done, .. } | EngineCommand::Return { done, .. } => {
            let _ = done.send(Ok(()));
        }
        // Undelivered messages cannot become dead letters.
        EngineCommand::ListDead { done } => {
            let _ = done.send(Ok(Vec::new()));
        }
        EngineCommand::Replay { done, .. } => {
            let _ = done.send(Ok(0));
        }
        // No worker takes from them.
        EngineCommand::Quiet { done } => {
            let _ = done.send(Ok(None));
        }
    }
}
