//! When a failed post is tried again, and when nobody tries any more. Pure.

use posthaste_model::Timestamp;

use crate::{PostOutcome, RetryAfter};

/// Which rules a post follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Event webhook: everything but a 2xx is tried again, for 24 hours after the event
    /// (API facts 3.1). Half a minute, doubling up to two hours.
    Events,
    /// Inbound parse: 5xx and silence are tried again, for 72 hours after the mail came
    /// (API facts 4). Every 5 to 10 minutes in the first hour, then every 3 hours.
    ///
    /// The service gives a mail up at once when the host name does not resolve. Here that is
    /// silence like any other: the system's resolver does not tell a name that is not there from a
    /// DNS that fails for a moment, and each attempt posts to where the setting leads by then. So
    /// is an address that the guard refuses.
    Inbound,
}

/// What an outcome means for what was posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryFate {
    Done,
    Retry,
    /// The receiver does not want it: no further attempt.
    End,
}

/// An attempt that failed.
#[derive(Clone, Copy, Debug)]
pub struct Attempted {
    /// When the event happened or the mail came: the window opens here.
    pub started: Timestamp,
    pub now: Timestamp,
    /// Which attempt this was; the first is 1.
    pub attempt: u32,
    pub retry_after: Option<RetryAfter>,
    /// Any random number: spreads those who failed together.
    pub roll: u64,
}

/// What follows a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    At(Timestamp),
    GiveUp,
}

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;

impl Schedule {
    /// How long after `started` attempts are made, in seconds.
    pub fn window(self) -> i64 {
        match self {
            Self::Events => 24 * HOUR,
            Self::Inbound => 72 * HOUR,
        }
    }

    /// What an outcome means under these rules.
    pub fn fate(self, outcome: &PostOutcome) -> RetryFate {
        let Some(status) = outcome.status() else {
            return RetryFate::Retry;
        };
        match (self, status.as_u16()) {
            (Self::Events | Self::Inbound, 200..=299) => RetryFate::Done,
            (Self::Events, _) | (Self::Inbound, 500..=599) => RetryFate::Retry,
            (Self::Inbound, _) => RetryFate::End,
        }
    }

    /// When to try again. The last attempt is made when the window closes, not before; a receiver
    /// that asks for a later time gets it, within the window.
    pub fn next(self, attempted: Attempted) -> Next {
        let Attempted { started, now, .. } = attempted;
        let end = started.plus(self.window());
        if now >= end {
            return Next::GiveUp;
        }
        let asked = attempted.retry_after.map(|after| after.from(now));
        let at = now.plus(self.delay(attempted.attempt, attempted.roll));
        Next::At(asked.map_or(at, |asked| asked.max(at)).min(end))
    }

    /// Seconds to wait after this attempt, spread by a fifth.
    fn delay(self, attempt: u32, roll: u64) -> i64 {
        let base = self.base_delay(attempt);
        let width = u64::try_from(base / 5).unwrap_or(0) + 1;
        base + i64::try_from(roll % width).unwrap_or(0)
    }

    fn base_delay(self, attempt: u32) -> i64 {
        match (self, attempt) {
            (Self::Events, _) => (30 << attempt.saturating_sub(1).min(8)).min(2 * HOUR),
            (Self::Inbound, 0..=6) => 5 * MINUTE,
            (Self::Inbound, 7..=9) => 8 * MINUTE,
            (Self::Inbound, _) => 3 * HOUR,
        }
    }
}

#[cfg(test)]
mod tests;
