//! Composed mails that an account keeps: shown, sent again, over, erased.

use std::ops::Deref;

use posthaste_model::MessageId;
use posthaste_queue::BatchResult;
use posthaste_store::{Mark, SuppressionList};
use posthaste_testkit::relay::{Relay, RelayedMail, Script};
use posthaste_testkit::{Api, Response, Services, Tenant, sqs_event};
use serde_json::{Value, json};

use crate::DAY;

pub(crate) const ANN: &str = "ann@example.com";

/// What does not compress: such a mail goes to the bucket.
fn noise() -> String {
    let mut state = 1_u64;
    let letters = std::iter::repeat_with(|| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        char::from(b'0' + u8::try_from(state >> 58).unwrap())
    });
    letters.take(20_000).collect()
}

/// The function beside those that accept and deliver.
pub(crate) struct KeptEnv {
    app: crate::TestApp,
    pub(crate) sending: Api,
    delivery: delivery::App,
    relay: Relay,
}

impl Deref for KeptEnv {
    type Target = crate::TestApp;

    fn deref(&self) -> &Self::Target {
        &self.app
    }
}

impl KeptEnv {
    /// An account that keeps mail for seven days.
    pub(crate) async fn new() -> Self {
        let env = Self::without().await;
        env.keep(7).await;
        env
    }

    /// An account that keeps none.
    pub(crate) async fn without() -> Self {
        let relay = Relay::start(Script::new()).await;
        let services = Services::start().await.any_sender();
        let services = services
            .var("DELIVERY", &format!("{}?tls=none", relay.url()))
            .var("SEARCH_DAYS", "30")
            .var("TRACKING_URL", "https://links.example");
        let app = posthaste_testkit::TestApp::on(
            services.clone(),
            activity::App::from_env,
            activity::routes,
        );
        Self {
            sending: services.api(mail_send::App::from_env, mail_send::routes),
            delivery: services.open(delivery::App::from_env),
            relay,
            app: crate::TestApp(app.await),
        }
    }

    pub(crate) async fn keep(&self, days: u16) {
        let account = &self.tenant.account.id;
        let changed = self.store.change_settings(account, |all| {
            all.kept_mail.enabled = true;
            all.kept_mail.days = days;
            all.defaults.click.enable = true;
            Ok::<_, posthaste_store::StoreError>(())
        });
        changed.await.unwrap();
        // What is cached of accounts.
        self.hand.advance(15);
    }

    /// Sends this mail, and returns its id and what the relay got.
    pub(crate) async fn send(&self, key: &str, mail: &Value) -> (String, Vec<RelayedMail>) {
        let answer = self.sending.post("/v3/mail/send").key(key).json(mail);
        let answer = answer.send().await.expect(202);
        (
            answer.header("x-message-id").to_owned(),
            self.deliver().await,
        )
    }

    pub(crate) async fn deliver(&self) -> Vec<RelayedMail> {
        self.relay.clear();
        let jobs = self.queues.drain("send").into_iter().map(|(text, _)| text);
        let done = delivery::handle(&self.delivery, &sqs_event(jobs)).await;
        assert_eq!(done, BatchResult::default());
        self.relay.received()
    }

    pub(crate) async fn again(&self, id: &str, idempotency: Option<&str>) -> Response {
        let path = format!("/v3/messages/{id}/send_again");
        let mut ask = self.sending.post(&path).key(&self.tenant.key);
        if let Some(key) = idempotency {
            ask = ask.header("idempotency-key", key);
        }
        ask.send().await
    }

    pub(crate) async fn content(&self, id: &str) -> Response {
        self.get(&format!("/v3/messages/{id}/content")).await
    }

    /// Everything that the bucket and the table have of composed mails.
    pub(crate) async fn stored(&self) -> usize {
        let names = self.blob.list("kept", 100).await.unwrap().len();
        let account = &self.tenant.account.id;
        let mut rows = 0;
        for part in 0..8 {
            let pk = format!("KEPT#{account}#{part}");
            let all = posthaste_store::PageQuery::all();
            rows += self.store.list::<Value>(&pk, "", &all).await.unwrap().len();
        }
        names + rows
    }
}

pub(crate) fn mail(to: &Value, text: &str) -> Value {
    json!({
        "from": {"email": "shop@example.com", "name": "Shop"},
        "subject": "Grüße",
        "content": [
            {"type": "text/plain", "value": text},
            {"type": "text/html", "value": "<p><a href=\"https://shop.example/\">Shop</a></p>"},
        ],
        "categories": ["receipts"],
        "custom_args": {"order": "7"},
        "personalizations": [{"to": to}],
    })
}

pub(crate) fn to_ann() -> Value {
    json!([{"email": ANN}])
}

#[tokio::test]
async fn a_mail_is_shown_as_it_left_until_its_days_are_over() {
    for text in ["Hello".to_owned(), noise()] {
        let env = KeptEnv::new().await;
        let (id, relayed) = env.send(&env.tenant.key, &mail(&to_ann(), &text)).await;
        assert_eq!(env.stored().await, 1);
        let shown = env.content(&id).await.expect(200).json();
        assert_eq!(shown["msg_id"], format!("{id}.posthaste-0.0.0"));
        assert_eq!(shown["text"].as_str().unwrap().trim_end(), text);
        assert!(shown["html"].as_str().unwrap().contains("links.example"));
        let headers = shown["headers"].as_array().unwrap();
        assert!(headers.contains(&json!({"name": "Subject", "value": "Grüße"})));
        assert_eq!(shown["size"], relayed[0].bytes.len());
        let raw = env
            .get(&format!("/v3/messages/{id}/content?format=raw"))
            .await;
        assert_eq!(raw.expect(200).body, relayed[0].bytes);
        let wrong = env
            .get(&format!("/v3/messages/{id}/content?format=x"))
            .await;
        assert_eq!(wrong.expect(400).error().0.as_deref(), Some("format"));

        env.hand.advance(7 * DAY - 16);
        env.content(&id).await.expect(200);
        env.hand.advance(16);
        let (field, why) = env.content(&id).await.expect(404).error();
        assert_eq!(field.as_deref(), Some("message_id"));
        assert!(why.starts_with("the mail was kept until 20"), "{why}");
        let late = env.again(&id, None).await.expect(404).error().1;
        assert_eq!(late, why);
        // What the lifecycle of a bucket does.
        let forgotten = posthaste_kept::forget_expired(&env.blob, env.hand.now()).await;
        assert_eq!(forgotten.unwrap(), usize::from(text.len() > 10_000));
        assert_eq!(env.stored().await, 0);
    }
}

