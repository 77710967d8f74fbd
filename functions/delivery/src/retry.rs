//! How long to wait before the next attempt, and when to stop trying.

use std::time::Duration;

use posthaste_mailer::Cause;

/// A copy that no relay accepts within this many seconds expires (DESIGN: 72 hours).
pub(crate) const SHELF_LIFE: i64 = 72 * 3600;

/// The cause that sets the pace of retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryReason {
    /// The receiving side deferred the mail: 1, 2, 4 … minutes, at most an hour.
    Recipient,
    /// The relay is unreachable or rejects our credentials: 5, 10, 20 … seconds, at most 15
    /// minutes, because operators resolve it.
    Relay,
}

impl From<Cause> for RetryReason {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::Recipient => Self::Recipient,
            Cause::Relay => Self::Relay,
        }
    }
}

/// The pause after attempt `attempt` (from 0), plus up to a tenth of `jitter` (0 to 99), so that
/// copies which failed together are not retried together.
pub fn pause(patience: RetryReason, attempt: u32, jitter: u64) -> Duration {
    let (first, most) = match patience {
        RetryReason::Recipient => (60_000, 3_600_000),
        RetryReason::Relay => (5_000, 900_000),
    };
    let plain: u64 = (first << attempt.min(16)).min(most);
    let spread = plain / 1000 * jitter.min(99);
    Duration::from_millis((plain + spread).min(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_their_limit() {
        let seconds = |patience, attempt| pause(patience, attempt, 0).as_secs();
        let recipient: Vec<_> = (0..8).map(|n| seconds(RetryReason::Recipient, n)).collect();
        assert_eq!(recipient, [60, 120, 240, 480, 960, 1920, 3600, 3600]);
        let relay: Vec<_> = (0..10).map(|n| seconds(RetryReason::Relay, n)).collect();
        assert_eq!(relay, [5, 10, 20, 40, 80, 160, 320, 640, 900, 900]);
        assert_eq!(seconds(RetryReason::Recipient, u32::MAX), 3600);
    }

    #[test]
    fn jitter_adds_less_than_a_tenth() {
        let most = pause(RetryReason::Recipient, 0, u64::MAX);
        assert!(
            most > Duration::from_secs(65) && most < Duration::from_secs(66),
            "{most:?}"
        );
    }
}
