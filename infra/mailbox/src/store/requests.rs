//! The list by request: one row for all copies of one.

use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::{Store, count};
use crate::Error;
use crate::copies::DeliveryStatus;
use crate::database::{self, Clause, LINE, SHOWN};
use crate::rows::{RequestRow, Shown, Totals};

/// Some requests, the latest first, and how many there are.
#[derive(Debug, Default)]
pub(crate) struct RequestSlice {
    pub totals: Totals,
    pub requests: usize,
    pub rows: Vec<RequestRow>,
}

impl Store {
    /// `start` requests skipped, the latest first, `limit` of the others: of those rows that a search
    /// found, or of all. A mail that another program sent counts as a request.
    pub(crate) fn requests(
        &self,
        found: Option<&[i64]>,
        start: usize,
        limit: usize,
    ) -> Result<RequestSlice, Error> {
        let which = found.map_or_else(|| database::matching(&[]), database::at);
        let Clause { text, values } = which;
        let each = "coalesce(request, seq)";
        let total =
            format!("SELECT count(DISTINCT {each}) FROM copy WHERE deleted IS NULL AND {text}");
        let requests = self
            .db
            .prepare_cached(&total)?
            .query_row(params_from_iter(&values), |row| count(row, 0))?;
        let select = format!(
            "SELECT min(seq) FROM copy WHERE deleted IS NULL AND {text} GROUP BY {each} \
             ORDER BY min(seq) DESC LIMIT ? OFFSET ?"
        );
        let bounds = [limit, start].map(|n| Value::Integer(i64::try_from(n).unwrap_or(i64::MAX)));
        let firsts: Vec<i64> = self
            .db
            .prepare_cached(&select)?
            .query_map(params_from_iter(values.into_iter().chain(bounds)), |row| {
                row.get(0)
            })?
            .collect::<Result<_, _>>()?;
        let Clause { text, values } = database::at(&firsts);
        let select = format!("SELECT {LINE} FROM {SHOWN} AND {text} ORDER BY seq DESC");
        let rows = self.rows(&select, values)?.into_iter().map(|first| {
            let states = match &first.request {
                Some(request) => self.states(request)?,
                None => vec![(first.status, 1)],
            };
            Ok(RequestRow { first, states })
        });
        Ok(RequestSlice {
            totals: self.totals_of(Shown::All),
            requests,
            rows: rows.collect::<Result<_, Error>>()?,
        })
    }

    /// How many copies of a request are in each state.
    fn states(&self, request: &str) -> Result<Vec<(DeliveryStatus, usize)>, Error> {
        let select = "SELECT rank, count(*) FROM copy WHERE request = ? AND deleted IS NULL
            GROUP BY rank ORDER BY rank";
        let mut statement = self.db.prepare_cached(select)?;
        let states = statement.query_map([request], |row| Ok((row.get(0)?, count(row, 1)?)))?;
        let states: Vec<(i64, usize)> = states.collect::<Result<_, _>>()?;
        let known = |(rank, copies)| Some((DeliveryStatus::of_rank(rank)?, copies));
        Ok(states.into_iter().filter_map(known).collect())
    }
}
