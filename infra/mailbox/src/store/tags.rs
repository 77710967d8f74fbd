//! The tags of mails.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{Store, count};
use crate::Error;
use crate::database::SHOWN;

/// Adds tags to the row at a position. One that another mail has in other letter case is written as there.
pub(super) fn add(db: &Connection, seq: i64, names: &[String]) -> Result<(), Error> {
    let insert = "INSERT OR IGNORE INTO tag (seq, name) \
        VALUES (?1, coalesce((SELECT name FROM tag WHERE name = ?2 LIMIT 1), ?2))";
    for name in names {
        db.prepare_cached(insert)?.execute(params![seq, name])?;
    }
    Ok(())
}

/// Why a tag is not renamed or deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TagProblem {
    /// No mail has it.
    Unknown,
    /// Another tag has the new name.
    Taken,
}

impl Store {
    /// The tags of all mails, in the order of the alphabet, each with how many have it.
    pub(crate) fn tags(&self) -> Result<Vec<(String, usize)>, Error> {
        let select = "SELECT min(tag.name), count(*) FROM tag JOIN copy USING (seq)
            WHERE recorded AND deleted IS NULL GROUP BY tag.name ORDER BY tag.name";
        let mut statement = self.db.prepare_cached(select)?;
        let counted = statement.query_map([], |row| Ok((row.get(0)?, count(row, 1)?)))?;
        Ok(counted.collect::<Result<_, _>>()?)
    }

    /// Gives the mails of these ids these tags and no others; returns the ids of mails that there are.
    pub(crate) fn set_tags(
        &mut self,
        ids: &[String],
        names: &[String],
    ) -> Result<Vec<String>, Error> {
        let tx = self.db.transaction()?;
        let mut found = Vec::new();
        for id in ids {
            let select = format!("SELECT seq FROM {SHOWN} AND id = ?");
            let seq = tx
                .prepare_cached(&select)?
                .query_row([id], |row| row.get(0))
                .optional()?;
            let Some(seq) = seq else {
                continue;
            };
            tx.prepare_cached("DELETE FROM tag WHERE seq = ?")?
                .execute([seq])?;
            add(&tx, seq, names)?;
            found.push(id.clone());
        }
        tx.commit()?;
        Ok(found)
    }

    /// Renames a tag of all mails, unless there is a problem.
    pub(crate) fn rename_tag(&mut self, from: &str, to: &str) -> Result<Option<TagProblem>, Error> {
        let tx = self.db.transaction()?;
        let exists = |name: &str| {
            tx.prepare_cached("SELECT 1 FROM tag WHERE name = ?")?
                .exists([name])
        };
        if !exists(from)? {
            return Ok(Some(TagProblem::Unknown));
        }
        if !from.eq_ignore_ascii_case(to) && exists(to)? {
            return Ok(Some(TagProblem::Taken));
        }
        tx.prepare_cached("UPDATE tag SET name = ?2 WHERE name = ?1")?
            .execute([from, to])?;
        tx.commit()?;
        Ok(None)
    }

    /// Takes a tag off all mails; returns whether any had it.
    pub(crate) fn delete_tag(&mut self, name: &str) -> Result<bool, Error> {
        let changed = self
            .db
            .prepare_cached("DELETE FROM tag WHERE name = ?")?
            .execute([name])?;
        Ok(changed > 0)
    }
}
