//! The guard of reputation: whom it warns of and suspends, once, and what it forgets.

use std::collections::BTreeMap;

use posthaste_model::{BounceType, Event, EventKind};
use posthaste_queue::EventBatch;
use posthaste_store::{
    Account, AccountStatus, Hours, MailEnd, SuspensionCause, SuspensionChange, SuspensionRequest,
    Tally,
};
use webhook_fanout::ReputationGuard;

use crate::env::TestEnv;

const HOUR: i64 = 3_600;

impl TestEnv {
    async fn guarded() -> Self {
        let env = Self::open().await;
        let account = Account::new(env.account.clone(), "ann", env.hand.now());
        assert!(env.store.create_account(&account).await.unwrap());
        env
    }

    /// Counts mails that ended in this hour, under a name of their own.
    async fn ended(&self, batch: &str, ends: &[(MailEnd, i64)]) {
        let now = self.hand.now();
        let mut hours = Hours::default();
        for (end, count) in ends {
            (0..*count).for_each(|_| hours.add(now, *end));
        }
        let place = (now.day(), String::new());
        let tally = Tally {
            counters: BTreeMap::from([(place, BTreeMap::new())]),
            hours,
            ..Tally::default()
        };
        let counted = self.store.count_batch(&self.account, batch, &tally, now);
        counted.await.unwrap();
    }

    fn bounce(&self, kind: BounceType) -> Event {
        let mut event = self.event(EventKind::Bounce);
        event.bounce_type = Some(kind);
        event
    }

    async fn bounces_once(&self) {
        self.send_events(&[self.bounce(BounceType::Bounce)]).await;
    }

    async fn status(&self) -> (AccountStatus, Option<SuspensionChange>) {
        let account = self.store.account(&self.account).await.unwrap().unwrap();
        (account.status, account.verdict)
    }

    /// The changes of status on the event queue.
    fn reported(&self) -> Vec<Event> {
        let sent = self.queues.drain("events").into_iter();
        let events = sent.flat_map(|(text, _)| EventBatch::from_text(&text).unwrap().events);
        let events: Vec<Event> = events.collect();
        assert!(
            events
                .iter()
                .all(|e| e.kind == EventKind::AccountStatusChange)
        );
        events
    }

    /// Whether the owner was warned of the account within a day.
    async fn is_warned(&self) -> bool {
        let is_first = self.store.note_warning(&self.account, self.hand.now());
        let is_first = is_first.await.unwrap();
        if is_first {
            self.store.forget_warning(&self.account).await.unwrap();
        }
        !is_first
    }
}

#[tokio::test]
async fn an_account_is_suspended_once_at_the_rate_and_not_before() {
    let env = TestEnv::guarded().await;
    env.ended("a", &[(MailEnd::Delivered, 899), (MailEnd::Bounced, 98)])
        .await;
    env.bounces_once().await;
    // 998 mails are too few.
    assert_eq!(env.status().await, (AccountStatus::Active, None));
    assert!(!env.is_warned().await);
    env.ended("b", &[(MailEnd::Delivered, 1)]).await;
    // What another server refuses for itself is a mail and no bounce.
    env.send_events(&[env.bounce(BounceType::Blocked)]).await;
    env.send_events(&env.events(1)).await;
    assert_eq!(env.status().await, (AccountStatus::Active, None));

    let last = [
        env.bounce(BounceType::Bounce),
        env.bounce(BounceType::Bounce),
    ];
    for _ in 0..3 {
        env.send_events(&last).await;
    }
    let (status, change) = env.status().await;
    assert_eq!(status, AccountStatus::Suspended);
    let want = SuspensionChange {
        number: 1,
        at: env.hand.now(),
        reported: true,
        cause: SuspensionCause::Bounces,
    };
    assert_eq!(change, Some(want));
    let reported = env.reported();
    assert_eq!(reported.len(), 1);
    assert_eq!(reported[0].reason.as_deref(), Some("compliance_suspend"));
    let id = format!("account_status_change-compliance_suspend-{}-1", env.account);
    assert_eq!(reported[0].id, id);
}

#[tokio::test]
async fn complaints_suspend_at_a_twentieth_of_the_bounces() {
    let env = TestEnv::guarded().await;
    env.ended(
        "a",
        &[(MailEnd::Delivered, 1_000), (MailEnd::Complained, 4)],
    )
    .await;
    env.send_events(&[env.event(EventKind::SpamReport)]).await;
    let (status, change) = env.status().await;
    assert_eq!(status, AccountStatus::Suspended);
    assert_eq!(change.unwrap().cause, SuspensionCause::Complaints);
}

