//! The pause of a relay that refuses mails for its rate and has no quota that can be read.

use std::time::Duration;

use posthaste_model::Millis;

use crate::pace::PAUSE;

/// The longest pause after refusals in a row for the rate, in milliseconds.
const LONGEST_PAUSE: i64 = 60_000;

/// The pause of one process for a relay that refuses mails for its rate, but has no quota that can
/// be read: SES by SMTP.
#[derive(Debug, Default)]
pub(crate) struct RatePause {
    in_a_row: u32,
    until: Option<Millis>,
}

impl RatePause {
    /// The rest of the pause.
    pub(crate) fn remaining(&self, now: Millis) -> Option<Duration> {
        let rest = self.until?.0.saturating_sub(now.0);
        // A clock that was set back does not stop the mail.
        let rest = u64::try_from(rest.min(LONGEST_PAUSE)).ok()?;
        (rest > 0).then(|| Duration::from_millis(rest))
    }

    /// A mail was refused: returns the pause of 1, 2, 4 … seconds. What was under way when a pause
    /// began lengthens nothing.
    pub(crate) fn throttled(&mut self, now: Millis) -> Duration {
        if let Some(rest) = self.remaining(now) {
            return rest;
        }
        let pause = (PAUSE << self.in_a_row.min(6)).min(LONGEST_PAUSE);
        self.in_a_row += 1;
        self.until = Some(Millis(now.0.saturating_add(pause)));
        Duration::from_millis(pause.unsigned_abs())
    }

    /// A mail was not refused for the rate: the next pause is short. The present one remains, since
    /// the mail may have been under way when it began.
    pub(crate) fn accepted(&mut self) {
        self.in_a_row = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_in_a_row_double_the_pause_of_a_relay_without_a_quota() {
        let mut pause = RatePause::default();
        let mut now = Millis(1_000_000);
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
            assert_eq!(pause.remaining(now), None);
            let length = Duration::from_secs(seconds);
            assert_eq!(pause.throttled(now), length);
            // Others that were under way.
            assert_eq!(pause.throttled(now), length);
            assert_eq!(pause.remaining(now), Some(length));
            now.0 += i64::try_from(seconds).unwrap() * 1000;
        }
        pause.throttled(now);
        pause.accepted();
        assert_eq!(pause.remaining(now), Some(Duration::from_secs(60)));
        now.0 += 60_000;
        assert_eq!(pause.throttled(now), Duration::from_secs(1));
    }
}
