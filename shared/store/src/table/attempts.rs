//! When a write that met another is tried again, and when it is given up.

use std::time::Duration;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use posthaste_model::Entropy;

use super::error::StoreError;
use super::store::Store;

/// Attempts in all: the waits between them add up to less than two seconds.
const MOST: u32 = 12;
/// The wait before the second attempt; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(4);
/// The longest wait.
const LONGEST_WAIT: Duration = Duration::from_millis(256);

/// The attempts of one conditional write or transaction. Of several writers that met, each waits
/// for a random part of the time, so that they do not meet again.
#[derive(Debug)]
pub struct Attempts {
    left: u32,
    /// Before the next attempt.
    wait: Duration,
    jitter: Option<Entropy>,
}

impl Attempts {
    fn new(jitter: Option<Entropy>) -> Self {
        Self {
            left: MOST,
            wait: Duration::ZERO,
            jitter,
        }
    }

    /// With another number of attempts, for rows that many writers share.
    pub(crate) fn at_most(self, most: u32) -> Self {
        Self { left: most, ..self }
    }

    /// Waits until the next attempt is due, the first one at once; `false` when there is no other.
    pub async fn next(&mut self) -> bool {
        let Some(left) = self.left.checked_sub(1) else {
            return false;
        };
        self.left = left;
        if !self.wait.is_zero() {
            tokio::time::sleep(self.jittered()).await;
        }
        self.wait = (self.wait * 2).clamp(FIRST_WAIT, LONGEST_WAIT);
        true
    }

    /// From half of the wait to all of it.
    fn jittered(&self) -> Duration {
        let half = self.wait / 2;
        let range = u64::try_from(half.as_micros()).unwrap_or(u64::MAX);
        let random = |jitter: &Entropy| Duration::from_micros(jitter.below(range));
        half + self.jitter.as_ref().map_or(half, random)
    }
}

impl Store {
    /// The attempts of a write that may meet another.
    pub fn conflict_attempts(&self) -> Attempts {
        Attempts::new(self.jitter.clone())
    }

    /// Makes a call again for a second or two while the table is throttled, beyond what its client does by itself: for
    /// what follows something that cannot be undone, such as a hand-over. To repeat the whole job would cost more.
    ///
    /// # Errors
    /// That of the call: of the last one where all were throttled.
    pub async fn through_throttles<T, F>(&self, call: impl Fn() -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let mut attempts = self.conflict_attempts();
        attempts.next().await;
        let mut done = call().await;
        while matches!(done, Err(StoreError::Throttled(_))) && attempts.next().await {
            done = call().await;
        }
        done
    }

    /// Sends a call on one row, again while the row is part of a transaction that is under way.
    pub(crate) async fn send<T, E, R, F>(&self, call: impl Fn() -> F) -> Result<T, SdkError<E, R>>
    where
        E: ProvideErrorMetadata,
        F: Future<Output = Result<T, SdkError<E, R>>>,
    {
        let mut attempts = self.conflict_attempts();
        attempts.next().await;
        let mut done = call().await;
        while done.as_ref().is_err_and(is_collision) && attempts.next().await {
            done = call().await;
        }
        done
    }
}

/// Whether a call on one row was refused because a transaction is writing the row.
fn is_collision<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> bool {
    ProvideErrorMetadata::code(error) == Some("TransactionConflictException")
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    async fn waits(jitter: Option<Entropy>) -> Vec<Duration> {
        let mut attempts = Attempts::new(jitter);
        let mut waits = Vec::new();
        let mut before = Instant::now();
        while attempts.next().await {
            waits.push(before.elapsed());
            before = Instant::now();
        }
        waits
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_attempt_is_due_at_once_and_each_other_after_a_longer_wait() {
        let waits = waits(None).await;
        let millis: Vec<_> = waits.iter().map(Duration::as_millis).collect();
        assert_eq!(millis, [0, 4, 8, 16, 32, 64, 128, 256, 256, 256, 256, 256]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_is_made_again_while_the_table_is_throttled_and_for_no_other_reason() {
        let config = aws_config::SdkConfig::builder();
        let config = config.behavior_version(aws_config::BehaviorVersion::latest());
        let store = Store::open(&config.build(), "none");
        let throttled = StoreError::Throttled(String::new());
        let broken = StoreError::Unreachable(String::new());
        for (fails, error, want) in [
            (0, &throttled, (1, true)),
            (3, &throttled, (4, true)),
            (100, &throttled, (MOST, false)),
            (3, &broken, (1, false)),
        ] {
            let calls = std::cell::Cell::new(0);
            let call = || {
                calls.set(calls.get() + 1);
                std::future::ready(if calls.get() > fails {
                    Ok(())
                } else {
                    Err(error.clone())
                })
            };
            let done = store.through_throttles(call).await;
            assert_eq!((calls.get(), done.is_ok()), want, "{fails} {error}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn writers_that_met_wait_for_different_times() {
        let source = Entropy::counting();
        let (one, other) = (waits(Some(source.clone())).await, waits(Some(source)).await);
        assert_ne!(one, other);
        let longest = waits(None).await;
        for wait in [one, other] {
            let pairs = wait.iter().zip(&longest);
            // Tokio's timer has steps of a millisecond.
            let step = Duration::from_millis(1);
            assert!(pairs.clone().all(|(wait, most)| *wait <= *most + step));
            assert!(pairs.clone().all(|(wait, most)| *wait >= *most / 2));
        }
    }
}
