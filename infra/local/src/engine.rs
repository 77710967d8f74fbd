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
mod suspects;

use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use posthaste_model::{Clock, Millis};
use posthaste_queue::{DeadJobs, EngineCommand, Local, Queue, QuietWatch};
use rusqlite::{Connection, OpenFlags};
use tokio::sync::mpsc;

use self::suspects::Suspects;
use crate::damage::{self, Damage};

/// Names of the queues.
pub(crate) const SEND: &str = "send";
pub(crate) const EVENTS: &str = "events";
pub(crate) const RETRIES: &str = "retries";
pub(crate) const INBOUND: &str = "inbound";
pub(crate) const FEEDBACK: &str = "feedback";

/// Version of the file; stored in SQLite's `user_version`. The first release ignores what later
/// releases added, so a downgrade to it remains possible.
const VERSION: i64 = 1;

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS message (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    queue TEXT NOT NULL,
    visible INTEGER NOT NULL,  -- milliseconds; handed out from then on
    taken INTEGER NOT NULL DEFAULT 0,  -- handed out and not yet deleted or returned
    count INTEGER NOT NULL DEFAULT 0,  -- how often it was handed out
    body TEXT NOT NULL,
    account TEXT NOT NULL DEFAULT '-'  -- whose it is, for fairness; '-' of none
);
CREATE INDEX IF NOT EXISTS message_visible ON message (queue, visible, id);
CREATE TABLE IF NOT EXISTS suspect (
    id INTEGER PRIMARY KEY,  -- of a message
    deaths INTEGER NOT NULL  -- how often in a row the process died while a worker had it
);
CREATE TABLE IF NOT EXISTS dead (
    id INTEGER PRIMARY KEY,
    queue TEXT NOT NULL,
    at INTEGER NOT NULL,
    count INTEGER NOT NULL,
    body TEXT NOT NULL,
    deaths INTEGER NOT NULL DEFAULT 0
);";

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
        let (database, suspects) = open(file, clock.now_ms())?;
        let damage = Damage::default();
        let queues = commands::Queues {
            database,
            suspects,
            turns: fair::AccountTurns::default(),
            quiet: Vec::new(),
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

    /// Knows when the workers have nothing left to do.
    pub(crate) fn quiet_watch(&self) -> QuietWatch {
        QuietWatch::new(self.commands.clone())
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

/// Opens the file, makes the messages that an earlier process held visible at once, and reports
/// which of them may have ended that process.
fn open(file: Option<&Path>, now: Millis) -> Result<(Connection, Suspects), EngineError> {
    let path = file.map_or_else(|| PathBuf::from(":memory:"), Path::to_owned);
    let prepare = || -> rusqlite::Result<Option<(Connection, Suspects)>> {
        let mut database = match file {
            None => Connection::open_in_memory()?,
            Some(file) => Connection::open(file)?,
        };
        database.pragma_update(None, "journal_mode", "WAL")?;
        database.pragma_update(None, "synchronous", "FULL")?;
        // A larger log before a checkpoint: most messages are deleted by then.
        database.pragma_update(None, "wal_autocheckpoint", 4000)?;
        let version: i64 = database.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if version > VERSION {
            return Ok(None);
        }
        database.execute_batch(TABLES)?;
        if !database.column_exists(None::<&str>, "dead", "deaths")? {
            // A file of 0.1.
            let column = "ALTER TABLE dead ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0";
            database.execute_batch(column)?;
        }
        if !database.column_exists(None::<&str>, "message", "account")? {
            // A file of a release before fairness. What waits in it has none.
            let column = "ALTER TABLE message ADD COLUMN account TEXT NOT NULL DEFAULT '-'";
            database.execute_batch(column)?;
        }
        database.execute_batch(
            "CREATE INDEX IF NOT EXISTS message_account ON message (queue, account, visible, id)",
        )?;
        database.pragma_update(None, "user_version", VERSION)?;
        let suspects = suspects::take_stock(&mut database, now)?;
        database.set_prepared_statement_cache_capacity(32);
        Ok(Some((database, suspects)))
    };
    match prepare() {
        Ok(Some(opened)) => Ok(opened),
        Ok(None) => Err(EngineError::Newer(path)),
        Err(error) if damage::is_damage(&error) || damage::is_damage_of_a_row(&error) => Err(
            EngineError::Damaged(damage::sentence(&path, &error.to_string())),
        ),
        Err(error) => Err(EngineError::Open(path, error)),
    }
}

/// Whether a message, or a dead letter that can still be replayed, is one that `is` recognizes by
/// its queue and its body. Only bodies that contain `text` are asked about.
pub(crate) fn is_any_waiting(
    file: &Path,
    text: &str,
    is: impl Fn(&str, &str) -> bool,
) -> rusqlite::Result<bool> {
    // Without SQLITE_OPEN_CREATE: the engine has made the file.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(file, flags)?;
    let mut statement = database.prepare(
        "SELECT queue, body FROM message WHERE instr(body, ?1) > 0
         UNION ALL SELECT queue, body FROM dead WHERE instr(body, ?1) > 0",
    )?;
    let mut rows = statement.query([text])?;
    while let Some(row) = rows.next()? {
        let (queue, body): (String, String) = (row.get(0)?, row.get(1)?);
        if is(&queue, &body) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests;
