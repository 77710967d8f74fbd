//! `GET /v3/user/webhooks/parse/stats`: how many mails came (API facts, "Inbound parse settings").

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use jiff::civil::Date;
use jiff::{Span, ToSpan as _};
use posthaste_http::{Caller, Query, QueryReader, Rejection};
use serde::Serialize;

use crate::App;

/// Longer spans of days are refused: each day is a line of the answer.
const MOST_DAYS: i32 = 3660;

/// Periods in one answer when no `limit` is given.
const PAGE: usize = 500;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ParsePeriod {
    date: String,
    stats: [Stat; 1],
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Stat {
    metrics: Metrics,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    query: Query,
) -> Result<Json<Vec<ParsePeriod>>, Rejection> {
    let today = app.clock.now().day().parse();
    let today: Date = today.map_err(|e: jiff::Error| Rejection::internal(&e))?;
    let asked = query.checked(|query| asked(query, today))?;
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

fn asked(query: &mut QueryReader<'_>, today: Date) -> StatsRequest {
    let mut day = |name| {
        let read = |text: &str| text.parse().ok().filter(|_| text.len() == 10);
        query.parsed(name, read, &format!("{name} must be a date, YYYY-MM-DD"))
    };
    let (first, last): (Option<Date>, Option<Date>) = (day("start_date"), day("end_date"));
    let by = |text: &str| match text {
        "day" => Some(By::Day),
        "week" => Some(By::Week),
        "month" => Some(By::Month),
        _ => None,
    };
    let by = query.parsed(
        "aggregated_by",
        by,
        "aggregated_by must be day, week or month",
    );
    if query.text("start_date").is_none() {
        query.refuse("start_date", "start_date is required");
    }
    let is_wrong = query.text("end_date").is_some() && last.is_none();
    let last = last.unwrap_or(today);
    if let Some(first) = first.filter(|_| !is_wrong) {
        if first > last {
            query.refuse("end_date", "end_date must not be before start_date");
        } else if (last - first).get_days() > MOST_DAYS {
            query.refuse("start_date", "the dates are more than ten years apart");
        }
    }
    StatsRequest {
        first: first.unwrap_or(today),
        last,
        by: by.unwrap_or(By::Day),
        limit: query.limit_within(PAGE, 1..=PAGE),
        offset: query.offset(),
    }
}
