//! Cancelling, pausing, and taking that back.

use http::Method;
use posthaste_testkit::Tenant;
use serde_json::json;

use crate::{SCHEDULED, TestApp};

fn on(field: &str, message: &str) -> (Option<String>, String) {
    (Some(field.to_owned()), message.to_owned())
}

#[tokio::test]
async fn a_status_is_set_read_changed_and_taken_off() {
    let app = TestApp::new().await;
    let batch = app.open().await;
    let path = format!("{SCHEDULED}/{batch}");
    let paused = json!({"batch_id": batch.as_str(), "status": "pause"});
    assert_eq!(app.get(&path).await.expect(200).json(), json!([]));
    assert_eq!(app.get(SCHEDULED).await.expect(200).json(), json!([]));

    let made = app.hold(&batch, "pause").await.expect(201);
    assert_eq!(made.json(), paused);
    assert_eq!(app.get(&path).await.expect(200).json(), json!([paused]));
    assert_eq!(app.get(SCHEDULED).await.expect(200).json(), json!([paused]));

    let changed = app
        .patch(&path, json!({"status": "cancel"}))
        .await
        .expect(204);
    assert!(changed.body.is_empty());
    let cancelled = json!([{"batch_id": batch.as_str(), "status": "cancel"}]);
    assert_eq!(app.get(&path).await.expect(200).json(), cancelled);

    let taken = app.delete(&path).await.expect(204);
    assert!(taken.body.is_empty());
    assert_eq!(app.get(&path).await.expect(200).json(), json!([]));
    // And once more from the beginning.
    app.hold(&batch, "cancel").await.expect(201);
}

#[tokio::test]
async fn a_second_status_is_refused() {
    let app = TestApp::new().await;
    let batch = app.open().await;
    app.hold(&batch, "pause").await.expect(201);
    for status in ["pause", "cancel"] {
        let refused = app.hold(&batch, status).await.expect(400);
        let text = "a status for this batch id exists, try PATCH to update the status";
        assert_eq!(refused.error(), on("batch_id", text));
    }
    let one = app
        .get(&format!("{SCHEDULED}/{batch}"))
        .await
        .expect(200)
        .json();
    assert_eq!(one[0]["status"], "pause");
}

#[tokio::test]
async fn every_problem_of_a_body_is_reported_at_once() {
    let app = TestApp::new().await;
    let batch = app.open().await;
    let id = batch.as_str();
    let missing = |field: &str| json!({"field": field, "message": "missing required argument"});
    let status = json!({"field": "status", "message": "status must be pause or cancel"});
    for (body, want) in [
        (json!({}), vec![missing("batch_id"), missing("status")]),
        (
            json!({"batch_id": null, "status": null}),
            vec![missing("batch_id"), missing("status")],
        ),
        (
            json!({"batch_id": "", "status": ""}),
            vec![missing("batch_id"), missing("status")],
        ),
        (
            json!({"status": "stop"}),
            vec![missing("batch_id"), status.clone()],
        ),
        (json!({"batch_id": id}), vec![missing("status")]),
        (
            json!({"batch_id": id, "status": "Pause"}),
            vec![status.clone()],
        ),
        (
            json!({"batch_id": id, "status": "scheduled"}),
            vec![status.clone()],
        ),
    ] {
        let refused = app.post(SCHEDULED, body.clone()).await.expect(400);
        assert_eq!(refused.json(), json!({"errors": want}), "{body}");
    }
    for (body, want) in [
        (json!({}), missing("status")),
        (json!({"status": "x"}), status),
    ] {
        let refused = app
            .patch(&format!("{SCHEDULED}/{id}"), body)
            .await
            .expect(400);
        assert_eq!(refused.json(), json!({"errors": [want]}));
    }
    assert_eq!(app.get(SCHEDULED).await.json(), json!([]));
}

#[tokio::test]
async fn a_body_of_the_wrong_form_is_refused() {
    let app = TestApp::new().await;
    let id = app.open().await;
    for body in [
        "{".to_owned(),
        "[]".to_owned(),
        "7".to_owned(),
        "\"pause\"".to_owned(),
        format!("{{\"batch_id\":\"{id}\",\"status\":7}}"),
        format!("{{\"batch_id\":[\"{id}\"],\"status\":\"pause\"}}"),
    ] {
        let ask = app.api.post(SCHEDULED).key(&app.tenant.key);
        let refused = ask
            .header("content-type", "application/json")
            .body(body.clone());
        assert!(
            !refused.send().await.expect(400).error().1.is_empty(),
            "{body}"
        );
    }
    // Members nobody knows are no mistake.
    let body = json!({"batch_id": id.as_str(), "status": "pause", "note": {"a": 1}});
    app.post(SCHEDULED, body).await.expect(201);
}

