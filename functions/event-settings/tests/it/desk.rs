//! The function with everything around it, in memory.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use event_settings::{App, MAX_WEBHOOKS};
use http::{Request, StatusCode, header};
use http_body_util::BodyExt as _;
use posthaste_http::{Authorizer, RateLimits};
use posthaste_model::{AccountId, Entropy, Timestamp, WebhookId};
use posthaste_store::{Account, ApiKey, CreateOutcome, KeyKind, Secret, Store, Webhook};
use posthaste_testkit::{Queues, Receiver, TestClock, table};
use posthaste_webhook::{Config, Guard, Sealer, WebhookClient, oauth_place};
use serde_json::Value;
use tower::ServiceExt as _;

/// The stack's secret in these tests.
const SECRET: &str = "1:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY";

pub(crate) struct TestApp {
    pub(crate) hand: TestClock,
    pub(crate) receiver: Arc<Receiver>,
    pub(crate) queues: Queues,
    pub(crate) store: Store,
    pub(crate) account: AccountId,
    sealer: Arc<Sealer>,
    router: Router,
    key: String,
    entropy: Entropy,
}

impl TestApp {
    pub(crate) async fn set() -> Self {
        let store = table().await;
        let entropy = Entropy::counting();
        let hand = TestClock::at(Timestamp(1_795_820_482));
        let queues = Queues::start();
        let sealer: Arc<Sealer> = Arc::new(SECRET.parse().unwrap());
        let app = App {
            store: store.clone(),
            retries: queues.queue("retries"),
            client: WebhookClient::open(Config {
                guard: Guard::with_loopback(),
                ..Config::default()
            })
            .unwrap(),
            sealer: Arc::clone(&sealer),
            clock: hand.clock(),
            entropy: entropy.clone(),
            max_webhooks: MAX_WEBHOOKS,
        };
        let gate = Authorizer::new(store.clone(), hand.clock(), RateLimits::default());
        let router = event_settings::routes(app, gate).into_router();
        let (account, key) = tenant(&store, &entropy, hand.now()).await;
        Self {
            hand,
            receiver: Arc::new(Receiver::start().await.unwrap()),
            queues,
            store,
            account,
            sealer,
            router,
            key,
            entropy,
        }
    }

    /// The same service as another account sees it.
    pub(crate) async fn stranger(&self) -> Self {
        let (account, key) = tenant(&self.store, &self.entropy, self.hand.now()).await;
        Self {
            account,
            key,
            hand: self.hand.clone(),
            receiver: Arc::clone(&self.receiver),
            queues: self.queues.clone(),
            store: self.store.clone(),
            sealer: Arc::clone(&self.sealer),
            router: self.router.clone(),
            entropy: self.entropy.clone(),
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
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::AUTHORIZATION, format!("Bearer {}", self.key))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(body))
            .unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        let body = match bytes.is_empty() {
            true => Value::Null,
            false => serde_json::from_slice(&bytes).unwrap(),
        };
        (status, body)
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
            id: self.entropy.webhook_id(),
            account: self.account.clone(),
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
            untold: None,
        };
        let created = self.store.create_webhook(&webhook, 99).await.unwrap();
        assert_eq!(created, CreateOutcome::Done);
        webhook.id.to_string()
    }

    async fn stored(&self, id: &str) -> Webhook {
        let id = WebhookId::parse(id).unwrap();
        let found = self.store.webhook(&self.account, &id).await.unwrap();
        found.unwrap()
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

async fn tenant(store: &Store, entropy: &Entropy, now: Timestamp) -> (AccountId, String) {
    let account = Account::new(entropy.account_id(), "owner", now);
    assert!(store.create_account(&account).await.unwrap());
    let secret = Secret::generate(entropy);
    let key = ApiKey {
        id: secret.id().clone(),
        account: account.id.clone(),
        name: "test".to_owned(),
        kind: KeyKind::Full,
        scopes: Vec::new(),
        hash: secret.hash(),
        created_at: now,
    };
    assert!(store.create_key(&key, 100).await.unwrap());
    (account.id, secret.expose().to_owned())
}