#[tokio::test]
async fn nothing_is_kept_unless_the_account_wants_it_and_only_its_scope_shows_it() {
    let env = KeptEnv::without().await;
    let (id, _) = env.send(&env.tenant.key, &mail(&to_ann(), "Hello")).await;
    let why = env.content(&id).await.expect(404).error().1;
    assert!(why.contains("kept_mail was off"), "{why}");
    assert_eq!(env.stored().await, 0);
    env.again(&id, None).await.expect(404);
    for id in ["x", "AAAAAAAAAAAAAAAAAAAAAA"] {
        assert_eq!(env.content(id).await.expect(404).error().1, "not found");
        assert_eq!(env.again(id, None).await.expect(404).error().1, "not found");
    }

    env.keep(1).await;
    let (id, _) = env.send(&env.tenant.key, &mail(&to_ann(), "Hello")).await;
    env.content(&id).await.expect(200);
    let other = Tenant::new(&env.store, "other", env.hand.now()).await;
    let key = env
        .tenant
        .restricted(&env.store, &["email_activity.read", "mail.send"])
        .await;
    let path = format!("/v3/messages/{id}/content");
    env.api.get(&path).key(&key).send().await.expect(403);
    env.api.get(&path).key(&other.key).send().await.expect(404);
    let again = env.sending.post(&format!("/v3/messages/{id}/send_again"));
    again.key(&other.key).send().await.expect(404);
    // A copy that is dropped before it is composed.
    let (mark, ann) = (Mark::at(env.hand.now()), [ANN.to_owned()]);
    let list = SuppressionList::Unsubscribes;
    let account = &env.tenant.account.id;
    let marked = env.store.suppress_all(account, &ann, list, &mark);
    marked.await.unwrap();
    let (dropped, relayed) = env.send(&env.tenant.key, &mail(&to_ann(), "Hello")).await;
    assert!(relayed.is_empty());
    env.content(&dropped).await.expect(404);
    assert_eq!(env.stored().await, 1);
}

#[tokio::test]
async fn an_erasure_leaves_nothing_of_composed_mails_in_the_table_or_the_bucket() {
    let env = KeptEnv::new().await;
    let bob = json!([{"email": "bob@example.com"}]);
    let both = json!([{"email": ANN}, {"email": "bob@example.com"}]);
    for text in ["Hello".to_owned(), noise()] {
        env.send(&env.tenant.key, &mail(&to_ann(), &text)).await;
        // The copy of each names the other.
        env.send(&env.tenant.key, &mail(&both, &text)).await;
        env.send(&env.tenant.key, &mail(&bob, &text)).await;
    }
    assert_eq!(env.stored().await, 8);
    assert_eq!(env.blob.list("kept", 100).await.unwrap().len(), 4);
    env.erase("").await.expect(202);
    env.sweep().await;
    env.erase("").await.expect(204);
    // Those of Bob alone.
    assert_eq!(env.stored().await, 2);
    let names = env.blob.list("kept", 100).await.unwrap();
    assert_eq!(names.len(), 1);

    // A mail that was accepted before the erasure, and leaves after it, is not kept.
    let body = mail(&to_ann(), "Late");
    let ask = env
        .sending
        .post("/v3/mail/send")
        .key(&env.tenant.key)
        .json(&body);
    let late = ask
        .send()
        .await
        .expect(202)
        .header("x-message-id")
        .to_owned();
    env.hand.advance(90);
    env.erase("").await.expect(202);
    env.sweep().await;
    env.hand.advance(15);
    assert_eq!(env.deliver().await.len(), 1);
    env.content(&late).await.expect(404);
    assert_eq!(env.stored().await, 2);
}

#[tokio::test]
async fn a_deleted_account_leaves_no_composed_mail() {
    let env = KeptEnv::without().await;
    let sub = env.tenant.subuser(&env.store, "sub").await;
    let account = sub.account.id.clone();
    let changed = env.store.change_settings(&account, |all| {
        all.kept_mail.enabled = true;
        Ok::<_, posthaste_store::StoreError>(())
    });
    changed.await.unwrap();
    env.hand.advance(15);
    let (small, _) = env.send(&sub.key, &mail(&to_ann(), "Hello")).await;
    env.send(&sub.key, &mail(&to_ann(), &noise())).await;
    let small = MessageId::parse(&small).unwrap();
    assert!(
        env.store
            .kept((&account, &small, 0))
            .await
            .unwrap()
            .is_some()
    );
    assert_eq!(env.blob.list("kept", 100).await.unwrap().len(), 1);
    let api = env.services.api(subusers::App::from_env, subusers::routes);
    let deleted = api.delete("/v3/subusers/sub").key(&env.tenant.key).send();
    deleted.await.expect(204);
    assert!(
        env.store
            .kept((&account, &small, 0))
            .await
            .unwrap()
            .is_none()
    );
    assert!(env.blob.list("kept", 100).await.unwrap().is_empty());
}
