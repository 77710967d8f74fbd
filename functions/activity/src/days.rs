//! The requested days, and the periods they belong to.

use jiff::ToSpan as _;
use jiff::civil::Date;
use posthaste_http::QueryReader;
use posthaste_model::Timestamp;

/// The maximum number of days in one answer: the retention of statistics.
pub(crate) const MOST: i32 = 400;

/// What a parameter that has to be given is refused with when it is not.
pub(crate) const MISSING: &str = "missing required parameter";

/// How days are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Day,
    Week,
    Month,
}

/// From which day to which, and by what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Days {
    pub(crate) start: Date,
    pub(crate) end: Date,
    by: By,
}

impl Days {
    /// Reads `start_date` (required), `end_date` (today when left out) and `aggregated_by`.
    pub(crate) fn read(query: &mut QueryReader<'_>, now: Timestamp) -> Self {
        let start = day(query, "start_date");
        let end = day(query, "end_date");
        if query.text("start_date").is_none() {
            query.refuse("start_date", MISSING);
        }
        let by = |text: &str| match text {
            "day" => Some(By::Day),
            "week" => Some(By::Week),
            "month" => Some(By::Month),
            _ => None,
        };
        let message = "aggregated_by must be day, week or month";
        let by = query.parsed("aggregated_by", by, message);
        let is_wrong = query.text("end_date").is_some() && end.is_none();
        let end = end.unwrap_or_else(|| now.day().parse().unwrap_or_default());
        if let Some(start) = start.filter(|_| !is_wrong) {
            let days = start.until(end).map_or(i32::MAX, |span| span.get_days());
            if days < 0 {
                query.refuse("end_date", "end_date must not lie before start_date");
            } else if days >= MOST {
                let message = format!("at most {MOST} days can be asked for");
                query.refuse("start_date", message);
            }
        }
        Self {
            start: start.unwrap_or_default(),
            end,
            by: by.unwrap_or(By::Day),
        }
    }

    /// The month that `date` (required) lies in, whole.
    pub(crate) fn month(query: &mut QueryReader<'_>) -> Self {
        if query.text("date").is_none() {
            query.refuse("date", MISSING);
        }
        let date = day(query, "date").unwrap_or_default();
        Self {
            start: date.first_of_month(),
            end: date.last_of_month(),
            by: By::Month,
        }
    }

    /// The first day of the period that a day falls into, but no day before the start.
    pub(crate) fn period(self, day: Date) -> Date {
        let first = match self.by {
            By::Day => day,
            By::Week => {
                let past_monday = i32::from(day.weekday().to_monday_zero_offset());
                day.checked_sub(past_monday.days()).unwrap_or(day)
            }
            By::Month => day.first_of_month(),
        };
        first.max(self.start)
    }

    /// Every day, oldest first (`YYYY-MM-DD`).
    pub(crate) fn each(self) -> impl Iterator<Item = String> {
        let days = self.start.series(1.day());
        let days = days.take_while(move |day| *day <= self.end);
        days.map(|day| day.to_string())
    }

    /// Every period, oldest first.
    pub(crate) fn periods(self) -> Vec<Date> {
        let days = self
            .start
            .series(1.day())
            .take_while(|day| *day <= self.end);
        let mut periods: Vec<_> = days.map(|day| self.period(day)).collect();
        periods.dedup();
        periods
    }
}

/// One day of the query.
pub(crate) fn day(query: &mut QueryReader<'_>, name: &str) -> Option<Date> {
    // The parser takes other forms too.
    let read = |text: &str| text.parse().ok().filter(|_| text.len() == 10);
    query.parsed(name, read, &format!("{name} must be a date, YYYY-MM-DD"))
}
