//! Which accounts have used the pace of a process lately, and when their copies that wait return.
//!
//! SQS hands out the mail of a small account early beside the backlog of a large one, but the copies of the
//! large one also ask for each permit, and more often. So what an account has used lately decides whether
//! it may have the last permit: that one is kept from the accounts that use the most.

use std::time::Duration;

use posthaste_cache::BoundedMap;
use posthaste_model::{AccountId, Millis};

/// The longest wait for a permit: SQS delays no message longer.
pub(crate) const LONGEST: Duration = Duration::from_secs(900);

/// Milliseconds after which a mail counts for a third (1/e) of one that leaves now.
const MEMORY: f64 = 10_000.0;

/// Accounts that a process remembers; one that is forgotten begins anew.
const ACCOUNTS: usize = 10_000;

/// The accounts of one process.
#[derive(Debug)]
pub(crate) struct AccountTurns {
    accounts: BoundedMap<AccountId, AccountTurn>,
    /// What each account used lately, summed over all, and the sum of its squares, as of this moment.
    used: f64,
    squares: f64,
    at: Millis,
}

/// One account in this process.
#[derive(Debug)]
struct AccountTurn {
    /// The moment at which the last of its copies that wait returns. One account's many copies do not put off
    /// the first of another.
    last: Millis,
    /// Its mails, of which each counts the less the longer ago it left, as of this moment.
    used: f64,
    at: Millis,
}

impl Default for AccountTurn {
    fn default() -> Self {
        Self {
            last: Millis(i64::MIN),
            used: 0.0,
            at: Millis(i64::MIN),
        }
    }
}

/// What is left at `now` of what was used by `at`.
fn left(at: Millis, now: Millis) -> f64 {
    let passed = now.0.saturating_sub(at.0).max(0);
    (-(passed as f64) / MEMORY).exp()
}

impl AccountTurns {
    /// Of no account yet.
    pub(crate) fn new() -> Self {
        Self {
            accounts: BoundedMap::new(ACCOUNTS),
            used: 0.0,
            squares: 0.0,
            at: Millis(i64::MIN),
        }
    }

    /// Whether an account has used less than three quarters of what that one has which the next mail is likely to
    /// be of: the mean of what accounts used, each weighed by its mails. Of one account alone that is its own use,
    /// and of several that use the same each of theirs; so only one that uses less than others is light. Beside
    /// one that takes all it can get, an account is light up to some 40 % of the rate.
    pub(crate) fn is_light(&self, account: &AccountId, now: Millis) -> bool {
        let rest = left(self.at, now);
        let (used, squares) = (self.used * rest, self.squares * rest * rest);
        let own = self.accounts.update_existing(account, |own| {
            own.used *= left(own.at, now);
            own.at = now;
            own.used
        });
        own.unwrap_or(0.0) * used < 0.75 * squares
    }

    /// A mail of this account leaves; or one (`-1.0`) does not after all.
    pub(crate) fn count(&mut self, account: &AccountId, mails: f64, now: Millis) {
        let (before, after) = self.accounts.update(account.clone(), |own| {
            let before = own.used * left(own.at, now);
            own.used = (before + mails).max(0.0);
            own.at = now;
            (before, own.used)
        });
        let rest = left(self.at, now);
        self.used = (self.used * rest + after - before).max(0.0);
        self.squares = (self.squares * rest * rest + after * after - before * before).max(0.0);
        self.at = now;
    }

    /// How long the next copy of an account waits for a permit: `step` milliseconds after the last of its that
    /// waits.
    pub(crate) fn wait(&self, account: &AccountId, step: i64, now: Millis) -> Duration {
        let longest = now.0.saturating_add(LONGEST.as_millis() as i64);
        let turn = self.accounts.update(account.clone(), |own| {
            let turn = own.last.max(now).0.saturating_add(step).min(longest);
            own.last = Millis(turn);
            turn
        });
        Duration::from_millis(u64::try_from(turn - now.0).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use posthaste_testkit::entropy;

    use super::*;

    #[test]
    fn an_account_is_light_while_it_uses_less_than_others_do() {
        let entropy = entropy();
        let [big, small, other] = [(); 3].map(|()| entropy.account_id());
        let mut turns = AccountTurns::new();
        let now = Millis(1_000);
        // Nothing was used: no account uses less.
        assert!(!turns.is_light(&small, now));
        (0..20).for_each(|_| turns.count(&big, 1.0, now));
        assert!(!turns.is_light(&big, now));
        assert!(turns.is_light(&small, now));
        (0..14).for_each(|_| turns.count(&small, 1.0, now));
        // Two large ones are none to each other, and a third is to both.
        assert!(!turns.is_light(&big, now) && !turns.is_light(&small, now));
        assert!(turns.is_light(&other, now));
        // What was not offered does not count.
        (0..14).for_each(|_| turns.count(&small, -1.0, now));
        assert!(turns.is_light(&small, now));
        // What was used is forgotten by and by.
        (0..14).for_each(|_| turns.count(&small, 1.0, now));
        let later = Millis(31_000);
        (0..20).for_each(|_| turns.count(&big, 1.0, later));
        assert!(turns.is_light(&small, later));
        // A clock that is set back forgets nothing and breaks nothing.
        assert!(turns.is_light(&small, now));
    }

    #[test]
    fn any_number_of_accounts_that_use_the_same_are_none_of_them_light() {
        let (mut turns, entropy) = (AccountTurns::new(), entropy());
        let accounts: Vec<_> = (0..100).map(|_| entropy.account_id()).collect();
        for (n, account) in (0..).zip(&accounts) {
            turns.count(account, 1.0, Millis(n));
        }
        let now = Millis(100);
        assert!(accounts.iter().all(|account| !turns.is_light(account, now)));
        assert!(turns.is_light(&entropy.account_id(), now));
    }

    #[test]
    fn each_account_waits_for_its_own_alone() {
        let (turns, entropy) = (AccountTurns::new(), entropy());
        let (big, small) = (entropy.account_id(), entropy.account_id());
        let waits = |account, now| turns.wait(account, 143, Millis(now)).as_millis();
        assert_eq!([0, 0, 100].map(|now| waits(&big, now)), [143, 286, 329]);
        assert_eq!(waits(&small, 100), 143);
        assert_eq!(waits(&big, 10_000), 143);
        for _ in 0..100_000 {
            assert!(waits(&big, 10_000) <= LONGEST.as_millis());
        }
    }
}