#[tokio::test]
async fn half_the_rate_is_a_warning_once_a_day() {
    let env = TestEnv::guarded().await;
    env.ended("a", &[(MailEnd::Delivered, 951), (MailEnd::Bounced, 48)])
        .await;
    env.bounces_once().await;
    assert!(!env.is_warned().await, "4.9 %");
    env.bounces_once().await;
    env.bounces_once().await;
    assert!(env.is_warned().await, "5 %");
    assert_eq!(env.status().await, (AccountStatus::Active, None));
    assert!(env.reported().is_empty());
    env.hand.advance(24 * HOUR);
    assert!(!env.is_warned().await);
}

#[tokio::test]
async fn the_guard_only_warns_or_does_nothing_where_it_is_set_so() {
    for (guard, warned) in [(ReputationGuard::Warn, true), (ReputationGuard::Off, false)] {
        let mut env = TestEnv::guarded().await;
        env.app.guard = guard;
        env.ended("a", &[(MailEnd::Bounced, 2_000)]).await;
        env.bounces_once().await;
        assert_eq!(env.status().await, (AccountStatus::Active, None), "{guard}");
        assert_eq!(env.is_warned().await, warned, "{guard}");
    }
}

#[tokio::test]
async fn mails_of_a_day_ago_do_not_count() {
    let env = TestEnv::guarded().await;
    env.ended("a", &[(MailEnd::Bounced, 1_000)]).await;
    env.hand.advance(24 * HOUR);
    env.ended("b", &[(MailEnd::Delivered, 2_000)]).await;
    env.bounces_once().await;
    assert_eq!(env.status().await, (AccountStatus::Active, None));
    // Those of 23 hours ago do, also of the day before.
    env.hand.advance(23 * HOUR);
    env.ended("c", &[(MailEnd::Bounced, 300)]).await;
    env.bounces_once().await;
    assert_eq!(env.status().await.0, AccountStatus::Suspended);
}

#[tokio::test]
async fn an_account_that_an_operator_lets_send_again_is_judged_by_new_mails_only() {
    let env = TestEnv::guarded().await;
    env.ended("a", &[(MailEnd::Bounced, 1_000)]).await;
    env.bounces_once().await;
    assert_eq!(env.status().await.0, AccountStatus::Suspended);
    let lifted = SuspensionRequest {
        suspended: false,
        cause: SuspensionCause::Operator,
        at: env.hand.now(),
    };
    let lifted = env
        .store
        .set_suspended(&env.account, lifted, |_| true)
        .await;
    assert!(lifted.unwrap().unwrap().1);
    env.reported();
    // Bounces of old mails, in this hour.
    env.bounces_once().await;
    env.hand.advance(2 * HOUR);
    env.bounces_once().await;
    assert_eq!(env.status().await.0, AccountStatus::Active);
    assert!(env.reported().is_empty());
    // And then it does the same again.
    env.ended("b", &[(MailEnd::Delivered, 900), (MailEnd::Bounced, 99)])
        .await;
    env.bounces_once().await;
    let (status, change) = env.status().await;
    assert_eq!(
        (status, change.unwrap().number),
        (AccountStatus::Suspended, 3)
    );
    assert_eq!(env.reported().len(), 1);
}

#[tokio::test]
async fn a_report_that_could_not_be_sent_is_sent_when_the_events_come_again() {
    let env = TestEnv::guarded().await;
    env.ended("a", &[(MailEnd::Bounced, 1_000)]).await;
    let texts = EventBatch::to_texts(&[env.bounce(BounceType::Bounce)]).unwrap();
    env.queues.set_broken(true);
    // The bounce comes again, for the queue of what is to be recorded later takes nothing either.
    assert_eq!(env.work(texts.clone()).await, ["0"]);
    let (status, change) = env.status().await;
    assert_eq!(
        (status, change.unwrap().reported),
        (AccountStatus::Suspended, false)
    );
    env.queues.set_broken(false);
    assert_eq!(env.work(texts).await, [""; 0]);
    let (_, change) = env.status().await;
    assert_eq!(
        (change.unwrap().number, change.unwrap().reported),
        (1, true)
    );
    assert_eq!(env.reported().len(), 1);
}

#[tokio::test]
async fn two_processes_suspend_an_account_once() {
    let env = TestEnv::guarded().await;
    env.ended("a", &[(MailEnd::Bounced, 1_000)]).await;
    let twin = env.twin();
    futures_util::join!(env.bounces_once(), twin.bounces_once());
    let (status, change) = env.status().await;
    assert_eq!(
        (status, change.unwrap().number),
        (AccountStatus::Suspended, 1)
    );
    // Both may report it, under one id.
    let reported = env.reported();
    assert!(reported.iter().all(|event| event.id == reported[0].id) && !reported.is_empty());
}
