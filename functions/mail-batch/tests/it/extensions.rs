//! What a batch holds, and one message by its id.

use posthaste_testkit::{Tenant, entropy};
use serde_json::{Value, json};

use crate::{SCHEDULED, TestApp};

const HOUR: i64 = 3600;

#[tokio::test]
async fn a_listing_is_read_page_by_page_in_the_order_of_time() {
    let app = TestApp::new().await;
    let batch = app.open().await;
    let mut want = Vec::new();
    for n in 0..53 {
        let wait = HOUR + (n * 29) % 53;
        want.push((
            app.hand.now().0 + wait,
            app.send_later(wait, Some(&batch)).await.to_string(),
        ));
    }
    want.sort();
    let path = format!("{SCHEDULED}/{batch}/messages");

    for limit in [1, 7, 52, 53, 54] {
        let (mut seen, mut after, mut pages) = (Vec::new(), String::new(), 0);
        loop {
            let page = app
                .get(&format!("{path}?limit={limit}&after={after}"))
                .await
                .expect(200)
                .json();
            let messages = page["messages"].as_array().unwrap().clone();
            assert!(messages.len() <= limit);
            seen.extend(messages.iter().map(|m| {
                let id = m["message_id"].as_str().unwrap().to_owned();
                (m["send_at"].as_i64().unwrap(), id)
            }));
            pages += 1;
            match page["next"].as_str() {
                Some(next) => after = next.replace('#', "%23"),
                None => break,
            }
        }
        assert_eq!(seen, want, "limit {limit}");
        // Full pages, however the messages lie in the table; the last may have nothing left.
        assert!(pages <= 53 / limit + 1, "limit {limit} took {pages} pages");
    }
    let whole = app.get(&path).await.expect(200).json();
    assert_eq!(whole["batch_id"], batch.as_str());
    assert_eq!(whole["messages"].as_array().unwrap().len(), 53);
    assert_eq!(whole["messages"][0]["recipients"], 2);
    assert_eq!(whole["next"], Value::Null);
}

#[tokio::test]
async fn invalid_queries_of_a_listing_are_refused() {
    let app = TestApp::new().await;
    let batch = app.open().await;
    let path = format!("{SCHEDULED}/{batch}/messages");
    for limit in ["0", "501", "-1", "x", "1.5", ""] {
        let refused = app.get(&format!("{path}?limit={limit}")).await.expect(400);
        assert_eq!(refused.error().0.as_deref(), Some("limit"), "{limit}");
    }
    for after in ["x", "0%230%230", "%00", &"9".repeat(38), &"~".repeat(39)] {
        let refused = app.get(&format!("{path}?after={after}")).await.expect(400);
        assert_eq!(refused.error().0.as_deref(), Some("after"), "{after}");
    }
    assert_eq!(
        app.get(&path).await.expect(200).json()["messages"],
        json!([])
    );
    let other = Tenant::new(&app.store, "other", app.hand.now()).await;
    app.api.get(&path).key(&other.key).send().await.expect(404);
    let unknown = app
        .get(&format!("{SCHEDULED}/never/messages"))
        .await
        .expect(404);
    assert_eq!(unknown.error().1, "batch id not found");
}

#[tokio::test]
async fn a_message_shows_the_state_of_each_of_its_parts() {
    let app = TestApp::new().await;
    let (paused, cancelled) = (app.open().await, app.open().await);
    let now = app.hand.now();
    let message = entropy().message_id();
    app.piece(&message, 0, now.plus(HOUR), None).await;
    app.piece(&message, 2, now.plus(2 * HOUR), Some(&paused))
        .await;
    app.piece(&message, 4, now.plus(60), Some(&paused)).await;
    app.piece(&message, 6, now.plus(HOUR), Some(&cancelled))
        .await;
    app.hand.advance(1);
    app.hold(&paused, "pause").await.expect(201);
    app.hold(&cancelled, "cancel").await.expect(201);

    // An `sg_message_id` begins with the message id, and is taken, too.
    for id in [message.to_string(), format!("{message}.posthaste-0.3.0")] {
        let shown = app
            .get(&format!("{SCHEDULED}/messages/{id}"))
            .await
            .expect(200)
            .json();
        let part = |wait: i64, batch: Value, status: &str| json!({"send_at": now.0 + wait, "recipients": 2, "batch_id": batch, "status": status});
        let want = [
            part(HOUR, Value::Null, "scheduled"),
            part(2 * HOUR, json!(paused.as_str()), "paused"),
            // Too near to be reached.
            part(60, json!(paused.as_str()), "scheduled"),
            part(HOUR, json!(cancelled.as_str()), "cancelled"),
        ];
        assert_eq!(
            shown,
            json!({"message_id": message.as_str(), "sends": want})
        );
    }
}

