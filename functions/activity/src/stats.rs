//! `GET /v3/stats`, `GET /v3/categories` and `GET /v3/categories/stats`.

use std::collections::{BTreeMap, BTreeSet};

use axum::Json;
use axum::extract::State;
use jiff::civil::Date;
use posthaste_http::{Caller, Query, Rejection};
use posthaste_store::{DayStats, METRICS};
use serde::Serialize;

use crate::App;
use crate::days::{Days, MISSING};

pub(crate) type Metrics = BTreeMap<&'static str, i64>;

/// The statistics of one period.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct StatsPeriod {
    pub(crate) date: String,
    pub(crate) stats: Vec<Stats>,
}

/// The counters of the account, or of what is named.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Stats {
    pub(crate) metrics: Metrics,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first_name: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_name: Option<&'static str>,
}

impl Stats {
    /// The counters of the requested account.
    fn whole(metrics: Metrics) -> Self {
        Self {
            metrics,
            name: None,
            kind: None,
            first_name: None,
            last_name: None,
        }
    }

    /// The counters of what is called so.
    pub(crate) fn of(name: String, kind: &'static str, metrics: Metrics) -> Self {
        Self {
            name: Some(name),
            kind: Some(kind),
            ..Self::whole(metrics)
        }
    }
}

/// Every counter, at nothing.
pub(crate) fn zeros() -> Metrics {
    METRICS.iter().map(|name| (*name, 0)).collect()
}

/// The account as a whole.
pub(crate) async fn global(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<Vec<StatsPeriod>>, Rejection> {
    let now = app.clock.now();
    let (days, limit, offset) = query.checked(|query| {
        let days = Days::read(query, now);
        (days, query.limit(500, 500), query.offset())
    })?;
    let each = days.each().collect();
    let rows = app.store.account_span_stats(caller.id(), each).await?;
    let periods = summed(&rows, days, "");
    let periods = periods.into_iter().skip(offset).take(limit);
    let period = |(date, metrics): (Date, Metrics)| StatsPeriod {
        date: date.to_string(),
        stats: vec![Stats::whole(metrics)],
    };
    Ok(Json(periods.map(period).collect()))
}

/// The maximum number of categories in one request: the answer has every counter of each in each
/// period.
const MOST_CATEGORIES: usize = 10;

/// Some categories, each once; `categories` may be repeated.
pub(crate) async fn by_category(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<Vec<StatsPeriod>>, Rejection> {
    let now = app.clock.now();
    let (days, names) = query.checked(|query| {
        let days = Days::read(query, now);
        let mut seen = BTreeSet::new();
        let named = query.all("categories").filter(|name| !name.is_empty());
        let names: Vec<&str> = named.filter(|name| seen.insert(*name)).collect();
        if names.is_empty() {
            query.refuse("categories", MISSING);
        }
        if names.len() > MOST_CATEGORIES {
            let message = format!("name at most {MOST_CATEGORIES} categories");
            query.refuse("categories", message);
        }
        (days, names)
    })?;
    let rows = rows(&app, &caller, days).await?;
    let of = |name: &str| (name.to_owned(), summed(&rows, days, name));
    let mut all: Vec<_> = names.into_iter().map(of).collect();
    let periods = days.periods().into_iter().map(|date| StatsPeriod {
        date: date.to_string(),
        stats: all
            .iter_mut()
            .map(|(name, periods)| {
                let metrics = periods.remove(&date).unwrap_or_default();
                Stats::of(name.clone(), "category", metrics)
            })
            .collect(),
    });
    Ok(Json(periods.collect()))
}

/// The counters of the days, of the account and of each category.
pub(crate) async fn rows(
    app: &App,
    caller: &Caller,
    days: Days,
) -> Result<Vec<DayStats>, Rejection> {
    let (start, end) = (days.start.to_string(), days.end.to_string());
    Ok(app.store.day_stats(caller.id(), &start, &end).await?)
}

/// The counters of one category (empty: the account) by period; every period is there, with
/// every counter.
pub(crate) fn summed(rows: &[DayStats], days: Days, category: &str) -> BTreeMap<Date, Metrics> {
    let periods = days.periods().into_iter();
    let mut all: BTreeMap<_, _> = periods.map(|date| (date, zeros())).collect();
    for row in rows.iter().filter(|row| row.category == category) {
        let Some(metrics) = row
            .day
            .parse()
            .ok()
            .and_then(|day| all.get_mut(&days.period(day)))
        else {
            continue;
        };
        for (name, sum) in metrics {
            *sum += row.metric(name);
        }
    }
    all
}

/// The name of a category.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Category {
    category: String,
}

/// `GET /v3/categories`: the names that mails of the last 400 days carried, in order; `category` filters by prefix. Only one order exists, so `sort_by` accepts no
/// other (API facts 1, "Others").
pub(crate) async fn categories(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<Vec<Category>>, Rejection> {
    let (limit, offset) = query.checked(|query| {
        let known = |by: &str| (by == "category").then_some(());
        let _ = query.parsed("sort_by", known, "invalid sort value");
        (query.limit(50, 1000), query.offset())
    })?;
    let begin = query.text("category").unwrap_or_default();
    let rows = app
        .store
        .day_stats(caller.id(), "0000", "9999-12-31")
        .await?;
    let names = rows.into_iter().map(|row| row.category);
    let names: BTreeSet<String> = names
        .filter(|name| !name.is_empty() && name.starts_with(begin))
        .collect();
    let page = names.into_iter().skip(offset).take(limit);
    Ok(Json(page.map(|category| Category { category }).collect()))
}
