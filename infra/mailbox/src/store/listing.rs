//! Rows of the list, searches, and single mails.

use posthaste_model::Timestamp;
use rusqlite::types::Value;
use rusqlite::{OptionalExtension as _, Row as SqlRow, params_from_iter};

use super::Store;
use crate::copies::{DeliveryStatus, copy_named};
use crate::database::{self, Clause, LINE, SHOWN};
use crate::query::Term;
use crate::rows::{ListRow, ListSlice, Shown, Totals};
use crate::{Error, Summary};

/// What one step of a search found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchStep {
    /// Positions of the mails that match, newest first, and whether each is unread.
    pub found: Vec<(i64, bool)>,
    /// Where the next step begins; `None` after the last mail.
    pub next: Option<i64>,
}

/// The columns of [`LINE`].
pub(super) struct Line {
    summary: String,
    envelope: String,
    unread: bool,
    recorded: bool,
    name: Option<String>,
    request: Option<String>,
    rank: i64,
    reason: String,
    leaves: Option<i64>,
    tags: String,
}

impl Line {
    pub(super) fn read(row: &SqlRow<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            summary: row.get(0)?,
            envelope: row.get(1)?,
            unread: row.get(2)?,
            recorded: row.get(3)?,
            name: row.get(4)?,
            request: row.get(5)?,
            rank: row.get(6)?,
            reason: row.get(7)?,
            leaves: row.get(8)?,
            tags: row.get(9)?,
        })
    }

    pub(super) fn row(self) -> Result<ListRow, Error> {
        let summary: Summary = serde_json::from_str(&self.summary)?;
        Ok(ListRow {
            summary: Summary {
                read: !self.unread,
                tags: serde_json::from_str(&self.tags)?,
                ..summary
            },
            envelope: serde_json::from_str(&self.envelope)?,
            is_recorded: self.recorded,
            copy: self.name.as_deref().and_then(copy_named),
            request: self.request,
            status: DeliveryStatus::of_rank(self.rank).unwrap_or(DeliveryStatus::Queued),
            reason: self.reason,
            leaves: self.leaves.map(Timestamp),
        })
    }
}

impl Shown {
    /// As a condition.
    pub(super) fn sql(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::All => "1",
        }
    }
}

impl Store {
    /// `start` rows skipped, newest first, `limit` of the others; `None` for all of them.
    pub(crate) fn list(
        &self,
        start: usize,
        limit: Option<usize>,
        shown: Shown,
    ) -> Result<ListSlice, Error> {
        let bound = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let select = format!(
            "SELECT {LINE} FROM {SHOWN} AND {} ORDER BY seq DESC LIMIT ? OFFSET ?",
            shown.sql()
        );
        let values = [limit.map_or(-1, bound), bound(start)].map(Value::Integer);
        let totals = self.totals_of(shown);
        Ok(ListSlice {
            totals,
            matching: totals,
            rows: self.rows(&select, values.into())?,
        })
    }

    /// The rows at these positions, newest first, of `matching` ones that a search found.
    pub(crate) fn found(
        &self,
        page: &[i64],
        matching: Totals,
        shown: Shown,
    ) -> Result<ListSlice, Error> {
        let Clause { text, values } = database::at(page);
        let select = format!("SELECT {LINE} FROM {SHOWN} AND {text} ORDER BY seq DESC");
        Ok(ListSlice {
            totals: self.totals_of(shown),
            matching,
            rows: self.rows(&select, values)?,
        })
    }

    pub(super) fn totals_of(&self, shown: Shown) -> Totals {
        match shown {
            Shown::Recorded => self.totals,
            Shown::All => Totals {
                total: self.shown,
                ..self.totals
            },
        }
    }

    pub(super) fn rows(&self, select: &str, values: Vec<Value>) -> Result<Vec<ListRow>, Error> {
        let mut statement = self.db.prepare_cached(select)?;
        let lines = statement.query_map(params_from_iter(values), Line::read)?;
        lines.map(|line| line?.row()).collect()
    }

    /// One step of a search: the rows before the position `before` that match every term, newest
    /// first. It compares about `most` bytes, and at least one mail.
    pub(crate) fn search(
        &self,
        terms: &[Term],
        shown: Shown,
        before: i64,
        most: u64,
    ) -> Result<SearchStep, Error> {
        let walk = format!(
            "SELECT seq, {} FROM mail WHERE seq < ? ORDER BY seq DESC",
            database::ROW
        );
        let mut statement = self.db.prepare_cached(&walk)?;
        let mut rows = statement.query([before])?;
        let each = u64::try_from(terms.len()).unwrap_or(u64::MAX);
        let (mut from, mut work) = (None, 0_u64);
        while work < most
            && let Some(row) = rows.next()?
        {
            from = Some(row.get(0)?);
            let size = u64::try_from(row.get::<_, i64>(1)?).unwrap_or_default();
            work = work.saturating_add(size.saturating_mul(each));
        }
        let Some(from) = from else {
            return Ok(SearchStep::default());
        };
        let Clause { text, mut values } = database::matching(terms);
        values.extend([from, before].map(Value::Integer));
        let select = format!(
            "SELECT seq, unread AND recorded FROM {SHOWN} AND {} AND {text} AND seq >= ? AND seq < ? \
             ORDER BY seq DESC",
            shown.sql()
        );
        let mut statement = self.db.prepare_cached(&select)?;
        let found = statement.query_map(params_from_iter(values), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        Ok(SearchStep {
            found: found.collect::<Result<_, _>>()?,
            next: Some(from),
        })
    }

    /// One row without the bytes of its mail, which may be many.
    pub(crate) fn head(&self, id: &str) -> Result<Option<ListRow>, Error> {
        let select = format!("SELECT {LINE} FROM {SHOWN} AND id = ?");
        let found = self
            .db
            .prepare_cached(&select)?
            .query_row([id], Line::read)
            .optional()?;
        found.map(Line::row).transpose()
    }

    /// The bytes of one mail.
    pub(crate) fn bytes(&self, id: &str) -> Result<Option<Vec<u8>>, Error> {
        let found = self
            .db
            .prepare_cached("SELECT bytes FROM mail JOIN raw USING (seq) WHERE id = ?")?
            .query_row([id], |row| row.get(0))
            .optional()?;
        Ok(found)
    }

    /// How many rows precede this one in a list of all.
    pub(crate) fn place(&self, id: &str, shown: Shown) -> Result<Option<usize>, Error> {
        let select = format!(
            "SELECT (SELECT count(*) FROM {SHOWN} AND {} AND seq > one.seq) FROM mail AS one WHERE id = ?",
            shown.sql()
        );
        let found = self
            .db
            .prepare_cached(&select)?
            .query_row([id], |row| super::count(row, 0))
            .optional()?;
        Ok(found)
    }

    /// An id that no mail has.
    pub(crate) fn fresh_id(&self) -> Result<String, Error> {
        database::fresh_id(&self.db)
    }

    /// Bytes of the database on disk or in memory.
    pub(crate) fn footprint(&self) -> Result<i64, Error> {
        let pages = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";
        Ok(self.db.query_row(pages, [], |row| row.get(0))?)
    }
}
