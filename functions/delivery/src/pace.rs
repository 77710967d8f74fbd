//! The pace of one process under SES's quota: a bucket of permits for the rate, and a count for the
//! day.

use std::time::Duration;

use posthaste_cache::BoundedMap;
use posthaste_mailer::SendLimit;
use posthaste_model::{AccountId, Millis};

/// Seconds of its rate that a process may save up; at least one permit.
const BURST: f64 = 1.0;

/// How long a process pauses after SES refused a mail for its rate, in milliseconds.
const PAUSE: i64 = 1_000;

/// How long the day's quota counts as used up after SES said so, in milliseconds: until the quota is
/// read again.
const DAY_PAUSE: i64 = 300_000;

/// The longest wait for a permit: SQS delays no message longer.
const LONGEST: Duration = Duration::from_secs(900);

/// Accounts whose turns a process remembers; those of an account that is forgotten begin anew.
const ACCOUNTS: usize = 10_000;

/// What SES allows the account, and in how many parts it is used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quota {
    pub(crate) per_second: f64,
    /// Below 0: without a limit.
    pub(crate) per_day: f64,
    /// Mails of the last 24 hours, when that was read.
    pub(crate) sent: f64,
    pub(crate) shares: u32,
}

impl Quota {
    /// Mails a second of one process; at least one in 100 seconds.
    fn rate(&self) -> f64 {
        (self.per_second / f64::from(self.shares)).max(0.01)
    }

    /// Mails that a process may send at once.
    fn burst(&self) -> f64 {
        (self.rate() * BURST).max(1.0)
    }
}

/// The permits of one process.
#[derive(Debug)]
pub(crate) struct SendPace {
    quota: Quota,
    permits: f64,
    /// When the permits were counted; later than now while the process pauses.
    at: Millis,
    /// Mails of this process since the quota was read.
    sent: f64,
    /// Until when the quota of the day counts as used up.
    day_over_until: Millis,
    /// The moment at which the last of an account's copies that wait returns. One account's many
    /// copies do not put off the first of another.
    last_turns: BoundedMap<AccountId, Option<Millis>>,
}

impl SendPace {
    /// Full at first.
    pub(crate) fn new(quota: Quota, now: Millis) -> Self {
        Self {
            quota,
            permits: quota.burst(),
            at: now,
            sent: 0.0,
            day_over_until: Millis(i64::MIN),
            last_turns: BoundedMap::new(ACCOUNTS),
        }
    }

    /// The most mails that leave at once; at least one.
    pub(crate) fn burst(&self) -> usize {
        self.quota.burst() as usize
    }

    /// Takes over a quota that was read anew.
    pub(crate) fn renew(&mut self, quota: Quota, now: Millis) {
        self.refill(now);
        self.quota = quota;
        self.permits = self.permits.min(quota.burst());
        self.sent = 0.0;
        self.day_over_until = Millis(i64::MIN);
    }

    fn refill(&mut self, now: Millis) {
        let passed = now.0.saturating_sub(self.at.0);
        // A clock that was set back by more than a pause begins anew.
        if !(-PAUSE..=0).contains(&passed) {
            let seconds = passed.max(0) as f64 / 1000.0;
            let permits = self.permits + seconds * self.quota.rate();
            self.permits = permits.min(self.quota.burst());
            self.at = now;
        }
    }

    /// Takes a permit for one mail, or says what is used up.
    pub(crate) fn take(&mut self, now: Millis) -> Result<(), SendLimit> {
        let Quota {
            per_day,
            sent,
            shares,
            ..
        } = self.quota;
        // The other processes send as much, as far as this one can know.
        let in_all = sent + self.sent * f64::from(shares);
        if now < self.day_over_until || (per_day >= 0.0 && in_all >= per_day) {
            return Err(SendLimit::Day);
        }
        self.refill(now);
        // A sum of parts may miss a whole permit by a hair.
        if self.permits < 1.0 - 1e-6 {
            return Err(SendLimit::Rate);
        }
        self.permits = (self.permits - 1.0).max(0.0);
        self.sent += 1.0;
        Ok(())
    }

    /// Gives back the permit of a mail that was not offered.
    pub(crate) fn give_back(&mut self) {
        self.permits = (self.permits + 1.0).min(self.quota.burst());
        self.sent = (self.sent - 1.0).max(0.0);
    }

    /// How long the next of an account that was refused waits: one after the other, at the rate.
    pub(crate) fn wait(&mut self, account: &AccountId, now: Millis) -> Duration {
        let step = (1000.0 / self.quota.rate()).ceil() as i64;
        let longest = now.0.saturating_add(LONGEST.as_millis() as i64);
        let turn = self.last_turns.update(account.clone(), |last| {
            let turn = last.map_or(now, |last| last.max(now)).0;
            let turn = turn.saturating_add(step).min(longest);
            *last = Some(Millis(turn));
            turn
        });
        Duration::from_millis(u64::try_from(turn - now.0).unwrap_or(0))
    }

