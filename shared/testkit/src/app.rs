//! One function on embedded services, and an account that calls it.

use axum::http::Method;
use posthaste_blob::Blob;
use posthaste_http::{Authorizer, Routes};
use posthaste_runtime::{Error, Platform};
use posthaste_store::Store;
use serde_json::Value;

use crate::{Api, Queues, Response, Services, Tenant, TestClock};

/// A function that answers HTTP, opened by its own `from_env`. Clones share it.
#[derive(Clone)]
pub struct TestApp {
    pub store: Store,
    pub hand: TestClock,
    pub queues: Queues,
    pub blob: Blob,
    pub api: Api,
    /// An account without a parent, and its key with full access.
    pub tenant: Tenant,
    pub services: Services,
}

impl TestApp {
    /// On fresh services: `TestApp::new(App::from_env, routes)`.
    ///
    /// # Panics
    /// When the function does not start.
    pub async fn new<A, E: Into<Error>>(
        open: impl FnOnce(&Platform) -> Result<A, E>,
        routes: impl FnOnce(A, Authorizer) -> Routes,
    ) -> Self {
        Self::on(Services::start().await, open, routes).await
    }

    /// On these services.
    ///
    /// # Panics
    /// When the function does not start.
    pub async fn on<A, E: Into<Error>>(
        services: Services,
        open: impl FnOnce(&Platform) -> Result<A, E>,
        routes: impl FnOnce(A, Authorizer) -> Routes,
    ) -> Self {
        Self {
            api: services.api(open, routes),
            tenant: Tenant::new(&services.store, "owner", services.clock.now()).await,
            store: services.store.clone(),
            hand: services.clock.clone(),
            queues: services.queues.clone(),
            blob: services.blob.clone(),
            services,
        }
    }

    /// Calls as the account.
    pub async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Response {
        let ask = self.api.ask(method, path).key(&self.tenant.key);
        match body {
            None => ask.send().await,
            Some(json) => ask.json(json).send().await,
        }
    }
}
