//! Every worker on the template's own queues while the table throttles a call, on a clock that the test turns.
//!
//! The client of the table does not repeat a call here, so that one throttle is what on AWS a second of them is.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod timed_queue;

use std::fs;
use std::sync::Arc;

use axum::body::Bytes;
use inbound_parse::{ArrivedMail, MailFate, SenderChecks};
use posthaste_model::{Event, EventKind, MessageId};
use posthaste_queue::{BatchResult, SqsEvent};
use posthaste_store::{
    Allowance, AttemptOutcome, Claim, Claimant, CopyState, Described, ParseSetting, SettingCreation,
};
use posthaste_testkit::relay::{Relay, Script};
use posthaste_testkit::{FaultProxy, Receiver, Services, Tenant, entropy};
use posthaste_webhook::Guard;
use serde_json::json;

use self::timed_queue::TimedQueue;
use crate::service::mail;
use crate::template::read::root;

/// The services behind a table that throttles, an account, and a queue of the template.
struct Drill {
    table: FaultProxy,
    services: Services,
    tenant: Tenant,
    queue: TimedQueue,
}

impl Drill {
    async fn new(queue: &str) -> Self {
        let table = FaultProxy::default();
        let services = Services::on(table.table().await).any_sender();
        let services = services.part(Guard::with_loopback());
        Self {
            tenant: Tenant::new(&services.store, "owner", services.clock.now()).await,
            queue: TimedQueue::of_template(queue, &services.clock).await,
            services,
            table,
        }
    }

    /// Puts what was sent to this queue of the test on that of the template.
    fn move_from(&self, sent: &str) {
        for (text, _) in self.services.queues.drain(sent) {
            self.queue.put(&text);
        }
    }

    /// Runs the worker until the queue is empty, one call of the table throttled after so many; `None` where
    /// there were not so many calls. It takes less than a minute in any case, and nothing is given up.
    async fn delay(
        &self,
        after: usize,
        handle: impl AsyncFn(&SqsEvent) -> BatchResult,
    ) -> Option<i64> {
        assert!(self.queue.len() > 0);
        self.table.throttle(after, 1);
        let seconds = self.queue.empty(handle).await;
        assert!(seconds < 60, "call {after}: {seconds} s");
        assert_eq!(self.queue.dead(), 0);
        let is_over = self.table.has_throttled();
        self.table.throttle(0, 0);
        // What the process remembers of accounts is older than that.
        self.services.clock.advance(60);
        is_over.then_some(seconds)
    }
}

/// The drill of delivery: an account with an allowance, and a relay.
struct MailDrill {
    drill: Drill,
    relay: Relay,
    mail_send: posthaste_testkit::Api,
    delivery: delivery::App,
}

impl MailDrill {
    async fn new() -> Self {
        let relay = Relay::start(Script::new()).await;
        let mut drill = Drill::new("SendQueue").await;
        let url = format!("{}?tls=none", relay.url());
        drill.services = drill.services.var("DELIVERY", &url);
        let services = &drill.services;
        let allowance = Allowance {
            frequency: None,
            total: 1_000,
        };
        let account = &drill.tenant.account.id;
        let granted = services
            .store
            .set_credits(account, Some(allowance), services.clock.now());
        assert!(granted.await.unwrap());
        let mut app = services.open(delivery::App::from_env);
        app.send = drill.queue.queue.clone();
        Self {
            mail_send: services.api(mail_send::App::from_env, mail_send::routes),
            delivery: app,
            relay,
            drill,
        }
    }

    /// A mail that was accepted, on the queue.
    async fn accept(&self) {
        let ask = self.mail_send.post("/v3/mail/send");
        let ask = ask.key(&self.drill.tenant.key);
        let response = ask.json(&mail("ann@example.net")).send().await;
        assert_eq!(response.status, 202);
        self.drill.move_from("send");
    }

    async fn work(&self, event: &SqsEvent) -> BatchResult {
        delivery::handle(&self.delivery, event).await
    }

