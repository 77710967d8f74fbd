//! The attempts to use an account that are recorded: the first of its kind in a minute, per
//! instance.

use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::Mutex;

use posthaste_model::{AccountId, Clock, Timestamp, ip_prefix};
use posthaste_store::{AccessRecord, Store};

/// An attempt to use an account, for `GET /v3/access_settings/activity`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AccessAttempt {
    pub(crate) account: AccountId,
    pub(crate) ip: IpAddr,
    pub(crate) auth_method: &'static str,
    pub(crate) allowed: bool,
}

/// Records attempts.
pub(crate) struct AccessLog {
    store: Store,
    clock: Clock,
    seen: MinuteLog,
}

impl AccessLog {
    pub(crate) fn new(store: Store, clock: Clock) -> Self {
        let seen = MinuteLog::default();
        Self { store, clock, seen }
    }

    /// The attempt, if it is to be recorded.
    pub(crate) fn unrecorded(&self, attempt: AccessAttempt) -> Option<AccessAttempt> {
        let is_new = self.seen.should_record(&attempt, self.clock.now());
        is_new.then_some(attempt)
    }

    /// Records an attempt. A failure to do so does not fail the request.
    pub(crate) async fn record(&self, attempt: Option<AccessAttempt>) {
        let Some(attempt) = attempt else { return };
        let record = AccessRecord {
            ip: attempt.ip,
            auth_method: attempt.auth_method,
            allowed: attempt.allowed,
            at: self.clock.now(),
        };
        let account = &attempt.account;
        if let Err(error) = self.store.record_attempt(account, record).await {
            tracing::warn!(%error, account.id = %account, "access to {account} was not recorded: {error}");
        }
    }
}

/// The attempts this instance recorded in the current minute.
#[derive(Debug, Default)]
struct MinuteLog(Mutex<(i64, HashSet<AccessAttempt>)>);

impl MinuteLog {
    /// How many different attempts are recorded in a minute; further ones are not, so that a flood
    /// from many addresses does not become a flood of writes.
    const MOST: usize = 10_000;

    /// Remembers the attempt; returns whether it is the first of its kind from its network in this
    /// minute.
    fn should_record(&self, note: &AccessAttempt, now: Timestamp) -> bool {
        let Ok(mut kept) = self.0.lock() else {
            return false;
        };
        let minute = now.0.div_euclid(60);
        if kept.0 != minute {
            *kept = (minute, HashSet::new());
        }
        let alike = AccessAttempt {
            ip: ip_prefix(note.ip),
            ..note.clone()
        };
        if kept.1.contains(&alike) || kept.1.len() >= Self::MOST {
            return false;
        }
        kept.1.insert(alike);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_that_are_alike_are_news_once_a_minute() {
        let notes = MinuteLog::default();
        let note = |allowed| AccessAttempt {
            account: AccountId::from_bytes([7; 10]),
            ip: IpAddr::from([203, 0, 113, 9]),
            auth_method: "bearer",
            allowed,
        };
        for (at, allowed, want) in [
            (120, true, true),
            (179, true, false),
            (179, false, true),
            (180, true, true),
        ] {
            let is_new = notes.should_record(&note(allowed), Timestamp(at));
            assert_eq!(is_new, want, "{allowed} at {at}");
        }
    }

    #[test]
    fn the_addresses_of_a_network_are_alike() {
        let notes = MinuteLog::default();
        let is_news = |ip: &str| {
            let note = AccessAttempt {
                account: AccountId::from_bytes([7; 10]),
                ip: ip.parse().unwrap(),
                auth_method: "bearer",
                allowed: false,
            };
            notes.should_record(&note, Timestamp(120))
        };
        assert!(is_news("2001:db8::1"));
        assert!(!is_news("2001:db8::2"));
        assert!(is_news("2001:db8:0:1::1"));
        assert!(is_news("203.0.113.1"));
        assert!(is_news("203.0.113.2"));
    }
}