#[tokio::test]
async fn an_unknown_batch_is_reported_in_the_form_of_each_endpoint() {
    let app = TestApp::new().await;
    let unheld = app.open().await;
    let other = Tenant::new(&app.store, "other", app.hand.now()).await;
    let theirs = app.open().await;
    let invalid = on("batch_id", "invalid batch id");
    for id in ["never", "a b", "", "ä"] {
        let refused = app
            .post(SCHEDULED, json!({"batch_id": id, "status": "pause"}))
            .await;
        let refused = refused.expect(400).error();
        assert!(refused == invalid || id.is_empty(), "{id} {refused:?}");
    }
    let body = json!({"batch_id": theirs.as_str(), "status": "pause"});
    let refused = app
        .api
        .post(SCHEDULED)
        .key(&other.key)
        .json(&body)
        .send()
        .await;
    assert_eq!(refused.expect(400).error(), invalid);

    for id in ["never", "a%20b", unheld.as_str()] {
        let path = format!("{SCHEDULED}/{id}");
        for (method, body) in [
            (Method::PATCH, Some(json!({"status": "pause"}))),
            (Method::DELETE, None),
        ] {
            let answer = app.ask(method, &path, body).await.expect(404);
            assert_eq!(answer.error(), on("", "batch id not found"), "{id}");
        }
        assert_eq!(app.get(&path).await.expect(200).json(), json!([]));
    }
}

#[tokio::test]
async fn the_hundred_and_first_held_batch_is_refused() {
    let app = TestApp::new().await;
    let mut batches = Vec::new();
    for n in 0..100 {
        let batch = app.open().await;
        app.hold(&batch, if n % 2 == 0 { "pause" } else { "cancel" })
            .await
            .expect(201);
        batches.push(batch);
    }
    let more = app.open().await;

    let refused = app.hold(&more, "pause").await.expect(400);
    assert_eq!(refused.error(), on("", "max limit reached"));
    assert_eq!(
        app.get(SCHEDULED).await.json().as_array().unwrap().len(),
        100
    );
    // A change is not one more, and one that is taken off makes room.
    app.patch(
        &format!("{SCHEDULED}/{}", batches[0]),
        json!({"status": "cancel"}),
    )
    .await
    .expect(204);
    app.delete(&format!("{SCHEDULED}/{}", batches[1]))
        .await
        .expect(204);
    app.hold(&more, "pause").await.expect(201);
    // The limit is each account's own.
    let other = Tenant::new(&app.store, "other", app.hand.now()).await;
    let made = app
        .api
        .post("/v3/mail/batch")
        .key(&other.key)
        .send()
        .await
        .json();
    let body = json!({"batch_id": made["batch_id"], "status": "pause"});
    app.api
        .post(SCHEDULED)
        .key(&other.key)
        .json(&body)
        .send()
        .await
        .expect(201);
}

#[tokio::test]
async fn the_limit_holds_when_requests_race_for_the_last_place() {
    let app = TestApp::new().await;
    for _ in 0..98 {
        app.hold(&app.open().await, "pause").await.expect(201);
    }
    let (a, b, c, d) = (
        app.open().await,
        app.open().await,
        app.open().await,
        app.open().await,
    );

    let answers = tokio::join!(
        app.hold(&a, "pause"),
        app.hold(&b, "cancel"),
        app.hold(&c, "pause"),
        app.hold(&d, "pause"),
    );

    let answers = [answers.0, answers.1, answers.2, answers.3];
    let made = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(made, 2);
    assert_eq!(
        app.get(SCHEDULED).await.json().as_array().unwrap().len(),
        100
    );
}

#[tokio::test]
async fn two_requests_for_one_batch_give_one_status() {
    let app = TestApp::new().await;
    for _ in 0..5 {
        let batch = app.open().await;
        let (a, b) = tokio::join!(app.hold(&batch, "pause"), app.hold(&batch, "cancel"));
        let mut statuses = [a.status.as_u16(), b.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 400]);
    }
}

#[tokio::test]
async fn a_hold_is_forgotten_when_nothing_can_be_held_by_it_any_more() {
    let app = TestApp::new().await;
    let (old, new) = (app.open().await, app.open().await);
    app.hold(&old, "pause").await.expect(201);

    // Ten days of use, three until the last message leaves, three for it to expire, and a day.
    app.hand.advance(17 * 86_400);

    assert_eq!(app.get(SCHEDULED).await.expect(200).json(), json!([]));
    app.delete(&format!("{SCHEDULED}/{old}")).await.expect(404);
    app.hold(&new, "pause").await.expect(400);
}

#[tokio::test]
async fn a_change_that_reaches_nothing_is_refused_too() {
    let app = TestApp::new().await;
    let batch = app.open().await;
    let path = format!("{SCHEDULED}/{batch}");
    // Scheduled for within ten minutes of the pause: it goes all the same, so a cancel would lie.
    app.send_later(599, Some(&batch)).await;
    let reached = app.send_later(700, Some(&batch)).await;
    app.hand.advance(1);
    app.hold(&batch, "pause").await.expect(201);
    app.delete(&format!("{SCHEDULED}/messages/{reached}"))
        .await
        .expect(204);

    let refused = app
        .patch(&path, json!({"status": "cancel"}))
        .await
        .expect(400);
    assert!(refused.error().1.contains("leaves within 10 minutes"));
    // Added since, it is held however soon it leaves.
    app.send_later(5, Some(&batch)).await;
    app.patch(&path, json!({"status": "cancel"}))
        .await
        .expect(204);
}

#[tokio::test]
async fn a_status_survives_queues_that_fail() {
    let app = TestApp::new().await;
    let batch = app.open().await;
    app.hold(&batch, "pause").await.expect(201);
    app.queues.set_broken(true);
    // The change is made and told; the sweep does what the queue did not take.
    app.delete(&format!("{SCHEDULED}/{batch}"))
        .await
        .expect(204);
    assert_eq!(app.get(SCHEDULED).await.json(), json!([]));
}
