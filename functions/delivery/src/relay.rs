//! Admits copies to the relay before they are claimed: at the pace of SES's quota, and not at all
//! while the relay takes no mail.
//!
//! A copy that is not admitted costs no claim, no attempt and no event: its job waits on the queue,
//! delayed, and is not in flight; in an outage that lasts it is moved to the bucket, where it lies for hours
//! (see `posthaste_outage`). So an outage costs each mail one write when its wait begins, and a throttle costs
//! nothing. The state is that of one process. Each process finds an outage by
//! itself, with the first few copies, and probes by itself. The sending rate is shared by
//! arithmetic: each process takes its part of what SES allows the account, and keeps a permit of it for
//! accounts that send little beside one that sends much.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use posthaste_mailer::{Attempt, Cause, Mailer, SendLimit, SesAccount};
use posthaste_model::{AccountId, Clock, Millis, Timestamp};
use posthaste_store::OutageScope;

use crate::breakers::{Probes, RelayBreakers};
use crate::pace::{Quota, SendPace};
use crate::rate_pause::RatePause;
use crate::wait::RelayWait;

/// Milliseconds for which a quota that was read is used.
const QUOTA_FRESH: i64 = 300_000;

/// Milliseconds until it is read again where it could not be.
const QUOTA_RETRY: i64 = 10_000;

/// Mails a second of the whole account while no quota could be read: what SES takes in the sandbox, the lowest
/// rate that it has ("Service quotas", in its developer guide).
const UNKNOWN_RATE: f64 = 1.0;

/// The wait where the quota of the day is used up: AWS's advice is up to ten minutes ("Errors related
/// to the sending quotas", in SES's developer guide).
const QUOTA_WAIT: Duration = Duration::from_secs(600);

/// The relay with what this process knows of it.
pub struct RelayGate {
    mailer: Mailer,
    clock: Clock,
    /// The most processes that share the account's sending rate: each takes one such part of it.
    shares: u32,
    state: Mutex<GateState>,
    /// Held while the quota is read.
    reading: tokio::sync::Mutex<()>,
}

/// What admits one copy. If the copy is not offered after all, because another job has ended it, or
/// it is dropped, the next copy gets what this one took: its turn, and the probe.
pub(crate) struct RelayPermit<'a> {
    gate: &'a RelayGate,
    account: &'a AccountId,
    probes: Probes,
    is_paced: bool,
}

impl RelayPermit<'_> {
    /// Takes account of what became of the offer; a wait where the relay did not look at the mail.
    pub(crate) fn note(mut self, attempt: &Attempt) -> Option<RelayWait> {
        (self.probes, self.is_paced) = (Probes::default(), false);
        self.gate.note(self.account, attempt)
    }
}

impl Drop for RelayPermit<'_> {
    fn drop(&mut self) {
        let mut state = self.gate.state();
        let now = self.gate.clock.now_ms();
        let breakers = &mut state.breakers;
        breakers.cancel(self.account, self.probes, now.seconds());
        if self.is_paced
            && let Some(pace) = &mut state.pace
        {
            pace.give_back(self.account, now);
        }
    }
}

struct GateState {
    breakers: RelayBreakers,
    /// `None` until the quota was asked for, and for a relay without one.
    pace: Option<SendPace>,
    /// The pause of a relay without a quota that can be read, as SES by SMTP.
    pause: RatePause,
    /// When the quota is read again.
    read_at: Millis,
    /// Whether the log says already that the account is in the sandbox.
    sandbox_logged: bool,
}

