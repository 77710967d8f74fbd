//! From raw mail to a receiver's fields, over an embedded table, a zone in memory and queues that
//! are read by hand.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod facts;
mod fate;
mod repeats;
mod secured;
mod ses;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use inbound_parse::{App, ArrivedMail, MailFate, SenderChecks, accept, handle};
use posthaste_dns::{Resolver, Zone};
use posthaste_model::AccountId;
use posthaste_queue::Inbound;
use posthaste_store::{ParseSetting, SettingCreation};
use posthaste_testkit::{Queues, Receiver, Services, Tenant, TestClock, sqs_event};
use posthaste_webhook::Guard;

pub(crate) const MAIL: &[u8] = b"From: Ann <ann@sender.example>\r\nTo: box@in.shop.example\r\n\
    Message-ID: <1@sender.example>\r\nSubject: Hi\r\n\r\nHello\r\n";

pub(crate) const BOX: &[&str] = &["box@in.shop.example"];

pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct TestApp {
    pub(crate) app: App,
    pub(crate) hand: TestClock,
    pub(crate) queues: Queues,
    pub(crate) zone: Arc<Zone>,
    pub(crate) receiver: Receiver,
    pub(crate) tenant: Tenant,
}

impl TestApp {
    pub(crate) async fn new() -> Self {
        let zone = Arc::new(Zone::default());
        let checks = SenderChecks(Some(Resolver::Zone(Arc::clone(&zone))));
        let services = Services::start().await.part(Guard::with_loopback());
        let services = services.part(checks);
        let mut app = services.open(App::from_env);
        // One of many, as on AWS.
        app.single_process = None;
        let service = Self {
            tenant: Tenant::new(&services.store, "owner", services.clock.now()).await,
            app,
            hand: services.clock,
            queues: services.queues,
            zone,
            receiver: Receiver::start().await.unwrap(),
        };
        let store = &service.app.store;
        service.tenant.domain(store, "shop.example").await;
        service.setting("in.shop.example", false, false).await;
        service
    }

    pub(crate) async fn setting(&self, hostname: &str, spam_check: bool, send_raw: bool) {
        let account = &self.tenant.account.id;
        self.create(account, hostname, (spam_check, send_raw)).await;
    }

    /// A setting of another account, with the same receiver.
    pub(crate) async fn setting_of(&self, tenant: &Tenant, hostname: &str) {
        let account = &tenant.account.id;
        self.create(account, hostname, (false, false)).await;
    }

    async fn create(
        &self,
        account: &AccountId,
        hostname: &str,
        (spam_check, send_raw): (bool, bool),
    ) {
        let url = self.receiver.url();
        let setting = ParseSetting {
            account: account.clone(),
            hostname: hostname.to_owned(),
            target: url.clone(),
            url,
            spam_check,
            send_raw,
            created_at: self.hand.now(),
            security_policy: None,
        };
        let put = self.app.store.create_parse(&setting).await.unwrap();
        assert_eq!(put, SettingCreation::Stored);
    }

    /// Hands a mail in and gives back how many recipients took it.
    pub(crate) async fn arrive(&self, to: &[&str], raw: &[u8]) -> usize {
        let to: Vec<String> = to.iter().map(|&to| to.to_owned()).collect();
        let arrived = ArrivedMail {
            from: "ann@sender.example",
            to: &to,
            ip: "192.0.2.7".parse().ok(),
            hello: "mail.sender.example",
            protocol: Some("ESMTP"),
            added: 0,
            object: None,
            judged: None,
        };
        let fate = accept(&self.app, arrived, Bytes::copy_from_slice(raw)).await;
        match fate.unwrap() {
            MailFate::Accepted(count) => count,
            MailFate::Loop => 0,
        }
    }

    /// The jobs that lie on the queue.
    pub(crate) fn jobs(&self) -> Vec<String> {
        let sent = self.queues.drain("inbound");
        sent.into_iter().map(|(body, _)| body).collect()
    }

    /// Works these jobs off; how many want to come again.
    pub(crate) async fn work(&self, jobs: Vec<String>) -> usize {
        let response = handle(&self.app, &sqs_event(jobs)).await;
        response.unfinished().count()
    }

    /// The body of the next POST.
    pub(crate) async fn posted(&self) -> String {
        let post = self.receiver.next(PATIENCE).await.unwrap();
        assert_eq!(
            post.header("content-type"),
            "multipart/form-data; boundary=xYzZY"
        );
        String::from_utf8(post.body.to_vec()).unwrap()
    }
}

/// The value of a field of a form.
pub(crate) fn field<'a>(form: &'a str, name: &str) -> Option<&'a str> {
    let head = format!("form-data; name=\"{name}\"\r\n\r\n");
    let (_, rest) = form.split_once(head.as_str())?;
    Some(rest.split_once("\r\n--xYzZY").unwrap().0)
}

/// The job inside a text.
pub(crate) fn job(text: &str) -> Inbound {
    Inbound::from_text(text).unwrap()
}
