//! Copies that SES has had for a day without a word about them.

use std::time::Duration;

use posthaste_model::{Event, EventKind, MessageId, Timestamp};
use posthaste_queue::InsightsQuestion;
use posthaste_store::{
    AttemptOutcome, Claim, Claimant, CopyState, Described, HandedCopy, NewsWatch,
};
use posthaste_testkit::{CapturedLog, Services, Tenant, entropy};
use schedule_sweep::{App, Share, sweep};

const HOUR: i64 = 3_600;

struct TestWatch {
    services: Services,
    tenant: Tenant,
    app: App,
}

impl TestWatch {
    async fn new(asks: &str) -> Self {
        let services = Services::start().await.var("MESSAGE_INSIGHTS", asks);
        Self {
            tenant: Tenant::new(&services.store, "ann", services.clock.now()).await,
            app: services.open(App::from_env),
            services,
        }
    }

    /// Copies of one message that SES takes now, as `delivery` notes them, each in its state of later.
    async fn hand(&self, states: &[CopyState]) -> MessageId {
        let (store, now) = (&self.services.store, self.services.clock.now());
        let (account, message) = (&self.tenant.account.id, entropy().message_id());
        let mut handed = Vec::new();
        for (recipient, state) in (0..).zip(states) {
            let who = Claimant {
                owner: "test",
                single_process: true,
                now,
                lease: 60,
                retention: 30 * 24 * HOUR,
            };
            let what = Described {
                email: "ann@example.com",
                from: "me@example.com",
                subject: "",
                accepted_at: now,
            };
            let copy = (account, &message, recipient);
            assert_eq!(store.claim(copy, 0, who, &what).await.unwrap(), Claim::Won);
            let kind = EventKind::Processed;
            let id = Event::derived_id(&message, recipient, kind, 0);
            let event = Event::new(id, account.clone(), kind, now, what.email.to_owned());
            let outcome = AttemptOutcome {
                state: *state,
                now,
                events: &[event],
            };
            assert!(store.record(copy, 0, &outcome).await.unwrap());
            handed.push(HandedCopy {
                account: account.clone(),
                message: message.clone(),
                recipient,
                service_id: format!("ses-{recipient}"),
            });
        }
        let now = self.services.clock.clock().now_ms();
        store.note_handed(&handed, now).await.unwrap();
        message
    }

    /// Sweeps; the counts of hours that the sweep wrote.
    async fn sweep(&self) -> Vec<usize> {
        let log = CapturedLog::kept();
        let swept = sweep(&self.app, Share::ALL).await.unwrap();
        assert_eq!(swept.failed, 0);
        let text = log.text();
        let figures = text.lines().filter_map(|line| {
            let (_, figure) = line.split_once(" without_news=")?;
            figure.split_whitespace().next()?.parse().ok()
        });
        figures.collect()
    }

    async fn watched(&self) -> NewsWatch {
        let watch = self.services.store.news_watch().await.unwrap();
        watch.unwrap().value
    }

    /// The questions on the feedback queue, with their delays in seconds.
    fn questions(&self) -> Vec<(u32, u64)> {
        let sent = self.services.queues.drain("feedback").into_iter();
        let read = |text: &str| InsightsQuestion::from_text(text).unwrap();
        sent.map(|(text, delay)| (read(&text).recipient, delay.as_secs()))
            .collect()
    }
}

#[tokio::test]
async fn copies_without_news_are_counted_once_a_day_after_their_hour() {
    let test = TestWatch::new("false").await;
    let clock = &test.services.clock;
    // At the beginning of an hour: the watch begins with those that ended a day ago.
    clock.set(Timestamp(1_800_000_000 / HOUR * HOUR));
    test.sweep().await;
    let handed = CopyState::Handed;
    test.hand(&[handed, CopyState::Delivered, CopyState::Bounced, handed])
        .await;
    clock.advance(HOUR - 1);
    test.hand(&[handed, CopyState::Dropped, CopyState::Deferred])
        .await;
    // A day after the first of them, not yet after the last one.
    clock.advance(23 * HOUR);
    let counts = test.sweep().await;
    assert!(counts.iter().all(|count| *count == 0), "{counts:?}");
    clock.advance(HOUR + 1);
    let counts = test.sweep().await;
    assert_eq!(counts.iter().sum::<usize>(), 3, "{counts:?}");
    clock.advance(HOUR);
    assert_eq!(test.sweep().await, [0]);
    assert!(test.sweep().await.is_empty());
    assert!(test.questions().is_empty());
}

#[tokio::test]
async fn ses_is_asked_about_each_once_and_not_faster_than_it_answers() {
    let test = TestWatch::new("true").await;
    test.sweep().await;
    let mut states = vec![CopyState::Handed; 700];
    states.push(CopyState::Delivered);
    test.hand(&states).await;
    test.services.clock.advance(25 * HOUR + 1);
    let mut asked = Vec::new();
    for _ in 0..30 {
        let questions = test.questions();
        let waits: Vec<u64> = questions.iter().map(|(_, wait)| *wait).collect();
        assert!(waits.windows(2).all(|pair| pair[0] < pair[1]), "{waits:?}");
        let begun = test.services.clock.now();
        let at = |wait: u64| begun.plus(i64::try_from(wait).unwrap());
        asked.extend(questions.iter().map(|(copy, wait)| (at(*wait), *copy)));
        test.services.clock.advance(60);
        test.sweep().await;
        let longest = Duration::from_secs(900);
        assert!(waits.iter().all(|wait| *wait < longest.as_secs()));
    }
    let mut copies: Vec<u32> = asked.iter().map(|(_, copy)| *copy).collect();
    copies.sort_unstable();
    assert_eq!(copies, (0..700).collect::<Vec<_>>());
    assert_eq!(test.watched().await.without_news, 0);
}

#[tokio::test]
async fn a_sweep_that_dies_counts_nothing_and_the_next_one_everything() {
    let test = TestWatch::new("true").await;
    test.sweep().await;
    test.hand(&[CopyState::Handed; 3]).await;
    test.services.clock.advance(25 * HOUR + 1);
    test.services.queues.set_broken(true);
    let swept = sweep(&test.app, Share::ALL).await.unwrap();
    assert_eq!(swept.failed, 1);
    test.services.queues.set_broken(false);
    let counts = test.sweep().await;
    assert_eq!(counts.iter().sum::<usize>(), 3);
    assert_eq!(test.questions().len(), 3);
}
