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
use crate::stats::{Metrics, Period, Stats, rows, zeros};

/// Categories, each with the sums of its counters, under the day that the time begins with.
pub(crate) async fn by_category(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<Period>, Rejection> {
    let days = Days::read(&query, app.clock.now())?;
    let (limit, offset) = (query.limit(5, 500)?, query.offset()?);
    let (metric, ascending) = order(&query)?;
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
    let mut sums: Vec<(String, Metrics)> = sums.into_iter().collect();
    // The sort is stable: equals stay in the order of their names.
    let by = |sums: &Metrics| sums.get(metric).copied().unwrap_or_default();
    match ascending {
        true => sums.sort_by_key(|(_, metrics)| by(metrics)),
        false => sums.sort_by_key(|(_, metrics)| Reverse(by(metrics))),
    }
    let page = sums.into_iter().skip(offset).take(limit);
    Ok(Json(Period {
        date: days.start.to_string(),
        stats: page
            .map(|(name, metrics)| Stats {
                metrics,
                name: Some(name),
                kind: Some("category"),
            })
            .collect(),
    }))
}

/// The counter to sort by, `delivered` when none is named, and whether the least comes first.
fn order(query: &Query) -> Result<(&'static str, bool), Rejection> {
    let mut found = Problems::default();
    let wanted = query.text("sort_by_metric").unwrap_or("delivered");
    let metric = METRICS.into_iter().find(|known| *known == wanted);
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
    Ok((metric.unwrap_or("delivered"), ascending))
}
