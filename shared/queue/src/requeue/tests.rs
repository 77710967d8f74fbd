//! Against a minimal SQS queue: it hides and delays messages, counts receives, and moves dead
//! letters by the template's count.

use crate::queue::BATCH_BYTES;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard};

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_lambda_events::event::sqs::SqsMessageAttribute;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::{Router, body::Bytes, routing::post};
use futures_util::FutureExt as _;
use serde_json::{Value, json};

use super::*;
use crate::{Disposition, each};

/// As in the template.
const MOST_RECEIVES: u32 = 5;
/// Seconds; as in the template for mail.
const VISIBILITY: u64 = 1800;
const BATCH_SIZE: usize = 10;

struct Message {
    id: String,
    sent: Value,
    receives: u32,
    visible: u64,
}

#[derive(Default)]
struct Books {
    now: u64,
    made: usize,
    messages: Vec<Message>,
    dead: Vec<String>,
    /// The delay of each message that was sent.
    delays: Vec<u64>,
    /// Bodies that are refused one by one.
    refused: Vec<String>,
    is_down: bool,
}

#[derive(Clone)]
struct Sqs {
    books: Arc<Mutex<Books>>,
    queue: Queue,
    entropy: Entropy,
}

impl Sqs {
    async fn start(bodies: &[&str]) -> Self {
        let books = Arc::<Mutex<Books>>::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().route("/", post(answer));
        let router = router.with_state(Arc::clone(&books));
        tokio::spawn(async move { axum::serve(listener, router).await });
        let credentials = Credentials::new("id", "secret", None, None, "test");
        let config = SdkConfig::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .credentials_provider(SharedCredentialsProvider::new(credentials))
            .endpoint_url(&endpoint)
            .build();
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

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap()
    }

    /// Simulates Lambda at the next moment at which there is something to receive: a batch for the
    /// worker, and its answer. A worker that dies gives none.
    async fn invoke(&self, work: impl Fn(&str) -> Disposition + Sync) {
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

    async fn hand_over(&self, event: SqsEvent, handle: impl AsyncFn(&SqsEvent) -> BatchResult) {
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
    fn waiting(&self) -> Vec<String> {
        let books = self.books();
        let mut bodies: Vec<_> = books.messages.iter().map(Message::body).collect();
        bodies.sort();
        bodies
    }
}

impl Message {
    fn body(&self) -> String {
        let body = self.sent["MessageBody"].as_str();
        body.unwrap_or_default().to_owned()
    }
}

impl Books {
    fn take(&mut self, entry: &Value) {
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

    fn receive(&mut self) -> SqsEvent {
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
                match lives {
                    true => event.records.push(record(message)),
                    false => dead.push(message.body()),
                }
                lives
            });
        }
        event
    }
}

