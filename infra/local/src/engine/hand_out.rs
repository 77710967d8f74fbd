//! Hands visible messages to waiting workers, and decides when to check again.

use std::collections::VecDeque;
use std::time::Duration;

use posthaste_model::Millis;
use posthaste_queue::{DeadJob, ReceivedMessage};
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction};
use tokio::sync::oneshot;

use super::dead::put_dead_letter;
use super::fair::AccountTurns;
use super::suspects::{Pick, Suspects};

/// A message handed out more often than this is a dead letter.
pub(super) const MOST_RECEIVES: u32 = 50;

/// The clock may be set forward in between, or the machine wake from sleep.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

pub(super) type CommandResult<T> = oneshot::Sender<Result<T, String>>;

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
    Quiet(CommandResult<Option<Millis>>, Option<Millis>),
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
            Self::Quiet(done, next) => drop(done.send(end.map(|()| next))),
        }
    }
}

/// Hands visible messages to waiting workers: workers in the order in which they asked.
pub(super) fn serve(
    transaction: &Transaction<'_>,
    waiters: &mut VecDeque<Waiter>,
    (suspects, turns): (&mut Suspects, &mut AccountTurns),
    replies: &mut Vec<CommitReply>,
    now: Millis,
) -> rusqlite::Result<()> {
    let mut empty: Vec<String> = Vec::new();
    for _ in 0..waiters.len() {
        let Some(waiter) = waiters.pop_front() else {
            break;
        };
        if empty.contains(&waiter.queue) {
            waiters.push_back(waiter);
            continue;
        }
        let messages = take(transaction, &waiter, (&mut *suspects, &mut *turns), now)?;
        if messages.is_empty() {
            empty.push(waiter.queue.clone());
            waiters.push_back(waiter);
        } else {
            replies.push(CommitReply::Messages(waiter.done, messages));
        }
    }
    Ok(())
}

fn take(
    transaction: &Transaction<'_>,
    waiter: &Waiter,
    (suspects, turns): (&mut Suspects, &mut AccountTurns),
    now: Millis,
) -> rusqlite::Result<Vec<ReceivedMessage>> {
    let visible = after(now, waiter.visibility);
    let found = match suspects.pick(&waiter.queue, now, visible) {
        Pick::Nothing => return Ok(Vec::new()),
        Pick::Batch => {
            let ids = turns.choose(transaction, &waiter.queue, waiter.most, now)?;
            let messages = ids.into_iter().map(|id| one(transaction, id));
            let messages: rusqlite::Result<Vec<_>> = messages.collect();
            messages?.into_iter().flatten().collect::<Vec<_>>()
        }
        Pick::Alone(id) => {
            // It was visible when the process died, or its visibility has ended since.
            let found = one(transaction, id)?;
            if found.is_none() {
                suspects.acquit(id);
            }
            found.into_iter().collect()
        }
    };
    let mut hide = transaction.prepare_cached(
        "UPDATE message SET visible = ?2, taken = 1, count = count + 1 WHERE id = ?1",
    )?;
    let mut handed = Vec::new();
    for message in found {
        if message.count > MOST_RECEIVES {
            put_dead_letter(transaction, message.id, now)?;
            suspects.acquit(message.id);
            tracing::error!(
                "queue message {} was handed out too often and is a dead letter now",
                message.id
            );
            continue;
        }
        hide.execute((message.id, visible))?;
        handed.push(message);
    }
    Ok(handed)
}

fn one(transaction: &Transaction<'_>, id: i64) -> rusqlite::Result<Option<ReceivedMessage>> {
    let mut select =
        transaction.prepare_cached("SELECT id, count, body FROM message WHERE id = ?1")?;
    select.query_row([id], received).optional()
}

fn received(row: &Row<'_>) -> rusqlite::Result<ReceivedMessage> {
    Ok(ReceivedMessage {
        id: row.get(0)?,
        count: row.get::<_, u32>(1)?.saturating_add(1),
        body: row.get(2)?,
    })
}

/// How long until a message that a worker waits for becomes visible, or may have become so.
pub(super) fn next_wake(
    database: &Connection,
    waiters: &VecDeque<Waiter>,
    suspects: &Suspects,
    now: Millis,
) -> Option<Duration> {
    let mut queues: Vec<&str> = waiters.iter().map(|waiter| waiter.queue.as_str()).collect();
    queues.sort_unstable();
    queues.dedup();
    let next = queues.into_iter().filter_map(|queue| {
        let (trial, flows) = suspects.wake(queue, now);
        let visible = flows.then(|| first_visible(database, queue, suspects));
        [trial, visible.flatten()].into_iter().flatten().min()
    });
    let wait = next.min()?.saturating_sub(now.0);
    let wait = Duration::from_millis(u64::try_from(wait).unwrap_or(0));
    Some(wait.min(LOOK_AGAIN))
}

/// When the next message that is no suspect becomes visible.
fn first_visible(database: &Connection, queue: &str, suspects: &Suspects) -> Option<i64> {
    let select = if suspects.is_empty() {
        "SELECT visible FROM message WHERE queue = ?1 ORDER BY visible LIMIT 1"
    } else {
        "SELECT visible FROM message WHERE queue = ?1
             AND id NOT IN (SELECT id FROM suspect) ORDER BY visible LIMIT 1"
    };
    let mut select = database.prepare_cached(select).ok()?;
    select
        .query_row([queue], |row| row.get(0))
        .optional()
        .ok()
        .flatten()
}

/// The instant `delay` from now, in milliseconds.
pub(super) fn after(now: Millis, delay: Duration) -> i64 {
    let delay = i64::try_from(delay.as_millis()).unwrap_or(i64::MAX);
    now.0.saturating_add(delay)
}
