//! Lists of what was given up (webhook posts, received mails) and can be replayed: their query and
//! their pages. An extension of the v3 API.

use posthaste_store::StoredRow;
use serde::Serialize;

use crate::QueryReader;

/// Items replayed by one call, which says whether there are more.
pub const MAX_REPLAYED: usize = 200;

/// Items in a page when the request does not say how many, and at most.
const PAGE: usize = 100;
const LARGEST_PAGE: usize = 500;

/// The longest sort key that DynamoDB has, in bytes.
const LONGEST_KEY: usize = 1024;

/// The part of such a list that a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndeliveredQuery {
    /// Items in the page.
    pub limit: usize,
    /// `next` of the page before.
    pub after: Option<String>,
}

impl UndeliveredQuery {
    /// Reads `limit` and `after`, and refuses what no page of such a list has.
    pub fn read(query: &mut QueryReader<'_>) -> Self {
        let is_key = |after: &str| (after.len() <= LONGEST_KEY).then(|| after.to_owned());
        let after = query.parsed("after", is_key, "after is not the next of a page");
        Self {
            after: after.filter(|after| !after.is_empty()),
            limit: query.limit_within(PAGE, 1..=LARGEST_PAGE),
        }
    }
}

/// A page of such a list.
#[derive(Debug, Serialize)]
pub struct UndeliveredPage<T> {
    result: Vec<T>,
    /// Pass this as `after` for the next page; `null` on the last one.
    next: Option<String>,
}

impl<T> UndeliveredPage<T> {
    /// The page of these rows, of which `limit` were asked for.
    pub fn of<'a, R>(rows: &'a [StoredRow<R>], limit: usize) -> Self
    where
        T: From<&'a R>,
    {
        let last = rows.last().filter(|_| rows.len() >= limit);
        Self {
            next: last.map(|row| row.key.sk.clone()),
            result: rows.iter().map(|row| T::from(&row.value)).collect(),
        }
    }
}
