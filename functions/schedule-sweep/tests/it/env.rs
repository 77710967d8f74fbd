//! Everything a later send passes through, around one clock: the routes, the table, the sweep, the
//! queue, and a worker that does what `delivery` does with `Store::begin_delivery`.

use aws_config::SdkConfig;
use http::{Method, StatusCode};
use posthaste_http::RateLimits;
use posthaste_model::batch::{PartFate, Reason};
use posthaste_model::{AccountId, BatchId, MessageId, Millis, Timestamp};
use posthaste_queue::{Job, JobBody};
use posthaste_store::{
    AttemptOutcome, Claim, Claimant, CopyState, Described, Due, ScheduledMail, Store, StoreError,
};
use posthaste_testkit::{
    Api, FailAfter, Queues, Response, Services, TABLE, Tenant, TestClock, dynamodb, entropy,
};
use schedule_sweep::{App, Share, Swept, sweep};
use serde_json::{Value, json};

/// How one copy of a message ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Sent,
    Dropped(&'static str),
}

/// One hand-over or drop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    pub(crate) message: MessageId,
    pub(crate) first: u32,
    pub(crate) at: Millis,
    pub(crate) end: End,
}

pub(crate) struct TestEnv {
    pub(crate) config: SdkConfig,
    pub(crate) hand: TestClock,
    pub(crate) faults: FailAfter,
    pub(crate) store: Store,
    pub(crate) queues: Queues,
    pub(crate) app: App,
    pub(crate) api: Api,
    pub(crate) tenant: Tenant,
    /// What lies in the send queue, and when it is handed out.
    pub(crate) inbox: Vec<(Millis, String)>,
    /// What happened to messages, in order.
    pub(crate) left: Vec<Left>,
}

impl TestEnv {
    pub(crate) async fn new() -> Self {
        let faults = FailAfter::default();
        let config = dynamodb().await;
        // Few, so that a test fills all of them.
        let store = Store::open(&faults.around(&config), TABLE).with_due_shards(4);
        store.create_table().await.unwrap();
        let limits = RateLimits {
            requests: 1_000_000,
            ..RateLimits::default()
        };
        let services = Services::on(store)
            .failing_after(faults.clone())
            .limits(limits);
        let services = services.var("SWEEP_AT_ONCE", "4");
        Self {
            config,
            faults,
            tenant: Tenant::new(&services.store, "later", services.clock.now()).await,
            app: services.open(App::from_env),
            api: services.api(mail_batch::App::from_env, mail_batch::routes),
            hand: services.clock,
            store: services.store,
            queues: services.queues,
            inbox: Vec::new(),
            left: Vec::new(),
        }
    }

    pub(crate) fn account(&self) -> &AccountId {
        &self.tenant.account.id
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.hand.now()
    }

    /// A call to the API; what it sends to the queue arrives.
    pub(crate) async fn call(&mut self, method: &str, path: &str, body: Option<Value>) -> Response {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let ask = self.api.ask(method, path).key(&self.tenant.key);
        let ask = match &body {
            Some(json) => ask.json(json),
            None => ask,
        };
        let answer = ask.send().await;
        self.collect();
        answer
    }

    pub(crate) async fn open_batch(&mut self) -> BatchId {
        let answer = self.call("POST", "/v3/mail/batch", None).await.expect(201);
        BatchId::parse(answer.json()["batch_id"].as_str().unwrap()).unwrap()
    }

    pub(crate) async fn hold(&mut self, batch: &BatchId, status: &str) -> Response {
        let body = json!({"batch_id": batch.as_str(), "status": status});
        self.call("POST", "/v3/user/scheduled_sends", Some(body))
            .await
    }

    pub(crate) async fn turn(&mut self, batch: &BatchId, status: &str) -> Response {
        let path = format!("/v3/user/scheduled_sends/{batch}");
        self.call("PATCH", &path, Some(json!({"status": status})))
            .await
    }

    pub(crate) async fn resume(&mut self, batch: &BatchId) -> Response {
        self.call("DELETE", &format!("/v3/user/scheduled_sends/{batch}"), None)
            .await
    }

