//! Jobs that may have ended the process: how they are counted, and how they are retried.
//!
//! A receive that ends with the process, without an answer of its worker, is a death. It costs no
//! write of its own: `taken`, which the receive writes, is still set at the next start. An answer
//! (handled or given back) clears it, and so does an orderly stop.
//!
//! One job that kills takes down all jobs in flight beside it. So each of them is a suspect: it is
//! handed out alone, one at a time on each queue, while jobs without a death continue in batches
//! beside it. Any answer acquits it. A suspect that dies again is confined: it is retried right
//! after the start, before anything else is handed out, for a minute at most. After [`MOST_DEATHS`]
//! in a row it becomes a dead letter. So a job that kills ends after that many starts, and one that
//! was only in flight beside it never becomes a dead letter: at most two of its deaths can be
//! caused by another job.

use posthaste_model::Millis;
use rusqlite::Connection;

use super::dead::put_dead_letter;

/// A job during which the process died this often in a row becomes a dead letter. A job beside it
/// may have caused the first death and, less likely, the second; the others are its own.
pub(super) const MOST_DEATHS: u32 = 4;

/// From this death on a suspect is confined.
const CONFINED_FROM: u32 = 2;

/// Milliseconds for which a confined suspect keeps others waiting. A job that runs for longer than
/// this is slow rather than deadly.
const CONFINEMENT: i64 = 60_000;

#[derive(Clone, Debug)]
struct Suspect {
    id: i64,
    queue: String,
    confined: bool,
    /// When its confinement began.
    since: Option<i64>,
    /// While a worker has it: when its visibility ends.
    trial: Option<i64>,
}

/// The suspects still to be retried, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Suspects(Vec<Suspect>);

/// The messages a worker may receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pick {
    /// This suspect and nothing else.
    Alone(i64),
    /// Jobs without a death.
    Batch,
    /// Nothing: a confined suspect is retried first.
    Nothing,
}

/// Counts the deaths of the messages that the last process held, makes them visible at once, and
/// moves those that died too often to the dead letters.
pub(super) fn take_stock(database: &mut Connection, now: Millis) -> rusqlite::Result<Suspects> {
    let transaction = database.transaction()?;
    let held: Vec<i64> = transaction
        .prepare("SELECT id FROM message WHERE taken = 1")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for id in &held {
        transaction.execute(
            "INSERT INTO suspect (id, deaths) VALUES (?1, 1)
             ON CONFLICT (id) DO UPDATE SET deaths = deaths + 1",
            [id],
        )?;
        transaction.execute(
            "UPDATE message SET taken = 0, visible = min(visible, ?2) WHERE id = ?1",
            (id, now.0),
        )?;
    }
    let found: Vec<(i64, Option<String>, u32)> = transaction
        .prepare(
            "SELECT suspect.id, message.queue, suspect.deaths
             FROM suspect LEFT JOIN message ON message.id = suspect.id
             ORDER BY suspect.deaths DESC, suspect.id",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut suspects = Vec::new();
    for (id, queue, deaths) in found {
        let Some(queue) = queue else {
            // A release without suspects handled it.
            transaction.execute("DELETE FROM suspect WHERE id = ?1", [id])?;
            continue;
        };
        if deaths >= MOST_DEATHS {
            put_dead_letter(&transaction, id, now)?;
            tracing::error!(
                queue.name = queue,
                job.id = id,
                "job {id} of queue {queue} ended this process {deaths} times and is a dead letter now: \
                 see `posthaste dead-letters jobs`"
            );
            continue;
        }
        suspects.push(Suspect {
            id,
            queue,
            confined: deaths >= CONFINED_FROM,
            since: None,
            trial: None,
        });
    }
    transaction.commit()?;
    if !held.is_empty() {
        let count = held.len();
        tracing::warn!(
            count,
            "the last run ended without a stop, with {count} jobs in the works: each is tried alone"
        );
    }
    Ok(Suspects(suspects))
}

impl Suspects {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn contains(&self, id: i64) -> bool {
        self.0.iter().any(|suspect| suspect.id == id)
    }

    /// What a worker of this queue may receive now; a suspect is on trial until its visibility
    /// ends.
    pub(super) fn pick(&mut self, queue: &str, now: Millis, visible: i64) -> Pick {
        for suspect in &mut self.0 {
            suspect.trial = suspect.trial.filter(|until| *until > now.0);
        }
        while let Some(first) = self.0.iter_mut().find(|suspect| suspect.confined) {
            let since = *first.since.get_or_insert(now.0);
            // A clock that was set back ends it too.
            if (since..since.saturating_add(CONFINEMENT)).contains(&now.0) {
                if first.queue != queue || first.trial.is_some() {
                    return Pick::Nothing;
                }
                first.trial = Some(visible);
                return Pick::Alone(first.id);
            }
            first.confined = false;
        }
        let mut own = self.0.iter().filter(|suspect| suspect.queue == queue);
        if own.any(|suspect| suspect.trial.is_some()) {
            return Pick::Batch;
        }
        match self.0.iter_mut().find(|suspect| suspect.queue == queue) {
            None => Pick::Batch,
            Some(next) => {
                next.trial = Some(visible);
                Pick::Alone(next.id)
            }
        }
    }

    /// When to check this queue for suspects, and whether its other jobs are handed out before
    /// that.
    pub(super) fn wake(&self, queue: &str, now: Millis) -> (Option<i64>, bool) {
        if let Some(first) = self.0.iter().find(|suspect| suspect.confined) {
            let end = first.since.map(|since| since.saturating_add(CONFINEMENT));
            let free = first.queue == queue && first.trial.is_none();
            return (end.filter(|_| !free).or(Some(now.0)), false);
        }
        let own = || self.0.iter().filter(|suspect| suspect.queue == queue);
        match own().find_map(|suspect| suspect.trial) {
            Some(until) => (Some(until), true),
            None => (own().next().map(|_| now.0), true),
        }
    }

    /// A worker answered: this job did not end the process.
    pub(super) fn acquit(&mut self, id: i64) {
        self.0.retain(|suspect| suspect.id != id);
    }
}