fn record(message: &Message) -> SqsMessage {
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
    let entries = ask["Entries"].as_array().unwrap();
    assert!(entries.len() <= 10, "SQS refuses {}", entries.len());
    let (mut successful, mut failed) = (Vec::new(), Vec::new());
    for entry in entries {
        let ok = json!({"Id": entry["Id"], "MessageId": "m", "MD5OfMessageBody": ""});
        if head["x-amz-target"] == "AmazonSQS.DeleteMessageBatch" {
            books.messages.retain(|m| m.id != entry["ReceiptHandle"]);
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

#[test]
fn a_job_waits_ten_seconds_then_twice_as_long_up_to_a_quarter_of_an_hour() {
    let entropy = Entropy::counting();
    for (returns, most) in [
        (0, 10),
        (1, 20),
        (2, 40),
        (6, 640),
        (7, 900),
        (200, 900),
        (u32::MAX, 900),
    ] {
        let delays: BTreeSet<u64> = (0..200).map(|_| delay(returns, &entropy)).collect();
        let least = most - most / 4;
        assert!(
            delays.iter().all(|d| (least..=most).contains(d)),
            "{delays:?}"
        );
        // Jobs that came together are spread out.
        assert!(delays.len() > 2, "{delays:?}");
    }
}

#[tokio::test]
async fn a_job_given_back_200_times_is_delivered_and_its_first_return_is_soon() {
    let sqs = Sqs::start(&["mail"]).await;
    for time in 1..=200 {
        sqs.invoke(|_| Disposition::Retry).await;
        assert_eq!(sqs.waiting(), ["mail"], "{time}");
        let returns = sqs.books().messages[0].sent["MessageAttributes"][RETURNS].clone();
        assert_eq!(returns["StringValue"], time.to_string());
    }
    assert!((8..=10).contains(&sqs.books().delays[1]));
    sqs.invoke(|_| Disposition::Done).await;
    assert!(sqs.waiting().is_empty() && sqs.books().dead.is_empty());
}

#[tokio::test]
async fn a_job_that_ends_the_function_is_buried_and_those_beside_it_are_delivered() {
    let mails: Vec<String> = (0..40).map(|i| format!("mail-{i:02}")).collect();
    let mut bodies: Vec<&str> = mails.iter().map(String::as_str).collect();
    bodies.insert(15, "killer");
    let sqs = Sqs::start(&bodies).await;
    let (done, deaths) = (Mutex::new(BTreeSet::new()), Mutex::new(0_usize));
    while !sqs.waiting().is_empty() {
        let event = sqs.books().receive();
        let kills = async |event: &SqsEvent| {
            let bodies = event.records.iter().filter_map(|r| r.body.clone());
            let bodies: Vec<String> = bodies.collect();
            if bodies.iter().any(|body| body == "killer") {
                *deaths.lock().unwrap() += 1;
                // Outside of any job, like the end of the process: no answer is given.
                panic!("the function ends");
            }
            done.lock().unwrap().extend(bodies);
            BatchResult::default()
        };
        sqs.hand_over(event, kills).await;
    }
    assert_eq!(sqs.books().dead, ["killer"]);
    assert_eq!(*done.lock().unwrap(), mails.into_iter().collect());
    let deaths = *deaths.lock().unwrap();
    assert!((5..=7).contains(&deaths), "{deaths}");
    assert!(sqs.books().now <= 6 * VISIBILITY + 60);
}

#[tokio::test]
async fn what_fails_or_panics_is_buried_and_the_rest_of_its_batch_is_not() {
    let sqs = Sqs::start(&["no job", "panic", "mail", "later"]).await;
    let mut rounds = 0;
    while !sqs.waiting().is_empty() {
        rounds += 1;
        sqs.invoke(|body| match body {
            "no job" => Disposition::Fail,
            "panic" => panic!("a job nobody foresaw"),
            "later" if rounds < 3 => Disposition::Retry,
            _ => Disposition::Done,
        })
        .await;
        assert!(rounds < 60, "{:?}", sqs.waiting());
    }
    let mut dead = sqs.books().dead.clone();
    dead.sort();
    assert_eq!(dead, ["no job", "panic"]);
}

#[tokio::test]
async fn a_job_that_cannot_be_sent_anew_stays() {
    let sqs = Sqs::start(&["one", "two"]).await;
    sqs.books().is_down = true;
    sqs.invoke(|_| Disposition::Retry).await;
    assert_eq!(sqs.waiting(), ["one", "two"]);
    assert_eq!(sqs.books().delays.len(), 2, "nothing was sent");

    // One by one, too.
    let sqs = Sqs::start(&["one", "two"]).await;
    sqs.books().refused = vec!["one".to_owned()];
    sqs.invoke(|_| Disposition::Retry).await;
    assert_eq!(sqs.waiting(), ["one", "two"]);
    let books = sqs.books();
    let receives = books.messages.iter().map(|m| (m.body(), m.receives));
    let receives: BTreeSet<_> = receives.collect();
    assert_eq!(
        receives,
        [("one".to_owned(), 1), ("two".to_owned(), 0)].into()
    );
}

#[tokio::test]
async fn a_queue_that_is_none_of_the_function_s_gets_nothing() {
    let sqs = Sqs::start(&["one"]).await;
    let mut event = sqs.books().receive();
    event.records[0].event_source_arn = Some("arn:aws:sqs:us-east-1:0:other".to_owned());
    sqs.hand_over(event, async |event: &SqsEvent| BatchResult {
        again: event.records.iter().map(id).collect(),
        failed: Vec::new(),
    })
    .await;
    assert_eq!(sqs.books().messages[0].receives, 1);
    assert_eq!(sqs.books().delays.len(), 1);
}

#[tokio::test]
async fn a_job_keeps_its_trace_and_its_group() {
    let sqs = Sqs::start(&[]).await;
    sqs.books().take(&json!({
        "MessageBody": "mail",
        "MessageGroupId": "account",
        "MessageSystemAttributes": {"AWSTraceHeader": {"DataType": "String", "StringValue": "Root=1-2"}},
    }));
    sqs.invoke(|_| Disposition::Retry).await;
    let event = sqs.books().receive();
    let attributes = &event.records[0].attributes;
    assert_eq!(attributes["AWSTraceHeader"], "Root=1-2");
    assert_eq!(attributes["MessageGroupId"], "account");
    assert_eq!(attributes["ApproximateReceiveCount"], "1");
    assert!(is_repeat(&event.records[0]));
}

#[test]
fn a_repeat_is_known_by_its_receives_and_by_its_returns() {
    let first = |receives: u32, attributes: Value| {
        let sent = json!({"MessageBody": "", "MessageAttributes": attributes});
        is_repeat(&record(&Message {
            id: String::new(),
            sent,
            receives,
            visible: 0,
        }))
    };
    let number = |n: &str| json!({"DataType": "Number", "StringValue": n});
    assert!(!first(1, json!({})));
    assert!(!first(1, json!({RETURNS: number("0")})));
    assert!(!first(1, json!({RETURNS: number("many")})));
    assert!(first(2, json!({})));
    assert!(first(1, json!({RETURNS: number("1")})));
    assert!(first(1, json!({SUSPECT: number("1")})));
}

#[tokio::test]
async fn the_largest_jobs_go_anew_in_calls_that_sqs_takes() {
    let largest = "x".repeat(BATCH_BYTES - ATTRIBUTES);
    let sqs = Sqs::start(&[&largest, &largest, "small"]).await;
    sqs.invoke(|_| Disposition::Retry).await;
    let books = sqs.books();
    assert_eq!(books.messages.len(), 3);
    assert!(books.messages.iter().all(|message| message.receives == 0));
    for message in &books.messages {
        let attributes = message.sent["MessageAttributes"].as_object().unwrap();
        let sizes = attributes.iter().map(|(name, value)| {
            let (kind, text) = (&value["DataType"], &value["StringValue"]);
            name.len() + kind.as_str().unwrap().len() + text.as_str().unwrap().len()
        });
        assert!(sizes.sum::<usize>() <= ATTRIBUTES);
    }
}