    pub(crate) async fn cancel_message(&mut self, message: &MessageId) -> Response {
        let path = format!("/v3/user/scheduled_sends/messages/{message}");
        self.call("DELETE", &path, None).await
    }

    pub(crate) async fn move_message(&mut self, message: &MessageId, to: Timestamp) -> Response {
        let path = format!("/v3/user/scheduled_sends/messages/{message}");
        self.call("PATCH", &path, Some(json!({"send_at": to.0})))
            .await
    }

    /// What the contract's `status` word of a batch is; `None` when it has none.
    pub(crate) async fn status(&mut self, batch: &BatchId) -> Option<String> {
        let path = format!("/v3/user/scheduled_sends/{batch}");
        let answer = self.call("GET", &path, None).await.expect(200);
        Some(answer.json()[0]["status"].as_str()?.to_owned())
    }

    /// Accepts a mail to one recipient, as mail/send does with one that leaves later.
    pub(crate) async fn send_later(&mut self, at: Timestamp, batch: Option<&BatchId>) -> MessageId {
        let message = entropy().message_id();
        self.accept(&message, 0, at, batch).await.unwrap();
        message
    }

    /// The same for one piece of a mail, where things may go wrong.
    pub(crate) async fn accept(
        &mut self,
        message: &MessageId,
        first: u32,
        at: Timestamp,
        batch: Option<&BatchId>,
    ) -> Result<(), String> {
        let account = self.account().clone();
        let mut job = job(&account, message, first, at, batch);
        job.accepted = self.hand.clock().now_ms();
        let text = job.to_text().unwrap();
        let later = ScheduledMail {
            account: &account,
            message,
            first,
            recipients: 1,
            accepted: job.accepted.seconds(),
            at,
            batch,
            job: &text,
        };
        let clock = self.hand.clock();
        let near = self.store.schedule(&[later], &clock).await;
        let near = near.map_err(|e| e.to_string())?;
        let sent = self.queues.queue("send").send_all(near).await;
        self.collect();
        sent.map_err(|e| e.to_string())
    }

    pub(crate) async fn sweep(&mut self) -> Swept {
        let swept = sweep(&self.app, Share::ALL).await.unwrap();
        self.collect();
        swept
    }

    /// The same where things may go wrong: `None` when the sweep died.
    pub(crate) async fn try_sweep(&mut self) -> Option<Swept> {
        let swept = sweep(&self.app, Share::ALL).await.ok();
        self.collect();
        swept
    }

    /// Takes what was sent to the queue since.
    pub(crate) fn collect(&mut self) {
        let now = self.hand.clock().now_ms();
        for (job, delay) in self.queues.drain("send") {
            let wait = i64::try_from(delay.as_millis()).unwrap();
            self.inbox.push((Millis(now.0 + wait), job));
        }
    }

    /// Works on every job that is handed out by now, and on those that come of it. `false` when
    /// the worker died; its job comes back.
    pub(crate) async fn deliver(&mut self) -> bool {
        loop {
            let now = self.hand.clock().now_ms();
            let Some(next) = self.inbox.iter().position(|(ready, _)| *ready <= now) else {
                return true;
            };
            let (ready, text) = self.inbox.remove(next);
            let done = self.work(&text).await;
            self.collect();
            if done.is_err() {
                self.inbox.push((ready, text));
                return false;
            }
        }
    }

