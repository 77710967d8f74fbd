//! The subusers' endpoints over an embedded table.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod accounts;
mod credits;

use posthaste_http::{Authorizer, RateLimits};
use posthaste_store::Store;
use posthaste_testkit::{Api, Response, Tenant, TestClock, entropy, table};
use serde_json::{Value, json};
use subusers::{App, routes};

pub(crate) const ALL: &str = "/v3/subusers";

/// One account, its full key, and an instance that serves it.
pub(crate) struct TestApp {
    pub(crate) store: Store,
    pub(crate) hand: TestClock,
    pub(crate) api: Api,
    pub(crate) tenant: Tenant,
}

impl TestApp {
    pub(crate) async fn new() -> Self {
        let (store, hand) = (table().await, TestClock::default());
        let tenant = Tenant::new(&store, "parent", hand.now()).await;
        let app = App {
            store: store.clone(),
            clock: hand.clock(),
            entropy: entropy(),
        };
        let gate = Authorizer::new(store.clone(), hand.clock(), RateLimits::default());
        Self {
            api: Api::new(routes(app, gate)),
            store,
            hand,
            tenant,
        }
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
