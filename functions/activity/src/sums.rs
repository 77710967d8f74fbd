//! `GET /v3/categories/stats/sums`: every category over the whole time asked about, the busiest
//! first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use posthaste_http::{Caller, Query, Rejection};
use posthaste_model::Problems;
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
    let days = Days::read(&query, app.clock.now())?;
    let (limit, offset) = (query.limit(5, 500)?, query.offset()?);
    let order = order(&query, &METRICS)?;
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
    let page = page(sums.into_iter().collect(), &order, (offset, limit));
    Ok(Json(StatsPeriod {
        date: days.start.to_string(),
        stats: page
            .map(|(name, metrics)| Stats::of(name, "category", metrics))
            .collect(),
    }))
}

/// What comes first.
pub(crate) struct SumOrder {
    metric: &'static str,
    ascending: bool,
}

/// A part of the sums in this order; equals stay in the order they came in.
pub(crate) fn page(
    mut sums: Vec<(String, Metrics)>,
    order: &SumOrder,
    (offset, limit): (usize, usize),
) -> impl Iterator<Item = (String, Metrics)> {
    let by = |sums: &Metrics| sums.get(order.metric).copied().unwrap_or_default();
    if order.ascending {
        sums.sort_by_key(|(_, metrics)| by(metrics));
    } else {
        sums.sort_by_key(|(_, metrics)| Reverse(by(metrics)));
    }
    sums.into_iter().skip(offset).take(limit)
}

/// The counter to sort by, one of these, `delivered` when none is named; and whether the least
/// comes first.
pub(crate) fn order(query: &Query, metrics: &[&'static str]) -> Result<SumOrder, Rejection> {
    let mut found = Problems::default();
    let wanted = query.text("sort_by_metric").unwrap_or("delivered");
    let metric = metrics.iter().find(|known| **known == wanted);
    if metric.is_none() {
        found.add("sort_by_metric", "invalid sort value");
    }
    let ascending = match query.text("sort_by_direction") {
        None | Some("desc") => false,
        Some("asc") => true,
        Some(_) => {
            found.add("sort_by_direction", "sort_by_direction must be asc or desc");
            false
        }
    };
    found.into_result()?;
    Ok(SumOrder {
        metric: metric.copied().unwrap_or("delivered"),
        ascending,
    })
}