    /// SES refused a mail for the rate: others send more than their part.
    pub(crate) fn throttled(&mut self, now: Millis) {
        self.permits = 0.0;
        self.at = Millis(now.0.saturating_add(PAUSE));
    }

    /// SES refused a mail for the quota of the day.
    pub(crate) fn day_is_over(&mut self, now: Millis) {
        self.day_over_until = Millis(now.0.saturating_add(DAY_PAUSE));
    }
}

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

    fn account(n: u8) -> AccountId {
        AccountId::from_bytes([n; 10])
    }

    fn quota(per_second: f64, shares: u32) -> Quota {
        Quota {
            per_second,
            per_day: 50_000.0,
            sent: 0.0,
            shares,
        }
    }

    #[test]
    fn processes_together_send_at_the_rate_of_the_account() {
        for (per_second, shares) in [(1.0, 1), (1.0, 2), (14.0, 2), (14.0, 10), (500.0, 30)] {
            let mut paces: Vec<_> = (0..shares)
                .map(|_| SendPace::new(quota(per_second, shares), Millis(0)))
                .collect();
            let mut sent = 0;
            for now in (0..100_000).step_by(10) {
                for pace in &mut paces {
                    sent += i32::from(pace.take(Millis(now)).is_ok());
                }
            }
            let fair = per_second * 100.0;
            let most = fair + per_second * BURST + f64::from(shares);
            let sent = f64::from(sent);
            assert!((fair * 0.95..=most).contains(&sent), "{sent} of {fair}");
        }
    }

    #[test]
    fn those_that_wait_come_again_one_after_the_other() {
        let mut pace = SendPace::new(quota(14.0, 2), Millis(0));
        for _ in 0..7 {
            assert_eq!(pace.take(Millis(0)), Ok(()));
        }
        let waits = |pace: &mut SendPace, now| {
            (0..3)
                .map(|_| {
                    assert_eq!(pace.take(Millis(now)), Err(SendLimit::Rate));
                    pace.wait(&account(1), Millis(now)).as_millis()
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(waits(&mut pace, 0), [143, 286, 429]);
        assert_eq!(waits(&mut pace, 100), [472, 615, 758]);
        assert_eq!(pace.take(Millis(143)), Ok(()));
        for _ in 0..100_000 {
            assert!(pace.wait(&account(1), Millis(143)) <= LONGEST);
        }
        // Another account's first does not wait for them.
        assert_eq!(pace.wait(&account(2), Millis(143)).as_millis(), 143);
    }

    #[test]
    fn a_permit_that_is_given_back_counts_neither_for_the_rate_nor_for_the_day() {
        let account = Quota {
            per_day: 2.0,
            ..quota(1.0, 1)
        };
        let mut pace = SendPace::new(account, Millis(0));
        for _ in 0..5 {
            assert_eq!(pace.take(Millis(0)), Ok(()));
            assert_eq!(pace.take(Millis(0)), Err(SendLimit::Rate));
            pace.give_back();
        }
        // No more than a bucket holds.
        pace.give_back();
        assert_eq!(pace.take(Millis(0)), Ok(()));
        assert_eq!(pace.take(Millis(0)), Err(SendLimit::Rate));
        assert_eq!(pace.take(Millis(1_000)), Ok(()));
        assert_eq!(pace.take(Millis(2_000)), Err(SendLimit::Day));
    }

    #[test]
    fn a_refusal_for_the_rate_pauses_and_a_new_quota_is_taken_over() {
        let mut pace = SendPace::new(quota(14.0, 1), Millis(0));
        pace.throttled(Millis(0));
        assert_eq!(pace.take(Millis(1_000)), Err(SendLimit::Rate));
        assert_eq!(pace.take(Millis(1_072)), Ok(()));
        pace.renew(quota(1_000.0, 1), Millis(1_072));
        assert_eq!(pace.take(Millis(1_074)), Ok(()));
        // A clock that is set back does not stop the mail.
        assert_eq!(pace.take(Millis(-9_000_000)), Ok(()));
        assert_eq!(pace.take(Millis(-8_999_990)), Ok(()));
    }

    #[test]
    fn the_quota_of_the_day_ends_the_mail_until_it_is_read_again() {
        let of = |sent| Quota {
            per_day: 200.0,
            sent,
            ..quota(14.0, 2)
        };
        let mut pace = SendPace::new(of(196.0), Millis(0));
        assert_eq!(pace.take(Millis(0)), Ok(()));
        assert_eq!(pace.take(Millis(0)), Ok(()));
        // The other process has sent as many.
        assert_eq!(pace.take(Millis(0)), Err(SendLimit::Day));
        pace.renew(of(150.0), Millis(1_000));
        assert_eq!(pace.take(Millis(1_000)), Ok(()));
        pace.day_is_over(Millis(1_000));
        assert_eq!(pace.take(Millis(2_000)), Err(SendLimit::Day));
        assert_eq!(pace.take(Millis(301_000)), Ok(()));
        // No limit.
        let unlimited = Quota {
            per_day: -1.0,
            ..of(1e9)
        };
        assert_eq!(SendPace::new(unlimited, Millis(0)).take(Millis(0)), Ok(()));
    }

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
