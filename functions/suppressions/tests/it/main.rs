//! The suppression endpoints over an embedded table.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod asm;
mod lists;
mod validation;

use std::ops::Deref;

use axum::http::Method;
use posthaste_store::{Mark, SuppressionList};
use posthaste_testkit::Response;
use serde_json::Value;
use suppressions::{App, routes};

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

    pub(crate) async fn call(&self, method: Method, path: &str, body: &Value) -> Response {
        let ask = self.api.ask(method, path).key(&self.tenant.key);
        ask.json(body).send().await
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let ask = self.api.get(path).key(&self.tenant.key);
        ask.send().await.expect(200).json()
    }

    pub(crate) async fn delete(&self, path: &str) -> Response {
        self.api.delete(path).key(&self.tenant.key).send().await
    }

    /// Puts an address on a list, as delivery does.
    pub(crate) async fn mark(&self, email: &str, list: SuppressionList, at: i64) {
        let mark = Mark {
            at: self.hand.now().plus(at),
            reason: Some("550 5.1.1 User unknown".to_owned()),
            status: Some("5.1.1".to_owned()),
            ip: Some("192.0.2.7".to_owned()),
        };
        let emails = [email.to_owned()];
        let account = &self.tenant.account.id;
        let done = self.store.suppress_all(account, &emails, list, &mark);
        done.await.unwrap();
    }
}
