//! Marking mails as read, deleting them, and having the last deletion back.

use posthaste_model::Millis;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::{Store, count};
use crate::Error;
use crate::database::{self, Clause, SHOWN};

/// Copies without a row that are remembered, so that a late event brings none back.
const REMEMBERED: i64 = 100_000;

/// Removes the rows at these positions.
pub(super) fn remove(db: &Connection, seqs: &[i64]) -> Result<(), Error> {
    let Clause { text, values } = database::at(seqs);
    for change in [
        "INSERT OR IGNORE INTO gone (name) SELECT name FROM copy WHERE name IS NOT NULL AND",
        "DELETE FROM raw WHERE",
        "DELETE FROM tag WHERE",
        "DELETE FROM copy WHERE",
        "DELETE FROM mail WHERE",
    ] {
        db.prepare_cached(&format!("{change} {text}"))?
            .execute(params_from_iter(&values))?;
    }
    db.prepare_cached("DELETE FROM gone WHERE rowid <= (SELECT max(rowid) FROM gone) - ?")?
        .execute([REMEMBERED])?;
    Ok(())
}

impl Store {
    /// Marks mails as read or unread; returns whether any changed.
    pub(crate) fn mark(&mut self, which: &Clause, read: bool) -> Result<bool, Error> {
        let update = format!(
            "UPDATE mail SET unread = {} WHERE seq IN (SELECT seq FROM {SHOWN} AND recorded \
             AND unread = {} AND {})",
            u8::from(!read),
            u8::from(read),
            which.text
        );
        let changed = self.db.execute(&update, params_from_iter(&which.values))?;
        if read {
            self.totals.unread = self.totals.unread.saturating_sub(changed);
        } else {
            self.totals.unread += changed;
        }
        Ok(changed > 0)
    }

    /// Deletes mails and returns their space to the disk; returns whether there were any.
    pub(crate) fn delete(&mut self, which: &Clause) -> Result<bool, Error> {
        let some = self.drop_where(which)?;
        if some {
            self.give_back()?;
        }
        Ok(some)
    }

    /// Deletes mails so that they can be had back until the next deletion; returns how many.
    pub(crate) fn discard(&mut self, which: &Clause, now: Millis) -> Result<usize, Error> {
        self.empty_trash()?;
        let update = format!(
            "UPDATE copy SET deleted = ? WHERE seq IN (SELECT seq FROM {SHOWN} AND {})",
            which.text
        );
        let values = std::iter::once(Value::Integer(now.0)).chain(which.values.iter().cloned());
        let changed = self.db.execute(&update, params_from_iter(values))?;
        if changed > 0 {
            self.count_again()?;
        }
        Ok(changed)
    }

    /// Brings back what was deleted last; returns how many.
    pub(crate) fn restore(&mut self) -> Result<usize, Error> {
        let update = "UPDATE copy SET deleted = NULL WHERE deleted IS NOT NULL";
        let changed = self.db.execute(update, [])?;
        if changed > 0 {
            self.count_again()?;
        }
        Ok(changed)
    }

    /// How many mails can be had back.
    pub(crate) fn trash(&self) -> usize {
        self.all - self.shown
    }

    /// Removes what was deleted; returns whether there was any.
    pub(super) fn empty_trash(&mut self) -> Result<bool, Error> {
        let deleted = Clause {
            text: "deleted IS NOT NULL".to_owned(),
            values: Vec::new(),
        };
        self.drop_where(&deleted)
    }

    /// Removes rows, whether they are shown or were deleted; returns whether there were any.
    pub(super) fn drop_where(&mut self, which: &Clause) -> Result<bool, Error> {
        let tx = self.db.transaction()?;
        let mut seqs = Vec::new();
        let (mut shown, mut recorded, mut unread, mut mails) = (0, 0, 0, 0);
        {
            let select = format!(
                "SELECT seq, deleted IS NULL, deleted IS NULL AND recorded, \
                 deleted IS NULL AND recorded AND unread, recorded \
                 FROM copy JOIN mail USING (seq) WHERE {}",
                which.text
            );
            let mut statement = tx.prepare_cached(&select)?;
            let mut rows = statement.query(params_from_iter(&which.values))?;
            while let Some(row) = rows.next()? {
                seqs.push(row.get(0)?);
                shown += count(row, 1)?;
                recorded += count(row, 2)?;
                unread += count(row, 3)?;
                mails += count(row, 4)?;
            }
        }
        if seqs.is_empty() {
            return Ok(false);
        }
        remove(&tx, &seqs)?;
        tx.commit()?;
        self.all = self.all.saturating_sub(seqs.len());
        self.shown = self.shown.saturating_sub(shown);
        self.totals.total = self.totals.total.saturating_sub(recorded);
        self.totals.unread = self.totals.unread.saturating_sub(unread);
        self.gone += mails;
        Ok(true)
    }
}
