//! The pace of one process under SES's quota: a bucket of permits for the rate, and a count for the
//! day.

use std::time::Duration;

use posthaste_mailer::SendLimit;
use posthaste_model::{AccountId, Millis};

use crate::turns::AccountTurns;

/// Seconds of its rate that a process may save up; at least one permit.
const BURST: f64 = 1.0;

/// Permits beyond these that are kept for accounts which have sent less than others lately. Several
/// such accounts may take a process above its rate by that many mails, once: SES takes short bursts
/// ("Managing your sending limits", in its developer guide).
const KEPT: f64 = 1.0;

/// Milliseconds for which permits are kept for copies that return. Any process may get them.
const OWED_FOR: i64 = 10_000;

/// How long a process pauses after SES refused a mail for its rate, in milliseconds.
pub(crate) const PAUSE: i64 = 1_000;

/// How long the day's quota counts as used up after SES said so, in milliseconds: until the quota is
/// read again.
const DAY_PAUSE: i64 = 300_000;

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

    /// The most permits that a process saves up.
    fn room(&self) -> f64 {
        self.burst() + KEPT
    }

    /// The most permits beyond the kept one that are kept for copies which return.
    fn most_owed(&self) -> f64 {
        (self.burst() - 1.0) / 2.0
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
    turns: AccountTurns,
    /// Copies of accounts which have sent little that found no permit, and when the last of them did: as many
    /// permits are kept until they return.
    owed: f64,
    owed_at: Millis,
}

impl SendPace {
    /// Full at first.
    pub(crate) fn new(quota: Quota, now: Millis) -> Self {
        Self {
            quota,
            permits: quota.room(),
            at: now,
            sent: 0.0,
            day_over_until: Millis(i64::MIN),
            turns: AccountTurns::new(),
            owed: 0.0,
            owed_at: now,
        }
    }

    /// The most mails of an account that leave at once; at least one.
    pub(crate) fn burst(&self) -> usize {
        self.quota.burst() as usize
    }

    /// Takes over a quota that was read anew.
    pub(crate) fn renew(&mut self, quota: Quota, now: Millis) {
        self.refill(now);
        self.quota = quota;
        self.permits = self.permits.min(quota.room());
        self.owed = self.owed.min(quota.most_owed());
        self.sent = 0.0;
        self.day_over_until = Millis(i64::MIN);
    }

    fn refill(&mut self, now: Millis) {
        let passed = now.0.saturating_sub(self.at.0);
        // A clock that was set back by more than a pause begins anew.
        if !(-PAUSE..=0).contains(&passed) {
            let seconds = passed.max(0) as f64 / 1000.0;
            let permits = self.permits + seconds * self.quota.rate();
            self.permits = permits.min(self.quota.room());
            self.at = now;
        }
    }

    /// Takes a permit for one mail of an account, or says what is used up. The last permit is kept for an
    /// account that has sent less than others lately: its mail finds one as soon as it comes, whichever process it
    /// comes to. Where it comes in numbers, a permit each is kept for those that find none.
    pub(crate) fn take(&mut self, account: &AccountId, now: Millis) -> Result<(), SendLimit> {
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
        let is_light = self.turns.is_light(account, now);
        if now.0.saturating_sub(self.owed_at.0) > OWED_FOR {
            self.owed = 0.0;
        }
        let kept = if is_light { 0.0 } else { KEPT + self.owed };
        // A sum of parts may miss a whole permit by a hair.
        if self.permits < 1.0 + kept - 1e-6 {
            if is_light {
                self.owed = (self.owed + 1.0).min(self.quota.most_owed());
                self.owed_at = now;
            }
            return Err(SendLimit::Rate);
        }
        self.permits = (self.permits - 1.0).max(0.0);
        self.sent += 1.0;
        self.turns.count(account, 1.0, now);
        if is_light {
            self.owed = (self.owed - 1.0).max(0.0);
        }
        Ok(())
    }

    /// Gives back the permit of a mail that was not offered.
    pub(crate) fn give_back(&mut self, account: &AccountId, now: Millis) {
        self.permits = (self.permits + 1.0).min(self.quota.room());
        self.sent = (self.sent - 1.0).max(0.0);
        self.turns.count(account, -1.0, now);
    }

