//! Queues in memory: they keep what is sent until a test takes it, and never hand out by themselves.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use posthaste_queue::{Command, Local, Queue, SqsEvent, SqsMessage};
use tokio::sync::mpsc;

use crate::{Fuse, Spark};

/// A message as it was sent, with the delay it was sent with.
pub type Sent = (String, Duration);

#[derive(Default)]
struct State {
    queues: HashMap<String, VecDeque<Sent>>,
    broken: bool,
    fuse: Fuse,
}

/// A set of queues.
#[derive(Clone)]
pub struct Queues {
    state: Arc<Mutex<State>>,
    engine: mpsc::UnboundedSender<Command>,
}

impl Queues {
    /// No queues yet; one comes to be when it is named. They end with the test's runtime.
    pub fn start() -> Self {
        Self::with_fuse(Fuse::default())
    }

    /// The same; once the fuse has burnt, sending fails.
    pub fn with_fuse(fuse: Fuse) -> Self {
        let (engine, mut commands) = mpsc::unbounded_channel();
        let state = Arc::new(Mutex::new(State {
            fuse,
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

    /// Takes everything that lies in the queue, in the order it was sent.
    pub fn drain(&self, name: &str) -> Vec<Sent> {
        let taken = lock(&self.state).queues.remove(name);
        taken.unwrap_or_default().into()
    }

    /// Whether sending fails from now on.
    pub fn set_broken(&self, broken: bool) {
        lock(&self.state).broken = broken;
    }
}

/// An event as a worker gets it; the messages are named by their position.
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

fn obey(state: &mut State, command: Command) {
    // Whoever asked may have stopped waiting; nobody else needs the answer.
    match command {
        Command::Send {
            queue,
            messages,
            done,
        } => {
            let mut spark = state.fuse.spark();
            if state.broken {
                spark = Spark::Fail;
            }
            if spark != Spark::Fail {
                state.queues.entry(queue).or_default().extend(messages);
            }
            let answer = match spark {
                Spark::Pass => Ok(()),
                Spark::Deaf | Spark::Fail => Err("the test broke the queues".to_owned()),
            };
            let _ = done.send(answer);
        }
        Command::Receive { done, .. } => {
            let _ = done.send(Err("a test takes messages with `drain`".to_owned()));
        }
        // These queues hand nothing out, so they look at no clock.
        Command::Tick | Command::Close => {}
        Command::Delete { done, .. } | Command::Return { done, .. } => {
            let _ = done.send(Ok(()));
        }
        // What was never handed out does not die.
        Command::ListDead { done } => {
            let _ = done.send(Ok(Vec::new()));
        }
        Command::Replay { done, .. } => {
            let _ = done.send(Ok(0));
        }
    }
}
