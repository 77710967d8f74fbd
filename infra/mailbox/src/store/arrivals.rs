//! What arrived since a position: for those that wait for a mail.

use rusqlite::types::Value;
use rusqlite::{OptionalExtension as _, params_from_iter};

use super::{Store, line, row};
use crate::Error;
use crate::database::{self, Clause};
use crate::query::Term;
use crate::rows::ListRow;

impl Store {
    /// The position of the newest mail; 0 without one. Positions grow with every mail, and none is used again.
    pub(crate) fn newest(&self) -> Result<i64, Error> {
        let newest = "SELECT coalesce(max(seq), 0) FROM mail";
        let mut statement = self.db.prepare_cached(newest)?;
        Ok(statement.query_row([], |row| row.get(0))?)
    }

    /// The position of the mail of this id.
    pub(crate) fn position(&self, id: &str) -> Result<Option<i64>, Error> {
        let position = "SELECT seq FROM mail WHERE id = ?";
        let mut statement = self.db.prepare_cached(position)?;
        Ok(statement.query_row([id], |row| row.get(0)).optional()?)
    }

    /// The newest mail after this position that matches every term. It compares every mail after it, so the position
    /// should be a recent one.
    pub(crate) fn newest_since(
        &self,
        terms: &[Term],
        position: i64,
    ) -> Result<Option<ListRow>, Error> {
        let Clause { text, mut values } = database::matching(terms);
        values.push(Value::Integer(position));
        let select = format!(
            "SELECT summary, envelope, unread FROM mail WHERE {text} AND seq > ? ORDER BY seq DESC LIMIT 1"
        );
        let mut statement = self.db.prepare_cached(&select)?;
        let found = statement
            .query_row(params_from_iter(values), line)
            .optional()?;
        found
            .map(|(summary, envelope, unread)| row(&summary, &envelope, unread))
            .transpose()
    }
}
