//! Messages into the queues, and the dead letters: stored in the same file, where they can be inspected
//! and replayed.

use posthaste_model::Millis;
use posthaste_queue::{DeadJob, account_of};
use rusqlite::{OptionalExtension as _, Transaction};

/// In the place of the account, for messages that belong to none.
const NO_ACCOUNT: &str = "-";

/// Moves a message to the dead letters.
pub(super) fn put_dead_letter(
    transaction: &Transaction<'_>,
    id: i64,
    now: Millis,
) -> rusqlite::Result<()> {
    transaction.execute(
        "INSERT INTO dead (id, queue, at, count, body, deaths)
         SELECT id, queue, ?2, count, body,
                coalesce((SELECT deaths FROM suspect WHERE suspect.id = message.id), 0)
         FROM message WHERE id = ?1",
        (id, now.0),
    )?;
    transaction.execute("DELETE FROM suspect WHERE id = ?1", [id])?;
    transaction.execute("DELETE FROM message WHERE id = ?1", [id])?;
    Ok(())
}

/// All dead letters, oldest first.
pub(super) fn list(transaction: &Transaction<'_>) -> rusqlite::Result<Vec<DeadJob>> {
    transaction
        .prepare(
            "SELECT id, queue, at, count, deaths, octet_length(body) FROM dead ORDER BY at, id",
        )?
        .query_map([], |row| {
            Ok(DeadJob {
                id: row.get(0)?,
                queue: row.get(1)?,
                at: Millis(row.get(2)?),
                receives: row.get(3)?,
                deaths: row.get(4)?,
                bytes: u64::try_from(row.get::<_, i64>(5)?).unwrap_or_default(),
            })
        })?
        .collect()
}

/// Puts dead letters back on their queues as new messages; returns how many of the ids existed.
pub(super) fn replay(
    transaction: &Transaction<'_>,
    ids: &[i64],
    now: Millis,
) -> rusqlite::Result<usize> {
    let mut replayed = 0;
    let mut select = transaction.prepare_cached("SELECT queue, body FROM dead WHERE id = ?1")?;
    for id in ids {
        let found: Option<(String, String)> = select
            .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        if let Some((queue, body)) = found {
            insert(transaction, &queue, &body, now.0)?;
            replayed += 1;
        }
        transaction.execute("DELETE FROM dead WHERE id = ?1", [id])?;
    }
    Ok(replayed)
}

/// Adds a message to a queue, to be handed out from this millisecond on.
pub(super) fn insert(
    transaction: &Transaction<'_>,
    queue: &str,
    body: &str,
    visible: i64,
) -> rusqlite::Result<()> {
    let account = account_of(body);
    let account = account
        .as_ref()
        .map_or(NO_ACCOUNT, |account| account.as_str());
    transaction
        .prepare_cached(
            "INSERT INTO message (queue, visible, body, account) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute((queue, visible, body, account))?;
    Ok(())
}
