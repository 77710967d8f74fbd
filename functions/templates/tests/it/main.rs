//! The templates' endpoints over an embedded table.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod paging;
mod previews;
mod rules;
mod versions;

use std::ops::Deref;

use posthaste_testkit::Response;
use serde_json::{Value, json};
use templates::{App, routes};

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

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Response {
        let ask = self.api.post(path).key(&self.tenant.key);
        ask.json(body).send().await
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Response {
        let ask = self.api.ask(http::Method::PATCH, path);
        ask.key(&self.tenant.key).json(body).send().await
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.api.get(path).key(&self.tenant.key).send().await
    }

    pub(crate) async fn delete(&self, path: &str) -> Response {
        let ask = self.api.ask(http::Method::DELETE, path);
        ask.key(&self.tenant.key).send().await
    }

    /// The path of a new template.
    pub(crate) async fn template(&self, generation: &str) -> String {
        let body = json!({"name": "Letter", "generation": generation});
        let made = self.post("/v3/templates", &body).await.expect(201).json();
        format!("/v3/templates/{}", made["id"].as_str().unwrap())
    }

    /// The path of a new version.
    pub(crate) async fn version(&self, template: &str, body: &Value) -> String {
        let path = format!("{template}/versions");
        let made = self.post(&path, body).await.expect(201).json();
        format!("{path}/{}", made["id"].as_str().unwrap())
    }
}

pub(crate) fn draft() -> Value {
    json!({"name": "first", "subject": "Hello {{name}}", "html_content": "<p>Hi {{name}}</p>"})
}
