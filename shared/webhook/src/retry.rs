//! Decides when a failed post is retried, and when retries end. Pure.

use posthaste_model::Timestamp;

use crate::{PostOutcome, RetryAfter};

/// The retry rules of a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Event webhook: everything except a 2xx is retried, for 24 hours after the event (API facts
    /// 3.1). Half a minute, doubling up to two hours.
    Events,
    /// The same for a developer who waits for the next attempt: one second, doubling up to two hours.
    QuickEvents,
    /// Inbound parse: 5xx and timeouts are retried, for 72 hours after the mail came (API facts 4).
    /// Every 5 to 10 minutes in the first hour, then every 3 hours.
    ///
    /// SendGrid drops a mail at once when the host name does not resolve. Here that is retried like
    /// a timeout: the system's resolver does not distinguish a missing name from a temporary
    /// failure of the DNS, and each attempt uses the current setting. An address that the guard
    /// refuses is retried too.
    Inbound,
}

/// The consequence of an outcome for the post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryFate {
    Done,
    Retry,
    /// The receiver rejected it: no further attempt.
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
    /// Any random number: spreads the retries of posts that failed together.
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
            Self::Events | Self::QuickEvents => 24 * HOUR,
            Self::Inbound => 72 * HOUR,
        }
    }

    /// The consequence of an outcome under these rules.
    pub fn fate(self, outcome: &PostOutcome) -> RetryFate {
        let Some(status) = outcome.status() else {
            return RetryFate::Retry;
        };
        match (self, status.as_u16()) {
            (Self::Events | Self::QuickEvents | Self::Inbound, 200..=299) => RetryFate::Done,
            (Self::Events | Self::QuickEvents, _) | (Self::Inbound, 500..=599) => RetryFate::Retry,
            (Self::Inbound, _) => RetryFate::End,
        }
    }

    /// When to retry. The last attempt is made when the window closes, not before; a later time
    /// requested by the receiver is honoured, within the window.
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
            (Self::QuickEvents, _) => (1 << attempt.saturating_sub(1).min(13)).min(2 * HOUR),
            (Self::Inbound, 0..=6) => 5 * MINUTE,
            (Self::Inbound, 7..=9) => 8 * MINUTE,
            (Self::Inbound, _) => 3 * HOUR,
        }
    }
}

#[cfg(test)]
mod tests;
