//! The events of a span of time, and the job that posts them.

use posthaste_model::{EventKind, Timestamp, WebhookId};
use posthaste_replay::{LOOK_BACK, SpanStart};
use posthaste_store::{EventReplay, ReplaySpan, Store};
use posthaste_testkit::{FailAfter, Services, TABLE, dynamodb, entropy};

use crate::env::{DAY, TestEnv};

fn span(first: Timestamp, last: Timestamp, webhook: Option<&WebhookId>) -> ReplaySpan {
    ReplaySpan {
        first,
        last,
        webhook: webhook.cloned(),
    }
}

async fn start(env: &TestEnv, span: ReplaySpan) -> EventReplay {
    let started = env
        .replayer()
        .start(&env.account, entropy().replay_id(), span)
        .await;
    match started.unwrap() {
        SpanStart::Job(replay) => replay,
        SpanStart::Other(other) => panic!("{other:?} is under way"),
    }
}

/// Does what the sweep does when the due row of a job is due; whether the job goes on.
async fn sweep(env: &TestEnv) -> bool {
    let row = env.store().event_replay(&env.account).await.unwrap();
    let replay = row.unwrap().value;
    let late = replay.due_at.since(env.now());
    env.services.clock.advance(late.max(0));
    let (account, id) = (&env.account, &replay.id);
    let resumed = env.replayer().resume(account, id, replay.due_at).await;
    resumed.unwrap_or(false) && env.replayer().advance(account, id, 5).await.unwrap_or(true)
}

#[tokio::test]
async fn the_events_of_a_span_are_those_that_happened_in_it() {
    let env = TestEnv::new().await;
    let hook = env.hook(&EventKind::ALL).await;
    let other = env.hook(&EventKind::ALL).await;
    let begin = env.now();
    let early = env.mail(1).await;
    env.services.clock.advance(100);
    let late = env.mail(1).await;
    env.services.clock.advance(100);
    // Of a mail that was accepted before.
    let open = env.open(&early, 0).await;
    let id = |message, kind| env.event(message, 0, kind).id;
    let processed = |message| id(message, EventKind::Processed);
    let delivered = |message| id(message, EventKind::Delivered);
    for (first, last, mut want) in [
        (
            0,
            200,
            vec![
                processed(&early),
                delivered(&early),
                processed(&late),
                delivered(&late),
                open.clone(),
            ],
        ),
        (0, 99, vec![processed(&early), delivered(&early)]),
        (1, 99, vec![]),
        (100, 100, vec![processed(&late), delivered(&late)]),
        (101, 10_000, vec![open.clone()]),
        (LOOK_BACK, LOOK_BACK + 200, vec![]),
    ] {
        let part = span(begin.plus(first), begin.plus(last), Some(&hook.id));
        let replay = start(&env, part).await;
        assert_eq!(replay.finished_at, Some(env.now()), "{first} {last}");
        assert_eq!(replay.events, u64::try_from(want.len()).unwrap());
        want.sort();
        let queued: Vec<_> = env.queued();
        assert!(queued.iter().all(|(to, _)| to == hook.id.as_str()));
        let queued: Vec<_> = queued.into_iter().map(|(_, id)| id).collect();
        assert_eq!(queued, want, "{first} {last}");
    }
    let all = start(&env, span(begin, env.now(), None)).await;
    assert_eq!(all.events, 10);
    let queued = env.queued();
    assert!(queued.iter().any(|(to, _)| to == other.id.as_str()));
}

#[tokio::test]
async fn mail_of_more_than_a_week_before_the_span_is_not_looked_at() {
    let env = TestEnv::new().await;
    env.hook(&[EventKind::Open]).await;
    let message = env.mail(1).await;
    let accepted = env.now();
    env.services.clock.advance(LOOK_BACK + 1);
    env.open(&message, 0).await;
    let now = env.now();
    for (first, events) in [(accepted.plus(LOOK_BACK), 1), (now, 0)] {
        assert_eq!(start(&env, span(first, now, None)).await.events, events);
    }
}

