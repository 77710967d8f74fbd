//! The endpoints over an embedded table, a zone in memory and queues that are read by hand.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod branded_links;
mod domains;
mod lending;
mod limits;
mod older_senders;
mod records;
mod secrets;
mod senders;
mod ses;
mod standing;

use std::ops::Deref;
use std::sync::Arc;

use posthaste_dns::{Resolver, Zone};
use posthaste_mailer::Ses;
use posthaste_model::{Mail, RecordKind};
use posthaste_queue::{Job, JobBody};
use posthaste_testkit::Services;
use posthaste_webhook::Sealer;
use sender_identity::{App, routes};
use serde_json::{Value, json};

pub(crate) struct TestApp {
    app: posthaste_testkit::TestApp,
    pub(crate) zone: Arc<Zone>,
    pub(crate) sealer: Arc<Sealer>,
}

impl Deref for TestApp {
    type Target = posthaste_testkit::TestApp;

    fn deref(&self) -> &Self::Target {
        &self.app
    }
}

impl TestApp {
    pub(crate) async fn new() -> Self {
        Self::with(false, None).await
    }

    /// An instance that believes every owner, as on a laptop.
    pub(crate) async fn trusting() -> Self {
        Self::with(true, None).await
    }

    pub(crate) async fn with(trusting: bool, ses: Option<Ses>) -> Self {
        let zone = Arc::new(Zone::default());
        let mut services = Services::start().await.part(Resolver::Zone(zone.clone()));
        services = services.var("SPF", "include:spf.post.example");
        services = services.var("TRACKING_URL", "https://track.post.example/");
        if trusting {
            services = services.any_sender();
        }
        if let Some(ses) = ses {
            services = services.part(ses);
        }
        let sealer = services.platform().env().parsed("STACK_SECRET").unwrap();
        Self {
            app: posthaste_testkit::TestApp::on(services, App::from_env, routes).await,
            zone,
            sealer: Arc::new(sealer),
        }
    }

    pub(crate) async fn post(&self, path: &str, body: &Value, status: u16) -> Value {
        let ask = self.api.post(path).key(&self.tenant.key).json(body);
        ask.send().await.expect(status).json()
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value, status: u16) -> Value {
        let ask = self.api.patch(path).key(&self.tenant.key).json(body);
        ask.send().await.expect(status).json()
    }

    pub(crate) async fn get(&self, path: &str, status: u16) -> Value {
        let ask = self.api.get(path).key(&self.tenant.key);
        ask.send().await.expect(status).json()
    }

    pub(crate) async fn delete(&self, path: &str, status: u16) -> Value {
        let ask = self.api.delete(path).key(&self.tenant.key);
        ask.send().await.expect(status).json()
    }

    pub(crate) async fn domain(&self, name: &str) -> Value {
        let body = json!({"domain": name});
        self.post("/v3/whitelabel/domains", &body, 201).await
    }

    /// Publishes everything that the API said.
    pub(crate) fn publish(&self, domain: &Value) {
        for record in domain["dns"].as_object().unwrap().values() {
            let text = |key: &str| record[key].as_str().unwrap();
            let kind = match text("type") {
                "cname" => RecordKind::Cname,
                "mx" => RecordKind::Mx,
                "txt" => RecordKind::Txt,
                other => unreachable!("{other}"),
            };
            self.zone.publish(kind, text("host"), &[text("data")]);
        }
    }

    pub(crate) async fn validate(&self, domain: &Value) -> Value {
        let path = format!("/v3/whitelabel/domains/{}/validate", domain["id"]);
        self.post(&path, &json!({}), 200).await
    }

    /// The mails that were sent since the last look.
    pub(crate) fn mails(&self) -> Vec<Mail> {
        let jobs = self.queues.drain("send").into_iter();
        let mail = |(text, _): (String, _)| match Job::from_text(&text).unwrap().body {
            JobBody::Mail(mail) => *mail,
            other => unreachable!("{other:?}"),
        };
        jobs.map(mail).collect()
    }
}
