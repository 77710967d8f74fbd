//! The function with everything around it, in memory.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;

use event_settings::{App, routes};
use http::StatusCode;
use posthaste_model::{Timestamp, WebhookId};
use posthaste_store::{CreateOutcome, Webhook};
use posthaste_testkit::{Receiver, Services, Tenant, entropy};
use posthaste_webhook::{Guard, Sealer, oauth_place};
use serde_json::Value;

/// The first message of an error.
pub(crate) fn message(body: &Value) -> &str {
    body["errors"][0]["message"].as_str().unwrap_or_default()
}

pub(crate) struct TestApp {
    app: posthaste_testkit::TestApp,
    pub(crate) receiver: Arc<Receiver>,
    sealer: Arc<Sealer>,
}

impl Deref for TestApp {
    type Target = posthaste_testkit::TestApp;

    fn deref(&self) -> &Self::Target {
        &self.app
    }
}

impl TestApp {
    pub(crate) async fn new() -> Self {
        Self::searching("30").await
    }

    /// The service where mails cannot be searched.
    pub(crate) async fn without_search() -> Self {
        Self::searching("0").await
    }

    async fn searching(days: &str) -> Self {
        let services = Services::start().await.part(Guard::with_loopback());
        let services = services.var("SEARCH_DAYS", days);
        services.clock.set(Timestamp(1_795_820_482));
        let sealer = services.platform().env().parsed("STACK_SECRET").unwrap();
        Self {
            app: posthaste_testkit::TestApp::on(services, App::from_env, routes).await,
            receiver: Arc::new(Receiver::start().await.unwrap()),
            sealer: Arc::new(sealer),
        }
    }

    /// The same service as another account sees it.
    pub(crate) async fn stranger(&self) -> Self {
        let mut app = self.app.clone();
        app.tenant = Tenant::new(&self.store, "stranger", self.hand.now()).await;
        Self {
            app,
            receiver: Arc::clone(&self.receiver),
            sealer: Arc::clone(&self.sealer),
        }
    }

    pub(crate) async fn call(
        &self,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> (StatusCode, Value) {
        let text = body.map(|body| body.to_string()).unwrap_or_default();
        self.send(method, path, text).await
    }

    pub(crate) async fn send(&self, method: &str, path: &str, body: String) -> (StatusCode, Value) {
        let method = method.parse().unwrap();
        let ask = self.api.ask(method, path).key(&self.tenant.key);
        let ask = ask.header("content-type", "application/json").body(body);
        let answer = ask.send().await;
        (answer.status, answer.json())
    }

    /// Creates a webhook and gives back its id.
    pub(crate) async fn create(&self, body: Value) -> String {
        let path = "/v3/user/webhooks/event/settings";
        let (status, body) = self.call("POST", path, Some(body)).await;
        assert_eq!(status, StatusCode::CREATED, "{body}");
        body["id"].as_str().unwrap().to_owned()
    }

    /// A webhook from before there could be several: without a date.
    pub(crate) async fn legacy(&self, url: &str) -> String {
        let webhook = Webhook {
            id: entropy().webhook_id(),
            account: self.tenant.account.id.clone(),
            enabled: false,
            url: url.to_owned(),
            target: url.to_owned(),
            friendly_name: None,
            created_at: None,
            updated_at: self.hand.now(),
            kinds: BTreeSet::new(),
            oauth_client_id: None,
            oauth_token_url: None,
            oauth_client_secret: None,
            signing: None,
            failing_since: None,
            slow_since: None,
            unreported: None,
        };
        let created = self.store.create_webhook(&webhook, 99).await.unwrap();
        assert_eq!(created, CreateOutcome::Done);
        webhook.id.to_string()
    }

    async fn stored(&self, id: &str) -> Webhook {
        let id = WebhookId::parse(id).unwrap();
        let account = &self.tenant.account.id;
        let found = self.store.webhook(account, &id).await;
        found.unwrap().unwrap()
    }

    /// The OAuth secret as a worker would open it.
    pub(crate) async fn oauth_secret(&self, id: &str) -> Option<String> {
        let webhook = self.stored(id).await;
        let place = oauth_place(&webhook.account, &webhook.id);
        let sealed = webhook.oauth_client_secret?;
        Some(self.sealer.open_text(&place, &sealed).unwrap())
    }

    /// Everything the table holds of a webhook, as text.
    pub(crate) async fn row(&self, id: &str) -> String {
        serde_json::to_string(&self.stored(id).await).unwrap()
    }
}
