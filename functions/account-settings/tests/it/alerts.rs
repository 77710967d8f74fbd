//! `/v3/alerts`; that they are sent is tested in `functions/schedule-sweep`.

use serde_json::{Value, json};

use crate::TestApp;

const ALL: &str = "/v3/alerts";

impl TestApp {
    async fn post(&self, body: &Value, status: u16) -> Value {
        let ask = self.api.post(ALL).key(&self.tenant.key).json(body);
        ask.send().await.expect(status).json()
    }
}

fn daily() -> Value {
    json!({"type": "stats_notification", "email_to": "ops@example.org", "frequency": "daily"})
}

#[tokio::test]
async fn an_alert_is_made_changed_and_deleted() {
    let app = TestApp::new().await;
    let now = app.hand.now().0;
    let made = app.post(&daily(), 201).await;
    let mut want = daily();
    want["id"] = json!(1);
    want["created_at"] = json!(now);
    want["updated_at"] = json!(now);
    assert_eq!(made, want);
    let usage = json!({"type": "usage_limit", "email_to": "ops@example.org", "percentage": 90});
    let other = app.post(&usage, 201).await;
    assert_eq!(
        (&other["id"], &other["percentage"]),
        (&json!(2), &json!(90))
    );
    assert_eq!(other.get("frequency"), None);
    assert_eq!(app.get(ALL).await.expect(200).json(), json!([want, other]));

    app.hand.advance(60);
    let one = format!("{ALL}/1");
    let changed = app.patch(&one, &json!({"frequency": "monthly"})).await;
    want["frequency"] = json!("monthly");
    want["updated_at"] = json!(now + 60);
    assert_eq!(changed.expect(200).json(), want);
    assert_eq!(app.get(&one).await.expect(200).json(), want);

    let delete = || app.api.delete(&one).key(&app.tenant.key).send();
    delete().await.expect(204);
    delete().await.expect(404);
    app.get(&one).await.expect(404);
    app.get(&format!("{ALL}/x")).await.expect(404);
    app.patch(&one, &json!({"frequency": "daily"}))
        .await
        .expect(404);
}

#[tokio::test]
async fn every_problem_is_said_and_nothing_is_stored() {
    let app = TestApp::new().await;
    for (change, fields) in [
        (json!({"type": null}), &["type"][..]),
        (
            json!({"type": "other", "email_to": "x"}),
            &["type", "email_to"],
        ),
        (json!({"frequency": "hourly"}), &["frequency"]),
        (json!({"frequency": null}), &["frequency"]),
        (json!({"type": "usage_limit"}), &["percentage"]),
        (
            json!({"type": "usage_limit", "percentage": 0}),
            &["percentage"],
        ),
        (
            json!({"type": "usage_limit", "percentage": 101}),
            &["percentage"],
        ),
        (json!({"email_to": "nowhere"}), &["email_to"]),
    ] {
        let mut body = daily();
        for (name, value) in change.as_object().unwrap() {
            body[name] = value.clone();
        }
        let refused = app.post(&body, 400).await;
        let errors = refused["errors"].as_array().unwrap();
        let named: Vec<_> = errors
            .iter()
            .map(|error| error["field"].as_str().unwrap())
            .collect();
        assert_eq!(named, fields, "{body}");
    }
    assert_eq!(app.get(ALL).await.json(), json!([]));
    assert!(app.mails().is_empty());

    app.post(&daily(), 201).await;
    let one = format!("{ALL}/1");
    app.refuses(&one, &json!({"percentage": 50}), &["percentage"])
        .await;
    app.refuses(
        &one,
        &json!({"email_to": "nowhere", "frequency": "x"}),
        &["email_to", "frequency"],
    )
    .await;
}

#[tokio::test]
async fn a_new_address_is_asked_once_by_mail() {
    let app = TestApp::new().await;
    app.post(&daily(), 201).await;
    let link = app.link();
    app.post(&daily(), 201).await;
    assert!(app.mails().is_empty(), "a mail is on its way");
    app.api.post(&link).send().await.expect(200);
    assert!(app.may_forward("ops@example.org").await);
    app.post(&daily(), 201).await;
    assert!(app.mails().is_empty());
    let moved = json!({"email_to": "new@example.org"});
    app.patch(&format!("{ALL}/1"), &moved).await.expect(200);
    assert!(!app.may_forward("new@example.org").await);
    app.api.post(&app.link()).send().await.expect(200);
    assert!(app.may_forward("new@example.org").await);
}

/// `email_to` may be null in the v3 API.
#[tokio::test]
async fn without_an_address_it_goes_to_that_of_the_account() {
    let app = TestApp::new().await;
    let own = json!({"email": "ann@example.org"});
    let ask = app.api.put("/v3/user/email").key(&app.tenant.key);
    ask.json(&own).send().await.expect(200);
    let mut body = daily();
    body["email_to"] = Value::Null;
    let made = app.post(&body, 201).await;
    assert_eq!(made["email_to"], "ann@example.org");
}

#[tokio::test]
async fn an_account_has_fifty_alerts_at_most() {
    let app = TestApp::new().await;
    for _ in 0..50 {
        app.post(&daily(), 201).await;
    }
    app.post(&daily(), 400).await;
    app.api
        .delete(&format!("{ALL}/7"))
        .key(&app.tenant.key)
        .send()
        .await
        .expect(204);
    app.post(&daily(), 201).await;
}
