//! The worker with everything around it, in memory.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use posthaste_model::{AccountId, Entropy, Event, EventKind, MessageId, Timestamp};
use posthaste_queue::{EventBatch, WebhookRetry};
use posthaste_store::{Claim, Claimant, CreateOutcome, Described, Signing, Store, Webhook};
use posthaste_testkit::{Queues, Receiver, Services, TestClock, sqs_event, table};
use posthaste_webhook::{
    ClientConfig, Guard, WebhookClient, WebhookKeyPair, oauth_place, signing_place,
};
use webhook_fanout::{App, MailboxHosts, handle};

pub(crate) const SOON: Duration = Duration::from_secs(5);

pub(crate) struct TestEnv {
    pub(crate) app: App,
    pub(crate) hand: TestClock,
    pub(crate) queues: Queues,
    pub(crate) store: Store,
    pub(crate) account: AccountId,
    pub(crate) entropy: Entropy,
    services: Services,
}

/// The worker of one process. It does not wait long for the silent.
fn worker(services: &Services, entropy: &Entropy) -> App {
    let mut app = services.open(App::from_env);
    app.client = WebhookClient::open(ClientConfig {
        guard: Guard::with_loopback(),
        total: Duration::from_millis(300),
        ..ClientConfig::default()
    })
    .unwrap();
    app.mailbox_hosts = Arc::new(MailboxHosts::new(None));
    // The same in every run.
    app.entropy = entropy.clone();
    app
}

impl TestEnv {
    pub(crate) async fn open() -> Self {
        Self::over(table().await)
    }

    pub(crate) fn over(store: Store) -> Self {
        let services = Services::on(store).var("AT_ONCE", "16");
        services.clock.set(Timestamp(1_795_820_482));
        let entropy = Entropy::counting();
        Self {
            app: worker(&services, &entropy),
            hand: services.clock.clone(),
            queues: services.queues.clone(),
            store: services.store.clone(),
            account: entropy.account_id(),
            entropy,
            services,
        }
    }

    /// The same worker in another process: it shares the table and the queues, and knows nothing
    /// of what this one has seen.
    pub(crate) fn twin(&self) -> Self {
        Self {
            app: worker(&self.services, &self.entropy),
            hand: self.hand.clone(),
            queues: self.queues.clone(),
            store: self.store.clone(),
            account: self.account.clone(),
            entropy: self.entropy.clone(),
            services: self.services.clone(),
        }
    }

    /// A webhook at this URL that asks for every kind of event.
    pub(crate) fn hook(&self, url: &str) -> Webhook {
        Webhook {
            id: self.entropy.webhook_id(),
            account: self.account.clone(),
            enabled: true,
            url: url.to_owned(),
            target: url.to_owned(),
            friendly_name: None,
            created_at: Some(self.hand.clock().now_ms()),
            updated_at: self.hand.now(),
            kinds: EventKind::ALL.into(),
            oauth_client_id: None,
            oauth_token_url: None,
            oauth_client_secret: None,
            signing: None,
            failing_since: None,
            slow_since: None,
            unreported: None,
        }
    }

    pub(crate) async fn keep(&self, webhook: &Webhook) {
        let created = self.store.create_webhook(webhook, 99).await.unwrap();
        assert_eq!(created, CreateOutcome::Done);
    }

    /// Opens a receiver and subscribes it to everything.
    pub(crate) async fn subscribe(&self) -> (Receiver, Webhook) {
        let receiver = Receiver::start().await.unwrap();
        let webhook = self.hook(&receiver.url());
        self.keep(&webhook).await;
        (receiver, webhook)
    }

    pub(crate) fn sign(&self, webhook: &mut Webhook) {
        let pair = WebhookKeyPair::generate(&self.entropy).unwrap();
        let place = signing_place(&webhook.account, &webhook.id);
        let sealed = self
            .app
            .sealer
            .seal(&self.entropy, &place, &pair.to_bytes());
        webhook.signing = Some(Signing {
            public_key: pair.public_key().to_owned(),
            private_key: sealed.unwrap(),
        });
    }

