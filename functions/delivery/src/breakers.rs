//! What is not offered to the relay now: all mail while it takes none, and the mail of an account at
//! whose mails it breaks off.
//!
//! A relay that cannot be reached, or refuses the login, takes no mail at all. One that breaks the
//! connection off in the middle of a mail may do so for that mail alone: a filter fails at its
//! content. So such failures stop the mail of one account, and that of all only once the mails of
//! different accounts fail with no success between them.
//!
//! Pure: the caller passes the time, and guards the state.

use std::collections::HashMap;

use posthaste_model::breaker::{Admission, Breaker, BreakerPolicy};
use posthaste_model::{AccountId, Timestamp};
use posthaste_store::OutageScope;

/// Three copies in a row that the relay does not take for a reason of its own open a breaker.
const POLICY: BreakerPolicy = BreakerPolicy {
    failures: 3,
    first_pause: 10,
    longest_pause: 300,
};

/// Accounts of which trouble is known at a time. The failures of any others count as the relay's.
const MOST_ACCOUNTS: usize = 1_000;

/// The breakers of one process.
pub(crate) struct RelayBreakers {
    relay: OfferBreaker,
    accounts: HashMap<AccountId, OfferBreaker>,
    /// Whose mail failed last, with no success since.
    last: Option<AccountId>,
}

/// A breaker, and what the relay said when it failed last.
struct OfferBreaker {
    breaker: Breaker,
    response: String,
}

impl OfferBreaker {
    fn new() -> Self {
        Self {
            breaker: Breaker::new(POLICY),
            response: String::new(),
        }
    }

    fn failed(&mut self, response: &str, now: Timestamp) -> bool {
        response.clone_into(&mut self.response);
        self.breaker.record_failure(now)
    }
}

/// Which breakers an admitted copy probes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Probes {
    pub(crate) relay: bool,
    pub(crate) account: bool,
}

/// What is known of an outage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OutageStage {
    /// A mail has failed, of these, and no breaker is open.
    Suspected(OutageScope),
    /// A breaker is open, and a copy is under way that shows whether it closes.
    Probed,
    /// A breaker is open.
    Known(OutageScope),
}

impl RelayBreakers {
    /// All closed.
    pub(crate) fn new() -> Self {
        Self {
            relay: OfferBreaker::new(),
            accounts: HashMap::new(),
            last: None,
        }
    }

    /// Admits a copy of this account's mail; `None` while it is not to be offered.
    pub(crate) fn admit(&mut self, account: &AccountId, now: Timestamp) -> Option<Probes> {
        let mine = self.accounts.get_mut(account);
        let mine = mine.map_or(Admission::Closed, |mine| mine.breaker.admit(now));
        // Before the relay's: a copy that is not offered must not be the one that probes.
        if matches!(mine, Admission::Open { .. }) {
            return None;
        }
        let relay = self.relay.breaker.admit(now);
        let probes = Probes {
            relay: relay == Admission::Probe,
            account: mine == Admission::Probe,
        };
        if matches!(relay, Admission::Open { .. }) {
            self.cancel(account, probes, now);
            return None;
        }
        Some(probes)
    }

    /// Whether a copy of this account's mail would not be admitted now.
    pub(crate) fn is_refusing(&self, account: &AccountId, now: Timestamp) -> bool {
        let mine = self.accounts.get(account);
        self.relay.breaker.is_refusing(now)
            || mine.is_some_and(|mine| mine.breaker.is_refusing(now))
    }

    /// The copy that was to probe was not offered: the next one probes.
    pub(crate) fn cancel(&mut self, account: &AccountId, probes: Probes, now: Timestamp) {
        if probes.relay {
            self.relay.breaker.cancel_probe(now);
        }
        if let Some(mine) = self.accounts.get_mut(account).filter(|_| probes.account) {
            mine.breaker.cancel_probe(now);
        }
    }

    /// The relay looked at a mail of this account. Since when it had taken none, if so.
    pub(crate) fn record_success(&mut self, account: &AccountId) -> Option<Timestamp> {
        let since = self.relay.breaker.opened();
        self.relay.breaker.record_success();
        self.accounts.remove(account);
        self.last = None;
        since
    }

    /// The relay takes no mail, as a copy of this account found; returns whether that opened its breaker.
    pub(crate) fn relay_failed(
        &mut self,
        account: &AccountId,
        response: &str,
        now: Timestamp,
    ) -> bool {
        // Of the account's mails that says nothing: if the copy was to probe them, the next one does.
        if let Some(mine) = self.accounts.get_mut(account) {
            mine.breaker.cancel_probe(now);
        }
        self.relay.failed(response, now)
    }

