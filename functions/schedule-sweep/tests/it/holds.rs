//! Batches that are cancelled or paused, and resumed.

use posthaste_model::batch::SHELF_LIFE;
use posthaste_model::{BatchId, MessageId, Timestamp};
use posthaste_store::ScheduledMail;
use posthaste_testkit::entropy;

use crate::env::{End, TestEnv, job, refusal};

const MINUTE: i64 = 60;
const HOUR: i64 = 3600;

#[tokio::test]
async fn a_cancelled_batch_is_discarded_message_by_message_at_its_time() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let batch = env.open_batch().await;
    let near = env.send_later(start.plus(600), Some(&batch)).await;
    let edge = env.send_later(start.plus(601), Some(&batch)).await;
    let far = env.send_later(start.plus(2 * HOUR), Some(&batch)).await;
    let other = env.send_later(start.plus(2 * HOUR), None).await;

    env.wait_until(start.plus(1)).await;
    env.hold(&batch, "cancel").await.expect(201);
    env.pass_until(start.plus(3 * HOUR)).await;

    let cancelled = End::Dropped("Cancelled");
    assert_eq!(env.ends(&near, start.plus(600)), [(End::Sent, 0)]);
    assert_eq!(env.ends(&edge, start.plus(601)), [(cancelled.clone(), 0)]);
    assert_eq!(env.ends(&far, start.plus(2 * HOUR)), [(cancelled, 0)]);
    assert_eq!(env.ends(&other, start.plus(2 * HOUR)), [(End::Sent, 0)]);
}

#[tokio::test]
async fn a_cancel_that_is_taken_back_in_time_leaves_no_trace() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let batch = env.open_batch().await;
    let early = env.send_later(start.plus(HOUR), Some(&batch)).await;
    let late = env.send_later(start.plus(2 * HOUR), Some(&batch)).await;

    env.hold(&batch, "cancel").await.expect(201);
    env.pass_until(start.plus(90 * MINUTE)).await;
    env.resume(&batch).await.expect(204);
    env.pass_until(start.plus(3 * HOUR)).await;

    let cancelled = End::Dropped("Cancelled");
    assert_eq!(env.ends(&early, start.plus(HOUR)), [(cancelled, 0)]);
    assert_eq!(env.ends(&late, start.plus(2 * HOUR)), [(End::Sent, 0)]);
}

#[tokio::test]
async fn what_is_added_to_a_held_batch_is_held_however_soon_it_is_to_leave() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let (paused, cancelled) = (env.open_batch().await, env.open_batch().await);
    // They were there, and leave in less than ten minutes.
    let before = [
        env.send_later(start.plus(590), Some(&paused)).await,
        env.send_later(start.plus(590), Some(&cancelled)).await,
    ];
    let late = [
        env.send_later(start.plus(700), Some(&paused)).await,
        env.send_later(start.plus(700), Some(&cancelled)).await,
    ];
    env.wait_until(start.plus(1)).await;
    env.hold(&paused, "pause").await.expect(201);
    env.hold(&cancelled, "cancel").await.expect(201);
    env.wait_until(start.plus(5)).await;
    let mut held = vec![(700, late[0].clone())];
    // Mail without a time is scheduled for the second of its acceptance.
    for wait in [400, 5, 8, 65, 2 * HOUR] {
        let message = env.send_later(start.plus(wait), Some(&paused)).await;
        held.push((wait, message));
    }
    let dropped = env.send_later(start.plus(30), Some(&cancelled)).await;
    env.pass_until(start.plus(3 * HOUR)).await;

    for message in before {
        assert_eq!(env.ends(&message, start.plus(590)), [(End::Sent, 0)]);
    }
    let end = End::Dropped("Cancelled");
    assert_eq!(env.ends(&dropped, start.plus(30)), [(end.clone(), 0)]);
    assert_eq!(env.ends(&late[1], start.plus(700)), [(end, 0)]);
    assert_eq!(env.left.len(), 4);

    env.resume(&paused).await.expect(204);
    env.deliver().await;
    held.sort();
    let order: Vec<_> = env.left[4..].iter().map(|left| &left.message).collect();
    let want: Vec<_> = held.iter().map(|(_, message)| message).collect();
    assert_eq!(order, want);
    assert!(env.left[4..].iter().all(|left| left.end == End::Sent));
}

