//! The send queue, delivery and the release of what waits, on a clock that jumps to what comes next.

use std::collections::BTreeMap;
use std::time::Duration;

use delivery::{App, handle};
use posthaste_model::{Event, EventKind, Millis};
use posthaste_outage::OutageStore;
use posthaste_queue::{BatchResult, EventBatch, Job};
use posthaste_testkit::{FaultProxy, Services, entropy, sqs_event};
use serde_json::Value;

/// The calls that write.
const WRITES: [&str; 4] = ["PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"];

/// A minute.
const SWEEPS: i64 = 60_000;

/// The send queue, delivery and the release of what waits.
pub(crate) struct Simulation {
    pub(crate) services: Services,
    pub(crate) app: App,
    pub(crate) table: FaultProxy,
    /// What waits on the queue, by its time.
    pub(crate) queue: BTreeMap<(Millis, usize), String>,
    sent: usize,
    /// The mail that waits in the bucket, as the sweep opens it.
    outage: OutageStore,
    /// Jobs in the bucket.
    pub(crate) stored: usize,
    next_sweep: Millis,
    /// Whether each batch is handed to a process that has just started.
    pub(crate) cold: bool,
    /// Milliseconds between two releases of mail that waits in the bucket: as `schedule-sweep` has them,
    /// unless a test has nothing to see in between.
    pub(crate) sweeps: i64,
    /// Messages that the worker was handed.
    pub(crate) handed: usize,
    pub(crate) events: Vec<Event>,
    /// After how long a message whose job is not done is handed out again; `None` where every job
    /// must be done.
    pub(crate) returns_after: Option<Duration>,
}

impl Simulation {
    pub(crate) fn new(services: Services, table: FaultProxy) -> Self {
        Self {
            app: services.open(App::from_env),
            outage: OutageStore::new(
                services.store.clone(),
                services.blob.clone(),
                services.clock.clock(),
                entropy(),
            ),
            stored: 0,
            next_sweep: Millis(services.clock.clock().now_ms().0 + SWEEPS),
            cold: false,
            sweeps: SWEEPS,
            services,
            table,
            queue: BTreeMap::new(),
            sent: 0,
            handed: 0,
            events: Vec::new(),
            returns_after: None,
        }
    }

    pub(crate) fn now(&self) -> Millis {
        self.services.clock.clock().now_ms()
    }

    fn push(&mut self, text: String, delay: Duration) {
        assert!(delay <= Duration::from_secs(900), "{delay:?}");
        let at = Millis(self.now().0 + i64::try_from(delay.as_millis()).unwrap());
        self.queue.insert((at, self.sent), text);
        self.sent += 1;
    }

    pub(crate) fn accept(&mut self, job: &Job) {
        self.push(job.to_text().unwrap(), Duration::ZERO);
    }

    /// Jobs on the queue and in the bucket.
    pub(crate) fn waiting(&self) -> usize {
        self.queue.len() + self.stored
    }

    fn advance_to(&mut self, at: Millis) {
        let ahead = at.0 - self.now().0;
        self.services.clock.advance_ms(ahead.max(0));
    }

    /// Works on everything that is handed out by then, ten at a time, and sets the clock to it.
    pub(crate) async fn run_until(&mut self, end: Millis) {
        loop {
            let first = self.queue.first_key_value().map(|((at, _), _)| *at);
            let at = first.map_or(self.next_sweep, |at| at.min(self.next_sweep));
            if at > end {
                break;
            }
            self.advance_to(at);
            if at == self.next_sweep {
                self.sweep().await;
            } else {
                self.deliver().await;
            }
            for (text, delay) in self.services.queues.drain("send") {
                self.push(text, delay);
            }
        }
        self.advance_to(end);
        self.stored = self.count_stored().await;
    }

    async fn sweep(&mut self) {
        let released = self.outage.release(&self.app.send, Millis(i64::MAX));
        assert_eq!(released.await.unwrap().failed, 0);
        self.next_sweep = Millis(self.next_sweep.0 + self.sweeps);
    }

    async fn deliver(&mut self) {
        let (now, mut batch) = (self.now(), Vec::new());
        while let Some(next) = self.queue.first_entry()
            && batch.len() < 10
            && next.key().0 <= now
        {
            batch.push(next.remove());
        }
        self.handed += batch.len();
        if self.cold {
            self.app = self.services.open(App::from_env);
        }
        let result = handle(&self.app, &sqs_event(batch.clone())).await;
        match self.returns_after {
            None => assert_eq!(result, BatchResult::default()),
            Some(delay) => {
                for id in result.unfinished() {
                    self.push(batch[id.parse::<usize>().unwrap()].clone(), delay);
                }
            }
        }
        for (text, _) in self.services.queues.drain("events") {
            self.events
                .extend(EventBatch::from_text(&text).unwrap().events);
        }
    }

    async fn count_stored(&self) -> usize {
        let blob = &self.services.blob;
        let mut jobs = 0;
        for name in blob.list("waiting", usize::MAX).await.unwrap() {
            let pack = blob.get(&name).await.unwrap();
            let pack: Value = serde_json::from_slice(&pack).unwrap();
            jobs += pack["jobs"].as_array().unwrap().len();
        }
        jobs
    }

    pub(crate) async fn run_for(&mut self, seconds: i64) {
        self.run_until(Millis(self.now().0 + seconds * 1000)).await;
    }

    /// Writes for copies: the rows that note which of them SES took are one for many.
    pub(crate) fn writes(&self) -> usize {
        WRITES.iter().map(|name| self.table.calls(name)).sum()
    }

    /// The kinds of the events of each mail, in the order of their publication.
    pub(crate) fn kinds(&self) -> BTreeMap<String, Vec<EventKind>> {
        let mut kinds = BTreeMap::<_, Vec<_>>::new();
        for event in &self.events {
            let message = event.message.as_ref().unwrap().to_string();
            kinds.entry(message).or_default().push(event.kind);
        }
        kinds
    }
}