impl RelayGate {
    /// A gate in front of this relay, whose sending rate is shared by so many processes.
    ///
    /// It is the most that may run, not how many do: no process knows of the others, and a part that is too
    /// large costs a claim and its release for each mail that SES then refuses. Where fewer run, mail leaves
    /// slower than SES would take it; so an operator sets no more than the rate and the backlog need. On AWS
    /// the variable is what the queue's event source is held to, and always set; without it (the local host)
    /// there is one process, to which the whole rate belongs.
    pub fn new(mailer: Mailer, clock: Clock, shares: u32) -> Self {
        Self {
            mailer,
            clock,
            shares: shares.max(1),
            state: Mutex::new(GateState {
                breakers: RelayBreakers::new(),
                pace: None,
                pause: RatePause::default(),
                read_at: Millis(0),
                sandbox_logged: false,
            }),
            reading: tokio::sync::Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Admits one copy of an account's mail. While a breaker is open, one copy for each pause
    /// probes: first whether the relay can be reached, then, if it can, by being offered.
    pub(crate) async fn admit<'a>(
        &'a self,
        account: &'a AccountId,
    ) -> Result<RelayPermit<'a>, RelayWait> {
        let now = self.clock.now();
        let Some(probes) = self.state().breakers.admit(account, now) else {
            return Err(self.outage(account, OutageScope::Relay, now));
        };
        let mut permit = RelayPermit {
            gate: self,
            account,
            probes,
            is_paced: false,
        };
        if probes.relay
            && let Err(response) = self.mailer.check().await
        {
            permit.probes.relay = false;
            return Err(self.fail(account, &response, self.clock.now()));
        }
        self.read_quota().await;
        permit.is_paced = self.take_turn(account)?;
        Ok(permit)
    }

    /// Takes one mail from the pace; returns whether there is one.
    fn take_turn(&self, account: &AccountId) -> Result<bool, RelayWait> {
        let state = &mut *self.state();
        let now = self.clock.now_ms();
        let Some(pace) = &mut state.pace else {
            return match state.pause.remaining(now) {
                Some(wait) => Err(RelayWait::Quota {
                    limit: SendLimit::Rate,
                    wait,
                    response: "the sending rate is used up".to_owned(),
                }),
                None => Ok(false),
            };
        };
        pace.take(account, now).map(|()| true).map_err(|limit| {
            let (wait, response) = match limit {
                SendLimit::Rate => (pace.wait(account, now), "the sending rate is used up"),
                SendLimit::Day => (QUOTA_WAIT, "the daily sending quota is used up"),
            };
            RelayWait::Quota {
                limit,
                wait,
                response: response.to_owned(),
            }
        })
    }

    /// The wait for a relay that is known to take no mail of this account, before a probe is due.
    pub(crate) fn is_out(&self, account: &AccountId) -> Option<RelayWait> {
        let now = self.clock.now();
        let is_refusing = self.state().breakers.is_refusing(account, now);
        is_refusing.then(|| self.outage(account, OutageScope::Relay, now))
    }

    /// The most copies that leave at once, at least one; without a quota, any number.
    pub(crate) fn burst(&self) -> usize {
        let state = self.state();
        state.pace.as_ref().map_or(usize::MAX, SendPace::burst)
    }

    /// Takes account of what became of an offer; a wait where the relay did not look at the mail.
    fn note(&self, account: &AccountId, attempt: &Attempt) -> Option<RelayWait> {
        let now = self.clock.now_ms();
        match attempt {
            Attempt::Deferred {
                cause: Cause::Relay,
                response,
                ..
            } => Some(self.fail(account, response, now.seconds())),
            Attempt::Deferred {
                cause: Cause::Mail,
                response,
                ..
            } => Some(self.break_off(account, response, now.seconds())),
            Attempt::Unanswered { response } => {
                self.fail(account, response, now.seconds());
                None
            }
            Attempt::Throttled { response, limit } => {
                let state = &mut *self.state();
                state.breakers.record_success(account);
                let (limit, response) = (*limit, response.clone());
                let wait = match (limit, &mut state.pace) {
                    (SendLimit::Rate, Some(pace)) => {
                        pace.throttled(now);
                        pace.wait(account, now)
                    }
                    (SendLimit::Rate, None) => state.pause.throttled(now),
                    (SendLimit::Day, pace) => {
                        if let Some(pace) = pace {
                            pace.day_is_over(now);
                        }
                        QUOTA_WAIT
                    }
                };
                Some(RelayWait::Quota {
                    limit,
                    wait,
                    response,
                })
            }
            Attempt::Accepted { .. }
            | Attempt::Handed { .. }
            | Attempt::Deferred { .. }
            | Attempt::Bounced { .. }
            | Attempt::Unsupported => {
                let mut state = self.state();
                if let Some(since) = state.breakers.record_success(account) {
                    tracing::info!("the relay takes mail again, after {since}");
                }
                state.pause.accepted();
                None
            }
        }
    }

