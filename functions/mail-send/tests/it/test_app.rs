//! The function in memory: a table, a queue, one account with a key.

use std::ops::Deref;

use mail_send::{App, Senders, routes};
use posthaste_store::{Template, Version, VersionTexts};
use posthaste_testkit::{Ask, FailAfter, Response, Services, entropy};
use serde_json::Value;

pub(crate) struct TestApp {
    app: posthaste_testkit::TestApp,
    /// Burns between the handler and its queue.
    pub(crate) faults: FailAfter,
}

impl Deref for TestApp {
    type Target = posthaste_testkit::TestApp;

    fn deref(&self) -> &Self::Target {
        &self.app
    }
}

impl TestApp {
    pub(crate) async fn new(senders: Senders) -> Self {
        Self::with(senders, "0").await
    }

    /// Where mails can be searched.
    pub(crate) async fn searchable(senders: Senders) -> Self {
        Self::with(senders, "30").await
    }

    async fn with(senders: Senders, search_days: &str) -> Self {
        let faults = FailAfter::default();
        let services = Services::start().await.failing_after(faults.clone());
        let mut services = services
            .var("SEARCH_DAYS", search_days)
            .var("IP_POOLS", "operators=set-1");
        if matches!(senders, Senders::Any) {
            services = services.any_sender();
        }
        let app = posthaste_testkit::TestApp::on(services, App::from_env, routes).await;
        Self { app, faults }
    }

    /// A request with the account's key, still without a body.
    pub(crate) fn ask(&self) -> Ask<'_> {
        self.api.post("/v3/mail/send").key(&self.tenant.key)
    }

    pub(crate) async fn send(&self, body: &Value) -> Response {
        self.ask().json(body).send().await
    }

    /// A template whose active version has neither a subject nor content; its id.
    pub(crate) async fn bare_template(&self) -> String {
        self.template("").await
    }

    /// A template whose active version has this HTML and nothing else; its id.
    pub(crate) async fn template(&self, html: &str) -> String {
        let (id, version, now) = (
            entropy().dynamic_template_id(),
            entropy().version_id(),
            self.hand.now(),
        );
        let texts = VersionTexts {
            html_content: html.to_owned(),
            ..VersionTexts::default()
        };
        let account = &self.tenant.account.id;
        let put = self.store.put_texts(account, &version, &texts).await;
        put.unwrap();
        let template = Template {
            id: id.clone(),
            account: self.tenant.account.id.clone(),
            name: "Bare".to_owned(),
            created_at: now,
            updated_at: now,
            versions: vec![Version {
                texts: version.clone(),
                id: version,
                name: "first".to_owned(),
                subject: String::new(),
                updated_at: now,
                active: true,
                generate_plain_content: false,
                editor: "code".to_owned(),
                has_content: !html.is_empty(),
            }],
        };
        let _ = self.store.create_template(&template, 10).await.unwrap();
        id.to_string()
    }
}
