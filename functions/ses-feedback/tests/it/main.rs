//! From what comes back about a mail to events and lists, over an embedded table and queues that
//! are read by hand. The samples were written from the schemas of SES and from RFC 3464 and 5965.

mod events;
mod explain;
mod insights;
mod leave;
mod mails;
mod notices;
mod twice;

use std::collections::BTreeMap;

use bytes::Bytes;
use posthaste_model::{Category, Event, EventKind, MessageId, Timestamp, Verp};
use posthaste_queue::{BatchResult, EventBatch, SqsEvent};
use posthaste_store::{
    AttemptOutcome, Claim, Claimant, CopyState, Described, Recipient, Store, Suppressed,
    SuppressionList,
};
use posthaste_testkit::{Queues, Services, Tenant, TestClock, entropy, sqs_event};
use ses_feedback::{App, accept, handle};

pub(crate) const EMAIL: &str = "ann@example.com";

pub(crate) struct TestApp {
    pub(crate) app: App,
    pub(crate) store: Store,
    pub(crate) hand: TestClock,
    pub(crate) queues: Queues,
    pub(crate) tenant: Tenant,
    pub(crate) message: MessageId,
}

impl TestApp {
    /// A copy that SES has taken.
    pub(crate) async fn new() -> Self {
        let service = Self::empty().await;
        service.claimed().await;
        service.recorded(CopyState::Handed).await;
        service
    }

    /// Without any copy.
    pub(crate) async fn empty() -> Self {
        let services = Services::start().await.var("AT_ONCE", "4");
        Self {
            tenant: Tenant::new(&services.store, "owner", services.clock.now()).await,
            message: entropy().message_id(),
            app: services.open(App::from_env),
            store: services.store,
            hand: services.clock,
            queues: services.queues,
        }
    }

    /// Somebody is handing the copy over.
    pub(crate) async fn claimed(&self) {
        let who = Claimant {
            owner: "test",
            single_process: true,
            now: self.hand.now(),
            lease: 60,
            retention: 86_400,
        };
        let what = Described {
            email: EMAIL,
            from: "news@shop.example",
            subject: "News",
            accepted_at: self.hand.now(),
        };
        let which = (&self.tenant.account.id, &self.message, 3);
        let claim = self.store.claim(which, 0, who, &what).await.unwrap();
        assert_eq!(claim, Claim::Won);
    }

    /// The attempt ended so.
    pub(crate) async fn recorded(&self, state: CopyState) {
        let account = self.tenant.account.id.clone();
        let id = format!("processed-0-{}-3", self.message);
        let mut processed = Event::new(
            id,
            account.clone(),
            EventKind::Processed,
            self.hand.now(),
            EMAIL.into(),
        );
        processed.message = Some(self.message.clone());
        processed.recipient = 3;
        processed.smtp_id = Some("x@post.example".to_owned());
        processed.category = Some(Category::Many(vec!["news".to_owned()]));
        processed.custom_args = BTreeMap::from([("order".to_owned(), "7".to_owned())]);
        let outcome = AttemptOutcome {
            state,
            now: self.hand.now(),
            events: &[processed],
        };
        let which = (&account, &self.message, 3);
        assert!(self.store.record(which, 0, &outcome).await.unwrap());
    }

    pub(crate) fn verp(&self) -> String {
        let verp = Verp {
            account: self.tenant.account.id.clone(),
            message: self.message.clone(),
            recipient: 3,
        };
        let mark = self.app.keys.mark(&verp.claim());
        format!("{}@bounce.post.example", verp.local(mark))
    }

    /// A sample about the copy.
    pub(crate) fn sample(&self, text: &str) -> String {
        text.replace("{account}", self.tenant.account.id.as_str())
            .replace("{message}", self.message.as_str())
            .replace("{recipient}", "3")
            .replace("{verp}", &self.verp())
    }

    /// Hands these messages to the worker, each for the `count`th time, which must be able to deal
    /// with them.
    pub(crate) async fn work_again(&self, messages: &[String], count: u32) {
        let response = handle(&self.app, &received(messages, count)).await;
        assert_eq!(response, BatchResult::default());
    }

    /// Whether a message is done with once it was worked on.
    pub(crate) async fn can_read(&self, message: &str) -> bool {
        let response = handle(&self.app, &received(&[message.to_owned()], 1)).await;
        response == BatchResult::default()
    }

    pub(crate) async fn work(&self, messages: &[String]) {
        self.work_again(messages, 1).await;
    }

    /// Accepts and processes a mail from the null sender.
    pub(crate) async fn mailed(&self, to: &[&str], raw: &str) {
        self.mailed_from("", to, raw).await;
    }

    pub(crate) async fn mailed_from(&self, from: &str, to: &[&str], raw: &str) {
        let to = to.iter().map(|&to| to.to_owned()).collect();
        let raw = Bytes::from(self.sample(raw).into_bytes());
        accept(&self.app, from, to, raw).await.unwrap();
        let jobs: Vec<String> = self.jobs();
        assert_eq!(jobs.len(), 1);
        self.work(&jobs).await;
    }

    pub(crate) fn jobs(&self) -> Vec<String> {
        let sent = self.queues.drain("feedback").into_iter();
        sent.map(|(text, _)| text).collect()
    }

    /// The events that were queued.
    pub(crate) fn queued_events(&self) -> Vec<Event> {
        let sent = self.queues.drain("events").into_iter();
        sent.flat_map(|(text, _)| EventBatch::from_text(&text).unwrap().events)
            .collect()
    }

    /// The one event that was queued.
    pub(crate) fn one(&self) -> Event {
        let mut queued = self.queued_events();
        assert_eq!(queued.len(), 1, "{queued:?}");
        queued.remove(0)
    }

    pub(crate) async fn row(&self) -> Recipient {
        let account = &self.tenant.account.id;
        let row = self.store.recipient(account, &self.message, 3).await;
        row.unwrap().unwrap()
    }

    pub(crate) async fn lists(&self) -> Suppressed {
        let account = &self.tenant.account.id;
        self.store.suppressed(account, EMAIL).await.unwrap()
    }

    pub(crate) async fn is_on(&self, list: SuppressionList) -> bool {
        self.lists().await.on(list).is_some()
    }
}

pub(crate) fn received(messages: &[String], count: u32) -> SqsEvent {
    let mut event = sqs_event(messages.to_vec());
    for record in &mut event.records {
        let name = "ApproximateReceiveCount".to_owned();
        record.attributes.insert(name, count.to_string());
    }
    event
}

pub(crate) fn at(text: &str) -> Timestamp {
    Timestamp::from_iso(text).unwrap()
}
