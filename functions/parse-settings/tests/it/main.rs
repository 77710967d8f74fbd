//! The endpoints over an embedded table and a queue that is read by hand.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod policies;
mod settings;
mod stats;
mod undelivered;

use std::ops::Deref;

use parse_settings::{App, routes};
use posthaste_model::{Record, RecordKind};
use posthaste_store::Domain;
use posthaste_testkit::{Services, Tenant};

pub(crate) const ALL: &str = "/v3/user/webhooks/parse/settings";

pub(crate) struct TestApp(posthaste_testkit::TestApp);

impl Deref for TestApp {
    type Target = posthaste_testkit::TestApp;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl TestApp {
    pub(crate) async fn new() -> Self {
        Self::on(Services::start().await).await
    }

    pub(crate) async fn on(services: Services) -> Self {
        let app = Self(posthaste_testkit::TestApp::on(services, App::from_env, routes).await);
        app.authenticate(&app.tenant, "shop.example").await;
        app
    }

    pub(crate) async fn authenticate(&self, tenant: &Tenant, name: &str) {
        self.domain(tenant, name, true).await;
    }

    pub(crate) async fn domain(&self, tenant: &Tenant, name: &str, valid: bool) {
        let domain = Domain {
            id: self.store.next_domain_id(&tenant.account.id).await.unwrap(),
            account: tenant.account.id.clone(),
            domain: name.to_owned(),
            subdomain: "em".to_owned(),
            ips: Vec::new(),
            custom_spf: false,
            default: false,
            automatic_security: true,
            created_at: self.hand.now(),
            checked_at: None,
            given_to_ses: None,
            records: vec![Record {
                name: "mail_cname".to_owned(),
                kind: RecordKind::Cname,
                host: format!("em.{name}"),
                data: "x.example".to_owned(),
                valid,
            }],
            keys: Vec::new(),
            subusers: Vec::new(),
        };
        let _ = self.store.create_domain(&domain).await.unwrap();
    }
}
