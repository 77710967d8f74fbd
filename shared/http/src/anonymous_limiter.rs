//! Calls without a valid key, counted by address in this instance's memory: a row for each would
//! let anonymous callers cause writes.

use std::net::IpAddr;

use posthaste_cache::BoundedMap;
use posthaste_model::ip_prefix;

use crate::Permit;
use crate::limit::LimitPeriod;

/// The counters of this instance.
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
    pub(crate) fn count(&self, ip: Option<IpAddr>, limit: u32, period: LimitPeriod) -> Permit {
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
        Permit {
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
    use posthaste_model::Timestamp;

    fn minute(at: i64) -> LimitPeriod {
        LimitPeriod::at(Timestamp(at), 60)
    }

    #[test]
    fn a_period_allows_its_number_and_then_starts_over() {
        let strangers = AnonymousLimiter::default();
        let allowed = |at| strangers.count(None, 2, minute(at)).allowed;
        assert_eq!([60, 61, 119, 120].map(allowed), [true, true, false, true]);
        let permit = strangers.count(None, 2, minute(121));
        assert_eq!((permit.remaining, permit.reset), (0, Timestamp(180)));
    }

    #[test]
    fn an_ipv6_network_counts_as_one_caller() {
        let strangers = AnonymousLimiter::default();
        let allowed = |ip: &str| {
            let ip = ip.parse().unwrap();
            strangers.count(Some(ip), 1, minute(0)).allowed
        };
        assert!(allowed("2001:db8::1"));
        assert!(!allowed("2001:db8::2"));
        assert!(allowed("2001:db8:0:1::1"));
        assert!(allowed("203.0.113.1"));
        assert!(allowed("203.0.113.2"));
        assert!(!allowed("203.0.113.2"));
    }
}
