//! Time as an argument: instants, the clock's type, the 72-hour horizon.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Seconds since the Unix epoch.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

/// The last second that dates and padded sort keys can hold (the library stops a day before the
/// year 10000).
pub const TIMESTAMP_MAX: Timestamp = Timestamp(253_402_207_200);

/// Milliseconds since the Unix epoch, where a second is too coarse (order of events, delays).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Millis(pub i64);

impl Millis {
    /// The second this instant lies in.
    pub fn seconds(self) -> Timestamp {
        Timestamp(self.0.div_euclid(1000))
    }
}

impl Timestamp {
    /// The first millisecond of this second.
    pub fn millis(self) -> Millis {
        Millis(self.0.saturating_mul(1000))
    }

    /// `seconds` later.
    #[must_use]
    pub fn plus(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds))
    }

    /// Seconds from `earlier` to here; negative when `earlier` is later.
    pub fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Reads an instant as [`Timestamp::iso`] writes it, with or without fractions of a second and
    /// in any offset.
    pub fn from_iso(text: &str) -> Option<Self> {
        let read: jiff::Timestamp = text.parse().ok()?;
        Some(Self(read.as_second()))
    }

    /// `2026-11-27T23:01:22Z` (ISO 8601, UTC).
    pub fn iso(self) -> String {
        self.format("%Y-%m-%dT%H:%M:%SZ")
    }

    /// `2026-11-27`, the UTC day.
    pub fn day(self) -> String {
        self.format("%Y-%m-%d")
    }

    /// `2026-11-27 23:01:22`, the form of the templates API.
    pub fn sql(self) -> String {
        self.format("%Y-%m-%d %H:%M:%S")
    }

    /// `Fri, 27 Nov 2026 23:01:22 +0000` (RFC 5322, section 3.3).
    pub fn rfc5322(self) -> String {
        self.format("%a, %d %b %Y %H:%M:%S +0000")
    }

    /// Reads a date of a mail's header, in any offset (RFC 5322, section 3.3).
    pub fn from_rfc5322(text: &str) -> Option<Self> {
        let read = jiff::fmt::rfc2822::DateTimeParser::new();
        let read = read.parse_timestamp(text.trim()).ok()?;
        Some(Self(read.as_second()))
    }

    /// The midnight (UTC) after this second.
    #[must_use]
    pub fn next_day(self) -> Self {
        const DAY: i64 = 86_400;
        Self((self.0.div_euclid(DAY) + 1) * DAY)
    }

    /// The Monday (UTC) after this second.
    #[must_use]
    pub fn next_week(self) -> Self {
        const WEEK: i64 = 7 * 86_400;
        // The epoch was a Thursday: its week began three days before it.
        const MONDAY: i64 = 4 * 86_400;
        Self(((self.0 - MONDAY).div_euclid(WEEK) + 1) * WEEK + MONDAY)
    }

    /// The first of the month (UTC) after this second.
    #[must_use]
    pub fn next_month(self) -> Self {
        let second = self.0.clamp(0, TIMESTAMP_MAX.0);
        let utc = jiff::tz::TimeZone::UTC;
        let next = || {
            let today = jiff::Timestamp::from_second(second).ok()?;
            let first = today.to_zoned(utc.clone()).date().first_of_month();
            let first = first.checked_add(jiff::Span::new().months(1)).ok()?;
            Some(Self(first.to_zoned(utc).ok()?.timestamp().as_second()))
        };
        next().unwrap_or(TIMESTAMP_MAX)
    }

    fn format(self, form: &str) -> String {
        let second = self.0.clamp(0, TIMESTAMP_MAX.0);
        jiff::Timestamp::from_second(second)
            .map(|t| {
                t.to_zoned(jiff::tz::TimeZone::UTC)
                    .strftime(form)
                    .to_string()
            })
            .unwrap_or_default()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How far ahead mail may be scheduled, in seconds (SPEC, "Limits": 72 hours).
pub const HORIZON: i64 = 72 * 3600;

/// The scheduled time lies past the horizon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the send lies more than {} hours ahead", .horizon / 3600)]
pub struct TooFarAhead {
    /// The horizon in force, in seconds.
    pub horizon: i64,
}

/// When this send may leave. `None` means at once; a time in the past means the same.
///
/// # Errors
/// When `send_at` lies more than `horizon` seconds after `now`.
pub fn due(
    send_at: Option<Timestamp>,
    now: Timestamp,
    horizon: i64,
) -> Result<Option<Timestamp>, TooFarAhead> {
    match send_at {
        Some(at) if at.since(now) > horizon => Err(TooFarAhead { horizon }),
        Some(at) if at > now => Ok(Some(at)),
        Some(_) | None => Ok(None),
    }
}

/// The clock. `runtime` creates the real one; tests pass one that they can move.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Millis + Send + Sync>);

impl Clock {
    /// Wraps a function that returns the time.
    pub fn new(now: impl Fn() -> Millis + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// The current second.
    pub fn now(&self) -> Timestamp {
        (self.0)().seconds()
    }

    /// The current millisecond.
    pub fn now_ms(&self) -> Millis {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_send_waits_only_for_a_future_within_the_horizon() {
        let now = Timestamp(1_000_000);
        for (send_at, want) in [
            (None, Ok(None)),
            (Some(now), Ok(None)),
            (Some(now.plus(-1)), Ok(None)),
            (Some(now.plus(1)), Ok(Some(now.plus(1)))),
            (Some(now.plus(HORIZON)), Ok(Some(now.plus(HORIZON)))),
            (
                Some(now.plus(HORIZON + 1)),
                Err(TooFarAhead { horizon: HORIZON }),
            ),
            (
                Some(Timestamp(i64::MAX)),
                Err(TooFarAhead { horizon: HORIZON }),
            ),
            (Some(Timestamp(i64::MIN)), Ok(None)),
        ] {
            assert_eq!(due(send_at, now, HORIZON), want, "{send_at:?}");
        }
    }

    #[test]
    fn an_instant_that_was_written_is_read_back() {
        let at = Timestamp(1_795_820_482);
        assert_eq!(Timestamp::from_iso(&at.iso()), Some(at));
        for (text, want) in [
            (
                "2026-11-28T00:01:22.999+01:00",
                Some(Timestamp(1_795_820_482)),
            ),
            ("1970-01-01T00:00:01Z", Some(Timestamp(1))),
            ("2026-11-27", None),
            ("2026-11-27T23:01:22", None),
            ("2026-13-27T23:01:22Z", None),
            ("", None),
        ] {
            assert_eq!(Timestamp::from_iso(text), want, "{text}");
        }
    }

    #[test]
    fn the_next_day_week_and_month_begin_at_midnight_utc() {
        // A Friday, the last day of a month, and the first second of a month that is a Monday.
        for (at, day, week, month) in [
            ("2026-11-27", "2026-11-28", "2026-11-30", "2026-12-01"),
            ("2028-02-29", "2028-03-01", "2028-03-06", "2028-03-01"),
            ("2027-02-01", "2027-02-02", "2027-02-08", "2027-03-01"),
            ("2026-12-31", "2027-01-01", "2027-01-04", "2027-01-01"),
        ] {
            let midnight: jiff::civil::Date = at.parse().unwrap();
            let midnight = midnight.to_zoned(jiff::tz::TimeZone::UTC).unwrap();
            let midnight = Timestamp(midnight.timestamp().as_second());
            for at in [midnight, midnight.plus(86_399)] {
                assert_eq!(at.next_day().iso(), format!("{day}T00:00:00Z"));
                assert_eq!(at.next_week().iso(), format!("{week}T00:00:00Z"));
                assert_eq!(at.next_month().iso(), format!("{month}T00:00:00Z"));
            }
        }
        assert_eq!(Timestamp(i64::MAX).next_month(), TIMESTAMP_MAX);
    }

    #[test]
    fn dates_are_written_in_utc() {
        let at = Timestamp(1_795_820_482);
        assert_eq!(at.rfc5322(), "Fri, 27 Nov 2026 23:01:22 +0000");
        assert_eq!(Timestamp::from_rfc5322(&at.rfc5322()), Some(at));
        let local = "Sat, 28 Nov 2026 00:01:22 +0100";
        assert_eq!(Timestamp::from_rfc5322(local), Some(at));
        for text in ["", "never", "Mon, 27 Nov 2026 23:01:22 +0000", &at.iso()] {
            assert_eq!(Timestamp::from_rfc5322(text), None, "{text}");
        }
        assert_eq!(at.iso(), "2026-11-27T23:01:22Z");
        assert_eq!(at.day(), "2026-11-27");
        assert_eq!(Timestamp(0).rfc5322(), "Thu, 01 Jan 1970 00:00:00 +0000");
        assert_eq!(Timestamp(i64::MAX).day(), "9999-12-30");
    }
}
