//! A queue of the template as SQS and Lambda have it together, on a clock that the test turns: messages are
//! delayed, hidden while they are worked on, counted each time they are received, and become dead letters.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;
use axum::{Json, Router};
use posthaste_model::Timestamp;
use posthaste_queue::{BatchResult, Queue, SqsEvent, handle_sqs};
use posthaste_testkit::{TestClock, aws_stand_in, entropy};
use serde_json::{Value, json};

use crate::template::read::{Template, texts};

/// A queue, and what Lambda does with it.
pub(super) struct TimedQueue {
    pub(super) queue: Queue,
    name: String,
    clock: TestClock,
    /// Messages that Lambda receives together.
    batch: usize,
    messages: Arc<Mutex<Messages>>,
}

struct Messages {
    clock: TestClock,
    /// Seconds for which a received message is hidden.
    visibility: i64,
    /// Receives after which it is a dead letter.
    receives: u64,
    made: usize,
    waiting: Vec<Message>,
    /// Bodies of dead letters.
    dead: Vec<String>,
}

struct Message {
    id: String,
    /// As it was sent.
    entry: Value,
    receives: u64,
    visible: Timestamp,
}

impl TimedQueue {
    /// The queue of this logical name, with the template's visibility, receives and batches.
    pub(super) async fn of_template(name: &str, clock: &TestClock) -> Self {
        let template = Template::read();
        let queue = &template.of_type("AWS::SQS::Queue")[name];
        let number = |value: &serde_yaml_ng::Value| value.as_u64().expect("a number");
        let sources = template.functions().into_values().flat_map(|stanza| {
            let events = stanza["Events"].as_mapping().cloned().unwrap_or_default();
            events.into_values().collect::<Vec<_>>()
        });
        let source = sources
            .map(|event| event["Properties"].clone())
            .find(|source| texts(&source["Queue"]) == [format!("{name}.Arn")]);
        let source = source.expect("a function that reads the queue");
        assert_eq!(
            texts(&source["FunctionResponseTypes"]),
            ["ReportBatchItemFailures"]
        );
        let messages = Arc::new(Mutex::new(Messages {
            clock: clock.clone(),
            visibility: i64::try_from(number(&queue["VisibilityTimeout"])).expect("seconds"),
            receives: number(&queue["RedrivePolicy"]["maxReceiveCount"]),
            made: 0,
            waiting: Vec::new(),
            dead: Vec::new(),
        }));
        let router = Router::new()
            .route("/", post(call))
            .with_state(Arc::clone(&messages));
        let config = aws_stand_in(router).await;
        let endpoint = config.endpoint_url().expect("an endpoint").to_owned();
        Self {
            queue: Queue::sqs(&config, &format!("{endpoint}/000000000000/{name}")),
            name: name.to_owned(),
            clock: clock.clone(),
            batch: usize::try_from(number(&source["BatchSize"])).expect("messages"),
            messages,
        }
    }

    fn messages(&self) -> MutexGuard<'_, Messages> {
        lock(&self.messages)
    }

    /// Puts a message on the queue.
    pub(super) fn put(&self, body: &str) {
        self.messages().take(&json!({"MessageBody": body}));
    }

    /// Messages that wait or are worked on.
    pub(super) fn len(&self) -> usize {
        self.messages().waiting.len()
    }

    /// Messages that were given up.
    pub(super) fn dead(&self) -> usize {
        self.messages().dead.len()
    }

    /// Turns the clock to the next message that is visible, and lets the function work on it and those that
    /// are visible then, as Lambda does: what it does not report as failed is deleted. `false` where there is
    /// no message.
    pub(super) async fn invoke(&self, handle: impl AsyncFn(&SqsEvent) -> BatchResult) -> bool {
        let records = self.messages().receive(self.batch, &self.name);
        if records.is_empty() {
            return false;
        }
        let ids = records.iter().map(|record| record["messageId"].clone());
        let ids: Vec<Value> = ids.collect();
        let event: SqsEvent =
            serde_json::from_value(json!({"Records": records})).expect("an event of SQS");
        let response = handle_sqs(&[&self.queue], event, &entropy(), handle).await;
        let failed = response.batch_item_failures.into_iter();
        let failed: Vec<_> = failed.map(|failure| failure.item_identifier).collect();
        let is_done = |id: &Value| id.as_str().is_some_and(|id| failed.iter().all(|f| f != id));
        let done: Vec<Value> = ids.into_iter().filter(is_done).collect();
        let mut messages = self.messages();
        messages
            .waiting
            .retain(|one| !done.contains(&json!(one.id)));
        true
    }

    /// Invokes the function until the queue is empty; the seconds that takes.
    pub(super) async fn empty(&self, handle: impl AsyncFn(&SqsEvent) -> BatchResult) -> i64 {
        let begun = self.clock.now();
        while self.invoke(&handle).await {}
        self.clock.now().since(begun)
    }
}