    /// How long the next of an account that was refused waits: one after the other, at the rate.
    pub(crate) fn wait(&mut self, account: &AccountId, now: Millis) -> Duration {
        let step = (1000.0 / self.quota.rate()).ceil() as i64;
        self.turns.wait(account, step, now)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn ann() -> AccountId {
        AccountId::from_bytes([1; 10])
    }

    fn bob() -> AccountId {
        AccountId::from_bytes([2; 10])
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
                    sent += i32::from(pace.take(&ann(), Millis(now)).is_ok());
                }
            }
            let fair = per_second * 100.0;
            let most = fair + per_second * BURST + f64::from(shares);
            let sent = f64::from(sent);
            assert!((fair * 0.95..=most).contains(&sent), "{sent} of {fair}");
        }
    }

    /// 100,000 mails of one account are handed out as fast as workers take them, and another sends one or five
    /// mails each two seconds. SQS hands out the other's early, as of a fair queue, and each message to any of
    /// the processes.
    #[test]
    fn another_account_s_mail_leaves_within_ten_seconds_beside_a_hundred_thousand() {
        for (per_second, shares, at_once) in
            [(14.0, 1, 1), (14.0, 2, 5), (14.0, 10, 5), (100.0, 10, 20)]
        {
            let mut seed = 1_u64;
            let all_day = Quota {
                per_day: -1.0,
                ..quota(per_second, shares)
            };
            let new = || SendPace::new(all_day, Millis(0));
            let mut paces: Vec<_> = (0..shares).map(|_| new()).collect();
            // By time: whose it is, and when it was accepted.
            let mut queue = std::collections::BTreeMap::new();
            (0..100_000).for_each(|n| drop(queue.insert((n * 5, n), (ann(), 0))));
            let mut next = 100_000;
            for second in (0..600).step_by(2) {
                for _ in 0..at_once {
                    queue.insert((second * 1000 + 500, next), (bob(), second * 1000 + 500));
                    next += 1;
                }
            }
            let (mut big, mut waits) = (0, Vec::new());
            while let Some(((now, _), (account, since))) = queue.pop_first()
                && now < 620_000
            {
                // Knuth's generator.
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let pace = &mut paces[(seed >> 33) as usize % shares as usize];
                if pace.take(&account, Millis(now)).is_err() {
                    let wait = pace.wait(&account, Millis(now)).as_millis();
                    let back = now + i64::try_from(wait.div_ceil(1000) * 1000).unwrap();
                    queue.insert((back, next), (account, since));
                    next += 1;
                } else if account == bob() {
                    waits.push(now - since);
                } else {
                    big += 1;
                }
            }
            waits.sort_unstable();
            let case = format!("{per_second} {shares} {at_once}");
            assert_eq!(waits.len(), 300 * at_once, "{case}");
            let p99 = waits[waits.len() * 99 / 100];
            assert!(p99 <= 10_000, "{case}: {p99} ms");
            // What the small one leaves goes to the large one.
            let rest = per_second * 620.0 - waits.len() as f64;
            assert!(f64::from(big) >= rest * 0.9, "{case}: {big} of {rest}");
        }
    }

    #[test]
    fn those_that_wait_come_again_one_after_the_other() {
        let mut pace = SendPace::new(quota(14.0, 2), Millis(0));
        for _ in 0..7 {
            assert_eq!(pace.take(&ann(), Millis(0)), Ok(()));
        }
        let waits = |pace: &mut SendPace, now| {
            (0..3)
                .map(|_| {
                    assert_eq!(pace.take(&ann(), Millis(now)), Err(SendLimit::Rate));
                    pace.wait(&ann(), Millis(now)).as_millis()
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(waits(&mut pace, 0), [143, 286, 429]);
        assert_eq!(waits(&mut pace, 100), [472, 615, 758]);
        assert_eq!(pace.take(&ann(), Millis(143)), Ok(()));
    }

    #[test]
    fn a_permit_that_is_given_back_counts_neither_for_the_rate_nor_for_the_day() {
        let account = Quota {
            per_day: 2.0,
            ..quota(1.0, 1)
        };
        let mut pace = SendPace::new(account, Millis(0));
        for _ in 0..5 {
            assert_eq!(pace.take(&ann(), Millis(0)), Ok(()));
            assert_eq!(pace.take(&ann(), Millis(0)), Err(SendLimit::Rate));
            pace.give_back(&ann(), Millis(0));
        }
        // No more than a bucket holds.
        pace.give_back(&ann(), Millis(0));
        assert_eq!(pace.take(&ann(), Millis(0)), Ok(()));
        assert_eq!(pace.take(&ann(), Millis(0)), Err(SendLimit::Rate));
        assert_eq!(pace.take(&ann(), Millis(1_000)), Ok(()));
        assert_eq!(pace.take(&ann(), Millis(2_000)), Err(SendLimit::Day));
    }

    #[test]
    fn a_refusal_for_the_rate_pauses_and_a_new_quota_is_taken_over() {
        let mut pace = SendPace::new(quota(14.0, 1), Millis(0));
        pace.throttled(Millis(0));
        assert_eq!(pace.take(&ann(), Millis(1_000)), Err(SendLimit::Rate));
        // One permit is kept for others.
        assert_eq!(pace.take(&ann(), Millis(1_072)), Err(SendLimit::Rate));
        assert_eq!(pace.take(&ann(), Millis(1_143)), Ok(()));
        pace.renew(quota(1_000.0, 1), Millis(1_143));
        assert_eq!(pace.take(&ann(), Millis(1_145)), Ok(()));
        // A clock that is set back does not stop the mail.
        assert_eq!(pace.take(&ann(), Millis(-9_000_000)), Ok(()));
        assert_eq!(pace.take(&ann(), Millis(-8_999_990)), Ok(()));
    }

    #[test]
    fn the_quota_of_the_day_ends_the_mail_until_it_is_read_again() {
        let of = |sent| Quota {
            per_day: 200.0,
            sent,
            ..quota(14.0, 2)
        };
        let mut pace = SendPace::new(of(196.0), Millis(0));
        assert_eq!(pace.take(&ann(), Millis(0)), Ok(()));
        assert_eq!(pace.take(&ann(), Millis(0)), Ok(()));
        // The other process has sent as many.
        assert_eq!(pace.take(&ann(), Millis(0)), Err(SendLimit::Day));
        pace.renew(of(150.0), Millis(1_000));
        assert_eq!(pace.take(&ann(), Millis(1_000)), Ok(()));
        pace.day_is_over(Millis(1_000));
        assert_eq!(pace.take(&ann(), Millis(2_000)), Err(SendLimit::Day));
        assert_eq!(pace.take(&ann(), Millis(301_000)), Ok(()));
        // No limit.
        let unlimited = Quota {
            per_day: -1.0,
            ..of(1e9)
        };
        assert_eq!(
            SendPace::new(unlimited, Millis(0)).take(&ann(), Millis(0)),
            Ok(())
        );
    }
}
