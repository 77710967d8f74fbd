//! Why a copy is not offered to the relay now, and where its job waits meanwhile.

use std::time::Duration;

use posthaste_mailer::SendLimit;
use posthaste_model::Timestamp;
use posthaste_store::OutageScope;

use crate::breakers::OutageStage;

/// The shortest and the longest wait of mail that fails, in seconds, where the relay takes others: as long
/// as it has waited so far, between these.
const WAITS: std::ops::RangeInclusive<i64> = 5..=600;

/// Seconds for which a job waits on the queue for an outage that has just begun, or for its probe. They
/// outlast the first pause before one, so that a short outage delays mail little.
const FIRST_WAIT: i64 = 20;

/// Seconds after which mail does not wait on the queue for the end of an outage any more.
const LASTING: i64 = 60;

/// Why a copy is not offered to the relay now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RelayWait {
    /// The relay takes no mail, or breaks off at mails of this account. The text says why, as in a deferral.
    Outage {
        since: Timestamp,
        response: String,
        stage: OutageStage,
    },
    /// The sending rate or the quota of the day is used up.
    Quota {
        limit: SendLimit,
        wait: Duration,
        response: String,
    },
}

/// Where a job waits. A place is greater than another where the wait is longer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WaitPlace {
    /// On the queue, for so long.
    Queue(Duration),
    /// In the bucket, until mail is released.
    Bucket(OutageScope),
}

impl RelayWait {
    /// What the relay or the service says.
    pub(crate) fn response(&self) -> &str {
        match self {
            Self::Outage { response, .. } | Self::Quota { response, .. } => response,
        }
    }

    /// Whether it is a wait of moments, for the sending rate.
    pub(crate) fn is_for_rate(&self) -> bool {
        matches!(
            self,
            Self::Quota {
                limit: SendLimit::Rate,
                ..
            }
        )
    }

    /// Where a job waits that has waited since `since` already. A quarter of a wait for an outage on the
    /// queue is random (`jitter`: 0 to 99), so that what failed together does not come together.
    pub(crate) fn place(&self, since: Option<Timestamp>, now: Timestamp, jitter: u64) -> WaitPlace {
        let (opened, stage) = match self {
            Self::Quota { wait, .. } => return WaitPlace::Queue(*wait),
            Self::Outage { since, stage, .. } => (*since, stage),
        };
        // The shortest of the first waits is over.
        let least = since.map_or(LASTING, |_| FIRST_WAIT * 3 / 4);
        let has_lasted = since.is_some_and(|since| now.since(since) >= LASTING);
        let seconds = match stage {
            // A process that has just started knows nothing of the outage, and may have been given the job that was
            // released to probe: if that went on waiting here, it would look as if the relay had taken it. A mail at
            // which the relay breaks off is no sign of that.
            OutageStage::Suspected(OutageScope::Relay) if has_lasted => {
                return WaitPlace::Bucket(OutageScope::Relay);
            }
            OutageStage::Known(scope) if now.since(opened) >= least => {
                return WaitPlace::Bucket(scope.clone());
            }
            OutageStage::Known(_) | OutageStage::Probed => FIRST_WAIT,
            OutageStage::Suspected(_) => {
                let begun = since.map_or(opened, |since| since.min(opened));
                now.since(begun).clamp(*WAITS.start(), *WAITS.end())
            }
        };
        let millis = u64::try_from(seconds).unwrap_or(0) * 1000;
        WaitPlace::Queue(Duration::from_millis(
            millis - millis / 400 * jitter.min(99),
        ))
    }
}

#[cfg(test)]
mod tests {
    use posthaste_model::AccountId;

    use super::*;

    #[test]
    fn a_wait_is_on_the_queue_once_and_then_in_the_bucket() {
        let wait = |stage| RelayWait::Outage {
            since: Timestamp(1_000),
            response: String::new(),
            stage,
        };
        let known = || wait(OutageStage::Known(OutageScope::Relay));
        let cold = || wait(OutageStage::Suspected(OutageScope::Relay));
        let account = AccountId::from_bytes([1; 10]);
        let alone = || {
            wait(OutageStage::Suspected(OutageScope::Account(
                account.clone(),
            )))
        };
        for (wait, since, now, want) in [
            (known(), None, 1_000, Some(20)),
            (known(), None, 1_059, Some(20)),
            (known(), None, 1_060, None),
            (known(), Some(1_000), 1_005, Some(20)),
            (known(), Some(1_000), 1_015, None),
            (wait(OutageStage::Probed), Some(1_000), 90_000, Some(20)),
            // Mail that fails alone waits as long as it has so far.
            (alone(), None, 1_000, Some(5)),
            (alone(), Some(700), 1_000, Some(300)),
            (alone(), Some(700), 90_000, Some(600)),
            // The relay, as a process finds it that has just started.
            (cold(), None, 1_000, Some(5)),
            (cold(), Some(941), 1_000, Some(59)),
            (cold(), Some(940), 1_000, None),
        ] {
            let place = |jitter| wait.place(since.map(Timestamp), Timestamp(now), jitter);
            let Some(want) = want else {
                assert_eq!(
                    place(0),
                    WaitPlace::Bucket(OutageScope::Relay),
                    "{since:?} {now}"
                );
                continue;
            };
            let longest = Duration::from_secs(want);
            assert_eq!(place(0), WaitPlace::Queue(longest), "{since:?} {now}");
            let WaitPlace::Queue(least) = place(99) else {
                panic!("{since:?} {now}")
            };
            assert!(
                (longest * 3 / 4..longest).contains(&least),
                "{since:?} {now}"
            );
        }
    }
}
