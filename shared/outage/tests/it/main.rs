//! Mail that waits in the bucket, and its release.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod turns;

use posthaste_model::{AccountId, Millis, Timestamp};
use posthaste_outage::{OutageRelease, OutageStore, StoredJob};
use posthaste_store::{Key, OutageScope};
use posthaste_testkit::{FailAfter, Services, entropy};
use serde_json::json;

const DAYS: i64 = 86_400;

pub(crate) struct OutageTest {
    pub(crate) services: Services,
    pub(crate) outage: OutageStore,
}

impl OutageTest {
    pub(crate) async fn new() -> Self {
        let services = Services::start().await;
        Self {
            outage: open(&services),
            services,
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.services.clock.now()
    }

    /// Stores so many jobs, ten in each blob, that expire after three days.
    pub(crate) async fn put(&self, scope: &OutageScope, jobs: std::ops::Range<usize>) {
        let expires = self.now().plus(3 * DAYS);
        let jobs: Vec<_> = jobs.collect();
        for ten in jobs.chunks(10) {
            let job = |n: &usize| StoredJob {
                scope: scope.clone(),
                text: n.to_string(),
                expires,
            };
            self.outage
                .put(ten.iter().map(job).collect())
                .await
                .unwrap();
        }
    }

    /// How many jobs one call of the sweep sent.
    async fn sweep(&self) -> usize {
        let send = self.services.queues.queue("send");
        let release = self.outage.release(&send, Millis(i64::MAX)).await.unwrap();
        release.jobs
    }

    /// One call of the sweep; what it did, and the jobs that it sent.
    pub(crate) async fn release(&self) -> (OutageRelease, Vec<String>) {
        let send = self.services.queues.queue("send");
        let release = self.outage.release(&send, Millis(i64::MAX)).await.unwrap();
        let sent = self.services.queues.drain("send").into_iter();
        let sent: Vec<_> = sent.map(|(job, _)| job).collect();
        assert_eq!(release.jobs, sent.len());
        (release, sent)
    }

    /// Puts these back, as the worker does that finds the relay down.
    pub(crate) async fn give_back(&self, jobs: &[String]) {
        let expires = self.now().plus(3 * DAYS);
        let job = |text: &String| StoredJob {
            scope: OutageScope::Relay,
            text: text.clone(),
            expires,
        };
        self.outage
            .put(jobs.iter().map(job).collect())
            .await
            .unwrap();
    }

    pub(crate) async fn blobs(&self) -> usize {
        let names = self.services.blob.list("waiting", usize::MAX).await;
        names.unwrap().len()
    }
}

/// How many blobs so many jobs were in: that of the probe has nine, and may be any of them.
fn blobs_of(counts: &[usize]) -> Vec<usize> {
    counts.iter().map(|count| count.div_ceil(10)).collect()
}

fn open(services: &Services) -> OutageStore {
    let (store, blob) = (services.store.clone(), services.blob.clone());
    OutageStore::new(store, blob, services.clock.clock(), entropy())
}

#[tokio::test]
async fn one_job_is_tried_while_it_comes_back_and_less_and_less_often() {
    let waiting = OutageTest::new().await;
    waiting.put(&OutageScope::Relay, 0..25).await;
    let (begun, mut tried) = (waiting.now(), Vec::new());
    for _ in 0..60 {
        waiting.services.clock.advance(60);
        let (release, sent) = waiting.release().await;
        assert!(release.waiting > 0 && sent.len() <= 1, "{sent:?}");
        if !sent.is_empty() {
            tried.push(waiting.now().since(begun) / 60);
            waiting.services.clock.advance(1);
            waiting.give_back(&sent).await;
        }
    }
    assert_eq!(tried, [1, 2, 4, 8, 16, 26, 36, 46, 56]);
}

#[tokio::test]
async fn what_waits_is_released_once_when_nothing_comes_back() {
    let waiting = OutageTest::new().await;
    waiting.put(&OutageScope::Relay, 0..20_000).await;
    let (mut all, mut counts) = (Vec::new(), Vec::new());
    for _ in 0..7 {
        waiting.services.clock.advance(60);
        let (_, sent) = waiting.release().await;
        counts.push(sent.len());
        all.extend(sent);
    }
    // A probe, two minutes for it to come back, and then a hundred times as many each minute: those of
    // sixteen blobs are sent together.
    assert_eq!(blobs_of(&counts), [1, 0, 16, 1_008, 976, 0, 0]);
    all.sort_by_key(|job| job.parse::<usize>().unwrap());
    let want: Vec<_> = (0..20_000).map(|n| n.to_string()).collect();
    assert_eq!(all, want);
    assert_eq!(waiting.blobs().await, 0);
    // The outage is forgotten a while after that.
    assert_eq!(waiting.services.store.outages().await.unwrap().len(), 1);
    waiting.services.clock.advance(1_000);
    waiting.release().await;
    assert!(waiting.services.store.outages().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_release_that_comes_back_ends_it_until_the_next_probe() {
    let waiting = OutageTest::new().await;
    waiting.put(&OutageScope::Relay, 0..1_000).await;
    let mut counts = Vec::new();
    for minute in 0..12 {
        waiting.services.clock.advance(60);
        let (_, sent) = waiting.release().await;
        counts.push(sent.len());
        if minute == 2 {
            waiting.services.clock.advance(1);
            // One of them is enough.
            waiting.give_back(&sent[..1]).await;
        }
    }
    let blobs = blobs_of(&counts[..6]);
    assert_eq!(blobs, [1, 0, 16, 0, 0, 1], "{counts:?}");
    assert_eq!(counts.iter().sum::<usize>(), 1_001, "{counts:?}");
}

#[tokio::test]
async fn jobs_that_have_waited_for_hours_or_expire_are_released_whatever_the_relay_does() {
    let waiting = OutageTest::new().await;
    waiting.put(&OutageScope::Relay, 0..30).await;
    waiting.services.clock.advance(4 * 3_600);
    waiting.put(&OutageScope::Relay, 30..40).await;
    let (_, probe) = waiting.release().await;
    waiting.give_back(&probe).await;
    waiting.services.clock.advance(2 * 3_600);
    let (_, sent) = waiting.release().await;
    let young: Vec<_> = sent
        .iter()
        .filter(|job| job.parse::<usize>().unwrap() >= 30)
        .collect();
    // All of the old ones but the probe, if it was one of them; and the next probe.
    assert!(sent.len() >= 29 && young.len() <= 2, "{sent:?}");

    let soon = StoredJob {
        scope: OutageScope::Relay,
        text: "100".to_owned(),
        expires: waiting.now().plus(30),
    };
    waiting.outage.put(vec![soon]).await.unwrap();
    waiting.services.clock.advance(30);
    let (_, sent) = waiting.release().await;
    assert!(sent.contains(&"100".to_owned()), "{sent:?}");
}

#[tokio::test]
async fn no_job_waits_for_days_because_others_are_stored_all_the_time() {
    let waiting = OutageTest::new().await;
    waiting.put(&OutageScope::Relay, 0..30).await;
    let (begun, mut left, mut new) = (waiting.now(), 30, 1_000);
    while left > 0 {
        waiting.services.clock.advance(60);
        let (_, sent) = waiting.release().await;
        left -= sent
            .iter()
            .filter(|job| job.parse::<usize>().unwrap() < 30)
            .count();
        // Some processes have no connection to the relay.
        waiting.services.clock.advance(1);
        waiting.put(&OutageScope::Relay, new..new + 10).await;
        new += 10;
        let waited = waiting.now().since(begun);
        assert!(waited < 6 * 3_600 + 120, "{left} after {waited} s");
    }
}

#[tokio::test]
async fn an_account_that_waits_holds_up_no_other_mail() {
    let waiting = OutageTest::new().await;
    let account: AccountId = entropy().account_id();
    let its = OutageScope::Account(account);
    waiting.put(&its, 0..10).await;
    waiting.put(&OutageScope::Relay, 100..120).await;
    let mut of_relay = 0;
    for _ in 0..4 {
        waiting.services.clock.advance(60);
        let (_, sent) = waiting.release().await;
        let (own, others): (Vec<_>, Vec<_>) = sent
            .into_iter()
            .partition(|job| job.parse::<usize>().unwrap() < 100);
        of_relay += others.len();
        // The account's probes come back, the others do not.
        waiting.services.clock.advance(1);
        for text in own {
            let (scope, expires) = (its.clone(), waiting.now().plus(DAYS));
            let job = StoredJob {
                scope,
                text,
                expires,
            };
            waiting.outage.put(vec![job]).await.unwrap();
        }
    }
    assert_eq!(of_relay, 20);
    assert!(waiting.blobs().await > 0);
}

#[tokio::test]
async fn a_queue_that_fails_leaves_the_mail_where_it_is() {
    let waiting = OutageTest::new().await;
    waiting.put(&OutageScope::Relay, 0..10).await;
    waiting.services.queues.set_broken(true);
    for _ in 0..3 {
        waiting.services.clock.advance(60);
        let (release, _) = waiting.release().await;
        assert_eq!((release.jobs, release.failed), (0, 1));
    }
    waiting.services.queues.set_broken(false);
    let mut counts = Vec::new();
    for _ in 0..4 {
        waiting.services.clock.advance(60);
        counts.push(waiting.release().await.1.len());
    }
    // A probe that was not sent is none.
    assert_eq!(counts, [1, 0, 9, 0]);
}

#[tokio::test]
async fn of_two_sweeps_at_once_one_releases() {
    let waiting = OutageTest::new().await;
    waiting.put(&OutageScope::Relay, 0..2_000).await;
    let mut counts = Vec::new();
    for _ in 0..3 {
        waiting.services.clock.advance(60);
        let (one, other) = tokio::join!(waiting.sweep(), waiting.sweep());
        counts.push(one + other);
    }
    // Two probes at once do no harm.
    assert_eq!(counts[..2], [2, 0]);
    assert_eq!(blobs_of(&counts[2..]), [16], "{counts:?}");

    let (store, now) = (&waiting.services.store, waiting.now());
    let outages = store.outages().await.unwrap();
    let before = outages[0].1.value.released_at;
    let later = now.plus(60);
    let note = || store.note_release(&OutageScope::Relay, before, 1, later);
    assert!(note().await.unwrap());
    assert!(!note().await.unwrap());
}

#[tokio::test]
async fn a_release_without_time_is_none() {
    let waiting = OutageTest::new().await;
    waiting.put(&OutageScope::Relay, 0..2_000).await;
    let mut counts = Vec::new();
    for minute in 0..7 {
        waiting.services.clock.advance(60);
        if [0, 3, 4].contains(&minute) {
            let send = waiting.services.queues.queue("send");
            let release = waiting.outage.release(&send, Millis(0)).await.unwrap();
            counts.push(release.jobs);
        } else {
            counts.push(waiting.release().await.1.len());
        }
    }
    assert_eq!(blobs_of(&counts), [0, 1, 0, 0, 0, 16, 184]);
}

#[tokio::test]
async fn a_queue_that_fails_makes_no_release_larger() {
    let waiting = OutageTest::new().await;
    waiting.put(&OutageScope::Relay, 0..2_000).await;
    let mut counts = Vec::new();
    for minute in 0..7 {
        waiting.services.clock.advance(60);
        waiting.services.queues.set_broken((2..5).contains(&minute));
        counts.push(waiting.release().await.1.len());
    }
    // The one that failed is noted as if it had been a probe.
    assert_eq!(blobs_of(&counts), [1, 0, 0, 0, 0, 0, 16]);
}

#[tokio::test]
async fn a_blob_or_a_row_that_fails_holds_up_no_other_mail() {
    let faults = FailAfter::default();
    let services = Services::start().await.failing_after(faults.clone());
    let waiting = OutageTest {
        outage: open(&services),
        services,
    };
    for (sk, began) in [("relays", json!(1)), ("2", json!(null))] {
        let key = Key {
            pk: "OUTAGE".to_owned(),
            sk: sk.to_owned(),
        };
        let row = json!({"began": began, "stored_at": 1});
        waiting.services.store.put(&key, &row, None).await.unwrap();
    }
    waiting.put(&OutageScope::Relay, 0..100).await;
    let (mut all, mut counts) = (Vec::new(), Vec::new());
    for minute in 0..4 {
        waiting.services.clock.advance(60);
        if minute == 2 {
            faults.fail_after(5, false);
        }
        let (release, sent) = waiting.release().await;
        assert_eq!(release.failed, usize::from(minute == 2));
        counts.push(sent.len() / 10);
        all.extend(sent);
        faults.restore();
    }
    assert_eq!(counts[..2], [0, 0]);
    // Those that were sent are not sent again.
    assert!((4..=5).contains(&counts[2]), "{counts:?}");
    all.sort_by_key(|job| job.parse::<usize>().unwrap());
    let want: Vec<_> = (0..100).map(|n| n.to_string()).collect();
    assert_eq!(all, want);
}
