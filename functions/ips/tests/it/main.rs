//! The endpoints over an embedded table, a zone in memory and a server in the place of SES.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod dedicated;
mod reverse_dns;

use std::ops::Deref;
use std::sync::Arc;

use axum::http::Method;
use ips::{App, NameDns, routes};
use posthaste_dns::{Resolver, Zone};
use posthaste_mailer::Ses;
use posthaste_testkit::Services;
use serde_json::Value;

/// One account, its full key, and an instance that serves it.
pub(crate) struct TestApp {
    app: posthaste_testkit::TestApp,
    pub(crate) zone: Arc<Zone>,
}

impl Deref for TestApp {
    type Target = posthaste_testkit::TestApp;

    fn deref(&self) -> &Self::Target {
        &self.app
    }
}

impl TestApp {
    pub(crate) async fn new(ses: Option<Ses>) -> Self {
        let zone = Arc::new(Zone::default());
        let dns = NameDns(Some(Resolver::Zone(Arc::clone(&zone))));
        let mut services = Services::start().await.part(dns);
        if let Some(ses) = ses {
            services = services.part(ses);
        }
        Self::on(services, zone).await
    }

    /// On a host that asks no DNS.
    pub(crate) async fn without_dns() -> Self {
        let services = Services::start().await.part(NameDns(None));
        Self::on(services, Arc::default()).await
    }

    async fn on(services: Services, zone: Arc<Zone>) -> Self {
        Self {
            app: posthaste_testkit::TestApp::on(services, App::from_env, routes).await,
            zone,
        }
    }

    pub(crate) async fn ask(&self, method: Method, path: &str, body: &Value, status: u16) -> Value {
        let ask = self.api.ask(method, path).key(&self.tenant.key);
        let answer = ask.json(body).send().await.expect(status);
        if answer.body.is_empty() {
            Value::Null
        } else {
            answer.json()
        }
    }

    pub(crate) async fn get(&self, path: &str, status: u16) -> Value {
        let ask = self.api.get(path).key(&self.tenant.key);
        ask.send().await.expect(status).json()
    }
}
