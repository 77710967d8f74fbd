//! The durable local queues: what SQS is in the cloud, on one SQLite file.
//!
//! One thread owns the file. It takes every waiting command, runs them in one transaction and
//! answers all of them after the commit, so that many senders share one sync of the disk (group
//! commit). Messages have delay, visibility, a receive count and dead letters, as in SQS. Messages
//! that were in flight when the process died are redelivered immediately at the next start; a job
//! that repeatedly ends the process becomes a dead letter (see `suspects`). Accounts take
//! turns, as on SQS's fair queues (see `fair`).

mod commands;
mod dead;
mod fair;
mod hand_out;
mod schema;
mod suspects;
mod waiting;

use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use posthaste_model::Clock;
use posthaste_queue::{DeadJobs, EngineCommand, Local, Queue};
use tokio::sync::mpsc;

use crate::damage::Damage;

pub(crate) use waiting::is_any_waiting;

/// Why the queues did not start.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("the queue file {0} cannot be opened: {1}")]
    Open(PathBuf, rusqlite::Error),
    #[error("the queue file {0} was written by a newer posthaste")]
    Newer(PathBuf),
    #[error("{0}")]
    Damaged(String),
    #[error("no thread for the queues: {0}")]
    Thread(std::io::Error),
}

/// A running engine.
#[derive(Debug)]
pub struct Engine {
    commands: mpsc::UnboundedSender<EngineCommand>,
    thread: JoinHandle<()>,
    damage: Damage,
}

impl Engine {
    /// Starts the queues on a file, or in memory.
    pub fn start(file: Option<&Path>, clock: Clock) -> Result<Self, EngineError> {
        let (database, suspects) = schema::open(file, clock.now_ms())?;
        let damage = Damage::default();
        let queues = commands::Queues {
            database,
            suspects,
            turns: fair::AccountTurns::default(),
            file: file.unwrap_or_else(|| Path::new(":memory:")).to_owned(),
            damage: damage.clone(),
        };
        let (commands, inbox) = mpsc::unbounded_channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build();
        let runtime = runtime.map_err(EngineError::Thread)?;
        let thread = std::thread::Builder::new()
            .name("queues".to_owned())
            .spawn(move || runtime.block_on(commands::run(queues, inbox, clock)))
            .map_err(EngineError::Thread)?;
        Ok(Self {
            commands,
            thread,
            damage,
        })
    }

    /// The queue of this name; made by its first message.
    pub fn local(&self, name: &str) -> Local {
        Local::new(name, self.commands.clone())
    }

    /// The same, to send to.
    pub fn queue(&self, name: &str) -> Queue {
        Queue::local(self.local(name))
    }

    /// The jobs that workers no longer receive.
    pub fn dead_jobs(&self) -> DeadJobs {
        DeadJobs::new(self.commands.clone())
    }

    /// Receives reports of damage to the file.
    pub(crate) fn damage(&self) -> &Damage {
        &self.damage
    }

    /// Stops handing out messages. From here on the process shuts down in order: messages that
    /// workers still hold are redelivered at the next start, and do not count as deaths.
    pub fn close(&self) {
        // When the engine has ended, nothing is handed out either.
        let _ = self.commands.send(EngineCommand::Close);
    }

    /// Ends the engine once every handle is gone, and waits for that.
    pub fn stop(self) {
        self.close();
        drop(self.commands);
        if self.thread.join().is_err() {
            tracing::error!("the queue engine panicked");
        }
    }
}

#[cfg(test)]
mod tests;
