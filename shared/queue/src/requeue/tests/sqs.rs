//! A minimal SQS queue: it hides and delays messages, counts receives, and moves dead letters by the
//! template's count.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard};

use aws_lambda_events::event::sqs::{SqsEvent, SqsMessage, SqsMessageAttribute};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::{Router, body::Bytes, routing::post};
use futures_util::FutureExt as _;
use posthaste_model::Entropy;
use serde_json::{Value, json};

use super::super::{handle_sqs, id};
use crate::client::stand_in::serve;
use crate::{BatchResult, Disposition, Queue, each};

/// As in the template.
const MOST_RECEIVES: u32 = 5;
/// Seconds; as in the template for mail.
pub(super) const VISIBILITY: u64 = 1800;
const BATCH_SIZE: usize = 10;

pub(super) struct Message {
    pub(super) id: String,
    pub(super) sent: Value,
    pub(super) receives: u32,
    pub(super) visible: u64,
}

#[derive(Default)]
pub(super) struct Books {
    pub(super) now: u64,
    pub(super) made: usize,
    pub(super) messages: Vec<Message>,
    pub(super) dead: Vec<String>,
    /// The delay of each message that was sent.
    pub(super) delays: Vec<u64>,
    /// Bodies that are refused one by one.
    pub(super) refused: Vec<String>,
    pub(super) is_down: bool,
}

#[derive(Clone)]
pub(super) struct Sqs {
    pub(super) books: Arc<Mutex<Books>>,
    pub(super) queue: Queue,
    pub(super) entropy: Entropy,
}

impl Sqs {
    pub(super) async fn start(bodies: &[&str]) -> Self {
        let books = Arc::<Mutex<Books>>::default();
        let router = Router::new().route("/", post(answer));
        let (endpoint, config) = serve(router.with_state(Arc::clone(&books))).await;
        for body in bodies {
            let entry = json!({"MessageBody": body});
            books.lock().unwrap().take(&entry);
        }
        Self {
            books,
            queue: Queue::sqs(&config, &format!("{endpoint}/000000000000/send")),
            entropy: Entropy::counting(),
        }
    }

    pub(super) fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap()
    }

    /// Simulates Lambda at the next moment at which there is something to receive: a batch for the
    /// worker, and its answer. A worker that dies gives none.
    pub(super) async fn invoke(&self, work: impl Fn(&str) -> Disposition + Sync) {
        let event = self.books().receive();
        let handle = async |event: &SqsEvent| {
            each(event, 10, |record| {
                let body = record.body.clone().unwrap_or_default();
                let work = &work;
                async move { work(&body) }
            })
            .await
        };
        self.hand_over(event, handle).await;
    }

    pub(super) async fn hand_over(
        &self,
        event: SqsEvent,
        handle: impl AsyncFn(&SqsEvent) -> BatchResult,
    ) {
        let received: Vec<String> = event.records.iter().map(id).collect();
        let queues = [&self.queue];
        let run = handle_sqs(&queues, event, &self.entropy, handle);
        let Ok(answer) = AssertUnwindSafe(run).catch_unwind().await else {
            return;
        };
        let failures = answer.batch_item_failures.into_iter();
        let stay: Vec<String> = failures.map(|failure| failure.item_identifier).collect();
        assert!(stay.iter().all(|id| received.contains(id)), "{stay:?}");
        let gone = |m: &Message| received.contains(&m.id) && !stay.contains(&m.id);
        self.books().messages.retain(|message| !gone(message));
    }

    /// Bodies on the queue, in order.
    pub(super) fn waiting(&self) -> Vec<String> {
        let books = self.books();
        let mut bodies: Vec<_> = books.messages.iter().map(Message::body).collect();
        bodies.sort();
        bodies
    }
}

impl Message {
    pub(super) fn body(&self) -> String {
        let body = self.sent["MessageBody"].as_str();
        body.unwrap_or_default().to_owned()
    }
}

impl Books {
    pub(super) fn take(&mut self, entry: &Value) {
        let delay = entry["DelaySeconds"].as_u64().unwrap_or(0);
        assert!(delay <= 900, "SQS refuses {delay}");
        self.made += 1;
        self.delays.push(delay);
        self.messages.push(Message {
            id: format!("message-{}", self.made),
            sent: entry.clone(),
            receives: 0,
            visible: self.now + delay,
        });
    }

