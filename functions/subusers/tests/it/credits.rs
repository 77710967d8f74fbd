use posthaste_testkit::{Response, Tenant};
use serde_json::{Value, json};

use crate::{ALL, TestApp};

async fn app() -> (TestApp, Tenant) {
    let app = TestApp::new().await;
    let sub = app.tenant.subuser(&app.store, "sub").await;
    (app, sub)
}

impl TestApp {
    async fn put(&self, body: &Value) -> Response {
        let put = self.api.put(&format!("{ALL}/sub/credits"));
        put.key(&self.tenant.key).json(body).send().await
    }

    async fn adjust(&self, body: &Value) -> Response {
        let patch = self.api.patch(&format!("{ALL}/sub/credits/remaining"));
        patch.key(&self.tenant.key).json(body).send().await
    }

    async fn credits(&self) -> Value {
        self.get(&format!("{ALL}/sub/credits"))
            .await
            .expect(200)
            .json()
    }
}

fn unlimited() -> Value {
    json!({"type": "unlimited", "reset_frequency": null, "remain": null, "total": null,
        "used": null})
}

#[tokio::test]
async fn an_allowance_is_set_spent_changed_and_removed() {
    let (app, sub) = app().await;
    assert_eq!(app.credits().await, unlimited());

    let body = json!({"type": "recurring", "reset_frequency": "daily", "total": 10});
    let put = app.put(&body).await.expect(200).json();
    let want = |remain: i64, used: i64| {
        json!({"type": "recurring", "reset_frequency": "daily", "remain": remain, "total": 10,
            "used": used})
    };
    assert_eq!(put, want(10, 0));
    let account = app.store.account(&sub.account.id).await.unwrap().unwrap();
    let spend = app.store.spend_credits(&account, 8, app.hand.now());
    assert_eq!(spend.await, Ok(8));
    assert_eq!(app.credits().await, want(2, 8));
    let adjusted = app
        .adjust(&json!({"allocation_update": -1}))
        .await
        .expect(200);
    assert_eq!(adjusted.json(), want(1, 8));
    app.hand.set(app.hand.now().next_day());
    assert_eq!(app.credits().await, want(10, 0));

    let body = json!({"type": "nonrecurring", "total": 3});
    let once = json!({"type": "nonrecurring", "reset_frequency": null, "remain": 3, "total": 3,
        "used": 0});
    assert_eq!(app.put(&body).await.expect(200).json(), once);
    assert_eq!(
        app.put(&json!({"type": "unlimited"}))
            .await
            .expect(200)
            .json(),
        unlimited()
    );
    let refused = app
        .adjust(&json!({"allocation_update": 1}))
        .await
        .expect(400);
    assert_eq!(refused.error().0.as_deref(), Some("allocation_update"));
}

#[tokio::test]
async fn an_invalid_allowance_is_refused() {
    let (app, _) = app().await;
    for (body, fields) in [
        (json!({}), vec!["type"]),
        (
            json!({"type": "recurring"}),
            vec!["total", "reset_frequency"],
        ),
        (
            json!({"type": "recurring", "total": 5}),
            vec!["reset_frequency"],
        ),
        (json!({"type": "nonrecurring", "total": 0}), vec!["total"]),
        (json!({"type": "nonrecurring", "total": -1}), vec!["total"]),
        (
            json!({"type": "nonrecurring", "total": 5_000_000_000_u64}),
            vec!["total"],
        ),
        (json!({"type": "weekly", "total": 5}), vec!["type"]),
        (
            json!({"type": "recurring", "total": 5, "reset_frequency": "hourly"}),
            vec!["reset_frequency"],
        ),
    ] {
        let answer = app.put(&body).await.expect(400).json();
        let errors = answer["errors"].as_array().unwrap();
        let got: Vec<_> = errors
            .iter()
            .map(|e| e["field"].as_str().unwrap())
            .collect();
        assert_eq!(got, fields, "{body}");
    }
    for body in [
        json!({}),
        json!({"allocation_update": null}),
        json!({"allocation_update": "1"}),
    ] {
        let error = app.adjust(&body).await.expect(400).error();
        assert_eq!(error.0.as_deref(), Some("allocation_update"), "{body}");
    }
    assert_eq!(app.credits().await, unlimited());
    let unknown = app.get(&format!("{ALL}/nobody/credits")).await.expect(400);
    assert_eq!(unknown.error(), (None, "No user found".to_owned()));
}