    /// What `delivery` does with a job of the first attempt.
    async fn work(&mut self, text: &str) -> Result<(), StoreError> {
        let mut job = Job::from_text(text).unwrap();
        let first = job.spans.first().map_or(0, |span| span.from);
        let JobBody::Mail(mail) = &job.body else {
            unreachable!("a small mail travels as it is");
        };
        let batch = mail.batch_id.clone();
        let later = ScheduledMail {
            account: &job.account,
            message: &job.message,
            first,
            recipients: 1,
            accepted: job.accepted.seconds(),
            at: job.due.unwrap(),
            batch: batch.as_ref(),
            job: text,
        };
        let clock = self.hand.clock();
        let end = match self.store.begin_delivery(&later, &clock).await? {
            PartFate::Hold | PartFate::Ignore => return Ok(()),
            PartFate::Deliver => End::Sent,
            PartFate::Discard(Reason::Cancelled) => End::Dropped("Cancelled"),
            PartFate::Discard(Reason::Expired) => End::Dropped("Expired"),
            PartFate::Move(at) => {
                job.due = Some(at);
                let id = (&job.message, first, 0);
                let due = Due::send(at, &job.account, id, job.to_text().unwrap());
                let near = self.store.defer(vec![due], &clock).await?;
                let sent = self.queues.queue("send").send_all(near).await;
                return sent.map_err(|e| StoreError::Unreachable(e.to_string()));
            }
        };
        // From here on it is delivery's own business, tested there: it neither dies nor repeats.
        self.faults.restore();
        let copy = (&job.account, &job.message, first);
        let who = Claimant {
            owner: "test",
            single_process: false,
            now: clock.now(),
            lease: 60,
            retention: 1_000_000,
        };
        let what = Described {
            email: "a@example.com",
            from: "f@example.com",
            subject: "",
            accepted_at: job.accepted.seconds(),
        };
        if self.store.claim(copy, 0, who, &what).await? != Claim::Won {
            return Ok(());
        }
        self.left.push(Left {
            message: job.message.clone(),
            first,
            at: clock.now_ms(),
            end: end.clone(),
        });
        let state = match end {
            End::Sent => CopyState::Delivered,
            End::Dropped(_) => CopyState::Dropped,
        };
        let outcome = AttemptOutcome {
            state,
            now: clock.now(),
            events: &[],
        };
        self.store.record(copy, 0, &outcome).await?;
        Ok(())
    }

    /// Lets time pass in steps of a minute, as the rule and the queue see it, each a little past
    /// the minute, and ends at `to`. Minutes in which a sweep has nothing to move are skipped.
    pub(crate) async fn pass_until(&mut self, to: Timestamp) {
        while self.now() < to {
            let minutes = self
                .store
                .due_minutes(Timestamp(9_999_999_999))
                .await
                .unwrap();
            let over = self.now().plus(-120);
            let first = minutes
                .iter()
                .map(|m| m.start())
                .find(|start| *start > over);
            let first = first.map_or(to, |start| start.plus(-240));
            let from = self.now().max(first.min(to));
            let next = Timestamp((from.0 / 60 + 1) * 60).plus(7);
            self.wait_until(next.min(to)).await;
            if next <= to {
                self.sweep().await;
                self.deliver().await;
            }
        }
    }

    /// Lets time pass without sweeps; jobs in the queue are worked on at their moment.
    pub(crate) async fn wait_until(&mut self, to: Timestamp) {
        loop {
            let ready = self.inbox.iter().map(|(ready, _)| *ready).min();
            match ready.filter(|ready| *ready <= to.millis()) {
                None => break,
                Some(ready) => {
                    let now = self.hand.clock().now_ms();
                    self.hand.advance_ms((ready.0 - now.0).max(0));
                    self.deliver().await;
                }
            }
        }
        self.hand.set(to);
    }

    /// What happened to a message, and how many milliseconds after `at`.
    pub(crate) fn ends(&self, message: &MessageId, at: Timestamp) -> Vec<(End, i64)> {
        let own = self.left.iter().filter(|left| left.message == *message);
        own.map(|left| (left.end.clone(), left.at.0 - at.millis().0))
            .collect()
    }
}

pub(crate) fn job(
    account: &AccountId,
    message: &MessageId,
    first: u32,
    due: Timestamp,
    batch: Option<&BatchId>,
) -> Job {
    let mail = json!({
        "from": {"email": "f@example.com"},
        "subject": "later",
        "content": [{"type": "text/plain", "value": "x"}],
        "batch_id": batch.map(BatchId::as_str),
        "personalizations": [{"to": [{"email": "a@example.com"}]}],
    });
    let job = json!({
        "account": account.as_str(),
        "message": message.as_str(),
        "accepted": 0,
        "due": due.0,
        "spans": [{"from": first, "to": first + 1}],
        "body": {"mail": mail},
    });
    serde_json::from_value(job).unwrap()
}

/// A refusal's status and first message.
pub(crate) fn refusal(answer: &Response) -> (StatusCode, String) {
    (answer.status, answer.error().1)
}
