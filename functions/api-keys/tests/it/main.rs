//! The key endpoints over an embedded table.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod details;
mod grants;
mod keys;
mod races;
mod secrets;

use std::ops::Deref;

use api_keys::{App, routes};
use posthaste_testkit::{Api, Response};
use serde_json::{Value, json};

/// One account, its full key, and an instance that serves it.
pub(crate) struct TestApp(posthaste_testkit::TestApp);

impl Deref for TestApp {
    type Target = posthaste_testkit::TestApp;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl TestApp {
    pub(crate) async fn new() -> Self {
        Self(posthaste_testkit::TestApp::new(App::from_env, routes).await)
    }

    pub(crate) async fn create(&self, key: &str, body: &Value) -> Response {
        self.api
            .post("/v3/api_keys")
            .key(key)
            .json(body)
            .send()
            .await
    }

    /// A new key with these scopes: its id and the key itself.
    pub(crate) async fn made(&self, scopes: &[&str]) -> (String, String) {
        let body = json!({"name": "made", "scopes": scopes});
        let made = self
            .create(&self.tenant.key, &body)
            .await
            .expect(201)
            .json();
        let text = |name: &str| made[name].as_str().unwrap().to_owned();
        (text("api_key_id"), text("api_key"))
    }

    pub(crate) async fn scopes_of(&self, key: &str) -> Vec<String> {
        let answer = self.api.get("/v3/scopes").key(key).send().await.expect(200);
        serde_json::from_value(answer.json()["scopes"].clone()).unwrap()
    }
}

/// One more instance over the same table, with caches of its own.
pub(crate) fn instance(app: &TestApp) -> Api {
    app.services.api(App::from_env, routes)
}
