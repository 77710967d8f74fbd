//! The settings' endpoints over an embedded table.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod alerts;
mod enforced_tls;
mod forwards;
mod mail;
mod sending_limits;
mod shared;
mod teammates;
mod tracking;
mod user;

use std::ops::Deref;

use account_settings::{App, routes};
use posthaste_testkit::Response;
use serde_json::Value;

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

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.api.get(path).key(&self.tenant.key).send().await
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Response {
        let ask = self.api.patch(path).key(&self.tenant.key);
        ask.json(body).send().await
    }

    /// Changes a setting, which must work, and reads it again: both answers are the same.
    pub(crate) async fn set(&self, path: &str, body: &Value) -> Value {
        let changed = self.patch(path, body).await.expect(200).json();
        let read = self.get(path).await.expect(200).json();
        assert_eq!(changed, read, "{path}");
        read
    }

    /// Asserts that this body is refused, with these fields, and changes nothing.
    pub(crate) async fn refuses(&self, path: &str, body: &Value, fields: &[&str]) {
        let before = self.get(path).await.json();
        let answer = self.patch(path, body).await.expect(400).json();
        let errors = answer["errors"].as_array().unwrap();
        let reported: Vec<_> = errors
            .iter()
            .map(|error| error["field"].as_str().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(reported, fields, "{answer}");
        assert_eq!(self.get(path).await.json(), before, "{path}");
    }
}
