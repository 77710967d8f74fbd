//! The allow list's endpoints over an embedded table.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod activity;
mod list;
mod lockout;

use access_settings::{App, routes};
use posthaste_http::{Authorizer, RateLimits};
use posthaste_store::Store;
use posthaste_testkit::{Api, Response, Tenant, TestClock, table};
use serde_json::{Value, json};

pub(crate) const LIST: &str = "/v3/access_settings/whitelist";

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
        };
        let gate = Authorizer::new(store.clone(), hand.clock(), RateLimits::default());
        Self {
            api: Api::new(routes(app, gate)),
            store,
            hand,
            tenant,
        }
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
