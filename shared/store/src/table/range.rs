//! Reading a range of sort keys, from one partition or from a collection that is spread over
//! several.

use futures_util::future::try_join_all;
use serde::de::DeserializeOwned;

use super::error::StoreError;
use super::expression::Expression;
use super::item::{StoredRow, TableItem, key_item, text, text_of};
use super::list::PAST_OVER;
use super::store::Store;
use crate::key::{Key, SPREAD};

/// Which sort keys to read; both ends belong to it. A range that ends before it begins holds nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) from: String,
    pub(crate) to: String,
    /// Only rows after this key, which need not exist.
    pub(crate) after: Option<String>,
}

impl Range {
    /// Every sort key that our ids can make.
    pub(crate) fn all() -> Self {
        Self {
            from: "!".to_owned(),
            to: "~".to_owned(),
            after: None,
        }
    }

    /// The same range from after a key on.
    pub(crate) fn after(self, after: Option<String>) -> Self {
        Self { after, ..self }
    }
}

/// Some rows in the order of their sort keys.
#[derive(Clone, Debug)]
pub struct ResultPage<T> {
    pub rows: Vec<StoredRow<T>>,
    /// Whether there may be more rows after these.
    pub more: bool,
}

impl Store {
    /// The items of one partition within a range, at most `limit`, in one call: they may be fewer
    /// than `limit` and still have more behind them. Also those whose time is over.
    pub(crate) async fn items(
        &self,
        pk: &str,
        range: &Range,
        limit: usize,
    ) -> Result<(Vec<TableItem>, bool), StoreError> {
        // DynamoDB refuses the question.
        if range.from > range.to {
            return Ok((Vec::new(), false));
        }
        let within = Expression::new(
            "#pk = :pk AND #sk BETWEEN :from AND :to",
            [
                ("pk", text(pk)),
                ("from", text(&range.from)),
                ("to", text(&range.to)),
            ],
        );
        let key = |sk: &String| key_item(&Key::new(pk, sk));
        let got = self
            .client
            .query()
            .table_name(&*self.table)
            .consistent_read(true)
            .set_key_condition_expression(within.text())
            .set_expression_attribute_names(within.names())
            .set_expression_attribute_values(within.values())
            .set_exclusive_start_key(range.after.as_ref().map(key))
            .limit(i32::try_from(limit.max(1)).unwrap_or(i32::MAX))
            .send()
            .await
            .map_err(StoreError::from_sdk)?;
        let more = got.last_evaluated_key.is_some_and(|key| !key.is_empty());
        Ok((got.items.unwrap_or_default(), more))
    }

    /// Rows of one partition within a range, at most `limit`. They may be fewer and still have more
    /// behind them; where there is more, there is at least one, after which to go on.
    pub(crate) async fn slice<T: DeserializeOwned>(
        &self,
        pk: &str,
        range: &Range,
        limit: usize,
    ) -> Result<ResultPage<T>, StoreError> {
        let (mut range, limit) = (range.clone(), limit.max(1));
        let mut some = limit;
        loop {
            let (items, more) = self.items(pk, &range, some).await?;
            range.after = items.last().and_then(|item| text_of(item, "sk"));
            let mut rows = self.rows(items)?;
            let more = rows.len() > limit || (more && range.after.is_some());
            if !more || !rows.is_empty() {
                rows.truncate(limit);
                return Ok(ResultPage { rows, more });
            }
            some = limit.max(PAST_OVER);
        }
    }

    /// Rows of a collection that is spread over [`SPREAD`] partitions, in one order: `limit` of
    /// them, or all that are left.
    pub(crate) async fn gather<T: DeserializeOwned>(
        &self,
        pk: impl Fn(u16) -> String,
        range: &Range,
        limit: usize,
    ) -> Result<ResultPage<T>, StoreError> {
        let pks: Vec<String> = (0..SPREAD).map(pk).collect();
        let (mut rows, mut range) = (Vec::new(), range.clone());
        loop {
            let left = limit - rows.len();
            // Twice its even share of each, so that one round mostly does.
            let each = (left * 2).div_ceil(usize::from(SPREAD)).min(left);
            let reads = pks.iter().map(|pk| self.slice::<T>(pk, &range, each));
            let next = merge(try_join_all(reads).await?, left);
            let last = next.rows.last().map(|row| row.key.sk.clone());
            rows.extend(next.rows);
            if !next.more || rows.len() >= limit || last.is_none() {
                let more = next.more;
                return Ok(ResultPage { rows, more });
            }
            range.after = last;
        }
    }

