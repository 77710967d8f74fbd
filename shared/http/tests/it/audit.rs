//! What the guard of a route writes into the audit log.

use posthaste_http::{Authorizer, RateLimits};
use posthaste_store::{AuditEntry, AuditWindow};
use serde_json::json;

use crate::{TestApp, api};

impl TestApp {
    async fn changes(&self) -> Vec<AuditEntry> {
        let window = AuditWindow {
            limit: 100,
            ..AuditWindow::default()
        };
        let id = &self.tenant.account.id;
        let page = self.store.audit_page(id, &window).await;
        page.unwrap().entries
    }
}

#[tokio::test]
async fn the_id_of_what_was_created_is_in_the_entry() {
    let app = TestApp::new().await;
    for (answer, want) in [
        (json!({"id": "d-1", "name": "News"}), Some("d-1")),
        (
            json!({"api_key": "SG.secret", "api_key_id": "k1"}),
            Some("k1"),
        ),
        (json!({"id": 7}), Some("7")),
        (json!({"name": "News"}), Some("News")),
        // An address is masked in paths, and not kept here either.
        (json!({"id": "ann@example.com"}), None),
        (json!({"id": [1]}), None),
        (json!([{"id": 1}]), None),
        (json!({"id": "x", "rest": "y".repeat(65_536)}), None),
    ] {
        let post = app.api.post("/v3/templates").key(&app.tenant.key);
        let sent = post.json(&answer).send().await.expect(200);
        assert_eq!(sent.json(), answer, "the answer stays as it is");
        let entry = app.changes().await.remove(0);
        assert_eq!(entry.created.as_deref(), want, "{answer:.80}");
        app.hand.advance(1);
    }
}

#[tokio::test]
async fn a_mail_is_no_change_and_a_failure_is_none() {
    let app = TestApp::new().await;
    let key = &app.tenant.key;
    app.api
        .post("/v3/mail/send")
        .key(key)
        .send()
        .await
        .expect(202);
    let fails = app.api.delete("/v3/templates").key(key);
    fails.send().await.expect(500);
    assert_eq!(app.changes().await, []);
}

#[tokio::test]
async fn a_change_is_made_though_the_log_cannot_be_written() {
    let app = TestApp::new().await;
    let post = || {
        let ask = app.api.post("/v3/templates").key(&app.tenant.key);
        ask.json(&json!({"id": "d-1"})).send()
    };
    post().await.expect(200);
    app.faults.fail_after(0, false);
    post().await.expect(200);
    assert!(app.faults.restore(), "the table refused the entry");
    assert_eq!(app.changes().await.len(), 1);
}

#[tokio::test]
async fn without_days_nothing_is_written() {
    let app = TestApp::new().await;
    let gate = Authorizer::new(app.store.clone(), app.hand.clock(), RateLimits::default());
    let silent = api(&gate.with_audit_log(0), &app.store, &app.hand);
    let post = silent.post("/v3/templates").key(&app.tenant.key);
    post.json(&json!({"id": "d-1"})).send().await.expect(200);
    assert_eq!(app.changes().await, []);
}
