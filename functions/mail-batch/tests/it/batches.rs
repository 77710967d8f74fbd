//! Batch ids.

use http::Method;
use posthaste_model::BatchId;
use posthaste_testkit::Tenant;
use serde_json::{Value, json};

use crate::{SCHEDULED, TestApp};

const DAY: i64 = 86_400;

#[tokio::test]
async fn a_batch_is_made_and_validated() {
    let app = TestApp::new().await;

    let made = app
        .ask(Method::POST, "/v3/mail/batch", None)
        .await
        .expect(201)
        .json();
    let id = made["batch_id"].as_str().unwrap();
    assert_eq!(made, json!({"batch_id": id}));
    assert!(
        id.len() == 32 && id.bytes().all(|b| b.is_ascii_alphanumeric()),
        "{id}"
    );
    let read = app.get(&format!("/v3/mail/batch/{id}")).await.expect(200);
    assert_eq!(read.json(), made);
}

#[tokio::test]
async fn a_body_is_not_looked_at_when_a_batch_is_made() {
    let app = TestApp::new().await;
    // Node's client says JSON and sends nothing; others send `{}` or `null`.
    for body in ["", "{}", "null", "{\"batch_id\":\"mine\"}", "{"] {
        let ask = app.api.post("/v3/mail/batch").key(&app.tenant.key);
        let answer = ask
            .header("content-type", "application/json")
            .body(body)
            .send()
            .await;
        assert_ne!(answer.expect(201).json()["batch_id"], "mine");
    }
}

#[tokio::test]
async fn an_id_that_was_not_given_out_to_this_account_is_invalid() {
    let app = TestApp::new().await;
    let batch = app.open().await;
    let other = Tenant::new(&app.store, "other", app.hand.now()).await;

    let theirs = app
        .api
        .get(&format!("/v3/mail/batch/{batch}"))
        .key(&other.key)
        .send()
        .await;
    let theirs = theirs.expect(400);
    assert_eq!(
        theirs.body,
        r#"{"errors":[{"field":null,"message":"invalid batch id","help":{"text":"https://post.example/docs/errors#unknown-id"}}]}"#
    );
    for id in [
        "never",
        "a%20b",
        "%C3%A4",
        "..",
        &"x".repeat(101),
        &"x".repeat(100),
    ] {
        let answer = app.get(&format!("/v3/mail/batch/{id}")).await.expect(400);
        assert_eq!(
            answer.error(),
            (None, "invalid batch id".to_owned()),
            "{id}"
        );
    }
}

#[tokio::test]
async fn an_id_is_valid_for_ten_days() {
    let app = TestApp::new().await;
    let (batch, held) = (app.open().await, app.open().await);
    app.hold(&held, "pause").await.expect(201);
    let path = format!("/v3/mail/batch/{batch}");

    app.hand.advance(10 * DAY - 1);
    app.get(&path).await.expect(200);
    assert!(
        app.store
            .batch_exists(&app.tenant.account.id, &batch, app.hand.now())
            .await
            .unwrap()
    );
    app.hand.advance(1);

    assert_eq!(
        app.get(&path).await.expect(400).error().1,
        "invalid batch id"
    );
    let refused = app.hold(&batch, "cancel").await.expect(400);
    assert_eq!(
        refused.error(),
        (Some("batch_id".to_owned()), "invalid batch id".to_owned())
    );
    // What was held before still is, and can be let go: its messages may be there for days.
    let list = app.get(SCHEDULED).await.expect(200).json();
    assert_eq!(
        list,
        json!([{"batch_id": held.as_str(), "status": "pause"}])
    );
    app.patch(&format!("{SCHEDULED}/{held}"), json!({"status": "cancel"}))
        .await
        .expect(204);
    app.delete(&format!("{SCHEDULED}/{held}")).await.expect(204);
}

#[tokio::test]
async fn every_route_asks_for_its_own_scope() {
    let app = TestApp::new().await;
    let batch = app.open().await;
    let message = app.send_later(7200, None).await;
    let one = format!("{SCHEDULED}/{batch}");
    let listing = format!("{one}/messages");
    let mail = format!("{SCHEDULED}/messages/{message}");
    let check = format!("/v3/mail/batch/{batch}");
    let body = json!({"batch_id": batch.as_str(), "status": "pause", "send_at": 1});
    for (method, path, scope) in [
        (Method::POST, "/v3/mail/batch", "mail.batch.create"),
        (Method::GET, check.as_str(), "mail.batch.read"),
        (Method::POST, SCHEDULED, "user.scheduled_sends.create"),
        (Method::GET, SCHEDULED, "user.scheduled_sends.read"),
        (Method::GET, &one, "user.scheduled_sends.read"),
        (Method::PATCH, &one, "user.scheduled_sends.update"),
        (Method::GET, &listing, "user.scheduled_sends.read"),
        (Method::DELETE, &one, "user.scheduled_sends.delete"),
        (Method::GET, &mail, "user.scheduled_sends.read"),
        (Method::PATCH, &mail, "user.scheduled_sends.update"),
        (Method::DELETE, &mail, "user.scheduled_sends.delete"),
    ] {
        let all = [
            "mail.batch.create",
            "mail.batch.read",
            "user.scheduled_sends.create",
            "user.scheduled_sends.read",
            "user.scheduled_sends.update",
            "user.scheduled_sends.delete",
            "mail.send",
        ];
        let others: Vec<&str> = all.into_iter().filter(|other| *other != scope).collect();
        let without = app.tenant.restricted(&app.store, &others).await;
        let with = app.tenant.restricted(&app.store, &[scope]).await;
        let ask = |key: &str| app.api.ask(method.clone(), path).key(key).json(&body);
        let refused = ask(&without).send().await.expect(403);
        assert_eq!(refused.error().1, "access forbidden", "{method} {path}");
        let passed = ask(&with).send().await.status.as_u16();
        assert!(
            (200..300).contains(&passed) || passed == 400,
            "{method} {path} {passed}"
        );
    }
    let stranger = app.api.post("/v3/mail/batch").send().await.expect(401);
    assert_eq!(stranger.error().1, "authorization required");
}

#[tokio::test]
async fn a_parent_may_act_for_its_subuser() {
    let app = TestApp::new().await;
    let sub = app.tenant.subuser(&app.store, "sub").await;

    let made = app
        .api
        .post("/v3/mail/batch")
        .key(&app.tenant.key)
        .as_if("sub")
        .send()
        .await;
    let made: Value = made.expect(201).json();

    let path = format!("/v3/mail/batch/{}", made["batch_id"].as_str().unwrap());
    app.api.get(&path).key(&sub.key).send().await.expect(200);
    app.get(&path).await.expect(400);
    let id = BatchId::parse(made["batch_id"].as_str().unwrap()).unwrap();
    assert!(
        app.store
            .batch(&sub.account.id, &id)
            .await
            .unwrap()
            .is_some()
    );
}
