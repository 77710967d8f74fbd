//! `GET /v3/categories/stats/sums`: every category over the whole time asked about, the busiest
//! first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use posthaste_http::{Caller, Query, QueryReader, Rejection};
use posthaste_store::METRICS;

use crate::App;
use crate::days::Days;
use crate::stats::{Metrics, Stats, StatsPeriod, rows, zeros};

/// Categories, each with the sums of its counters, under the day that the time begins with.
pub(crate) async fn by_category(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<StatsPeriod>, Rejection> {
    let now = app.clock.now();
    let (days, page_of, order) = query.checked(|query| {
        let days = Days::read(query, now);
        (days, SumPage::read(query), SumOrder::read(query, &METRICS))
    })?;
    let mut sums: BTreeMap<String, Metrics> = BTreeMap::new();
    for row in rows(&app, &caller, days).await? {
        if row.category.is_empty() {
            continue;
        }
        let sum = sums.entry(row.category.clone()).or_insert_with(zeros);
        for (name, value) in sum {
            *value += row.metric(name);
        }
    }
    let page = page(sums.into_iter().collect(), order, page_of);
    Ok(Json(StatsPeriod {
        date: days.start.to_string(),
        stats: page
            .map(|(name, metrics)| Stats::of(name, "category", metrics))
            .collect(),
    }))
}

/// Which of the sums are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SumPage {
    limit: usize,
    offset: usize,
}

impl SumPage {
    pub(crate) fn read(query: &mut QueryReader<'_>) -> Self {
        Self {
            limit: query.limit(5, 500),
            offset: query.offset(),
        }
    }
}

/// What comes first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SumOrder {
    metric: &'static str,
    ascending: bool,
}

/// A part of the sums in this order; equals stay in the order they came in.
pub(crate) fn page(
    mut sums: Vec<(String, Metrics)>,
    order: SumOrder,
    SumPage { limit, offset }: SumPage,
) -> impl Iterator<Item = (String, Metrics)> {
    let by = |sums: &Metrics| sums.get(order.metric).copied().unwrap_or_default();
    if order.ascending {
        sums.sort_by_key(|(_, metrics)| by(metrics));
    } else {
        sums.sort_by_key(|(_, metrics)| Reverse(by(metrics)));
    }
    sums.into_iter().skip(offset).take(limit)
}

impl SumOrder {
    /// The counter to sort by, one of these, `delivered` when none is named; and whether the least
    /// comes first.
    pub(crate) fn read(query: &mut QueryReader<'_>, metrics: &[&'static str]) -> Self {
        let known = |wanted: &str| metrics.iter().find(|metric| **metric == wanted).copied();
        let metric = query.parsed("sort_by_metric", known, "invalid sort value");
        let ascending = |text: &str| match text {
            "asc" => Some(true),
            "desc" => Some(false),
            _ => None,
        };
        let message = "sort_by_direction must be asc or desc";
        let ascending = query.parsed("sort_by_direction", ascending, message);
        Self {
            metric: metric.unwrap_or("delivered"),
            ascending: ascending.unwrap_or(false),
        }
    }
}
