//! The rows over which the counters of one place are spread when writers meet: each has a mark of its
//! own between the day and the rest of its sort key. All marks have the length of the first one, sort
//! after it, and before the next day.

/// Of the row that is always there, as in rows of earlier releases.
pub(super) const FIRST_ROW: char = '#';

/// Of the others.
pub(super) const SPREAD_ROWS: [char; 8] = ['$', '%', '&', '\'', '(', ')', '*', '+'];

/// All of them.
pub(super) fn all_rows() -> impl Iterator<Item = char> + Clone {
    std::iter::once(FIRST_ROW).chain(SPREAD_ROWS)
}