#[tokio::test]
async fn a_large_span_goes_on_in_the_background_one_at_a_time() {
    const COPIES: u32 = 520;
    let env = TestEnv::new().await;
    env.hook(&[EventKind::Delivered]).await;
    env.mail(COPIES).await;
    let now = env.now();
    let first = start(&env, span(now, now, None)).await;
    assert_eq!((first.finished_at, first.events), (None, 500));
    // The same request again finds it; another waits.
    let same = start(&env, span(now, now, None)).await;
    assert_eq!(same, first);
    let other = span(now, now.plus(1), None);
    let other = env
        .replayer()
        .start(&env.account, entropy().replay_id(), other);
    assert_eq!(other.await.unwrap(), SpanStart::Other(first.clone()));

    // A due row of before leads to nothing.
    let (account, id) = (&env.account, &first.id);
    let stale = env.replayer().resume(account, id, first.due_at.plus(-1));
    assert!(!stale.await.unwrap());
    assert!(!sweep(&env).await);
    let row = env.store().event_replay(account).await.unwrap();
    let done = row.unwrap().value;
    assert_eq!((done.finished_at, done.events), (Some(env.now()), 520));
    assert!(!done.is_partial);
    let mut ids: Vec<_> = env.queued_at(now);
    assert_eq!(ids.len(), 520);
    ids.dedup();
    assert_eq!(ids.len(), 520);
    assert!(!sweep(&env).await);
    assert_ne!(start(&env, span(now, now, None)).await.id, first.id);
}

#[tokio::test]
async fn a_process_may_die_at_any_call_and_every_event_is_queued() {
    const COPIES: u32 = 3;
    let (mut died, mut calls) = (0, 0);
    loop {
        let faults = FailAfter::default();
        let store = Store::open(&faults.around(&dynamodb().await), TABLE);
        store.create_table().await.unwrap();
        let env = TestEnv::on(Services::on(store));
        env.hook(&[EventKind::Delivered]).await;
        env.mail(COPIES).await;
        let now = env.now();
        faults.fail_after(calls, false);
        let id = entropy().replay_id();
        let started = env.replayer().start(&env.account, id, span(now, now, None));
        let started = started.await;
        let failed = faults.restore();
        died += u32::from(failed);
        // A request that failed is sent again.
        if started.is_err() {
            start(&env, span(now, now, None)).await;
        }
        for _ in 0..3 {
            sweep(&env).await;
        }
        let row = env.store().event_replay(&env.account).await.unwrap();
        assert!(row.unwrap().value.finished_at.is_some(), "{calls}");
        let mut ids = env.queued_at(now);
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), usize::try_from(COPIES).unwrap(), "{calls}");
        if !failed {
            break;
        }
        calls += 1;
    }
    assert!(died > 10, "only {died} died");
}

#[tokio::test]
async fn a_job_whose_steps_keep_failing_is_given_up_after_a_day() {
    let env = TestEnv::new().await;
    env.hook(&[EventKind::Delivered]).await;
    env.mail(1).await;
    env.services.queues.set_broken(true);
    let now = env.now();
    let replay = start(&env, span(now, now, None)).await;
    assert_eq!((replay.finished_at, replay.events), (None, 0));
    // Due again each minute.
    assert!(sweep(&env).await);
    env.services.clock.advance(DAY - 200);
    assert!(sweep(&env).await);
    env.services.clock.advance(DAY);
    assert!(!sweep(&env).await);
    let row = env.store().event_replay(&env.account).await.unwrap();
    let replay = row.unwrap().value;
    assert!(replay.is_partial && replay.finished_at.is_some());
    env.services.queues.set_broken(false);
    assert_eq!(start(&env, span(now, now, None)).await.events, 1);
}