#[tokio::test]
async fn a_new_pause_keeps_what_was_added_since_while_the_rest_is_released() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let batch = env.open_batch().await;
    env.hold(&batch, "pause").await.expect(201);
    let mut held = Vec::new();
    for wait in 0..120 {
        held.push(env.send_later(start.plus(wait), Some(&batch)).await);
    }
    // A status that reaches nothing is refused: this one is reached by both.
    let far = env.send_later(start.plus(HOUR), Some(&batch)).await;
    env.pass_until(start.plus(10 * MINUTE)).await;
    assert_eq!(env.left, []);

    // The order to release is written, and its jobs are still to be sent.
    let clock = env.hand.clock();
    let account = env.account().clone();
    let lifted = env.store.lift_hold(&account, &batch, &clock).await;
    assert!(lifted.unwrap().is_some());
    env.wait_until(start.plus(10 * MINUTE + 1)).await;
    env.hold(&batch, "pause").await.expect(201);
    let added = env
        .send_later(start.plus(10 * MINUTE + 2), Some(&batch))
        .await;
    env.pass_until(start.plus(2 * HOUR)).await;
    let left: Vec<_> = env.left.iter().map(|left| left.message.clone()).collect();
    assert_eq!(left, held);
    env.resume(&batch).await.expect(204);
    env.deliver().await;
    let left: Vec<_> = env.left[120..].iter().map(|left| &left.message).collect();
    assert_eq!(left, [&added, &far]);
}

#[tokio::test]
async fn a_paused_batch_stays_past_its_time_and_leaves_at_once_when_resumed() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let batch = env.open_batch().await;
    let mut held = Vec::new();
    for wait in [30 * MINUTE, 20 * MINUTE, 10 * MINUTE, 40 * MINUTE] {
        held.push((
            start.plus(wait),
            env.send_later(start.plus(wait), Some(&batch)).await,
        ));
    }
    let future = env.send_later(start.plus(5 * HOUR), Some(&batch)).await;

    env.hold(&batch, "pause").await.expect(201);
    env.pass_until(start.plus(4 * HOUR)).await;
    assert_eq!(env.left, []);
    env.resume(&batch).await.expect(204);
    env.deliver().await;

    // At once, and in the order in which they were to leave.
    held.sort();
    let order: Vec<_> = env.left.iter().map(|left| left.message.clone()).collect();
    assert_eq!(
        order,
        held.into_iter()
            .map(|(_, message)| message)
            .collect::<Vec<_>>()
    );
    let resumed = start.plus(4 * HOUR).millis();
    assert!(
        env.left
            .iter()
            .all(|left| left.at == resumed && left.end == End::Sent)
    );
    env.pass_until(start.plus(6 * HOUR)).await;
    assert_eq!(env.ends(&future, start.plus(5 * HOUR)), [(End::Sent, 0)]);
    assert_eq!(env.left.len(), 5);
    assert!(
        env.store
            .held(env.account(), &batch)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn a_paused_message_expires_72_hours_after_its_time() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let batch = env.open_batch().await;
    let at = start.plus(HOUR);
    let message = env.send_later(at, Some(&batch)).await;
    env.hold(&batch, "pause").await.expect(201);

    env.pass_until(at.plus(SHELF_LIFE)).await;
    assert_eq!(env.left, []);
    env.pass_until(at.plus(SHELF_LIFE + 2 * MINUTE)).await;

    let ends = env.ends(&message, at);
    assert_eq!(ends.len(), 1);
    assert_eq!(ends[0].0, End::Dropped("Expired"));
    // At the first sweep after the second past 72 hours.
    let late = ends[0].1 - SHELF_LIFE * 1000;
    assert!((1000..=68_000).contains(&late), "{late} ms");
    let row = env
        .store
        .recipient(env.account(), &message, 0)
        .await
        .unwrap();
    assert_eq!(row.unwrap().state, posthaste_store::CopyState::Dropped);
    // Resuming later brings nothing back.
    env.resume(&batch).await.expect(204);
    env.pass_until(at.plus(SHELF_LIFE + 10 * MINUTE)).await;
    assert_eq!(env.left.len(), 1);
}

#[tokio::test]
async fn cancelling_a_paused_batch_discards_what_waits_past_its_time() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let batch = env.open_batch().await;
    let past = env.send_later(start.plus(20 * MINUTE), Some(&batch)).await;
    let soon = env.send_later(start.plus(65 * MINUTE), Some(&batch)).await;
    env.hold(&batch, "pause").await.expect(201);
    env.pass_until(start.plus(HOUR)).await;

    env.turn(&batch, "cancel").await.expect(204);
    env.deliver().await;
    env.pass_until(start.plus(2 * HOUR)).await;

    let cancelled = End::Dropped("Cancelled");
    assert_eq!(env.ends(&past, start.plus(HOUR)), [(cancelled.clone(), 0)]);
    // It was held already, so it did not "leave within ten minutes".
    assert_eq!(env.ends(&soon, start.plus(65 * MINUTE)), [(cancelled, 0)]);
}

