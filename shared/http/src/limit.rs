//! Rate limits: how many requests an account may make to an endpoint in a period, and the three
//! headers that say so on every response (SPEC, "Limits").

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;

use axum::http::{HeaderMap, HeaderValue};
use posthaste_model::{AccountId, Timestamp};

/// How many requests are allowed, and in how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Requests per period, endpoint and account.
    pub requests: u32,
    /// The same for mail/send.
    pub mail_send: u32,
    /// Seconds of a period.
    pub period: i64,
}

impl Default for Limits {
    /// 600 a minute for the settings endpoints (the published figure of the older interface),
    /// 10,000 a second for mail/send.
    fn default() -> Self {
        Self {
            requests: 600,
            mail_send: 600_000,
            period: 60,
        }
    }
}

/// What one request was told about its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permit {
    pub allowed: bool,
    pub limit: u32,
    pub remaining: u32,
    /// The second the period ends: in the future, or clients do not wait.
    pub reset: Timestamp,
}

impl Permit {
    /// The one place that writes the rate-limit headers.
    pub fn write(&self, headers: &mut HeaderMap) {
        headers.insert("x-ratelimit-limit", HeaderValue::from(self.limit));
        headers.insert("x-ratelimit-remaining", HeaderValue::from(self.remaining));
        headers.insert("x-ratelimit-reset", HeaderValue::from(self.reset.0));
    }
}

/// Who is counted: an account at an endpoint, or an address without a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Who {
    Account(AccountId, &'static str),
    Stranger(Option<IpAddr>),
}

/// The counters of this instance.
#[derive(Debug, Default)]
pub(crate) struct Counters(Mutex<HashMap<Who, (i64, u32)>>);

impl Counters {
    /// Takes one permit.
    pub(crate) fn take(&self, who: Who, limit: u32, period: i64, now: Timestamp) -> Permit {
        let window = now.0.div_euclid(period.max(1));
        let reset = Timestamp((window + 1) * period.max(1));
        let used = match self.0.lock() {
            Err(_) => 1,
            Ok(mut map) => {
                // Old windows are of no use to anybody; they go when there are many.
                if map.len() > 10_000 {
                    map.retain(|_, (seen, _)| *seen == window);
                }
                let slot = map.entry(who).or_insert((window, 0));
                if slot.0 != window {
                    *slot = (window, 0);
                }
                slot.1 = slot.1.saturating_add(1);
                slot.1
            }
        };
        Permit {
            allowed: used <= limit,
            limit,
            remaining: limit.saturating_sub(used),
            reset,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_allows_its_number_and_then_starts_over() {
        let counters = Counters::default();
        let take = |now| counters.take(Who::Stranger(None), 2, 60, Timestamp(now));
        let seen: Vec<_> = [60, 61, 119, 120]
            .into_iter()
            .map(|now| (take(now).allowed, now))
            .collect();
        assert_eq!(seen, [(true, 60), (true, 61), (false, 119), (true, 120)]);
        assert_eq!(take(121).reset, Timestamp(180));
    }
}
