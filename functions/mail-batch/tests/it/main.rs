//! The batch endpoints over an embedded table: statuses, bodies, limits, transitions, and what is
//! refused. How messages end is tested with the sweep.

mod batches;
mod extensions;
mod holds;
mod waiting;

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use http::Method;
use mail_batch::{App, routes};
use posthaste_http::RateLimits;
use posthaste_model::{BatchId, MessageId, Timestamp};
use posthaste_store::ScheduledMail;
use posthaste_testkit::{Response, Services, entropy};
use serde_json::{Value, json};

pub(crate) const SCHEDULED: &str = "/v3/user/scheduled_sends";

/// One account and an instance that serves it.
pub(crate) struct TestApp {
    app: posthaste_testkit::TestApp,
    next: Arc<AtomicU32>,
}

impl Deref for TestApp {
    type Target = posthaste_testkit::TestApp;

    fn deref(&self) -> &Self::Target {
        &self.app
    }
}

impl TestApp {
    pub(crate) async fn new() -> Self {
        Self::with_search("30").await
    }

    /// Where mails that wait are not listed.
    pub(crate) async fn without_search() -> Self {
        Self::with_search("0").await
    }

    async fn with_search(days: &str) -> Self {
        let limits = RateLimits {
            requests: 100_000,
            ..RateLimits::default()
        };
        let services = Services::start().await.limits(limits);
        let services = services.var("SEARCH_DAYS", days);
        Self {
            app: posthaste_testkit::TestApp::on(services, App::from_env, routes).await,
            next: Arc::default(),
        }
    }

    pub(crate) async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> Response {
        self.call(method, path, body.as_ref()).await
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.ask(Method::GET, path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Response {
        self.ask(Method::POST, path, Some(body)).await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Response {
        self.ask(Method::PATCH, path, Some(body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Response {
        self.ask(Method::DELETE, path, None).await
    }

    pub(crate) async fn open(&self) -> BatchId {
        let answer = self
            .ask(Method::POST, "/v3/mail/batch", None)
            .await
            .expect(201);
        BatchId::parse(answer.json()["batch_id"].as_str().unwrap()).unwrap()
    }

    pub(crate) async fn hold(&self, batch: &BatchId, status: &str) -> Response {
        let body = json!({"batch_id": batch.as_str(), "status": status});
        self.post(SCHEDULED, body).await
    }

    /// What mail/send writes for a mail that leaves later.
    pub(crate) async fn send_later(&self, wait: i64, batch: Option<&BatchId>) -> MessageId {
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        let (message, at) = (entropy().message_id(), self.hand.now().plus(wait));
        self.piece(&message, first, at, batch).await;
        message
    }

    pub(crate) async fn piece(
        &self,
        message: &MessageId,
        first: u32,
        at: Timestamp,
        batch: Option<&BatchId>,
    ) {
        let account = &self.tenant.account.id;
        let job = json!({
            "account": account.as_str(),
            "message": message.as_str(),
            "accepted": self.hand.now().millis(),
            "due": at.0,
            "body": {"blob": "x"},
        });
        let later = ScheduledMail {
            account,
            message,
            first,
            recipients: 2,
            accepted: self.hand.now(),
            at,
            batch,
            job: &job.to_string(),
        };
        let near = self
            .store
            .schedule(&[later], &self.hand.clock())
            .await
            .unwrap();
        self.queues.queue("send").send_all(near).await.unwrap();
    }
}