    /// Credits that are left.
    async fn credits(&self) -> i64 {
        let (services, tenant) = (&self.drill.services, &self.drill.tenant);
        let now = services.clock.now();
        let credits = services.store.credits(&tenant.account.id, now).await;
        credits.unwrap().unwrap().remain
    }
}

#[tokio::test]
async fn one_throttle_of_the_table_delays_a_mail_by_less_than_a_minute_and_sends_it_once() {
    let mails = MailDrill::new().await;
    let mut late = 0;
    for call in 0.. {
        mails.accept().await;
        let work = async |event: &SqsEvent| mails.work(event).await;
        let delay = mails.drill.delay(call, work).await;
        assert_eq!(mails.relay.received().len(), call + 1, "call {call}");
        assert_eq!(
            mails.credits().await,
            1_000 - i64::try_from(call).unwrap() - 1
        );
        let Some(seconds) = delay else {
            // The account, its settings, the lists, the claim, the credit, the outcome.
            assert!(call >= 6, "{call} calls");
            break;
        };
        late += usize::from(seconds > 0);
    }
    // Throttles were met, and some of them took a return to the queue.
    assert!(late > 2, "{late}");
}

#[tokio::test]
async fn a_mail_given_back_200_times_is_delivered() {
    let mails = MailDrill::new().await;
    mails.accept().await;
    mails.drill.table.throttle(0, usize::MAX);
    let begun = mails.drill.services.clock.now();
    for time in 0..200 {
        let work = async |event: &SqsEvent| mails.work(event).await;
        assert!(mails.drill.queue.invoke(work).await, "{time}");
        let queue = &mails.drill.queue;
        assert_eq!((queue.len(), queue.dead()), (1, 0), "{time}");
    }
    assert_eq!(mails.relay.received().len(), 0);
    mails.drill.table.throttle(0, 0);
    let work = async |event: &SqsEvent| mails.work(event).await;
    mails.drill.queue.empty(work).await;
    assert_eq!(mails.relay.received().len(), 1);
    // Within the time that a mail is tried for.
    let waited = mails.drill.services.clock.now().since(begun);
    assert!(waited < 72 * 3_600, "{waited}");
}

#[tokio::test]
async fn one_throttle_of_the_table_delays_an_event_by_less_than_a_minute() {
    let drill = Drill::new("EventsQueue").await;
    let receiver = Receiver::start().await.unwrap();
    let services = &drill.services;
    let settings = services.api(event_settings::App::from_env, event_settings::routes);
    let hook = json!({"enabled": true, "url": receiver.url(), "delivered": true});
    let ask = settings.post("/v3/user/webhooks/event/settings");
    let made = ask.key(&drill.tenant.key).json(&hook).send().await;
    assert_eq!(made.status, 201, "{made:?}");
    let mut app = services.open(webhook_fanout::App::from_env);
    app.events = drill.queue.queue.clone();
    app.mailbox_hosts = Arc::new(webhook_fanout::MailboxHosts::new(None));
    for call in 0.. {
        let message = entropy().message_id();
        let event = event(&drill, &message, EventKind::Delivered);
        let texts = posthaste_queue::EventBatch::to_texts(&[event]).unwrap();
        drill.queue.put(&texts.concat());
        let work = async |event: &SqsEvent| webhook_fanout::handle(&app, event).await;
        let delay = drill.delay(call, work).await;
        let posts = receiver.posts();
        let posted = posts.iter().filter(|post| {
            let body = String::from_utf8_lossy(&post.body);
            body.contains(message.as_str())
        });
        assert!(posted.count() >= 1, "call {call}");
        if delay.is_none() {
            assert!(call >= 2, "{call} calls");
            break;
        }
    }
}

/// An event of the account about a copy.
fn event(drill: &Drill, message: &MessageId, kind: EventKind) -> Event {
    let (account, now) = (&drill.tenant.account.id, drill.services.clock.now());
    let id = Event::derived_id(message, 3, kind, 0);
    let email = "ann@example.com".to_owned();
    let mut event = Event::new(id, account.clone(), kind, now, email);
    event.message = Some(message.clone());
    event.recipient = 3;
    event
}

