//! What arrived since a place in the order of arrival: for those that wait for a mail. A mail is listed where it
//! was sent, which may be before others that arrived earlier.

use rusqlite::types::Value;
use rusqlite::{OptionalExtension as _, params_from_iter};

use super::Store;
use super::listing::Line;
use crate::Error;
use crate::database::{self, Clause, LINE, SHOWN};
use crate::query::Term;
use crate::rows::ListRow;

impl Store {
    /// The place of the mail that arrived last; 0 without one. Places grow with every mail, and none is used again.
    pub(crate) fn newest(&self) -> i64 {
        self.arrived
    }

    /// The place of the mail of this id in the order of arrival.
    pub(crate) fn arrival(&self, id: &str) -> Result<Option<i64>, Error> {
        let select = format!("SELECT arrived FROM {SHOWN} AND recorded AND id = ?");
        let mut statement = self.db.prepare_cached(&select)?;
        Ok(statement.query_row([id], |row| row.get(0)).optional()?)
    }

    /// The last mail that arrived after this place and matches every term. It compares every mail after it, so the
    /// place should be a recent one.
    pub(crate) fn newest_since(
        &self,
        terms: &[Term],
        place: i64,
    ) -> Result<Option<ListRow>, Error> {
        let Clause { text, mut values } = database::matching(terms);
        values.push(Value::Integer(place));
        let select = format!(
            "SELECT {LINE} FROM {SHOWN} AND recorded AND {text} AND arrived > ? ORDER BY arrived DESC LIMIT 1"
        );
        let mut statement = self.db.prepare_cached(&select)?;
        let found = statement
            .query_row(params_from_iter(values), Line::read)
            .optional()?;
        found.map(Line::row).transpose()
    }
}
