//! Chooses the messages of a batch so that accounts take turns: beside 100,000 mails of one account,
//! another's leaves with the next batch.
//!
//! A batch is made of the messages of the accounts that follow the one served last, in the order of
//! their names: the oldest message of each, then the second oldest of each, and so on. An account
//! alone gets the whole batch. The accounts are found by seeks in the index, so that a batch costs the
//! same however many messages wait.

use std::collections::HashMap;

use posthaste_model::Millis;
use rusqlite::{OptionalExtension as _, Transaction};

/// Accounts looked at for one batch. Many may have only messages for later; then the oldest visible
/// messages are taken, whosever they are, and the next batch goes on from where this one stopped.
const MOST_LOOKS: usize = 200;

/// The account served last, by queue.
#[derive(Clone, Debug, Default)]
pub(super) struct AccountTurns(HashMap<String, String>);

impl AccountTurns {
    /// The ids of the next visible messages that are no suspects, at most `most`.
    pub(super) fn choose(
        &mut self,
        transaction: &Transaction<'_>,
        queue: &str,
        most: usize,
        now: Millis,
    ) -> rusqlite::Result<Vec<i64>> {
        let start = self.0.get(queue).cloned().unwrap_or_default();
        let (mut last, mut wrapped) = (start.clone(), start.is_empty());
        let mut found: Vec<std::vec::IntoIter<i64>> = Vec::new();
        for _ in 0..MOST_LOOKS {
            if found.len() >= most {
                break;
            }
            let Some(next) = following(transaction, queue, &last)? else {
                if wrapped {
                    break;
                }
                (last, wrapped) = (String::new(), true);
                continue;
            };
            // Around once: the accounts from the start on were looked at before.
            if wrapped && !start.is_empty() && next > start {
                break;
            }
            let ids = oldest(transaction, queue, &next, most, now)?;
            if !ids.is_empty() {
                found.push(ids.into_iter());
            }
            last = next;
        }
        self.0.insert(queue.to_owned(), last);
        let mut chosen = Vec::new();
        while chosen.len() < most {
            let before = chosen.len();
            let room = most - before;
            chosen.extend(found.iter_mut().filter_map(Iterator::next).take(room));
            if chosen.len() == before {
                break;
            }
        }
        if chosen.is_empty() {
            oldest_of_all(transaction, queue, most, now)
        } else {
            Ok(chosen)
        }
    }
}

/// The next account with messages on the queue, in the order of names.
fn following(
    transaction: &Transaction<'_>,
    queue: &str,
    account: &str,
) -> rusqlite::Result<Option<String>> {
    transaction
        .prepare_cached(
            "SELECT account FROM message WHERE queue = ?1 AND account > ?2
             ORDER BY account LIMIT 1",
        )?
        .query_row((queue, account), |row| row.get(0))
        .optional()
}

fn oldest(
    transaction: &Transaction<'_>,
    queue: &str,
    account: &str,
    most: usize,
    now: Millis,
) -> rusqlite::Result<Vec<i64>> {
    transaction
        .prepare_cached(
            "SELECT id FROM message WHERE queue = ?1 AND account = ?2 AND visible <= ?3
             AND id NOT IN (SELECT id FROM suspect) ORDER BY visible, id LIMIT ?4",
        )?
        .query_map((queue, account, now.0, limit(most)), |row| row.get(0))?
        .collect()
}

fn oldest_of_all(
    transaction: &Transaction<'_>,
    queue: &str,
    most: usize,
    now: Millis,
) -> rusqlite::Result<Vec<i64>> {
    transaction
        .prepare_cached(
            "SELECT id FROM message WHERE queue = ?1 AND visible <= ?2
             AND id NOT IN (SELECT id FROM suspect) ORDER BY visible, id LIMIT ?3",
        )?
        .query_map((queue, now.0, limit(most)), |row| row.get(0))?
        .collect()
}

fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
