//! The allow list's endpoints over an embedded table.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod activity;
mod audit;
mod list;
mod lockout;
mod sessions;

use std::ops::Deref;

use access_settings::{App, routes};
use posthaste_testkit::Response;
use serde_json::{Value, json};

pub(crate) const LIST: &str = "/v3/access_settings/whitelist";

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

    pub(crate) async fn add(&self, ips: &[&str]) -> Response {
        let ips: Vec<_> = ips.iter().map(|ip| json!({"ip": ip})).collect();
        self.post(&json!({"ips": ips})).await
    }

    pub(crate) async fn post(&self, body: &Value) -> Response {
        self.api
            .post(LIST)
            .key(&self.tenant.key)
            .json(body)
            .send()
            .await
    }

    pub(crate) async fn list(&self) -> Value {
        let answer = self.api.get(LIST).key(&self.tenant.key).send().await;
        answer.expect(200).json()["result"].clone()
    }

    pub(crate) async fn ips(&self) -> Vec<String> {
        let list = self.list().await;
        let ip = |rule: &Value| rule["ip"].as_str().unwrap().to_owned();
        list.as_array().unwrap().iter().map(ip).collect()
    }
}
