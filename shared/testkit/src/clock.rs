//! A clock that a test sets by hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use posthaste_model::{Clock, Millis, Timestamp};

/// The hand of a stopped clock. Clones share it.
#[derive(Clone, Debug)]
pub struct TestClock(Arc<AtomicI64>);

impl TestClock {
    /// A clock stopped at `at`.
    pub fn at(at: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(at.millis().0)))
    }

    /// Moves the hand to `at`.
    pub fn set(&self, at: Timestamp) {
        self.0.store(at.millis().0, Ordering::SeqCst);
    }

    /// Moves the hand on by `seconds`.
    pub fn advance(&self, seconds: i64) {
        self.advance_ms(seconds.saturating_mul(1000));
    }

    /// Moves the hand on by `millis` milliseconds.
    pub fn advance_ms(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }

    /// The second the hand points at.
    pub fn now(&self) -> Timestamp {
        self.clock().now()
    }

    /// The clock this hand belongs to.
    pub fn clock(&self) -> Clock {
        let hand = Arc::clone(&self.0);
        Clock::new(move || Millis(hand.load(Ordering::SeqCst)))
    }
}

impl Default for TestClock {
    /// Stopped at 2027-01-15 08:00:00 UTC.
    fn default() -> Self {
        Self::at(Timestamp(1_800_000_000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_shows_where_its_hand_was_moved() {
        let hand = TestClock::at(Timestamp(100));
        let clock = hand.clock();
        hand.advance_ms(1500);
        assert_eq!(clock.now_ms(), Millis(101_500));
        hand.set(Timestamp(7));
        assert_eq!(clock.now(), Timestamp(7));
    }
}
