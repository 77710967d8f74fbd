//! Suppressed recipients, and the suppressions that refusals add.

use delivery::{App, handle};
use posthaste_model::{AccountId, Event, EventKind, Mail};
use posthaste_queue::{BatchResult, EventBatch, Job, JobBody};
use posthaste_store::{CopyState, Mark, Store, SuppressionList};
use posthaste_testkit::relay::{At, Does, Relay, Script};
use posthaste_testkit::{Queues, Services, Tenant, TestClock, entropy, sqs_event};
use serde_json::{Value, json};

/// Services whose mail leaves by this relay. It has no links, and bounces go to its sender.
pub(crate) async fn services(relay: &Relay) -> Services {
    services_on(posthaste_testkit::table().await, relay)
}

/// The same on a table of the test's own.
pub(crate) fn services_on(store: Store, relay: &Relay) -> Services {
    let services = Services::on(store);
    let services = services.var("DELIVERY", &format!("{}?tls=none", relay.url()));
    let services = services.var("PUBLIC_URL", "").var("BOUNCE_DOMAIN", "");
    services.var("RETENTION_DAYS", "1").var("AT_ONCE", "4")
}

pub(crate) struct TestApp {
    pub(crate) hand: TestClock,
    pub(crate) queues: Queues,
    pub(crate) relay: Relay,
    pub(crate) account: AccountId,
    pub(crate) app: App,
}

impl TestApp {
    pub(crate) async fn new(script: Script) -> Self {
        let relay = Relay::start(script).await;
        let services = services(&relay).await;
        let tenant = Tenant::new(&services.store, "owner", services.clock.now()).await;
        Self {
            app: services.open(App::from_env),
            account: tenant.account.id,
            hand: services.clock,
            queues: services.queues,
            relay,
        }
    }

    pub(crate) async fn mark(&self, email: &str, list: SuppressionList) {
        let mark = Mark::at(self.hand.now());
        let emails = [email.to_owned()];
        let store = &self.app.store;
        let done = store.suppress_all(&self.account, &emails, list, &mark);
        done.await.unwrap();
    }

    /// Sends one mail to these recipients, and returns kind and reason of the last event of each.
    pub(crate) async fn send(&self, to: &[&str], more: Value) -> Vec<(String, String)> {
        let to: Vec<_> = to.iter().map(|to| json!({"to": [{"email": to}]})).collect();
        let mut mail = json!({
            "from": {"email": "shop@example.com"},
            "subject": "Hello",
            "content": [{"type": "text/plain", "value": "Hi"}],
            "personalizations": to,
        });
        for (name, value) in more.as_object().unwrap() {
            mail[name] = value.clone();
        }
        let mail: Mail = serde_json::from_value(mail).unwrap();
        // A template has a subject of its own.
        let subject = match mail.template_id {
            Some(_) => "From the template",
            None => "Hello",
        };
        let job = Job {
            v: 1,
            account: self.account.clone(),
            message: entropy().message_id(),
            accepted: self.hand.clock().now_ms(),
            spans: Vec::new(),
            attempt: 0,
            due: None,
            left: false,
            waits_since: None,
            key: Some(entropy().key_id()),
            client_ip: Some("192.0.2.1".to_owned()),
            is_test: false,
            body: JobBody::Mail(Box::new(mail)),
        };
        // Every job may run twice.
        for _ in 0..2 {
            let answer = handle(&self.app, &sqs_event([job.to_text().unwrap()])).await;
            assert_eq!(answer, BatchResult::default());
        }
        // Look-ups show the subject, also of a copy that was dropped before it was rendered.
        for recipient in (0..).take(to.len()) {
            let store = &self.app.store;
            let row = store.recipient(&self.account, &job.message, recipient);
            let row = row.await.unwrap().unwrap();
            let is_rendered = row.state != CopyState::Dropped;
            assert_eq!(row.subject, if is_rendered { subject } else { "Hello" });
        }
        let mut last = std::collections::BTreeMap::new();
        for event in self.told() {
            // The first event of a copy has the key that sent it.
            let first = matches!(event.kind, EventKind::Processed | EventKind::Dropped);
            assert_eq!(event.key, job.key.clone().filter(|_| first));
            assert_eq!(event.client_ip, job.client_ip.clone().filter(|_| first));
            let reason = event.reason.unwrap_or_default();
            last.insert(event.recipient, (event.kind.wire().to_owned(), reason));
        }
        last.into_values().collect()
    }

    /// The events on the queue.
    pub(crate) fn told(&self) -> Vec<Event> {
        let texts = self.queues.drain("events").into_iter();
        texts
            .flat_map(|(text, _)| EventBatch::from_text(&text).unwrap().events)
            .collect()
    }
}

