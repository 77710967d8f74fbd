//! Mails signed for the domain they are from.

use delivery::{App, handle};
use posthaste_identity::{KeyPair, place};
use posthaste_model::{EventKind, Mail, Record, RecordKind};
use posthaste_queue::{BatchResult, EventBatch, Job, JobBody};
use posthaste_store::{DkimKey, Domain, Store};
use posthaste_testkit::relay::{Relay, Script};
use posthaste_testkit::{Queues, Services, Tenant, TestClock, entropy, sqs_event};
use posthaste_webhook::Sealer;

use crate::lists::services;

pub(crate) struct TestApp {
    pub(crate) store: Store,
    pub(crate) hand: TestClock,
    pub(crate) relay: Relay,
    pub(crate) tenant: Tenant,
    pub(crate) queues: Queues,
    sealer: Sealer,
    pub(crate) app: App,
}

impl TestApp {
    pub(crate) async fn new() -> Self {
        let relay = Relay::start(Script::new()).await;
        Self::on(services(&relay).await, relay).await
    }

    /// On these services, whose mail leaves by the relay.
    pub(crate) async fn on(services: Services, relay: Relay) -> Self {
        Self {
            tenant: Tenant::new(&services.store, "owner", services.clock.now()).await,
            sealer: services.platform().env().parsed("STACK_SECRET").unwrap(),
            app: services.open(App::from_env),
            store: services.store,
            hand: services.clock,
            relay,
            queues: services.queues,
        }
    }

    /// A domain of the tenant, its key sealed with this sealer.
    async fn domain(&self, name: &str, valid: bool, sealer: &Sealer) {
        let account = self.tenant.account.id.clone();
        let id = self.store.next_domain_id(&account).await.unwrap();
        let pair = KeyPair::generate().unwrap();
        let sealed = sealer.seal(&entropy(), &place(&account, id, "s1"), &pair.private);
        let domain = Domain {
            id,
            account,
            domain: name.into(),
            subdomain: "em".into(),
            ips: Vec::new(),
            custom_spf: false,
            default: false,
            automatic_security: true,
            created_at: self.hand.now(),
            checked_at: None,
            given_to_ses: None,
            records: vec![Record {
                name: "dkim1".into(),
                kind: RecordKind::Txt,
                host: format!("s1._domainkey.{name}"),
                data: format!("v=DKIM1; k=rsa; p={}", pair.public),
                valid,
            }],
            keys: vec![DkimKey {
                selector: "s1".into(),
                public: pair.public,
                private: sealed.unwrap(),
            }],
            subusers: Vec::new(),
        };
        assert_eq!(
            self.store.create_domain(&domain).await.unwrap(),
            posthaste_store::Put::Stored
        );
    }

    /// Sends one mail from this address and gives back what the relay took.
    async fn send(&self, from: &str) -> String {
        let before = self.relay.received().len();
        self.work(&self.job(from, 1)).await;
        let received = self.relay.received();
        assert_eq!(received.len(), before + 1);
        String::from_utf8(received[before].bytes.clone()).unwrap()
    }

    /// Does the job, which must not come again.
    pub(crate) async fn work(&self, job: &Job) {
        let answer = handle(&self.app, &sqs_event([job.to_text().unwrap()])).await;
        assert_eq!(answer, BatchResult::default());
    }

    /// The kinds of the events that were queued.
    pub(crate) fn told(&self) -> Vec<EventKind> {
        let sent = self.queues.drain("events").into_iter();
        let events = sent.flat_map(|(text, _)| EventBatch::from_text(&text).unwrap().events);
        events.map(|event| event.kind).collect()
    }

    /// The jobs that were queued.
    pub(crate) fn drain_send(&self) -> Vec<String> {
        let sent = self.queues.drain("send").into_iter();
        sent.map(|(text, _)| text).collect()
    }

    /// A mail to this many recipients.
    pub(crate) fn job(&self, from: &str, recipients: usize) -> Job {
        let to = |i| serde_json::json!({"to": [{"email": format!("bob{i}@example.net")}]});
        let mail: Mail = serde_json::from_value(serde_json::json!({
            "from": {"email": from},
            "subject": "Hello",
            "content": [{"type": "text/plain", "value": "Hi"}],
            "personalizations": (0..recipients).map(to).collect::<Vec<_>>(),
        }))
        .unwrap();
        Job {
            v: 1,
            account: self.tenant.account.id.clone(),
            message: entropy().message_id(),
            accepted: self.hand.clock().now_ms(),
            spans: Vec::new(),
            attempt: 0,
            due: None,
            left: false,
            waits_since: None,
            key: None,
            client_ip: None,
            is_test: false,
            body: JobBody::Mail(Box::new(mail)),
        }
    }
}

#[tokio::test]
async fn a_mail_carries_the_signature_of_the_closest_domain_of_its_sender() {
    let env = TestApp::new().await;
    env.domain("example.com", true, &env.sealer).await;
    env.domain("mail.example.com", true, &env.sealer).await;

    for (from, domain) in [
        ("ann@example.com", "example.com"),
        ("ann@Mail.Example.com", "mail.example.com"),
        ("ann@other.example.com", "example.com"),
    ] {
        let mail = env.send(from).await;
        assert!(
            mail.starts_with("DKIM-Signature: v=1; a=rsa-sha256; "),
            "{mail}"
        );
        let (signature, _) = mail.split_once("\r\n\r\n").unwrap();
        assert!(
            signature.contains(&format!("d={domain};")),
            "{from}: {signature}"
        );
    }
}

#[tokio::test]
async fn a_mail_without_a_proven_domain_goes_out_unsigned() {
    let env = TestApp::new().await;
    env.domain("example.com", false, &env.sealer).await;
    for from in ["ann@example.com", "ann@example.org"] {
        let mail = env.send(from).await;
        assert!(!mail.contains("DKIM-Signature"), "{mail}");
    }
}

#[tokio::test]
async fn a_key_that_does_not_open_keeps_no_mail_back() {
    let env = TestApp::new().await;
    let other: Sealer = "1:OTg3NjU0MzIxMDk4NzY1NDMyMTA5ODc2NTQzMjEwOTg"
        .parse()
        .unwrap();
    env.domain("example.com", true, &other).await;
    let mail = env.send("ann@example.com").await;
    assert!(!mail.contains("DKIM-Signature"), "{mail}");
}

#[tokio::test]
async fn that_a_sender_has_no_domain_is_forgotten_within_seconds() {
    let env = TestApp::new().await;
    assert!(!env.send("ann@example.com").await.contains("DKIM-Signature"));
    env.domain("example.com", true, &env.sealer).await;
    env.hand.advance(10);
    assert!(env.send("ann@example.com").await.contains("DKIM-Signature"));
}

#[tokio::test]
async fn a_relay_that_signs_gets_mails_without_a_signature() {
    let mut env = TestApp::new().await;
    env.domain("example.com", true, &env.sealer).await;
    env.app.dkim = None;
    assert!(!env.send("ann@example.com").await.contains("DKIM-Signature"));
}
