//! The engine's loop: take what waits, one transaction, answer.

use std::collections::VecDeque;
use std::path::PathBuf;

use posthaste_model::{Clock, Millis};
use posthaste_queue::EngineCommand;
use rusqlite::{Connection, Transaction};
use tokio::sync::mpsc;

use super::dead;
use super::fair::AccountTurns;
use super::hand_out::{CommandResult, CommitReply, Waiter, after, next_wake, serve};
use super::suspects::Suspects;
use crate::damage::{self, Damage};

/// At most so many commands share one transaction.
const MOST_AT_ONCE: usize = 1024;

/// The file, and the engine's state in memory.
pub(super) struct Queues {
    pub(super) database: Connection,
    pub(super) suspects: Suspects,
    pub(super) turns: AccountTurns,
    /// Those that wait until nothing is left to do.
    pub(super) quiet: Vec<CommandResult<Option<Millis>>>,
    /// Where the file is; for memory, a name for it.
    pub(super) file: PathBuf,
    pub(super) damage: Damage,
}

/// Serves commands until every handle is gone.
pub(super) async fn run(
    mut queues: Queues,
    mut inbox: mpsc::UnboundedReceiver<EngineCommand>,
    clock: Clock,
) {
    let mut waiters = VecDeque::new();
    // Whether messages are still handed out.
    let mut open = true;
    loop {
        let wake = if open {
            next_wake(&queues.database, &waiters, &queues.suspects, clock.now_ms())
        } else {
            None
        };
        let first = match wake {
            None => inbox.recv().await,
            Some(after) => match tokio::time::timeout(after, inbox.recv()).await {
                Ok(command) => command,
                Err(_) => Some(EngineCommand::Tick),
            },
        };
        let Some(first) = first else { return };
        let mut commands = vec![first];
        while commands.len() < MOST_AT_ONCE {
            match inbox.try_recv() {
                Ok(command) => commands.push(command),
                Err(_) => break,
            }
        }
        waiters.retain(|waiter: &Waiter| !waiter.done.is_closed());
        queues.turn(commands, &mut waiters, &mut open, clock.now_ms());
    }
}

impl Queues {
    /// Runs the commands in one transaction and answers them.
    fn turn(
        &mut self,
        commands: Vec<EngineCommand>,
        waiters: &mut VecDeque<Waiter>,
        open: &mut bool,
        now: Millis,
    ) {
        let level = synchronous(&commands);
        let mut replies = Vec::new();
        let mut commands = commands.into_iter();
        let before = (!self.suspects.is_empty()).then(|| self.suspects.clone());
        let (database, suspects) = (&mut self.database, &mut self.suspects);
        let (turns, quiet) = (&mut self.turns, &mut self.quiet);
        let mut work = || -> rusqlite::Result<()> {
            database.pragma_update(None, "synchronous", level)?;
            let transaction = database.transaction()?;
            for command in commands.by_ref() {
                match command {
                    EngineCommand::Close => {
                        *open = false;
                        release(&transaction, now)?;
                    }
                    EngineCommand::Quiet { done } => quiet.push(done),
                    command => apply(
                        &transaction,
                        command,
                        (&mut *waiters, &mut *suspects),
                        &mut replies,
                        now,
                    )?,
                }
            }
            if *open {
                serve(&transaction, waiters, (suspects, turns), &mut replies, now)?;
                if !quiet.is_empty() && is_quiet(&transaction, now)? {
                    let next = next_visible(&transaction)?;
                    let asked = quiet.drain(..);
                    replies.extend(asked.map(|done| CommitReply::Quiet(done, next)));
                }
            } else {
                waiters.clear();
                quiet.clear();
            }
            transaction.commit()
        };
        let end = work();
        if let Err(error) = &end {
            tracing::error!(error = %error, "the queue file does not work: {error}");
            if damage::is_damage(error) {
                self.damage.report(&self.file, &error.to_string());
            }
            if let Some(before) = before {
                self.suspects = before;
            }
        }
        let end = end.map_err(|error| error.to_string());
        for command in commands {
            refuse(command, &end);
        }
        for reply in replies {
            reply.send(end.clone());
        }
    }
}

/// How SQLite syncs the commands: only what is sent must reach the disk before the answer. A deletion or a
/// hand-out that a power failure undoes comes back as a repeated job, which every worker absorbs.
fn synchronous(commands: &[EngineCommand]) -> &'static str {
    let is_sent = |command: &EngineCommand| {
        matches!(
            command,
            EngineCommand::Send { .. } | EngineCommand::Replay { .. }
        )
    };
    if commands.iter().any(is_sent) {
        "FULL"
    } else {
        "NORMAL"
    }
}

