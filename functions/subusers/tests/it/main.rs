//! The subusers' endpoints over an embedded table.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod accounts;
mod credits;
mod monitor;
mod partner_settings;

use std::ops::Deref;

use posthaste_testkit::Response;
use serde_json::{Value, json};
use subusers::{App, routes};

pub(crate) const ALL: &str = "/v3/subusers";

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

    pub(crate) async fn create(&self, username: &str) -> Response {
        self.post(&wanted(username)).await
    }

    pub(crate) async fn post(&self, body: &Value) -> Response {
        self.api
            .post(ALL)
            .key(&self.tenant.key)
            .json(body)
            .send()
            .await
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.api.get(path).key(&self.tenant.key).send().await
    }

    pub(crate) async fn names(&self, query: &str) -> Vec<String> {
        let list = self.get(&format!("{ALL}{query}")).await.expect(200).json();
        let name = |item: &Value| item["username"].as_str().unwrap().to_owned();
        list.as_array().unwrap().iter().map(name).collect()
    }
}

pub(crate) fn wanted(username: &str) -> Value {
    json!({"username": username, "email": "sub@example.com", "password": "s3cret-word",
        "ips": ["192.0.2.7"]})
}
