//! A secret is shown once, stored hashed, printed never.

use posthaste_testkit::CapturedLog;
use serde_json::json;

use crate::TestApp;

#[tokio::test]
async fn no_log_line_and_no_row_holds_a_secret() {
    // Everything that anybody says.
    let lines = CapturedLog::kept();

    let app = TestApp::new().await;
    let (id, made) = app.made(&["mail.send", "api_keys.read"]).await;
    let path = format!("/v3/api_keys/{id}");
    let wrong = format!("{}X", made.get(..68).unwrap());
    for key in [&made, &wrong] {
        app.api.get(&path).key(key).send().await;
        let smuggled = app
            .api
            .get(&path)
            .key(key)
            .header("authorization", "Bearer x");
        smuggled.send().await.expect(401);
        app.api
            .get(&format!("/v3/scopes?key={key}"))
            .key(key)
            .send()
            .await;
    }
    let body = json!({"name": "x"});
    app.api
        .put(&path)
        .key(&app.tenant.key)
        .json(&body)
        .send()
        .await
        .expect(200);
    let list = app
        .api
        .get("/v3/api_keys")
        .key(&made)
        .send()
        .await
        .expect(200);
    let one = app.api.get(&path).key(&made).send().await.expect(200);
    app.api
        .delete(&path)
        .key(&app.tenant.key)
        .send()
        .await
        .expect(204);

    let row = app.store.keys(&app.tenant.account.id).await.unwrap();
    let printed = lines.text();
    assert!(printed.contains("revoked"), "the log is recorded");
    for key in [&made, &wrong, &app.tenant.key] {
        let secret = key.rsplit('.').next().unwrap().get(..42).unwrap();
        assert!(!printed.contains(secret), "a log line holds a secret");
        assert!(!format!("{row:?}").contains(secret), "a row holds a secret");
        for answer in [&list, &one] {
            assert!(!String::from_utf8_lossy(&answer.body).contains(secret));
        }
    }
}

#[tokio::test]
async fn no_answer_tells_which_part_of_a_key_was_wrong() {
    let app = TestApp::new().await;
    let key = &app.tenant.key;
    let (id, secret) = (key.get(3..25).unwrap(), key.get(26..).unwrap());
    let mut answers = Vec::new();
    for wrong in [
        format!("SG.{id}.{}", "A".repeat(43)),
        format!("SG.{}.{secret}", "A".repeat(22)),
        format!("SG.{}.{}", "A".repeat(22), "A".repeat(43)),
        id.to_owned(),
        secret.to_owned(),
        key.to_lowercase(),
        format!("{key}="),
        format!("\"{key}\""),
        String::new(),
        "A".repeat(8_000),
    ] {
        let answer = app
            .api
            .get("/v3/scopes")
            .key(&wrong)
            .send()
            .await
            .expect(401);
        answers.push(answer.body);
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
    let want = r#"{"errors":[{"field":null,"message":"authorization required"}]}"#;
    assert_eq!(answers[0], want);
}
