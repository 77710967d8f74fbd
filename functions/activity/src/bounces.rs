//! `GET /v3/suppression/bounces/classifications…`: why mails bounced, day by day.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use jiff::ToSpan as _;
use jiff::civil::Date;
use posthaste_http::{Caller, PathParams, Query, Rejection};
use posthaste_model::Classification;
use posthaste_store::DayBounces;
use serde::Serialize;

use crate::App;
use crate::days::{MOST, day};

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct BounceStats {
    result: Vec<Day>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Day {
    date: String,
    stats: Vec<Stat>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
enum Stat {
    Class { classification: String, count: i64 },
    Domain { domain: String, count: i64 },
}

/// Each classification, the most frequent of a day first.
pub(crate) async fn totals(
    State(app): State<App>,
    caller: Caller,
    query: Query,
    headers: HeaderMap,
) -> Result<Response, Rejection> {
    let rows = rows(&app, &caller, &query).await?;
    let by_class = |row: &DayBounces| Some(shown(&row.class).to_owned());
    let stat = |(classification, count)| Stat::Class {
        classification,
        count,
    };
    Ok(answer(
        &headers,
        "classification",
        counted(&rows, by_class),
        stat,
    ))
}

/// The domains of one classification, the most frequent of a day first.
pub(crate) async fn of_one(
    State(app): State<App>,
    caller: Caller,
    PathParams(name): PathParams<String>,
    query: Query,
    headers: HeaderMap,
) -> Result<Response, Rejection> {
    let mut known = Classification::ALL.into_iter();
    let wanted = known.find(|class| class.list_name().eq_ignore_ascii_case(&name));
    let wanted = wanted.ok_or_else(Rejection::not_found)?;
    let rows = rows(&app, &caller, &query).await?;
    let by_domain = |row: &DayBounces| (row.class == wanted.as_str()).then(|| row.domain.clone());
    let stat = |(domain, count)| Stat::Domain { domain, count };
    Ok(answer(&headers, "domain", counted(&rows, by_domain), stat))
}

/// The name in this list of a class as events have it.
fn shown(class: &str) -> &str {
    let mut known = Classification::ALL.into_iter();
    let known = known.find(|known| known.as_str() == class);
    known.map_or(class, |known| known.list_name())
}

/// The rows of the requested days; by default all stored days up to today.
async fn rows(app: &App, caller: &Caller, query: &Query) -> Result<Vec<DayBounces>, Rejection> {
    let (start, end) = query.checked(|query| {
        let (start, end) = (day(query, "start_date"), day(query, "end_date"));
        if start.zip(end).is_some_and(|(start, end)| start > end) {
            query.refuse("end_date", "end_date must not lie before start_date");
        }
        (start, end)
    })?;
    let today: Date = app.clock.now().day().parse().unwrap_or_default();
    let end = end.unwrap_or(today);
    let oldest = today.checked_sub(MOST.days()).unwrap_or(today);
    let start = start.unwrap_or(oldest).max(oldest);
    let (start, end) = (start.to_string(), end.to_string());
    Ok(app.store.day_bounces(caller.id(), &start, &end).await?)
}

/// By day, then by name.
type Counts = BTreeMap<String, BTreeMap<String, i64>>;

fn counted(rows: &[DayBounces], name: impl Fn(&DayBounces) -> Option<String>) -> Counts {
    let mut days = Counts::new();
    for row in rows {
        if let Some(name) = name(row) {
            let day = days.entry(row.day.clone()).or_default();
            *day.entry(name).or_default() += row.count;
        }
    }
    days
}

/// JSON, or comma-separated values if the client accepts `text/csv`.
fn answer(
    headers: &HeaderMap,
    column: &str,
    days: Counts,
    stat: impl Fn((String, i64)) -> Stat,
) -> Response {
    let accept = headers.get(header::ACCEPT);
    let accept = accept.and_then(|value| value.to_str().ok()).unwrap_or("");
    let sorted = days.into_iter().map(|(day, counts)| {
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| Reverse(*count));
        (day, counts)
    });
    if accept.trim_start().starts_with("text/csv") {
        let mut text = format!("date,{column},count\r\n");
        for (day, counts) in sorted {
            for (name, count) in counts {
                // Neither kind of name has a quote or a comma.
                text.push_str(&format!("{day},{name},{count}\r\n"));
            }
        }
        return ([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], text).into_response();
    }
    let result = sorted.map(|(date, counts)| Day {
        date,
        stats: counts.into_iter().map(&stat).collect(),
    });
    Json(BounceStats {
        result: result.collect(),
    })
    .into_response()
}
