//! The engine's loop: take what waits, one transaction, answer.

use std::collections::VecDeque;
use std::time::Duration;

use posthaste_model::{Clock, Millis};
use posthaste_queue::{Command, Received};
use rusqlite::{Connection, OptionalExtension as _, Transaction};
use tokio::sync::{mpsc, oneshot};

/// A message handed out more often than this is a dead letter.
pub(super) const MOST_RECEIVES: u32 = 50;

/// At most so many commands share one transaction.
const MOST_AT_ONCE: usize = 1024;

type Answer<T> = oneshot::Sender<Result<T, String>>;

/// A worker that waits for messages.
struct Waiter {
    queue: String,
    most: usize,
    visibility: Duration,
    done: Answer<Vec<Received>>,
}

/// What is answered after the commit.
enum Reply {
    Done(Answer<()>),
    Messages(Answer<Vec<Received>>, Vec<Received>),
}

/// Serves commands until every handle is gone.
pub(super) async fn run(
    mut database: Connection,
    mut inbox: mpsc::UnboundedReceiver<Command>,
    clock: Clock,
) {
    let mut waiters = VecDeque::new();
    loop {
        let wake = next_wake(&database, &waiters, clock.now_ms());
        let first = match wake {
            None => inbox.recv().await,
            Some(after) => match tokio::time::timeout(after, inbox.recv()).await {
                Ok(command) => command,
                Err(_) => Some(Command::Tick),
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
        turn(&mut database, commands, &mut waiters, clock.now_ms());
    }
}

/// Runs the commands in one transaction and answers them.
fn turn(
    database: &mut Connection,
    commands: Vec<Command>,
    waiters: &mut VecDeque<Waiter>,
    now: Millis,
) {
    // Only what is sent must reach the disk before the answer. A deletion or a hand-out that a
    // power failure undoes comes back as a repeated job, which every worker absorbs.
    let durable = commands
        .iter()
        .any(|command| matches!(command, Command::Send { .. }));
    let level = if durable { "FULL" } else { "NORMAL" };
    let mut replies = Vec::new();
    let work = || -> rusqlite::Result<()> {
        database.pragma_update(None, "synchronous", level)?;
        let transaction = database.transaction()?;
        for command in commands {
            apply(&transaction, command, waiters, &mut replies, now)?;
        }
        serve(&transaction, waiters, &mut replies, now)?;
        transaction.commit()
    };
    let end = work().map_err(|e| e.to_string());
    if let Err(error) = &end {
        tracing::error!(error = %error, "the queue file does not work: {error}");
    }
    for reply in replies {
        // An answer nobody waits for any more is no fault of the engine.
        match reply {
            Reply::Done(done) => drop(done.send(end.clone())),
            Reply::Messages(done, messages) => drop(done.send(end.clone().map(|()| messages))),
        }
    }
}

fn apply(
    transaction: &Transaction<'_>,
    command: Command,
    waiters: &mut VecDeque<Waiter>,
    replies: &mut Vec<Reply>,
    now: Millis,
) -> rusqlite::Result<()> {
    match command {
        Command::Tick => {}
        Command::Send {
            queue,
            messages,
            done,
        } => {
            replies.push(Reply::Done(done));
            let mut insert = transaction
                .prepare_cached("INSERT INTO message (queue, visible, body) VALUES (?1, ?2, ?3)")?;
            for (body, delay) in messages {
                insert.execute((&queue, after(now, delay), body))?;
            }
        }
        Command::Receive {
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
        Command::Delete { queue, ids, done } => {
            replies.push(Reply::Done(done));
            let mut delete =
                transaction.prepare_cached("DELETE FROM message WHERE id = ?1 AND queue = ?2")?;
            for id in ids {
                delete.execute((id, &queue))?;
            }
        }
        Command::Return {
            queue,
            ids,
            after: wait,
            done,
        } => {
            replies.push(Reply::Done(done));
            let mut update = transaction.prepare_cached(
                "UPDATE message SET visible = ?3, taken = 0 WHERE id = ?1 AND queue = ?2",
            )?;
            for id in ids {
                update.execute((id, &queue, after(now, wait)))?;
            }
        }
    }
    Ok(())
}

/// Hands visible messages to those who wait, first come, first served.
fn serve(
    transaction: &Transaction<'_>,
    waiters: &mut VecDeque<Waiter>,
    replies: &mut Vec<Reply>,
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
        let messages = take(transaction, &waiter, now)?;
        if messages.is_empty() {
            empty.push(waiter.queue.clone());
            waiters.push_back(waiter);
        } else {
            replies.push(Reply::Messages(waiter.done, messages));
        }
    }
    Ok(())
}

fn take(
    transaction: &Transaction<'_>,
    waiter: &Waiter,
    now: Millis,
) -> rusqlite::Result<Vec<Received>> {
    let mut select = transaction.prepare_cached(
        "SELECT id, count, body FROM message WHERE queue = ?1 AND visible <= ?2
         ORDER BY visible, id LIMIT ?3",
    )?;
    let most = i64::try_from(waiter.most).unwrap_or(i64::MAX);
    let found: Vec<Received> = select
        .query_map((&waiter.queue, now.0, most), |row| {
            Ok(Received {
                id: row.get(0)?,
                count: row.get::<_, u32>(1)?.saturating_add(1),
                body: row.get(2)?,
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    let mut hide = transaction.prepare_cached(
        "UPDATE message SET visible = ?2, taken = 1, count = count + 1 WHERE id = ?1",
    )?;
    let mut handed = Vec::new();
    for message in found {
        if message.count > MOST_RECEIVES {
            bury(transaction, message.id, now)?;
            continue;
        }
        hide.execute((message.id, after(now, waiter.visibility)))?;
        handed.push(message);
    }
    Ok(handed)
}

/// Moves a message nobody could handle to the dead letters, where it can be looked at.
fn bury(transaction: &Transaction<'_>, id: i64, now: Millis) -> rusqlite::Result<()> {
    transaction.execute(
        "INSERT INTO dead (id, queue, at, count, body)
         SELECT id, queue, ?2, count, body FROM message WHERE id = ?1",
        (id, now.0),
    )?;
    transaction.execute("DELETE FROM message WHERE id = ?1", [id])?;
    tracing::error!("queue message {id} was handed out too often and is a dead letter now");
    Ok(())
}

fn after(now: Millis, delay: Duration) -> i64 {
    let delay = i64::try_from(delay.as_millis()).unwrap_or(i64::MAX);
    now.0.saturating_add(delay)
}

/// The clock may be set forward while nothing happens, or the machine wake from its sleep.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// How long until a message that somebody waits for becomes visible, or may have become it.
fn next_wake(database: &Connection, waiters: &VecDeque<Waiter>, now: Millis) -> Option<Duration> {
    let mut queues: Vec<&str> = waiters.iter().map(|waiter| waiter.queue.as_str()).collect();
    queues.sort_unstable();
    queues.dedup();
    let next = queues.into_iter().filter_map(|queue| {
        let mut select = database
            .prepare_cached("SELECT visible FROM message WHERE queue = ?1 ORDER BY visible LIMIT 1")
            .ok()?;
        let visible: Option<i64> = select
            .query_row([queue], |row| row.get(0))
            .optional()
            .ok()?;
        visible
    });
    let wait = next.min()?.saturating_sub(now.0);
    let wait = Duration::from_millis(u64::try_from(wait).unwrap_or(0));
    Some(wait.min(LOOK_AGAIN))
}
