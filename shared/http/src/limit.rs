//! Rate limits: how many requests an account may make to an endpoint in a period, and the three
//! headers that report it on every response (SPEC, "Limits").

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::str::FromStr;

use axum::http::{HeaderMap, HeaderValue};
use posthaste_cache::BoundedMap;
use posthaste_model::{Timestamp, ip_prefix};

/// The endpoint with a limit of its own in the configuration.
const MAIL_SEND: &str = "POST /v3/mail/send";

/// How many requests are allowed, and per what period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimits {
    /// Requests per period, endpoint and account; and per address without a key.
    pub requests: u32,
    /// The same for mail/send.
    pub mail_send: u32,
    /// Seconds of a period.
    pub period: i64,
    /// Endpoints with a limit of their own.
    pub endpoints: Endpoints,
}

impl Default for RateLimits {
    /// 600 in five seconds for the settings endpoints, 10,000 a second for mail/send (the published
    /// figure). The official Java client retries after 429 five times, 1.1 s apart: one of them must
    /// fall into the next period.
    fn default() -> Self {
        Self {
            requests: 600,
            mail_send: 50_000,
            period: 5,
            endpoints: Endpoints::default(),
        }
    }
}

impl RateLimits {
    /// The limit of an endpoint, named by method and path template.
    pub fn of(&self, endpoint: &str) -> u32 {
        match self.endpoints.0.get(endpoint) {
            Some(own) => *own,
            None if endpoint == MAIL_SEND => self.mail_send,
            None => self.requests,
        }
    }
}

/// Limits of single endpoints, read from
/// `POST /v3/api_keys=30, GET /v3/subusers/{subuser_name}/credits=1200`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endpoints(BTreeMap<String, u32>);

/// Why a text is not a list of limits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not of the form `METHOD /path=number`")]
pub struct InvalidEndpoints(String);

impl FromStr for Endpoints {
    type Err = InvalidEndpoints;

    fn from_str(text: &str) -> Result<Self, InvalidEndpoints> {
        let mut map = BTreeMap::new();
        for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
            let invalid = || InvalidEndpoints(part.to_owned());
            let (endpoint, limit) = part.rsplit_once('=').ok_or_else(invalid)?;
            let (method, path) = endpoint.trim().split_once(' ').ok_or_else(invalid)?;
            let known = ["GET", "POST", "PUT", "PATCH", "DELETE"].contains(&method);
            if !known || !path.starts_with('/') {
                return Err(invalid());
            }
            let limit = limit.trim().parse().ok().filter(|limit| *limit > 0);
            let limit = limit.ok_or_else(invalid)?;
            map.insert(endpoint.trim().to_owned(), limit);
        }
        Ok(Self(map))
    }
}

/// One of the periods that requests are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LimitPeriod {
    /// Counts periods since the epoch.
    pub(crate) number: i64,
    /// The second the next one begins.
    pub(crate) end: Timestamp,
}

impl LimitPeriod {
    /// The period of this many seconds that contains `now`.
    pub(crate) fn at(now: Timestamp, seconds: i64) -> Self {
        let seconds = seconds.max(1);
        let number = now.0.div_euclid(seconds);
        Self {
            number,
            end: Timestamp((number + 1) * seconds),
        }
    }
}

/// The rate-limit result of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateDecision {
    pub allowed: bool,
    pub limit: u32,
    pub remaining: u32,
    /// The second the period ends: in the future, or clients do not wait.
    pub reset: Timestamp,
}

impl RateDecision {
    /// The one place that writes the rate-limit headers.
    pub fn write(&self, headers: &mut HeaderMap) {
        headers.insert("x-ratelimit-limit", HeaderValue::from(self.limit));
        headers.insert("x-ratelimit-remaining", HeaderValue::from(self.remaining));
        headers.insert("x-ratelimit-reset", HeaderValue::from(self.reset.0));
    }
}

/// Counts calls without a valid key by network, in the memory of this instance: a row for each
/// would let anonymous callers cause writes.
#[derive(Debug)]
pub(crate) struct AnonymousLimiter(BoundedMap<Option<IpAddr>, CallCount>);