    /// The relay broke off at a mail of this account; returns whether that opened a breaker.
    pub(crate) fn mail_failed(
        &mut self,
        account: &AccountId,
        response: &str,
        now: Timestamp,
    ) -> bool {
        if self.accounts.len() >= MOST_ACCOUNTS && !self.accounts.contains_key(account) {
            self.accounts.retain(|_, one| one.breaker.is_refusing(now));
            if self.accounts.len() >= MOST_ACCOUNTS {
                return self.relay.failed(response, now);
            }
        }
        let mine = self.accounts.entry(account.clone());
        let opened_mine = mine.or_insert_with(OfferBreaker::new).failed(response, now);
        // The copy may be the one that probes the relay, which then still takes no mail: as a probe without
        // a report it would seem under way for ever, and all mail that is released would wait on the queue.
        if self.last.as_ref() == Some(account) && !self.relay.breaker.is_probing() {
            return opened_mine;
        }
        self.last = Some(account.clone());
        self.relay.failed(response, now) || opened_mine
    }

    /// Since when mail of this account is not offered, or now, what the relay said last, and what is known
    /// of the outage. Where no breaker is open, it is suspected to be of these mails, which one of the account failed
    /// for.
    pub(crate) fn outage(
        &self,
        account: &AccountId,
        suspected: OutageScope,
        now: Timestamp,
    ) -> (Timestamp, &str, OutageStage) {
        let is_open = |offers: &&OfferBreaker| offers.breaker.opened().is_some();
        let mine = self.accounts.get(account);
        let all = Some(&self.relay).filter(is_open);
        let scope = match all {
            Some(_) => OutageScope::Relay,
            None => OutageScope::Account(account.clone()),
        };
        let of_relay = suspected == OutageScope::Relay;
        let known = all.or(mine.filter(is_open));
        let failed = known.or(mine.filter(|_| !of_relay)).unwrap_or(&self.relay);
        match failed.breaker.opened() {
            None => (now, &failed.response, OutageStage::Suspected(suspected)),
            Some(since) if failed.breaker.is_probing() => {
                (since, &failed.response, OutageStage::Probed)
            }
            Some(since) => (since, &failed.response, OutageStage::Known(scope)),
        }
    }
}

#[cfg(test)]
mod tests {
    use posthaste_testkit::entropy;

    use super::*;

    const NOW: Timestamp = Timestamp(1_000);

    fn accounts<const N: usize>() -> [AccountId; N] {
        let entropy = entropy();
        std::array::from_fn(|_| entropy.account_id())
    }

    #[test]
    fn mails_that_break_off_stop_their_account_alone() {
        let [bad, good] = accounts();
        let mut breakers = RelayBreakers::new();
        for n in 0..10 {
            let opens = breakers.mail_failed(&bad, "lost", NOW);
            assert_eq!(opens, n == 2, "{n}");
            let scope = OutageScope::Account(bad.clone());
            let suspected = OutageStage::Suspected(scope.clone());
            let is_suspected = breakers.outage(&bad, scope, NOW).2 == suspected;
            assert_eq!(is_suspected, n < 2, "{n}");
        }
        assert!(breakers.is_refusing(&bad, NOW));
        assert_eq!(breakers.admit(&bad, NOW), None);
        let known = OutageStage::Known(OutageScope::Account(bad.clone()));
        assert_eq!(
            breakers.outage(&bad, OutageScope::Relay, NOW),
            (NOW, "lost", known)
        );
        assert!(!breakers.is_refusing(&good, NOW));
        assert_eq!(breakers.admit(&good, NOW), Some(Probes::default()));

        let later = NOW.plus(10);
        let probe = breakers.admit(&bad, later).unwrap();
        assert!(probe.account && !probe.relay);
        assert_eq!(breakers.admit(&bad, later), None);
        assert_eq!(
            breakers.outage(&bad, OutageScope::Relay, later).2,
            OutageStage::Probed
        );
        breakers.cancel(&bad, probe, later);
        assert!(breakers.admit(&bad, later).is_some());
        breakers.record_success(&bad);
        assert_eq!(breakers.admit(&bad, later), Some(Probes::default()));
    }

    #[test]
    fn mails_of_several_accounts_that_break_off_are_the_relay_s_trouble() {
        let [one, other, third] = accounts();
        let mut breakers = RelayBreakers::new();
        for (n, account) in [&one, &one, &other, &one].into_iter().enumerate() {
            assert!(breakers.admit(&third, NOW).is_some());
            let opens = breakers.mail_failed(account, "lost", NOW);
            assert_eq!(opens, n == 3, "{n}");
        }
        assert!(breakers.is_refusing(&third, NOW));
        let known = OutageStage::Known(OutageScope::Relay);
        assert_eq!(
            breakers.outage(&third, OutageScope::Relay, NOW),
            (NOW, "lost", known)
        );
        let probe = breakers.admit(&third, NOW.plus(10)).unwrap();
        assert!(probe.relay && !probe.account);
        assert_eq!(breakers.record_success(&third), Some(NOW));
        assert!(breakers.admit(&other, NOW).is_some());
    }

