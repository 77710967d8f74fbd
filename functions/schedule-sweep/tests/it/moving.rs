//! One message, by its id: cancelled or moved until it leaves.

use posthaste_testkit::entropy;
use serde_json::json;

use crate::env::{End, TestEnv, refusal};

const MINUTE: i64 = 60;
const HOUR: i64 = 3600;

#[tokio::test]
async fn a_message_can_be_cancelled_until_the_moment_it_leaves() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let at = start.plus(HOUR);
    let message = env.send_later(at, None).await;
    // The sweep has given it to the queue by now.
    env.pass_until(at.plus(-1)).await;

    env.cancel_message(&message).await.expect(204);
    env.cancel_message(&message).await.expect(204);
    env.pass_until(at.plus(HOUR)).await;

    assert_eq!(env.ends(&message, at), [(End::Dropped("Cancelled"), 0)]);
}

#[tokio::test]
async fn a_message_that_left_can_neither_be_cancelled_nor_moved() {
    let mut env = TestEnv::new().await;
    let at = env.now().plus(HOUR);
    let message = env.send_later(at, None).await;
    env.pass_until(at.plus(MINUTE)).await;

    for answer in [
        env.cancel_message(&message).await,
        env.move_message(&message, at.plus(HOUR)).await,
    ] {
        let (code, text) = refusal(&answer);
        assert_eq!(
            (code.as_u16(), text.as_str()),
            (400, "the message has left already or was dropped")
        );
    }
    assert_eq!(env.ends(&message, at), [(End::Sent, 0)]);
}

#[tokio::test]
async fn a_moved_message_leaves_at_its_new_second_and_only_then() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let later = env.send_later(start.plus(HOUR), None).await;
    let earlier = env.send_later(start.plus(5 * HOUR), None).await;
    let at_once = env.send_later(start.plus(5 * HOUR), None).await;
    env.pass_until(start.plus(10 * MINUTE)).await;

    env.move_message(&later, start.plus(4 * HOUR))
        .await
        .expect(200);
    env.move_message(&earlier, start.plus(2 * HOUR))
        .await
        .expect(200);
    env.move_message(&at_once, start).await.expect(200);
    env.pass_until(start.plus(6 * HOUR)).await;

    assert_eq!(env.ends(&later, start.plus(4 * HOUR)), [(End::Sent, 0)]);
    assert_eq!(env.ends(&earlier, start.plus(2 * HOUR)), [(End::Sent, 0)]);
    assert_eq!(
        env.ends(&at_once, start.plus(10 * MINUTE)),
        [(End::Sent, 0)]
    );
}

#[tokio::test]
async fn a_message_in_the_queue_can_be_put_off_but_not_brought_forward() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let at = start.plus(HOUR);
    let message = env.send_later(at, None).await;
    env.pass_until(at.plus(-MINUTE)).await;

    let (code, text) = refusal(&env.move_message(&message, at.plus(-30)).await);
    assert_eq!(code, 400);
    assert!(text.contains("not brought forward"), "{text}");
    env.move_message(&message, at.plus(HOUR)).await.expect(200);
    env.move_message(&message, at.plus(2 * HOUR))
        .await
        .expect(200);
    assert_eq!(env.move_message(&message, at.plus(HOUR)).await.status, 400);
    // Once its old second has come, it lies in the table again.
    env.pass_until(at.plus(MINUTE)).await;
    assert_eq!(env.left, []);
    env.move_message(&message, at.plus(30 * MINUTE))
        .await
        .expect(200);
    env.pass_until(at.plus(3 * HOUR)).await;

    assert_eq!(env.ends(&message, at.plus(30 * MINUTE)), [(End::Sent, 0)]);
}

#[tokio::test]
async fn a_message_put_off_while_it_travels_again_still_leaves_once() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let message = env.send_later(start.plus(HOUR), None).await;
    let mut at = start.plus(HOUR);
    // Each time a minute before it would leave, when the sweep has it in the queue.
    for _ in 0..4 {
        env.pass_until(at.plus(-MINUTE)).await;
        at = at.plus(20 * MINUTE);
        env.move_message(&message, at).await.expect(200);
    }
    env.pass_until(at.plus(HOUR)).await;
    assert_eq!(env.ends(&message, at), [(End::Sent, 0)]);
}

