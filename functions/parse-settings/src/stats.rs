//! `GET /v3/user/webhooks/parse/stats`: how many mails came (API facts, "Inbound parse settings").

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::{RawQuery, State};
use jiff::civil::Date;
use jiff::{Span, ToSpan as _};
use posthaste_http::{Caller, Rejection};
use posthaste_model::Problems;
use serde::Serialize;

use crate::App;

/// Longer spans of days are refused: each day is a line of the answer.
const MOST_DAYS: i32 = 3660;

/// Periods in one answer when no `limit` is given.
const PAGE: usize = 500;

#[derive(Serialize)]
pub(crate) struct ParsePeriod {
    date: String,
    stats: [Stat; 1],
}

#[derive(Serialize)]
struct Stat {
    metrics: Metrics,
}

#[derive(Serialize)]
struct Metrics {
    received: i64,
}

#[derive(Clone, Copy)]
enum By {
    Day,
    Week,
    Month,
}

struct StatsRequest {
    first: Date,
    last: Date,
    by: By,
    limit: usize,
    offset: usize,
}

pub(crate) async fn read(
    State(app): State<App>,
    caller: Caller,
    RawQuery(query): RawQuery,
) -> Result<Json<Vec<ParsePeriod>>, Rejection> {
    let today = app.clock.now().day().parse();
    let today: Date = today.map_err(|e: jiff::Error| Rejection::internal(&e))?;
    let asked = asked(query.as_deref().unwrap_or_default(), today)?;
    let ends = (asked.first.to_string(), asked.last.to_string());
    let days = app.store.received(caller.id(), &ends.0, &ends.1).await?;
    let mut periods: BTreeMap<Date, i64> = BTreeMap::new();
    let steps = asked.first.series(Span::new().days(1));
    for day in steps.take_while(|day| *day <= asked.last) {
        let came = days.get(&day.to_string()).copied().unwrap_or_default();
        *periods.entry(start(day, asked.by)).or_default() += came;
    }
    let page = periods.into_iter().skip(asked.offset).take(asked.limit);
    let lines = page.map(|(date, received)| ParsePeriod {
        date: date.to_string(),
        stats: [Stat {
            metrics: Metrics { received },
        }],
    });
    Ok(Json(lines.collect()))
}

/// The first day of the period that a day lies in; weeks begin on Monday.
fn start(day: Date, by: By) -> Date {
    match by {
        By::Day => day,
        By::Week => {
            let since = i64::from(day.weekday().to_monday_zero_offset());
            day.saturating_sub(since.days())
        }
        By::Month => day.first_of_month(),
    }
}

fn asked(query: &str, today: Date) -> Result<StatsRequest, Rejection> {
    let mut found = Problems::default();
    let (mut first, mut last, mut by) = (None, today, By::Day);
    let (mut limit, mut offset) = (PAGE, 0);
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        let date = || value.parse::<Date>().ok().filter(|_| value.len() == 10);
        match &*name {
            "start_date" | "end_date" if date().is_none() => {
                found.add(&*name, format!("{name} must be a date, YYYY-MM-DD"));
                first = first.or(Some(today));
            }
            "start_date" => first = date(),
            "end_date" => last = date().unwrap_or(today),
            "aggregated_by" => match &*value {
                "day" => by = By::Day,
                "week" => by = By::Week,
                "month" => by = By::Month,
                _ => found.add(&*name, "aggregated_by must be day, week or month"),
            },
            "limit" => match value.parse() {
                Ok(number @ 1..=PAGE) => limit = number,
                Ok(_) | Err(_) => found.add(&*name, format!("limit must be from 1 to {PAGE}")),
            },
            "offset" => match value.parse() {
                Ok(number) => offset = number,
                Err(_) => found.add(&*name, "offset must be a whole number"),
            },
            _ => {}
        }
    }
    match first {
        None => found.add("start_date", "start_date is required"),
        Some(first) if first > last => {
            found.add("end_date", "end_date must not be before start_date");
        }
        Some(first) if (last - first).get_days() > MOST_DAYS => {
            found.add("start_date", "the dates are more than ten years apart");
        }
        Some(_) => {}
    }
    found.into_result()?;
    Ok(StatsRequest {
        first: first.unwrap_or(today),
        last,
        by,
        limit,
        offset,
    })
}