/// The calls of one network in a period.
#[derive(Debug, Default)]
struct CallCount {
    /// The number of the period.
    period: i64,
    calls: u32,
}

impl Default for AnonymousLimiter {
    fn default() -> Self {
        Self(BoundedMap::new(Self::MOST))
    }
}

impl AnonymousLimiter {
    /// How many networks are counted; past that, those that called longest ago start over.
    const MOST: usize = 50_000;

    /// Counts one call.
    pub(crate) fn count(
        &self,
        ip: Option<IpAddr>,
        limit: u32,
        period: LimitPeriod,
    ) -> RateDecision {
        let used = self.0.update(ip.map(ip_prefix), |count| {
            if count.period != period.number {
                *count = CallCount {
                    period: period.number,
                    calls: 0,
                };
            }
            count.calls = count.calls.saturating_add(1);
            count.calls
        });
        RateDecision {
            allowed: used <= limit,
            limit,
            remaining: limit.saturating_sub(used),
            reset: period.end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_retries_for_five_seconds_and_a_half_gets_through() {
        let period = RateLimits::default().period;
        for second in 0..60 {
            let refused = Timestamp(1_800_000_000 + second);
            let end = LimitPeriod::at(refused, period).end;
            assert!(end.since(refused) * 10 <= 5 * 11, "{}", end.since(refused));
        }
    }

    #[test]
    fn an_endpoint_has_its_own_limit_or_the_common_one() {
        let limits = RateLimits {
            endpoints: "POST /v3/api_keys=30, GET /v3/scopes = 1 ,"
                .parse()
                .unwrap(),
            ..RateLimits::default()
        };
        for (endpoint, want) in [
            ("POST /v3/api_keys", 30),
            ("GET /v3/scopes", 1),
            ("GET /v3/api_keys", 600),
            ("POST /v3/mail/send", 50_000),
        ] {
            assert_eq!(limits.of(endpoint), want, "{endpoint}");
        }
    }

    #[test]
    fn a_limit_that_cannot_be_read_is_refused() {
        for bad in [
            "POST /v3/api_keys",
            "POST=5",
            "/v3/api_keys=5",
            "POST /v3/api_keys=many",
            "POST /v3/api_keys=-1",
            "POST /v3/api_keys=0",
            "SEND /v3/api_keys=5",
            "POST v3=5",
        ] {
            assert!(bad.parse::<Endpoints>().is_err(), "{bad}");
        }
        assert_eq!("".parse(), Ok(Endpoints::default()));
    }

    #[test]
    fn a_period_ends_after_every_second_in_it() {
        for (now, number, end) in [(0, 0, 60), (59, 0, 60), (60, 1, 120), (-1, -1, 0)] {
            let period = LimitPeriod::at(Timestamp(now), 60);
            assert_eq!(
                (period.number, period.end),
                (number, Timestamp(end)),
                "{now}"
            );
        }
        assert_eq!(LimitPeriod::at(Timestamp(7), 0).end, Timestamp(8));
    }

    fn minute(at: i64) -> LimitPeriod {
        LimitPeriod::at(Timestamp(at), 60)
    }

    #[test]
    fn a_period_allows_its_number_and_then_starts_over() {
        let limiter = AnonymousLimiter::default();
        let allowed = |at| limiter.count(None, 2, minute(at)).allowed;
        assert_eq!([60, 61, 119, 120].map(allowed), [true, true, false, true]);
        let permit = limiter.count(None, 2, minute(121));
        assert_eq!((permit.remaining, permit.reset), (0, Timestamp(180)));
    }

    #[test]
    fn an_ipv6_network_counts_as_one_caller() {
        let limiter = AnonymousLimiter::default();
        let allowed = |ip: &str| {
            let ip = ip.parse().unwrap();
            limiter.count(Some(ip), 1, minute(0)).allowed
        };
        assert!(allowed("2001:db8::1"));
        assert!(!allowed("2001:db8::2"));
        assert!(allowed("2001:db8:0:1::1"));
        assert!(allowed("203.0.113.1"));
        assert!(allowed("203.0.113.2"));
        assert!(!allowed("203.0.113.2"));
    }
}