    fn fail(&self, account: &AccountId, response: &str, now: Timestamp) -> RelayWait {
        if self.state().breakers.relay_failed(account, response, now) {
            tracing::error!("the relay takes no mail, which waits from now on: {response}");
        } else {
            tracing::warn!("the relay takes no mail: {response}");
        }
        self.outage(account, OutageScope::Relay, now)
    }

    fn break_off(&self, account: &AccountId, response: &str, now: Timestamp) -> RelayWait {
        if self.state().breakers.mail_failed(account, response, now) {
            tracing::error!(account.id = %account, "the relay breaks off at mails, which wait from now on: {response}");
        } else {
            tracing::warn!(account.id = %account, "the relay breaks off at a mail: {response}");
        }
        self.outage(account, OutageScope::Account(account.clone()), now)
    }

    fn outage(&self, account: &AccountId, suspected: OutageScope, now: Timestamp) -> RelayWait {
        let state = self.state();
        let (since, response, stage) = state.breakers.outage(account, suspected, now);
        RelayWait::Outage {
            since,
            response: response.to_owned(),
            stage,
        }
    }

    /// Reads the account's quota if what is known of it is old. One copy reads; the others go on by
    /// what is known, or wait if nothing is.
    async fn read_quota(&self) {
        let Mailer::Ses(ses) = &self.mailer else {
            return;
        };
        let is_old = |state: &GateState, now: Millis| now >= state.read_at;
        let known = {
            let state = self.state();
            if !is_old(&state, self.clock.now_ms()) {
                return;
            }
            state.pace.is_some()
        };
        let _reading = if known {
            match self.reading.try_lock() {
                Ok(reading) => reading,
                Err(_) => return,
            }
        } else {
            self.reading.lock().await
        };
        if !is_old(&self.state(), self.clock.now_ms()) {
            return;
        }
        let account = ses.account().await;
        let now = self.clock.now_ms();
        let mut state = self.state();
        match account {
            Ok(account) => {
                state.read_at = Millis(now.0.saturating_add(QUOTA_FRESH));
                state.take_over(&account, self.shares, now);
            }
            Err(error) => {
                state.read_at = Millis(now.0.saturating_add(QUOTA_RETRY));
                // What is known of it holds on.
                let unknown = Quota {
                    per_second: UNKNOWN_RATE,
                    per_day: -1.0,
                    sent: 0.0,
                    shares: self.shares,
                };
                state
                    .pace
                    .get_or_insert_with(|| SendPace::new(unknown, now));
                tracing::warn!(error = %error, "the sending quota cannot be read: {error}");
            }
        }
    }
}

impl GateState {
    fn take_over(&mut self, account: &SesAccount, shares: u32, now: Millis) {
        if account.sandbox && !std::mem::replace(&mut self.sandbox_logged, true) {
            tracing::error!(
                "the SES account is in the sandbox: it sends to verified addresses alone, {} mails a day",
                account.max_per_day
            );
        }
        let quota = Quota {
            per_second: account.max_per_second,
            per_day: account.max_per_day,
            sent: account.sent_in_a_day,
            shares,
        };
        match &mut self.pace {
            Some(pace) => pace.renew(quota, now),
            None => self.pace = Some(SendPace::new(quota, now)),
        }
    }
}