impl Messages {
    fn take(&mut self, entry: &Value) {
        let delay = entry["DelaySeconds"].as_i64().unwrap_or(0);
        assert!((0..=900).contains(&delay), "SQS refuses {delay}");
        self.made += 1;
        self.waiting.push(Message {
            id: format!("message-{}", self.made),
            entry: entry.clone(),
            receives: 0,
            visible: self.clock.now().plus(delay),
        });
    }

    /// The messages that are visible next, as Lambda's event has them.
    fn receive(&mut self, most: usize, queue: &str) -> Vec<Value> {
        let mut records = Vec::new();
        while records.is_empty() {
            let Some(next) = self.waiting.iter().map(|one| one.visible).min() else {
                break;
            };
            if next > self.clock.now() {
                self.clock.set(next);
            }
            let (now, mut kept) = (self.clock.now(), Vec::new());
            for mut message in std::mem::take(&mut self.waiting) {
                if message.visible <= now && records.len() < most {
                    message.receives += 1;
                    message.visible = now.plus(self.visibility);
                    if message.receives > self.receives {
                        self.dead.push(message.entry["MessageBody"].to_string());
                        continue;
                    }
                    records.push(message.record(queue));
                }
                kept.push(message);
            }
            self.waiting = kept;
        }
        records
    }

    fn show(&mut self, handle: &Value, seconds: i64) {
        let visible = self.clock.now().plus(seconds);
        for message in &mut self.waiting {
            if *handle == message.id {
                message.visible = visible;
            }
        }
    }
}

impl Message {
    fn record(&self, queue: &str) -> Value {
        let sent = self.entry["MessageAttributes"].as_object();
        let attributes = sent.into_iter().flatten().map(|(name, value)| {
            let value = json!({"stringValue": value["StringValue"], "dataType": value["DataType"]});
            (name.clone(), value)
        });
        let attributes: serde_json::Map<_, _> = attributes.collect();
        json!({
            "messageId": self.id,
            "receiptHandle": self.id,
            "body": self.entry["MessageBody"],
            "attributes": {"ApproximateReceiveCount": self.receives.to_string()},
            "messageAttributes": attributes,
            "eventSource": "aws:sqs",
            "eventSourceARN": format!("arn:aws:sqs:us-east-1:000000000000:{queue}"),
            "awsRegion": "us-east-1",
        })
    }
}

fn lock(messages: &Mutex<Messages>) -> MutexGuard<'_, Messages> {
    messages.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The calls that a function makes of its own queue.
async fn call(
    State(messages): State<Arc<Mutex<Messages>>>,
    head: HeaderMap,
    body: Bytes,
) -> Json<Value> {
    let mut messages = lock(&messages);
    let ask: Value = serde_json::from_slice(&body).expect("JSON");
    let action = head["x-amz-target"].to_str().expect("text").to_owned();
    if action == "AmazonSQS.SendMessage" {
        messages.take(&ask);
        return Json(json!({"MessageId": "message"}));
    }
    let entries = ask["Entries"].as_array().cloned().expect("a batch");
    for entry in &entries {
        match action.as_str() {
            "AmazonSQS.SendMessageBatch" => messages.take(entry),
            "AmazonSQS.ChangeMessageVisibilityBatch" => {
                let seconds = entry["VisibilityTimeout"].as_i64().expect("seconds");
                messages.show(&entry["ReceiptHandle"], seconds);
            }
            "AmazonSQS.DeleteMessageBatch" => {
                let handle = &entry["ReceiptHandle"];
                messages.waiting.retain(|one| *handle != one.id);
            }
            other => panic!("SQS is not asked for {other} here"),
        }
    }
    let done = entries.iter();
    let done = done.map(|entry| json!({"Id": entry["Id"], "MessageId": "message"}));
    Json(json!({"Successful": done.collect::<Vec<_>>(), "Failed": []}))
}