#[tokio::test]
async fn a_paused_message_past_its_time_can_be_cancelled_or_moved() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let batch = env.open_batch().await;
    let dropped = env.send_later(start.plus(20 * MINUTE), Some(&batch)).await;
    let moved = env.send_later(start.plus(20 * MINUTE), Some(&batch)).await;
    env.hold(&batch, "pause").await.expect(201);
    env.pass_until(start.plus(HOUR)).await;

    env.cancel_message(&dropped).await.expect(204);
    env.move_message(&moved, start.plus(2 * HOUR))
        .await
        .expect(200);
    env.deliver().await;
    assert_eq!(
        env.ends(&dropped, start.plus(HOUR)),
        [(End::Dropped("Cancelled"), 0)]
    );
    env.resume(&batch).await.expect(204);
    env.pass_until(start.plus(3 * HOUR)).await;

    // The pause is gone, but its owner moved it to this second.
    assert_eq!(env.ends(&moved, start.plus(2 * HOUR)), [(End::Sent, 0)]);
    assert_eq!(env.left.len(), 2);
}

#[tokio::test]
async fn moving_is_no_way_around_a_pause() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let batch = env.open_batch().await;
    let message = env.send_later(start.plus(HOUR), Some(&batch)).await;
    env.wait_until(start.plus(1)).await;
    env.hold(&batch, "cancel").await.expect(201);

    let (code, text) = refusal(&env.move_message(&message, start.plus(MINUTE)).await);
    assert_eq!(code, 400);
    assert!(text.contains("paused or cancelled"), "{text}");
    env.move_message(&message, start.plus(11 * MINUTE))
        .await
        .expect(200);
    env.pass_until(start.plus(2 * HOUR)).await;

    let ends = env.ends(&message, start.plus(11 * MINUTE));
    assert_eq!(ends, [(End::Dropped("Cancelled"), 0)]);
}

#[tokio::test]
async fn only_what_has_not_left_of_a_mail_is_cancelled() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let message = entropy().message_id();
    env.accept(&message, 0, start.plus(20 * MINUTE), None)
        .await
        .unwrap();
    env.accept(&message, 2, start.plus(HOUR), None)
        .await
        .unwrap();
    env.pass_until(start.plus(30 * MINUTE)).await;

    env.cancel_message(&message).await.expect(204);
    let path = format!("/v3/user/scheduled_sends/messages/{message}");
    let shown = env.call("GET", &path, None).await.expect(200).json();
    env.pass_until(start.plus(2 * HOUR)).await;

    let sends = json!([
        {"send_at": start.0 + 20 * MINUTE, "recipients": 1, "batch_id": null, "status": "sent"},
        {"send_at": start.0 + HOUR, "recipients": 1, "batch_id": null, "status": "cancelled"},
    ]);
    assert_eq!(
        shown,
        json!({"message_id": message.as_str(), "sends": sends})
    );
    let ends: Vec<_> = env
        .left
        .iter()
        .map(|left| (left.first, left.end.clone()))
        .collect();
    assert_eq!(ends, [(0, End::Sent), (2, End::Dropped("Cancelled"))]);
}

#[tokio::test]
async fn the_listing_of_a_batch_follows_its_messages() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let batch = env.open_batch().await;
    let path = format!("/v3/user/scheduled_sends/{batch}/messages");
    let a = env.send_later(start.plus(HOUR), Some(&batch)).await;
    let b = env.send_later(start.plus(30 * MINUTE), Some(&batch)).await;
    let c = env.send_later(start.plus(2 * HOUR), Some(&batch)).await;
    let seen = |answer: serde_json::Value| -> Vec<(String, i64, String)> {
        let rows = answer["messages"].as_array().unwrap().iter();
        rows.map(|m| {
            let text = |name: &str| m[name].as_str().unwrap().to_owned();
            (
                text("message_id"),
                m["send_at"].as_i64().unwrap() - start.0,
                text("status"),
            )
        })
        .collect()
    };
    let row = |message: &posthaste_model::MessageId, wait, status: &str| {
        (message.to_string(), wait, status.to_owned())
    };

    let list = seen(env.call("GET", &path, None).await.expect(200).json());
    let all = [
        row(&b, 30 * MINUTE, "scheduled"),
        row(&a, HOUR, "scheduled"),
        row(&c, 2 * HOUR, "scheduled"),
    ];
    assert_eq!(list, all);

    env.cancel_message(&c).await.expect(204);
    env.move_message(&a, start.plus(3 * HOUR)).await.expect(200);
    env.hold(&batch, "pause").await.expect(201);
    env.pass_until(start.plus(HOUR)).await;
    let list = seen(env.call("GET", &path, None).await.expect(200).json());
    assert_eq!(
        list,
        [row(&b, 30 * MINUTE, "paused"), row(&a, 3 * HOUR, "paused")]
    );

    env.resume(&batch).await.expect(204);
    env.pass_until(start.plus(4 * HOUR)).await;
    assert_eq!(
        seen(env.call("GET", &path, None).await.expect(200).json()),
        []
    );
}