#[tokio::test]
async fn pausing_a_cancelled_batch_keeps_what_was_not_discarded_yet() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let batch = env.open_batch().await;
    let gone = env.send_later(start.plus(20 * MINUTE), Some(&batch)).await;
    let kept = env.send_later(start.plus(50 * MINUTE), Some(&batch)).await;
    env.hold(&batch, "cancel").await.expect(201);
    env.pass_until(start.plus(45 * MINUTE)).await;

    env.turn(&batch, "pause").await.expect(204);
    env.pass_until(start.plus(HOUR)).await;
    env.resume(&batch).await.expect(204);
    env.deliver().await;

    let cancelled = End::Dropped("Cancelled");
    assert_eq!(env.ends(&gone, start.plus(20 * MINUTE)), [(cancelled, 0)]);
    assert_eq!(env.ends(&kept, start.plus(HOUR)), [(End::Sent, 0)]);
}

#[tokio::test]
async fn a_request_that_comes_too_late_for_every_message_is_refused() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let batch = env.open_batch().await;
    let message = env.send_later(start.plus(HOUR), Some(&batch)).await;
    env.pass_until(start.plus(51 * MINUTE)).await;

    for status in ["cancel", "pause"] {
        let (code, text) = refusal(&env.hold(&batch, status).await);
        assert_eq!(code, 400);
        assert!(text.contains("leaves within 10 minutes"), "{text}");
    }
    assert_eq!(env.status(&batch).await, None);
    env.pass_until(start.plus(2 * HOUR)).await;

    assert_eq!(env.ends(&message, start.plus(HOUR)), [(End::Sent, 0)]);
    // Now it holds nothing, and what is added later is reached.
    env.hold(&batch, "cancel").await.expect(201);
}

#[tokio::test]
async fn one_message_that_can_still_be_reached_is_enough() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let batch = env.open_batch().await;
    let near = env.send_later(start.plus(9 * MINUTE), Some(&batch)).await;
    let far = env.send_later(start.plus(11 * MINUTE), Some(&batch)).await;

    env.wait_until(start.plus(1)).await;
    env.hold(&batch, "pause").await.expect(201);
    env.pass_until(start.plus(HOUR)).await;

    assert_eq!(env.ends(&near, start.plus(9 * MINUTE)), [(End::Sent, 0)]);
    assert_eq!(env.ends(&far, start), []);
}

#[tokio::test]
async fn a_batch_can_be_held_before_it_has_messages() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let batch = env.open_batch().await;

    env.hold(&batch, "cancel").await.expect(201);
    let message = env.send_later(start.plus(HOUR), Some(&batch)).await;
    env.pass_until(start.plus(2 * HOUR)).await;

    let cancelled = End::Dropped("Cancelled");
    assert_eq!(env.ends(&message, start.plus(HOUR)), [(cancelled, 0)]);
}

#[tokio::test]
async fn many_held_messages_leave_in_order_over_several_pages() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let batch = env.open_batch().await;
    let mut want: Vec<(Timestamp, MessageId)> = Vec::new();
    for n in 0..230 {
        let at = start.plus(20 * MINUTE + (n * 37) % 230);
        want.push((at, env.send_later(at, Some(&batch)).await));
    }
    want.sort();
    env.hold(&batch, "pause").await.expect(201);
    env.pass_until(start.plus(HOUR)).await;
    assert_eq!(env.left, []);

    env.resume(&batch).await.expect(204);
    env.deliver().await;

    let order: Vec<_> = env.left.iter().map(|left| left.message.clone()).collect();
    assert_eq!(
        order,
        want.into_iter()
            .map(|(_, message)| message)
            .collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn a_batch_of_another_account_is_another_batch() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let batch = env.open_batch().await;
    let other = posthaste_testkit::Tenant::new(&env.store, "other", start).await;
    let stolen: &BatchId = &batch;
    let at = start.plus(HOUR);
    let own = env.send_later(at, Some(&batch)).await;
    // The other account names the same id in a mail of its own.
    let message = entropy().message_id();
    let theirs = job(&other.account.id, &message, 0, at, Some(stolen))
        .to_text()
        .unwrap();
    let later = ScheduledMail {
        account: &other.account.id,
        message: &message,
        first: 0,
        recipients: 1,
        accepted: env.now(),
        at,
        batch: Some(stolen),
        job: &theirs,
    };
    env.store
        .schedule(&[later], &env.hand.clock())
        .await
        .unwrap();

    env.hold(&batch, "cancel").await.expect(201);
    env.pass_until(start.plus(2 * HOUR)).await;

    assert_eq!(env.ends(&own, at), [(End::Dropped("Cancelled"), 0)]);
    assert_eq!(env.ends(&message, at), [(End::Sent, 0)]);
}