#[tokio::test]
async fn one_throttle_of_the_table_delays_what_ses_says_by_less_than_a_minute() {
    let drill = Drill::new("FeedbackQueue").await;
    let sample = root().join("functions/ses-feedback/tests/samples/bounce.json");
    let sample = fs::read_to_string(sample).unwrap();
    let (store, account) = (&drill.services.store, &drill.tenant.account.id);
    let mut app = drill.services.open(ses_feedback::App::from_env);
    app.feedback = drill.queue.queue.clone();
    for call in 0.. {
        let message = entropy().message_id();
        let (which, now) = ((account, &message, 3), drill.services.clock.now());
        let who = Claimant {
            owner: "test",
            single_process: true,
            now,
            lease: 60,
            retention: 86_400,
        };
        let what = Described {
            email: "ann@example.com",
            from: "news@shop.example",
            subject: "News",
            accepted_at: now,
        };
        let claim = store.claim(which, 0, who, &what).await.unwrap();
        assert_eq!(claim, Claim::Won);
        let outcome = AttemptOutcome {
            state: CopyState::Handed,
            now,
            events: &[event(&drill, &message, EventKind::Processed)],
        };
        assert!(store.record(which, 0, &outcome).await.unwrap());
        let sample = sample
            .replace("{account}", account.as_str())
            .replace("{message}", message.as_str())
            .replace("{recipient}", "3");
        drill.queue.put(&sample);
        let work = async |event: &SqsEvent| ses_feedback::handle(&app, event).await;
        let delay = drill.delay(call, work).await;
        let events = drill.services.queues.drain("events");
        assert!(!events.is_empty(), "call {call}");
        let row = store.recipient(account, &message, 3).await;
        assert_eq!(row.unwrap().unwrap().state, CopyState::Bounced);
        if delay.is_none() {
            assert!(call >= 2, "{call} calls");
            break;
        }
    }
}

#[tokio::test]
async fn one_throttle_of_the_table_delays_a_received_mail_by_less_than_a_minute() {
    let mut drill = Drill::new("InboundQueue").await;
    drill.services = drill.services.part(SenderChecks(None));
    let receiver = Receiver::start().await.unwrap();
    let (services, tenant) = (&drill.services, &drill.tenant);
    tenant.domain(&services.store, "shop.example").await;
    let setting = ParseSetting {
        account: tenant.account.id.clone(),
        hostname: "in.shop.example".to_owned(),
        target: receiver.url(),
        url: receiver.url(),
        spam_check: false,
        send_raw: false,
        created_at: services.clock.now(),
        security_policy: None,
    };
    assert_eq!(
        services.store.create_parse(&setting).await.unwrap(),
        SettingCreation::Stored
    );
    let mut app = services.open(inbound_parse::App::from_env);
    // One of many, as on AWS.
    app.single_process = None;
    let accepts = app.clone();
    app.inbound = drill.queue.queue.clone();
    for call in 0.. {
        let raw = format!("From: a@b.example\r\nMessage-ID: <{call}@b.example>\r\n\r\nHello\r\n");
        let to = ["box@in.shop.example".to_owned()];
        let arrived = ArrivedMail {
            from: "a@b.example",
            to: &to,
            ip: None,
            hello: "b.example",
            protocol: None,
            added: 0,
            object: None,
            judged: None,
        };
        let fate = inbound_parse::accept(&accepts, arrived, Bytes::from(raw)).await;
        assert_eq!(fate.unwrap(), MailFate::Accepted(1));
        drill.move_from("inbound");
        let work = async |event: &SqsEvent| inbound_parse::handle(&app, event).await;
        let delay = drill.delay(call, work).await;
        assert_eq!(receiver.posts().len(), call + 1, "call {call}");
        if delay.is_none() {
            assert!(call >= 4, "{call} calls");
            break;
        }
    }
}