    pub(super) fn receive(&mut self) -> SqsEvent {
        let mut event = SqsEvent::default();
        while event.records.is_empty() && !self.messages.is_empty() {
            let soonest = self.messages.iter().map(|m| m.visible).min().unwrap();
            self.now = self.now.max(soonest);
            let (now, dead) = (self.now, &mut self.dead);
            self.messages.retain_mut(|message| {
                if message.visible > now || event.records.len() == BATCH_SIZE {
                    return true;
                }
                message.receives += 1;
                message.visible = now + VISIBILITY;
                let lives = message.receives <= MOST_RECEIVES;
                if lives {
                    event.records.push(record(message));
                } else {
                    dead.push(message.body());
                }
                lives
            });
        }
        event
    }
}

pub(super) fn record(message: &Message) -> SqsMessage {
    let mut record = SqsMessage::default();
    record.message_id = Some(message.id.clone());
    record.receipt_handle = Some(message.id.clone());
    record.body = Some(message.body());
    record.event_source_arn = Some("arn:aws:sqs:us-east-1:000000000000:send".to_owned());
    let count = message.receives.to_string();
    let mut attribute = |name: &str, value: String| {
        record.attributes.insert(name.to_owned(), value);
    };
    attribute("ApproximateReceiveCount", count);
    let trace = &message.sent["MessageSystemAttributes"]["AWSTraceHeader"]["StringValue"];
    if let Some(trace) = trace.as_str() {
        attribute("AWSTraceHeader", trace.to_owned());
    }
    if let Some(group) = message.sent["MessageGroupId"].as_str() {
        attribute("MessageGroupId", group.to_owned());
    }
    let sent = message.sent["MessageAttributes"].as_object();
    for (name, value) in sent.into_iter().flatten() {
        assert_eq!(value["DataType"], "Number");
        let mut attribute = SqsMessageAttribute::default();
        attribute.string_value = value["StringValue"].as_str().map(str::to_owned);
        record.message_attributes.insert(name.clone(), attribute);
    }
    record
}

async fn answer(State(books): State<Arc<Mutex<Books>>>, head: HeaderMap, body: Bytes) -> Response {
    let mut books = books.lock().unwrap();
    let ask: Value = serde_json::from_slice(&body).unwrap();
    if books.is_down {
        let error = json!({"__type": "com.amazonaws.sqs#QueueDoesNotExist"});
        return (StatusCode::BAD_REQUEST, error.to_string()).into_response();
    }
    if head["x-amz-target"] == "AmazonSQS.SendMessage" {
        books.take(&ask);
        let sent = json!({"MessageId": "m", "MD5OfMessageBody": ""});
        return sent.to_string().into_response();
    }
    let entries = ask["Entries"].as_array().unwrap();
    assert!(entries.len() <= 10, "SQS refuses {}", entries.len());
    let (mut successful, mut failed) = (Vec::new(), Vec::new());
    for entry in entries {
        let ok = json!({"Id": entry["Id"], "MessageId": "m", "MD5OfMessageBody": ""});
        if head["x-amz-target"] == "AmazonSQS.DeleteMessageBatch" {
            books.messages.retain(|m| m.id != entry["ReceiptHandle"]);
            successful.push(ok);
        } else if head["x-amz-target"] == "AmazonSQS.ChangeMessageVisibilityBatch" {
            let seconds = entry["VisibilityTimeout"].as_u64().unwrap();
            let now = books.now;
            for message in &mut books.messages {
                if message.id == entry["ReceiptHandle"] {
                    message.visible = now + seconds;
                }
            }
            successful.push(ok);
        } else if books
            .refused
            .iter()
            .any(|body| entry["MessageBody"] == **body)
        {
            failed.push(json!({"Id": entry["Id"], "Code": "Throttled", "SenderFault": false}));
        } else {
            books.take(entry);
            successful.push(ok);
        }
    }
    let answer = json!({"Successful": successful, "Failed": failed});
    answer.to_string().into_response()
}