    /// The next rows of such a collection, about so many, in one order: all that was read up to where every
    /// partition was. Where there is more, there is at least one, after which to go on.
    pub(crate) async fn gather_about<T: DeserializeOwned>(
        &self,
        pk: impl Fn(u16) -> String,
        range: &Range,
        about: usize,
    ) -> Result<ResultPage<T>, StoreError> {
        // Fewer are as long a call, and as a read no cheaper.
        const LEAST: usize = 8;
        let each = about.div_ceil(usize::from(SPREAD)).max(LEAST);
        let pks: Vec<String> = (0..SPREAD).map(pk).collect();
        let reads = pks.iter().map(|pk| self.slice::<T>(pk, range, each));
        let mut slices = try_join_all(reads).await?;
        // Neighbours may lie in one partition, such as the copies of one message: then that one is read on alone.
        while let Some((behind, count)) = first_end(&slices) {
            let left = about.saturating_sub(count);
            let (Some(slice), Some(pk)) = (slices.get_mut(behind), pks.get(behind)) else {
                break;
            };
            let last = slice.rows.last().map(|row| row.key.sk.clone());
            if left * 2 <= about || last.is_none() {
                break;
            }
            let next = self.slice(pk, &range.clone().after(last), left).await?;
            slice.rows.extend(next.rows);
            slice.more = next.more;
        }
        Ok(merge(slices, usize::MAX))
    }
}

/// Which of these slices ends first, of those with more behind them, and how many rows all have up to there.
fn first_end<T>(slices: &[ResultPage<T>]) -> Option<(usize, usize)> {
    let ends = slices.iter().enumerate().filter(|(_, slice)| slice.more);
    let ends = ends.filter_map(|(at, slice)| Some((slice.rows.last()?.key.sk.as_str(), at)));
    let (end, at) = ends.min()?;
    let rows = slices.iter().flat_map(|slice| &slice.rows);
    Some((at, rows.filter(|row| row.key.sk.as_str() <= end).count()))
}

/// Puts slices of several partitions in one order, up to where all of them were read.
fn merge<T>(slices: Vec<ResultPage<T>>, limit: usize) -> ResultPage<T> {
    let ends = slices.iter().filter(|slice| slice.more);
    let end = ends
        .filter_map(|slice| Some(slice.rows.last()?.key.sk.clone()))
        .min();
    let mut rows: Vec<StoredRow<T>> = slices.into_iter().flat_map(|slice| slice.rows).collect();
    rows.sort_by(|a, b| a.key.sk.cmp(&b.key.sk));
    let read = rows.len();
    if let Some(end) = &end {
        rows.retain(|row| row.key.sk <= *end);
    }
    rows.truncate(limit);
    let more = end.is_some() || rows.len() < read;
    ResultPage { rows, more }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(keys: &[&str], more: bool) -> ResultPage<()> {
        let row = |sk: &&str| StoredRow {
            key: Key::new("p", *sk),
            value: (),
            rev: 1,
        };
        let rows = keys.iter().map(row).collect();
        ResultPage { rows, more }
    }

    #[test]
    fn the_slice_that_ends_first_is_read_on() {
        for (slices, want) in [
            (vec![slice(&["1", "4"], false), slice(&["2"], false)], None),
            (
                vec![slice(&["1", "4"], true), slice(&["2", "3", "5"], false)],
                Some((0, 4)),
            ),
            (
                vec![slice(&["1", "4"], true), slice(&["2", "3"], true)],
                Some((1, 3)),
            ),
        ] {
            assert_eq!(first_end(&slices), want, "{slices:?}");
        }
    }

    #[test]
    fn slices_are_merged_up_to_where_all_were_read() {
        for (slices, limit, want, more) in [
            (
                vec![slice(&["1", "4"], false), slice(&["2"], false)],
                9,
                "124",
                false,
            ),
            // After 4 the first partition may hold a 5, so the 7 has to wait.
            (
                vec![slice(&["1", "4"], true), slice(&["2", "7"], false)],
                9,
                "124",
                true,
            ),
            (
                vec![slice(&["1", "4"], true), slice(&["2", "3"], true)],
                9,
                "123",
                true,
            ),
            (
                vec![slice(&["1", "4"], false), slice(&["2", "3"], false)],
                2,
                "12",
                true,
            ),
            (vec![slice(&[], false), slice(&[], false)], 2, "", false),
        ] {
            let merged = merge(slices.clone(), limit);
            let keys: String = merged.rows.into_iter().map(|row| row.key.sk).collect();
            assert_eq!((keys.as_str(), merged.more), (want, more), "{slices:?}");
        }
    }
}
