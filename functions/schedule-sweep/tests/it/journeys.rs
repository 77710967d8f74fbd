//! Scheduled mail as its senders use it.

use posthaste_model::due;
use posthaste_testkit::entropy;

use crate::env::{End, TestEnv};

const MINUTE: i64 = 60;
const HOUR: i64 = 3600;

#[tokio::test]
async fn a_later_send_leaves_at_its_second() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let mut sent = Vec::new();
    for wait in [
        1,
        59,
        60,
        299,
        300,
        301,
        359,
        360,
        3_601,
        4_000,
        71 * HOUR + 11,
    ] {
        let at = start.plus(wait);
        sent.push((env.send_later(at, None).await, at));
    }

    env.pass_until(start.plus(72 * HOUR)).await;

    for (message, at) in sent {
        assert_eq!(
            env.ends(&message, at),
            [(End::Sent, 0)],
            "{}",
            at.since(start)
        );
    }
}

#[tokio::test]
async fn an_hour_without_sweeps_is_made_up_for_by_the_next() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let batch = env.open_batch().await;
    let mut sent = Vec::new();
    for minute in 4..70 {
        let at = start.plus(minute * MINUTE + 13);
        sent.push((env.send_later(at, Some(&batch)).await, at));
    }

    env.wait_until(start.plus(64 * MINUTE)).await;
    env.sweep().await;
    env.deliver().await;

    let back = start.plus(64 * MINUTE).millis().0;
    for (message, at) in &sent {
        let late = env.ends(message, *at);
        match at.millis().0 {
            // It went to the queue when it was accepted.
            on_time if *at <= start.plus(300) => assert_eq!(late, [(End::Sent, 0)], "{on_time}"),
            missed if missed <= back => assert_eq!(late, [(End::Sent, back - missed)]),
            _ => assert_eq!(late, []),
        }
    }
    env.pass_until(start.plus(2 * HOUR)).await;
    assert_eq!(env.left.len(), sent.len());
}

#[tokio::test]
async fn callers_with_wrong_clocks_are_taken_at_their_word() {
    let mut env = TestEnv::new().await;
    let now = env.now();
    // Ten minutes slow: "in five minutes" is past, so it leaves at once, without a due row.
    assert_eq!(due(Some(now.plus(-5 * MINUTE)), now, 72 * HOUR), Ok(None));
    // Ten minutes fast: "in 72 hours" is too far.
    assert!(due(Some(now.plus(72 * HOUR + 10 * MINUTE)), now, 72 * HOUR).is_err());
    // Ten minutes fast: "in an hour" leaves in 70 minutes by ours.
    let message = env.send_later(now.plus(70 * MINUTE), None).await;
    env.pass_until(now.plus(2 * HOUR)).await;
    assert_eq!(env.ends(&message, now.plus(70 * MINUTE)), [(End::Sent, 0)]);
}

#[tokio::test]
async fn the_parts_of_a_mail_leave_each_at_its_own_second() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let batch = env.open_batch().await;
    let message = entropy().message_id();
    for (first, wait) in [(0, HOUR), (3, 20 * MINUTE), (7, 2 * HOUR)] {
        let at = start.plus(wait);
        env.accept(&message, first, at, Some(&batch)).await.unwrap();
    }
    env.pass_until(start.plus(30 * MINUTE)).await;
    env.hold(&batch, "cancel").await.expect(201);
    env.pass_until(start.plus(3 * HOUR)).await;

    let ends: Vec<_> = env
        .left
        .iter()
        .map(|left| (left.first, left.end.clone()))
        .collect();
    let cancelled = End::Dropped("Cancelled");
    assert_eq!(
        ends,
        [(3, End::Sent), (0, cancelled.clone()), (7, cancelled)]
    );
}