#[tokio::test]
async fn a_message_that_was_never_sent_later_is_not_found() {
    let app = TestApp::new().await;
    let message = app.send_later(HOUR, None).await;
    let other = Tenant::new(&app.store, "other", app.hand.now()).await;
    let unknown = entropy().message_id();
    for id in ["x", "a%20b", unknown.as_str()] {
        let path = format!("{SCHEDULED}/messages/{id}");
        for answer in [
            app.get(&path).await,
            app.delete(&path).await,
            app.patch(&path, json!({"send_at": 1})).await,
        ] {
            assert_eq!(
                answer.expect(404).error(),
                (None, "message id not found".to_owned())
            );
        }
    }
    // Nor is another account's.
    let path = format!("{SCHEDULED}/messages/{message}");
    let theirs = app.api.delete(&path).key(&other.key).send().await;
    assert_eq!(theirs.expect(404).error().1, "message id not found");
    assert_eq!(
        app.get(&path).await.json()["sends"][0]["status"],
        "scheduled"
    );
}

#[tokio::test]
async fn a_message_is_moved_only_within_the_horizon() {
    let app = TestApp::new().await;
    let now = app.hand.now();
    let message = app.send_later(HOUR, None).await;
    let path = format!("{SCHEDULED}/messages/{message}");
    let at = |answer: &Value| answer["sends"][0]["send_at"].as_i64().unwrap() - now.0;

    let moved = app
        .patch(&path, json!({"send_at": now.0 + 72 * HOUR}))
        .await
        .expect(200);
    assert_eq!(at(&moved.json()), 72 * HOUR);
    let refused = app
        .patch(&path, json!({"send_at": now.0 + 72 * HOUR + 1}))
        .await
        .expect(400);
    let text = "Scheduling more than 72 hours in advance is forbidden.";
    assert_eq!(
        refused.error(),
        (Some("send_at".to_owned()), text.to_owned())
    );
    let refused = app
        .patch(&path, json!({"send_at": i64::MAX}))
        .await
        .expect(400);
    assert_eq!(refused.error().1, text);
    for body in [json!({}), json!({"send_at": null})] {
        let refused = app.patch(&path, body).await.expect(400);
        assert_eq!(refused.error().1, "missing required argument");
    }
    for body in [json!({"send_at": "1"}), json!({"send_at": 1.5}), json!([1])] {
        app.patch(&path, body).await.expect(400);
    }
    assert_eq!(at(&app.get(&path).await.json()), 72 * HOUR);

    // The past means now.
    let moved = app
        .patch(&path, json!({"send_at": i64::MIN}))
        .await
        .expect(200);
    assert_eq!(at(&moved.json()), 0);
    let sent = app.queues.drain("send");
    assert_eq!(sent.len(), 1);
    assert!(sent[0].1.is_zero());
    let job: Value = serde_json::from_str(&sent[0].0).unwrap();
    assert_eq!(job["due"], now.0);
}

/// What is stored for a mail on its way would expire before it otherwise.
#[tokio::test]
async fn a_message_leaves_within_the_horizon_of_its_acceptance_however_often_it_is_moved() {
    let app = TestApp::new().await;
    let latest = app.hand.now().0 + 72 * HOUR;
    let message = app.send_later(HOUR, None).await;
    let path = format!("{SCHEDULED}/messages/{message}");
    app.patch(&path, json!({"send_at": latest}))
        .await
        .expect(200);

    app.hand.advance(24 * HOUR);
    let refused = app
        .patch(&path, json!({"send_at": latest + 1}))
        .await
        .expect(400);
    let text = format!(
        "the message has to leave within 72 hours of its acceptance: at {latest} or before"
    );
    assert_eq!(refused.error(), (Some("send_at".to_owned()), text));
    app.patch(&path, json!({"send_at": latest - 1}))
        .await
        .expect(200);
    app.patch(&path, json!({"send_at": latest}))
        .await
        .expect(200);
}

#[tokio::test]
async fn a_message_that_is_moved_for_ever_stops_moving() {
    let app = TestApp::new().await;
    let now = app.hand.now();
    let message = app.send_later(HOUR, None).await;
    let path = format!("{SCHEDULED}/messages/{message}");
    for n in 1..=50 {
        app.patch(&path, json!({"send_at": now.0 + HOUR + n}))
            .await
            .expect(200);
    }
    let refused = app
        .patch(&path, json!({"send_at": now.0 + 2 * HOUR}))
        .await
        .expect(400);
    assert_eq!(refused.error().0.as_deref(), Some("send_at"));
    // Back to where it was before is no new place to remember.
    app.patch(&path, json!({"send_at": now.0 + HOUR + 7}))
        .await
        .expect(200);
    app.delete(&path).await.expect(204);
    app.patch(&path, json!({"send_at": now.0 + 2 * HOUR}))
        .await
        .expect(400);
}

#[tokio::test]
async fn a_cancelled_message_leaves_its_batch_and_no_other() {
    let app = TestApp::new().await;
    let batch = app.open().await;
    let gone = app.send_later(HOUR, Some(&batch)).await;
    let kept = app.send_later(HOUR, Some(&batch)).await;

    app.delete(&format!("{SCHEDULED}/messages/{gone}"))
        .await
        .expect(204);

    let list = app
        .get(&format!("{SCHEDULED}/{batch}/messages"))
        .await
        .expect(200)
        .json();
    let ids: Vec<_> = list["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["message_id"].clone())
        .collect();
    assert_eq!(ids, [json!(kept.as_str())]);
}