/// Answers a command that was not reached because one before it failed.
fn refuse(command: EngineCommand, end: &Result<(), String>) {
    let end = end.clone();
    match command {
        EngineCommand::Send { done, .. }
        | EngineCommand::Delete { done, .. }
        | EngineCommand::Return { done, .. } => {
            CommitReply::Done(done).send(end);
        }
        EngineCommand::Receive { done, .. } => CommitReply::Messages(done, Vec::new()).send(end),
        EngineCommand::ListDead { done } => CommitReply::Dead(done, Vec::new()).send(end),
        EngineCommand::Replay { done, .. } => CommitReply::Replayed(done, 0).send(end),
        EngineCommand::Quiet { done } => CommitReply::Quiet(done, None).send(end),
        EngineCommand::Tick | EngineCommand::Close => {}
    }
}

/// Whether nothing can be handed out and no worker has a message.
fn is_quiet(transaction: &Transaction<'_>, now: Millis) -> rusqlite::Result<bool> {
    let quiet = "SELECT NOT EXISTS (SELECT 1 FROM message WHERE taken = 1 OR visible <= ?1)";
    let mut quiet = transaction.prepare_cached(quiet)?;
    quiet.query_row([now.0], |row| row.get(0))
}

fn next_visible(transaction: &Transaction<'_>) -> rusqlite::Result<Option<Millis>> {
    let mut next = transaction.prepare_cached("SELECT min(visible) FROM message")?;
    let next: Option<i64> = next.query_row([], |row| row.get(0))?;
    Ok(next.map(Millis))
}

/// Messages in flight do not count as deaths, because the process shuts down in order.
fn release(transaction: &Transaction<'_>, now: Millis) -> rusqlite::Result<()> {
    let release = "UPDATE message SET taken = 0, visible = min(visible, ?1) WHERE taken = 1";
    transaction.execute(release, [now.0])?;
    Ok(())
}

/// How a message is put back. One that waits counts as received once: the next receive counts as a
/// repeat, and nothing more.
fn put_back(counts: bool) -> &'static str {
    if counts {
        "UPDATE message SET visible = ?3, taken = 0 WHERE id = ?1 AND queue = ?2"
    } else {
        "UPDATE message SET visible = ?3, taken = 0, count = min(count, 1)
         WHERE id = ?1 AND queue = ?2"
    }
}

fn apply(
    transaction: &Transaction<'_>,
    command: EngineCommand,
    (waiters, suspects): (&mut VecDeque<Waiter>, &mut Suspects),
    replies: &mut Vec<CommitReply>,
    now: Millis,
) -> rusqlite::Result<()> {
    match command {
        // The loop handles the other two.
        EngineCommand::Tick | EngineCommand::Close | EngineCommand::Quiet { .. } => {}
        EngineCommand::ListDead { done } => {
            replies.push(CommitReply::Dead(done, dead::list(transaction)?));
        }
        EngineCommand::Replay { ids, done } => {
            let count = dead::replay(transaction, &ids, now)?;
            replies.push(CommitReply::Replayed(done, count));
        }
        EngineCommand::Send {
            queue,
            messages,
            done,
        } => {
            replies.push(CommitReply::Done(done));
            for (body, delay) in messages {
                dead::insert(transaction, &queue, &body, after(now, delay))?;
            }
        }
        EngineCommand::Receive {
            queue,
            most,
            visibility,
            done,
        } => waiters.push_back(Waiter {
            queue,
            most,
            visibility,
            done,
        }),
        EngineCommand::Delete { queue, ids, done } => {
            replies.push(CommitReply::Done(done));
            let mut delete =
                transaction.prepare_cached("DELETE FROM message WHERE id = ?1 AND queue = ?2")?;
            for id in ids {
                delete.execute((id, &queue))?;
                acquit(transaction, suspects, id)?;
            }
        }
        EngineCommand::Return {
            queue,
            ids,
            after: wait,
            counts,
            done,
        } => {
            replies.push(CommitReply::Done(done));
            let mut update = transaction.prepare_cached(put_back(counts))?;
            for id in ids {
                update.execute((id, &queue, after(now, wait)))?;
                acquit(transaction, suspects, id)?;
            }
        }
    }
    Ok(())
}

/// A worker answered for this job.
fn acquit(transaction: &Transaction<'_>, suspects: &mut Suspects, id: i64) -> rusqlite::Result<()> {
    if suspects.contains(id) {
        transaction
            .prepare_cached("DELETE FROM suspect WHERE id = ?1")?
            .execute([id])?;
        suspects.acquit(id);
    }
    Ok(())
}
