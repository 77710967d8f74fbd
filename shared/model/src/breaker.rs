//! A circuit breaker: after failures in a row it refuses attempts, except one probe for each pause.
//!
//! Pure: the caller passes the time, and guards the breaker where several share it.

use crate::Timestamp;

/// When a breaker opens, and how often it then lets a probe through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerPolicy {
    /// Failures in a row that open it.
    pub failures: u32,
    /// Seconds until the first probe. Each probe that fails doubles them.
    pub first_pause: i64,
    /// The most seconds between two probes.
    pub longest_pause: i64,
}

/// What a breaker says of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Admission {
    /// Nothing is wrong.
    Closed,
    /// The breaker is open, and this attempt is the one that probes.
    Probe,
    /// Refused until then.
    Open { until: Timestamp },
}

/// The state of one breaker.
#[derive(Clone, Copy, Debug)]
pub struct Breaker {
    policy: BreakerPolicy,
    in_a_row: u32,
    /// Since when it is open.
    opened: Option<Timestamp>,
    /// When the next probe may go.
    until: Timestamp,
    pause: i64,
    is_probing: bool,
}

impl Breaker {
    /// A closed breaker.
    pub fn new(policy: BreakerPolicy) -> Self {
        Self {
            policy,
            in_a_row: 0,
            opened: None,
            until: Timestamp(0),
            pause: policy.first_pause,
            is_probing: false,
        }
    }

    /// Since when it is open, if it is.
    pub fn opened(&self) -> Option<Timestamp> {
        self.opened
    }

    /// Whether an attempt would be refused now.
    pub fn is_refusing(&self, now: Timestamp) -> bool {
        self.opened.is_some() && now < self.until
    }

    /// Whether an attempt is under way that probes.
    pub fn is_probing(&self) -> bool {
        self.is_probing
    }

    /// Decides about an attempt. The one that probes has until the end of the next pause to report.
    pub fn admit(&mut self, now: Timestamp) -> Admission {
        if self.opened.is_none() {
            return Admission::Closed;
        }
        if self.is_refusing(now) {
            return Admission::Open { until: self.until };
        }
        self.until = now.plus(self.pause);
        self.is_probing = true;
        Admission::Probe
    }

    /// The attempt that was to probe was not made: the next one probes.
    pub fn cancel_probe(&mut self, now: Timestamp) {
        if std::mem::take(&mut self.is_probing) {
            self.until = self.until.min(now);
        }
    }

    /// Closes the breaker.
    pub fn record_success(&mut self) {
        *self = Self::new(self.policy);
    }

    /// Counts a failure; returns whether it opened the breaker.
    pub fn record_failure(&mut self, now: Timestamp) -> bool {
        self.in_a_row = self.in_a_row.saturating_add(1);
        if self.in_a_row < self.policy.failures {
            return false;
        }
        // Attempts that were under way when the breaker opened fail too, and lengthen nothing.
        if std::mem::take(&mut self.is_probing) {
            self.pause = (self.pause * 2).min(self.policy.longest_pause);
        }
        self.until = now.plus(self.pause);
        let opens = self.opened.is_none();
        self.opened.get_or_insert(now);
        opens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: BreakerPolicy = BreakerPolicy {
        failures: 3,
        first_pause: 10,
        longest_pause: 40,
    };

    fn open(until: i64) -> Admission {
        let until = Timestamp(until);
        Admission::Open { until }
    }

    #[test]
    fn failures_in_a_row_open_it_and_any_success_closes_it() {
        let mut breaker = Breaker::new(POLICY);
        let now = Timestamp(100);
        for _ in 0..5 {
            assert!(!breaker.record_failure(now) && !breaker.record_failure(now));
            assert_eq!(breaker.admit(now), Admission::Closed);
            breaker.record_success();
        }
        assert!(!breaker.record_failure(now) && !breaker.record_failure(now));
        assert!(breaker.record_failure(now));
        assert_eq!(breaker.admit(now), open(110));
        assert_eq!(breaker.opened(), Some(now));
        breaker.record_success();
        assert_eq!(breaker.admit(now), Admission::Closed);
        assert_eq!(breaker.opened(), None);
    }

    #[test]
    fn one_attempt_probes_for_each_pause_and_the_pauses_double() {
        let mut breaker = Breaker::new(POLICY);
        let mut now = Timestamp(100);
        for _ in 0..10 {
            breaker.record_failure(now);
        }
        for pause in [10, 20, 40, 40] {
            assert_eq!(breaker.admit(now), open(now.0 + pause));
            now = now.plus(pause);
            assert_eq!(breaker.admit(now), Admission::Probe);
            // The others wait for its result.
            assert_eq!(breaker.admit(now), open(now.0 + pause));
            now = now.plus(1);
            assert!(!breaker.record_failure(now));
        }
        assert_eq!(breaker.opened(), Some(Timestamp(100)));
        // A probe without a report is followed by another.
        now = now.plus(40);
        assert_eq!(breaker.admit(now), Admission::Probe);
        now = now.plus(40);
        assert_eq!(breaker.admit(now), Admission::Probe);
        breaker.record_success();
        assert_eq!(breaker.admit(now), Admission::Closed);
    }

    #[test]
    fn a_probe_that_was_not_made_is_left_to_the_next_attempt() {
        let mut breaker = Breaker::new(POLICY);
        for _ in 0..3 {
            breaker.record_failure(Timestamp(100));
        }
        let now = Timestamp(110);
        assert_eq!(breaker.admit(now), Admission::Probe);
        breaker.cancel_probe(now);
        assert_eq!(breaker.admit(now), Admission::Probe);
        // One that has failed is over: its pause remains.
        breaker.record_failure(now);
        breaker.cancel_probe(now);
        assert_eq!(breaker.admit(now), open(130));
    }
}
