//! Monitors: where samples of a subuser's mail go.

use posthaste_testkit::Response;
use serde_json::{Value, json};

use crate::TestApp;

const MONITOR: &str = "/v3/subusers/acme/monitor";

impl TestApp {
    async fn with_subuser() -> Self {
        let app = Self::new().await;
        app.create("acme").await.expect(200);
        app
    }

    async fn monitor(&self, method: &str, body: Option<&Value>) -> Response {
        let call = match method {
            "POST" => self.api.post(MONITOR),
            "PUT" => self.api.put(MONITOR),
            "DELETE" => self.api.delete(MONITOR),
            _ => self.api.get(MONITOR),
        };
        let call = call.key(&self.tenant.key);
        match body {
            Some(body) => call.json(body).send().await,
            None => call.send().await,
        }
    }
}

fn fields(email: &str, frequency: i64) -> Value {
    json!({"email": email, "frequency": frequency})
}

#[tokio::test]
async fn a_monitor_is_made_shown_changed_and_ended() {
    let app = TestApp::with_subuser().await;
    let (first, second) = (fields("a@example.com", 500), fields("b@example.com", 1));
    for method in ["GET", "DELETE"] {
        app.monitor(method, None).await.expect(404);
    }
    app.monitor("PUT", Some(&first)).await.expect(404);
    assert_eq!(
        app.monitor("POST", Some(&first)).await.expect(200).json(),
        first
    );
    assert_eq!(app.monitor("GET", None).await.expect(200).json(), first);
    // The answer of the first call was lost.
    assert_eq!(
        app.monitor("POST", Some(&first)).await.expect(200).json(),
        first
    );
    app.monitor("POST", Some(&second)).await.expect(400);
    assert_eq!(app.monitor("GET", None).await.expect(200).json(), first);
    assert_eq!(
        app.monitor("PUT", Some(&second)).await.expect(200).json(),
        second
    );
    assert_eq!(app.monitor("GET", None).await.expect(200).json(), second);
    app.monitor("DELETE", None).await.expect(204);
    app.monitor("GET", None).await.expect(404);
}

#[tokio::test]
async fn a_wrong_monitor_is_refused_with_all_that_is_wrong() {
    let app = TestApp::with_subuser().await;
    for frequency in [1, 1_000_000] {
        app.monitor("POST", Some(&fields("a@example.com", frequency)))
            .await
            .expect(200);
        app.monitor("DELETE", None).await.expect(204);
    }
    for frequency in [0, -1, 1_000_001, i64::MAX] {
        let refused = app
            .monitor("POST", Some(&fields("a@example.com", frequency)))
            .await;
        assert_eq!(refused.expect(400).error().0.as_deref(), Some("frequency"));
    }
    let refused = app
        .monitor("POST", Some(&json!({"email": "a"})))
        .await
        .expect(400)
        .json();
    let errors = refused["errors"].as_array().unwrap();
    let fields: Vec<_> = errors
        .iter()
        .map(|error| error["field"].as_str().unwrap())
        .collect();
    assert_eq!(fields, ["email", "frequency"]);
    app.monitor("GET", None).await.expect(404);
    app.get("/v3/subusers/nobody/monitor").await.expect(400);
}
