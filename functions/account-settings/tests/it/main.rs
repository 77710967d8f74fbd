//! The settings' endpoints over an embedded table.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod forwards;
mod mail;
mod shared;
mod tracking;

use account_settings::{App, routes};
use posthaste_http::{Authorizer, RateLimits};
use posthaste_model::EmailAddress;
use posthaste_notices::Notices;
use posthaste_store::Store;
use posthaste_testkit::{Api, Queues, Response, Tenant, TestClock, entropy, table};
use serde_json::Value;

/// One account, its full key, and an instance that serves it.
pub(crate) struct TestApp {
    pub(crate) store: Store,
    pub(crate) hand: TestClock,
    pub(crate) queues: Queues,
    pub(crate) api: Api,
    pub(crate) tenant: Tenant,
}

impl TestApp {
    pub(crate) async fn new() -> Self {
        let (store, hand, queues) = (table().await, TestClock::default(), Queues::start());
        let tenant = Tenant::new(&store, "owner", hand.now()).await;
        let app = App {
            store: store.clone(),
            notices: Notices {
                store: store.clone(),
                send: queues.queue("send"),
                clock: hand.clock(),
                entropy: entropy(),
                sender: EmailAddress::parse("no-reply@post.example").unwrap(),
                public_url: Some("https://post.example".parse().unwrap()),
            },
        };
        let gate = Authorizer::new(store.clone(), hand.clock(), RateLimits::default());
        Self {
            api: Api::new(routes(app, gate)),
            store,
            hand,
            queues,
            tenant,
        }
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
        let told: Vec<_> = errors
            .iter()
            .map(|error| error["field"].as_str().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(told, fields, "{answer}");
        assert_eq!(self.get(path).await.json(), before, "{path}");
    }
}
