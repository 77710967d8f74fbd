//! When a call of the other service is repeated, and how long it is waited before the next one.
//!
//! The service says how much it takes: `X-RateLimit-Remaining` and `X-RateLimit-Reset` (the second at which calls are
//! counted anew) on an answer, and 429 with `Retry-After` when it takes none (API facts, "Rate limits").

use std::time::Duration;

use http::{HeaderMap, StatusCode, header};
use posthaste_model::Timestamp;
use posthaste_webhook::RetryAfter;

/// Attempts of a call that fails: some 30 seconds in all.
const ATTEMPTS: u32 = 6;

/// Answers 429 in a row, after which the service does not take the call.
const MOST_LIMITED: u32 = 120;

/// The longest wait that the service may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);

/// The wait after a 429 that names none.
const UNNAMED_WAIT: Duration = Duration::from_secs(2);

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Attempted {
    /// The service takes no calls for now.
    Limited(Option<Duration>),
    /// No answer, a broken one, or a 5xx: in words.
    Broken(String),
    /// An answer that does not end in time, is too large, or means something else: it costs as much as three of the others.
    Costly(String),
    /// An answer that another attempt would get too: in words.
    Refused(StatusCode, String),
}

/// What follows a failed attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NextAttempt {
    After(Duration),
    GiveUp(String),
}

/// The attempts of one call.
#[derive(Debug, Default)]
pub(crate) struct CallAttempts {
    /// What failed attempts weigh.
    broken: u32,
    failures: u32,
    limited: u32,
}

impl CallAttempts {
    /// What to do after this end.
    pub(crate) fn after(&mut self, end: Attempted) -> NextAttempt {
        match end {
            Attempted::Refused(status, why) => {
                NextAttempt::GiveUp(format!("{} {why}", status.as_u16()))
            }
            Attempted::Limited(wait) => {
                self.limited += 1;
                if self.limited > MOST_LIMITED {
                    return NextAttempt::GiveUp("429 answers, however long it waits".to_owned());
                }
                let wait = wait.unwrap_or(UNNAMED_WAIT);
                NextAttempt::After(wait.clamp(Duration::from_secs(1), LONGEST_WAIT))
            }
            Attempted::Broken(why) => self.failed(1, why),
            Attempted::Costly(why) => self.failed(ATTEMPTS / 2, why),
        }
    }

    fn failed(&mut self, weight: u32, why: String) -> NextAttempt {
        self.broken += weight;
        self.failures += 1;
        if self.broken >= ATTEMPTS {
            return NextAttempt::GiveUp(format!("{why} ({} attempts)", self.failures));
        }
        NextAttempt::After(Duration::from_secs(1 << (self.broken - 1)))
    }
}

/// The wait that a 429 asks for: `Retry-After`, or else until the limit is reset.
pub(crate) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let until = match headers.get(header::RETRY_AFTER) {
        Some(text) => RetryAfter::read(text.to_str().ok()?)?.from(now),
        None => Timestamp(number(headers, "x-ratelimit-reset")?),
    };
    Some(Duration::from_secs(
        u64::try_from(until.since(now)).unwrap_or(0),
    ))
}

/// The wait before the next call, after an answer whose limit is used up.
pub(crate) fn pause_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let left = number(headers, "x-ratelimit-remaining")?;
    let reset = number(headers, "x-ratelimit-reset")?;
    let wait = u64::try_from(Timestamp(reset).since(now));
    let wait = wait.ok().filter(|wait| *wait > 0)?;
    (left <= 0).then(|| Duration::from_secs(wait).min(LONGEST_WAIT))
}

fn number(headers: &HeaderMap, name: &str) -> Option<i64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_800_000_000);

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect::<Vec<(http::HeaderName, http::HeaderValue)>>()
            .into_iter()
            .collect()
    }

    #[test]
    fn a_limit_names_its_wait_in_three_ways() {
        let seconds = |n| Some(Duration::from_secs(n));
        for (given, want) in [
            (vec![("retry-after", "7")], seconds(7)),
            (
                vec![("retry-after", "7"), ("x-ratelimit-reset", "1800000099")],
                seconds(7),
            ),
            (
                vec![("retry-after", "Fri, 15 Jan 2027 08:00:30 GMT")],
                seconds(30),
            ),
            (vec![("x-ratelimit-reset", "1800000012")], seconds(12)),
            (vec![("x-ratelimit-reset", "1799999990")], seconds(0)),
            (
                vec![("x-ratelimit-reset", "-9223372036854775808")],
                seconds(0),
            ),
            (vec![("retry-after", "soon")], None),
            (vec![], None),
        ] {
            assert_eq!(retry_after(&headers(&given), NOW), want, "{given:?}");
        }
    }

    #[test]
    fn a_used_up_limit_pauses_until_it_is_reset() {
        for (left, reset, want) in [
            ("0", "1800000005", Some(5)),
            ("1", "1800000005", None),
            ("0", "1800000000", None),
            ("0", "never", None),
            ("0", "-9223372036854775808", None),
        ] {
            let given = headers(&[
                ("x-ratelimit-remaining", left),
                ("x-ratelimit-reset", reset),
            ]);
            let want = want.map(Duration::from_secs);
            assert_eq!(pause_after(&given, NOW), want, "{left} {reset}");
        }
    }

    #[test]
    fn attempts_end_after_a_bound() {
        let mut broken = CallAttempts::default();
        let mut waits = Vec::new();
        let last = loop {
            match broken.after(Attempted::Broken("no answer".to_owned())) {
                NextAttempt::After(wait) => waits.push(wait.as_secs()),
                NextAttempt::GiveUp(why) => break why,
            }
        };
        assert_eq!(waits, [1, 2, 4, 8, 16]);
        assert_eq!(last, "no answer (6 attempts)");
        let mut costly = CallAttempts::default();
        let next = costly.after(Attempted::Costly("no end".to_owned()));
        assert_eq!(next, NextAttempt::After(Duration::from_secs(4)));
        let next = costly.after(Attempted::Costly("no end".to_owned()));
        let why = "no end (2 attempts)".to_owned();
        assert_eq!(next, NextAttempt::GiveUp(why));
        let mut limited = CallAttempts::default();
        for _ in 0..MOST_LIMITED {
            let next = limited.after(Attempted::Limited(Some(Duration::ZERO)));
            assert_eq!(next, NextAttempt::After(Duration::from_secs(1)));
        }
        let next = limited.after(Attempted::Limited(None));
        assert!(matches!(next, NextAttempt::GiveUp(_)), "{next:?}");
        let refused = Attempted::Refused(StatusCode::FORBIDDEN, "access forbidden".to_owned());
        let next = CallAttempts::default().after(refused);
        assert_eq!(next, NextAttempt::GiveUp("403 access forbidden".to_owned()));
    }
}