    #[test]
    fn a_success_between_them_leaves_the_relay_open_to_all() {
        let [one, other, third] = accounts();
        let mut breakers = RelayBreakers::new();
        for _ in 0..10 {
            breakers.mail_failed(&one, "lost", NOW);
            breakers.mail_failed(&other, "lost", NOW);
            assert!(breakers.admit(&third, NOW).is_some());
            breakers.record_success(&third);
        }
    }

    #[test]
    fn a_relay_that_takes_nothing_stops_all_whatever_is_known_of_an_account() {
        let [bad, good] = accounts();
        let mut breakers = RelayBreakers::new();
        for _ in 0..3 {
            breakers.mail_failed(&bad, "lost", NOW);
        }
        let later = NOW.plus(10);
        for n in 0..2 {
            // The first failure above counts as well.
            assert_eq!(breakers.relay_failed(&good, "down", later), n == 1);
        }
        assert_eq!(breakers.admit(&good, later), None);
        let known = OutageStage::Known(OutageScope::Relay);
        assert_eq!(
            breakers.outage(&good, OutageScope::Relay, later),
            (later, "down", known)
        );
        // The account's own probe is due, but the relay's is not: it is still due after that.
        assert_eq!(breakers.admit(&bad, later), None);
        let probes = breakers.admit(&bad, later.plus(10)).unwrap();
        assert!(probes.relay && probes.account);
    }

    #[test]
    fn a_failure_is_suspected_to_be_of_what_failed() {
        let [bad, good] = accounts();
        let mut breakers = RelayBreakers::new();
        breakers.mail_failed(&bad, "lost", NOW);
        breakers.relay_failed(&bad, "down", NOW);
        for scope in [OutageScope::Relay, OutageScope::Account(bad.clone())] {
            let of_relay = scope == OutageScope::Relay;
            let (_, response, stage) = breakers.outage(&bad, scope.clone(), NOW);
            assert_eq!(response, if of_relay { "down" } else { "lost" });
            assert_eq!(stage, OutageStage::Suspected(scope));
        }
        breakers.record_success(&good);
        breakers.relay_failed(&good, "down", NOW);
        let suspected = OutageStage::Suspected(OutageScope::Relay);
        assert_eq!(breakers.outage(&good, OutageScope::Relay, NOW).2, suspected);
    }

    #[test]
    fn a_probe_that_breaks_off_leaves_the_relay_known_to_be_out() {
        let [bad, good] = accounts();
        let mut breakers = RelayBreakers::new();
        for _ in 0..3 {
            breakers.relay_failed(&good, "down", NOW);
        }
        let mut now = NOW;
        for pause in [10, 20, 40, 80] {
            now = now.plus(pause);
            assert!(breakers.admit(&bad, now).is_some_and(|probes| probes.relay));
            assert_eq!(
                breakers.outage(&good, OutageScope::Relay, now).2,
                OutageStage::Probed
            );
            breakers.mail_failed(&bad, "lost", now);
            let known = OutageStage::Known(OutageScope::Relay);
            assert_eq!(
                breakers.outage(&bad, OutageScope::Relay, now).2,
                known,
                "{pause}"
            );
            assert_eq!(
                breakers.outage(&good, OutageScope::Relay, now).2,
                known,
                "{pause}"
            );
        }
    }

    #[test]
    fn a_probe_that_finds_the_relay_down_is_not_under_way_for_its_account() {
        let [bad, good] = accounts();
        let mut breakers = RelayBreakers::new();
        for _ in 0..3 {
            breakers.mail_failed(&bad, "lost", NOW);
        }
        let later = NOW.plus(10);
        assert!(
            breakers
                .admit(&bad, later)
                .is_some_and(|probes| probes.account)
        );
        breakers.relay_failed(&bad, "down", later);
        breakers.record_success(&good);
        let known = OutageStage::Known(OutageScope::Account(bad.clone()));
        assert_eq!(breakers.outage(&bad, OutageScope::Relay, later).2, known);
        // No time is lost for it.
        assert!(
            breakers
                .admit(&bad, later)
                .is_some_and(|probes| probes.account)
        );
    }

    #[test]
    fn no_more_accounts_are_remembered_than_are_bounded() {
        let entropy = entropy();
        let mut breakers = RelayBreakers::new();
        for _ in 0..3 * MOST_ACCOUNTS {
            breakers.mail_failed(&entropy.account_id(), "lost", NOW);
            assert!(breakers.accounts.len() <= MOST_ACCOUNTS);
        }
    }
}
