//! The requested days, and the periods they belong to.

use jiff::ToSpan as _;
use jiff::civil::Date;
use posthaste_http::{Query, Rejection};
use posthaste_model::{Problems, Timestamp};

/// The maximum number of days in one answer: the retention of statistics.
pub(crate) const MOST: i32 = 400;

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
    pub(crate) fn read(query: &Query, now: Timestamp) -> Result<Self, Rejection> {
        let mut found = Problems::default();
        let start = day(query, "start_date", &mut found);
        let end = day(query, "end_date", &mut found);
        if query.text("start_date").is_none() {
            found.add("start_date", "missing required parameter");
        }
        let by = match query.text("aggregated_by") {
            None | Some("day") => By::Day,
            Some("week") => By::Week,
            Some("month") => By::Month,
            Some(_) => {
                found.add("aggregated_by", "aggregated_by must be day, week or month");
                By::Day
            }
        };
        let end = end.or_else(|| now.day().parse().ok());
        if let (Some(start), Some(end)) = (start, end) {
            let days = start.until(end).map_or(i32::MAX, |span| span.get_days());
            if days < 0 {
                found.add("end_date", "end_date must not lie before start_date");
            } else if days >= MOST {
                found.add(
                    "start_date",
                    format!("at most {MOST} days can be asked for"),
                );
            }
        }
        found.into_result()?;
        let missing = || Rejection::on("start_date", "missing required parameter");
        Ok(Self {
            start: start.ok_or_else(missing)?,
            end: end.ok_or_else(missing)?,
            by,
        })
    }

    /// The month that `date` (required) lies in, whole.
    pub(crate) fn month(query: &Query) -> Result<Self, Rejection> {
        let mut found = Problems::default();
        let date = day(query, "date", &mut found);
        found.into_result()?;
        let missing = || Rejection::on("date", "missing required parameter");
        let date = date.ok_or_else(missing)?;
        Ok(Self {
            start: date.first_of_month(),
            end: date.last_of_month(),
            by: By::Month,
        })
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
pub(crate) fn day(query: &Query, name: &str, found: &mut Problems) -> Option<Date> {
    let text = query.text(name)?;
    // The parser takes other forms too.
    let read = text.parse().ok().filter(|_| text.len() == 10);
    if read.is_none() {
        found.add(name, format!("{name} must be a date, YYYY-MM-DD"));
    }
    read
}