    pub(crate) fn authorise(&self, webhook: &mut Webhook, token_url: &str) {
        let place = oauth_place(&webhook.account, &webhook.id);
        let sealed = self.app.sealer.seal(&self.entropy, &place, b"hush");
        webhook.oauth_client_id = Some("client".to_owned());
        webhook.oauth_token_url = Some(token_url.to_owned());
        webhook.oauth_client_secret = Some(sealed.unwrap());
    }

    /// An event that happens now.
    pub(crate) fn event(&self, kind: EventKind) -> Event {
        let message = MessageId::from_bytes(self.entropy.bytes());
        let id = Event::derived_id(&message, 0, kind, 0);
        let email = "ann@example.com".to_owned();
        let mut event = Event::new(id, self.account.clone(), kind, self.hand.now(), email);
        event.message = Some(message);
        event
    }

    /// The row of the copy that an event is about.
    pub(crate) async fn row_of(&self, event: &Event) {
        let now = self.hand.now();
        let who = Claimant {
            owner: "test",
            single_process: true,
            now,
            lease: 60,
            retention: 86_400,
        };
        let what = Described {
            email: &event.email,
            from: "me@example.com",
            subject: "Hello",
            accepted_at: now,
        };
        let message = event.message.as_ref().unwrap();
        let claim = self.store.claim((&self.account, message, 0), 0, who, &what);
        assert_eq!(claim.await.unwrap(), Claim::Won);
    }

    pub(crate) fn events(&self, count: usize) -> Vec<Event> {
        (0..count)
            .map(|_| self.event(EventKind::Delivered))
            .collect()
    }

    /// Hands these messages to the worker; the positions of those that come back.
    pub(crate) async fn work(&self, messages: Vec<String>) -> Vec<String> {
        let response = handle(&self.app, &sqs_event(messages)).await;
        response.unfinished().map(str::to_owned).collect()
    }

    /// Hands news to the worker, which must be able to deal with it.
    pub(crate) async fn send_events(&self, events: &[Event]) {
        let texts = EventBatch::to_texts(events).unwrap();
        assert_eq!(self.work(texts).await, [""; 0]);
    }

    /// What lies on the retry queue, with the seconds it is held back.
    pub(crate) fn waiting(&self) -> Vec<(WebhookRetry, u64)> {
        let sent = self.queues.drain("retries").into_iter();
        sent.map(|(text, delay)| (WebhookRetry::from_text(&text).unwrap(), delay.as_secs()))
            .collect()
    }

    /// Moves the clock to the next retry and hands all that is due to the worker, as the queue
    /// would; `false` when nothing waits.
    pub(crate) async fn next_retries(&self) -> bool {
        let sent = self.queues.drain("retries");
        let Some(soonest) = sent.iter().map(|(_, delay)| *delay).min() else {
            return false;
        };
        self.hand.advance(i64::try_from(soonest.as_secs()).unwrap());
        let (due, later): (Vec<_>, Vec<_>) =
            sent.into_iter().partition(|(_, delay)| *delay == soonest);
        let due = due.into_iter().map(|(text, _)| text).collect();
        assert_eq!(self.work(due).await, [""; 0]);
        let later = later
            .into_iter()
            .map(|(text, delay)| (text, delay - soonest));
        self.app.retries.send_all(later.collect()).await.unwrap();
        true
    }

    pub(crate) async fn stored(&self, webhook: &Webhook) -> Webhook {
        let found = self.store.webhook(&webhook.account, &webhook.id).await;
        found.unwrap().unwrap()
    }
}

/// The ids of the events in a body.
pub(crate) fn ids(body: &[u8]) -> BTreeSet<String> {
    let events: Vec<serde_json::Value> = serde_json::from_slice(body).unwrap();
    let ids = events.iter().map(|event| event["sg_event_id"].as_str());
    ids.map(|id| id.unwrap().to_owned()).collect()
}