const LISTS: [(&str, SuppressionList, &str); 6] = [
    ("bounces", SuppressionList::Bounces, "Bounced Address"),
    ("invalid", SuppressionList::InvalidEmails, "Invalid"),
    (
        "spam",
        SuppressionList::SpamReports,
        "Spam Reporting Address",
    ),
    (
        "global",
        SuppressionList::Unsubscribes,
        "Unsubscribed Address",
    ),
    ("group", SuppressionList::Group(3), "Unsubscribed Address"),
    ("blocks", SuppressionList::Blocks, ""),
];

#[tokio::test]
async fn each_list_drops_for_its_reason_and_each_bypass_lifts_its_own() {
    let env = TestApp::new(Script::new()).await;
    let names: Vec<String> = LISTS
        .iter()
        .map(|(name, ..)| format!("{name}@example.com"))
        .collect();
    for (name, (_, list, _)) in names.iter().zip(LISTS) {
        env.mark(name, list).await;
    }
    // Case does not count; other addresses with the same beginning are others.
    let to: Vec<String> = names.iter().map(|name| name.to_uppercase()).collect();
    let mut to: Vec<&str> = to.iter().map(String::as_str).collect();
    to.push("bounces@example.com.au");
    let asm = json!({"group_id": 3});
    for (switch, lifted) in [
        ("", &[][..]),
        ("bypass_bounce_management", &["bounces"]),
        ("bypass_spam_management", &["spam"]),
        ("bypass_unsubscribe_management", &["global"]),
        (
            "bypass_list_management",
            &["bounces", "invalid", "spam", "global", "group"],
        ),
    ] {
        let more = json!({"asm": asm, "mail_settings": {switch: {"enable": true}}});
        let ends = env.send(&to, more).await;
        for ((name, _, reason), end) in LISTS.iter().zip(&ends) {
            let dropped = !reason.is_empty() && !lifted.contains(name);
            let want = if dropped {
                ("dropped", *reason)
            } else {
                ("delivered", "")
            };
            assert_eq!((end.0.as_str(), end.1.as_str()), want, "{name} {switch}");
        }
        assert_eq!(ends[LISTS.len()].0, "delivered");
    }
    // Without the group its list does not count; a switch that is off is none.
    let more = json!({"mail_settings": {"bypass_list_management": {"enable": false}}});
    let ends = env.send(&["group@example.com", "bounces@example.com"], more);
    let kinds: Vec<_> = ends.await.into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["delivered", "dropped"]);
}

#[tokio::test]
async fn what_the_relay_refuses_is_learnt_for_the_next_mail() {
    let script = Script::new()
        .on_recipient(
            At::RcptTo,
            "gone@example.com",
            Does::say("550 5.1.1 User unknown"),
        )
        .on_recipient(
            At::RcptTo,
            "never@example.com",
            Does::say("550 5.1.2 No such domain"),
        )
        .on_recipient(
            At::RcptTo,
            "wary@example.com",
            Does::say("550 5.7.1 Blocked by policy"),
        );
    let env = TestApp::new(script).await;
    let to = ["gone@example.com", "never@example.com", "wary@example.com"];
    let first = env.send(&to, json!({})).await;
    let kinds: Vec<_> = first.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["bounce"; 3]);
    let second = env.send(&to, json!({})).await;
    let reasons: Vec<_> = second.iter().map(|(_, reason)| reason.as_str()).collect();
    assert_eq!(&reasons[..2], ["Bounced Address", "Invalid"]);
    assert_eq!(second[2].0, "bounce", "a block keeps no later mail back");

    let lists = env.app.store.suppressed(&env.account, "gone@example.com");
    let mark = lists
        .await
        .unwrap()
        .on(SuppressionList::Bounces)
        .cloned()
        .unwrap();
    assert_eq!(mark.status.as_deref(), Some("5.1.1"));
    assert_eq!(mark.reason.as_deref(), Some("550 5.1.1 User unknown"));
    assert_eq!(mark.at, env.hand.now());
}

#[tokio::test]
async fn a_failing_relay_suppresses_no_address_even_after_three_days() {
    let env =
        TestApp::new(Script::new().on(At::MailFrom, Does::say("530 5.7.0 Who are you"))).await;
    let first = env.send(&["ann@example.com"], json!({})).await;
    assert_eq!(first[0].0, "deferred");
    env.hand.advance(73 * 3600);
    let next: Vec<String> = env
        .queues
        .drain("send")
        .into_iter()
        .map(|(job, _)| job)
        .collect();
    let _ = handle(&env.app, &sqs_event(next)).await;
    let told = env.queues.drain("events");
    assert!(
        told.iter().any(|(text, _)| text.contains("expired")),
        "{told:?}"
    );
    let lists = env.app.store.suppressed(&env.account, "ann@example.com");
    let nothing = posthaste_store::Suppressed::none("ann@example.com");
    assert_eq!(lists.await.unwrap(), nothing);
}
