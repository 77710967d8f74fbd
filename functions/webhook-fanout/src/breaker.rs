//! Keeps this process from waiting for webhooks that do not answer: a circuit breaker for each, and
//! a bound on the deliveries that wait for one. The memory is one of seconds.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use posthaste_cache::BoundedMap;
use posthaste_model::breaker::{Admission, Breaker, BreakerPolicy};
use posthaste_model::{Timestamp, WebhookId};
use posthaste_webhook::{PostOutcome, TokenProblem};

/// Three timeouts in a row open a breaker, which then lets one attempt through every half minute.
const POLICY: BreakerPolicy = BreakerPolicy {
    failures: 3,
    first_pause: 30,
    longest_pause: 30,
};

/// The number of webhooks tracked. Past that, those that timed out longest ago are forgotten, which
/// costs one wait each.
const MOST: usize = 10_000;

/// The number of deliveries of this process that wait for one webhook at once, so that an
/// unresponsive webhook does not delay the events of others.
const WAITING: u32 = 4;

/// Keeps this process from repeatedly waiting for a webhook that does not answer: each attempt
/// would take the whole timeout.
#[derive(Debug)]
pub struct WebhookBreakers {
    breakers: BoundedMap<WebhookId, WebhookBreaker>,
    /// Has an entry for each webhook that a delivery waits for now.
    waiting: Mutex<HashMap<WebhookId, u32>>,
}

impl Default for WebhookBreakers {
    fn default() -> Self {
        Self {
            breakers: BoundedMap::new(MOST),
            waiting: Mutex::default(),
        }
    }
}

/// A slot among the deliveries that wait for a webhook.
#[derive(Debug)]
pub(crate) struct PostPermit<'a> {
    breaker: &'a WebhookBreakers,
    webhook: WebhookId,
}

impl Drop for PostPermit<'_> {
    fn drop(&mut self) {
        let mut waiting = lock(&self.breaker.waiting);
        if let Some(count) = waiting.get_mut(&self.webhook) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                waiting.remove(&self.webhook);
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
struct WebhookBreaker(Breaker);

impl Default for WebhookBreaker {
    fn default() -> Self {
        Self(Breaker::new(POLICY))
    }
}

impl WebhookBreakers {
    /// A slot among the deliveries that wait for this webhook, if one is free.
    pub(crate) fn permit(&self, webhook: &WebhookId) -> Option<PostPermit<'_>> {
        let mut waiting = lock(&self.waiting);
        let count = waiting.entry(webhook.clone()).or_default();
        if *count >= WAITING {
            return None;
        }
        *count += 1;
        Some(PostPermit {
            breaker: self,
            webhook: webhook.clone(),
        })
    }

    /// Admits an attempt at this webhook, or returns the time until which attempts are rejected.
    /// While the breaker is open, one attempt per pause probes the webhook.
    pub(crate) fn admit(&self, webhook: &WebhookId, now: Timestamp) -> Result<(), Timestamp> {
        let admitted = self
            .breakers
            .update_existing(webhook, |breaker| breaker.0.admit(now));
        match admitted {
            None | Some(Admission::Closed | Admission::Probe) => Ok(()),
            Some(Admission::Open { until }) => Err(until),
        }
    }

    /// Counts timeouts of the webhook or of its token endpoint; any answer, including an error,
    /// resets the count.
    pub(crate) fn note(&self, webhook: &WebhookId, outcome: &PostOutcome, now: Timestamp) {
        match outcome {
            PostOutcome::TimedOut | PostOutcome::NoToken(TokenProblem::TimedOut) => {
                self.breakers
                    .update(webhook.clone(), |breaker| breaker.0.record_failure(now));
            }
            PostOutcome::Answered(_)
            | PostOutcome::Refused(_)
            | PostOutcome::Unreachable { .. }
            | PostOutcome::Unsecured(_)
            | PostOutcome::NoToken(
                TokenProblem::Status(_) | TokenProblem::Answer(_) | TokenProblem::Unanswered(_),
            ) => self.breakers.remove(webhook),
        }
    }
}

#[cfg(test)]
mod tests {
    use posthaste_webhook::RequestStage;

    use super::*;

    #[test]
    fn a_few_wait_for_one_webhook_and_others_for_others() {
        let breaker = WebhookBreakers::default();
        let webhook = WebhookId::from_bytes([1; 16]);
        let mut permits: Vec<_> = (0..WAITING).map(|_| breaker.permit(&webhook)).collect();
        assert!(permits.iter().all(Option::is_some));
        assert!(breaker.permit(&webhook).is_none());
        assert!(breaker.permit(&WebhookId::from_bytes([2; 16])).is_some());
        drop(permits.pop());
        assert!(breaker.permit(&webhook).is_some());
        drop(permits);
        assert!(lock(&breaker.waiting).is_empty());
    }

    #[test]
    fn three_silences_in_a_row_pause_a_webhook_for_half_a_minute() {
        let breaker = WebhookBreakers::default();
        let webhook = WebhookId::from_bytes([1; 16]);
        let other = WebhookId::from_bytes([2; 16]);
        let closed = PostOutcome::Unreachable {
            stage: RequestStage::Connect,
            detail: String::new(),
        };
        let now = Timestamp(1000);
        let until = |second| Err(Timestamp(second));
        for (outcome, want) in [
            (&PostOutcome::TimedOut, Ok(())),
            (&PostOutcome::TimedOut, Ok(())),
            (&closed, Ok(())),
            (&PostOutcome::TimedOut, Ok(())),
            (&PostOutcome::TimedOut, Ok(())),
            (&PostOutcome::TimedOut, until(1030)),
        ] {
            breaker.note(&webhook, outcome, now);
            assert_eq!(breaker.admit(&webhook, now), want);
        }
        assert_eq!(breaker.admit(&webhook, Timestamp(1029)), until(1030));
        assert_eq!(breaker.admit(&other, now), Ok(()));

        // One attempt probes the webhook; the others wait for its result.
        assert_eq!(breaker.admit(&webhook, Timestamp(1030)), Ok(()));
        assert_eq!(breaker.admit(&webhook, Timestamp(1030)), until(1060));
        breaker.note(&webhook, &PostOutcome::TimedOut, Timestamp(1040));
        assert_eq!(breaker.admit(&webhook, Timestamp(1041)), until(1070));
        breaker.note(&webhook, &closed, Timestamp(1080));
        assert_eq!(breaker.admit(&webhook, Timestamp(1080)), Ok(()));
    }
}
