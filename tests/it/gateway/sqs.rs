//! An SQS that takes what is sent and keeps it (AWS JSON 1.0; the two calls that send).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Router, body::Bytes};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Queues of one account, until the test ends.
#[derive(Clone, Debug)]
pub(crate) struct Sqs {
    endpoint: String,
    state: Arc<Mutex<Queues>>,
}

#[derive(Debug, Default)]
struct Queues {
    messages: HashMap<String, Vec<String>>,
    /// Of each call that sent, the trace it named.
    traces: Vec<Option<String>>,
    broken: bool,
}

impl Sqs {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::<Mutex<Queues>>::default();
        let router = Router::new()
            .route("/", post(call))
            .with_state(Arc::clone(&state));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { endpoint, state }
    }

    pub(crate) fn endpoint(&self) -> String {
        self.endpoint.clone()
    }

    pub(crate) fn url(&self, queue: &str) -> String {
        format!("{}/000000000000/{queue}", self.endpoint)
    }

    /// Takes the bodies that lie in the queue, in the order they were sent.
    pub(crate) fn drain(&self, queue: &str) -> Vec<String> {
        let url = self.url(queue);
        lock(&self.state).messages.remove(&url).unwrap_or_default()
    }

    /// Takes the traces that the calls named until now (`X-Amzn-Trace-Id`, which SQS hands to whoever
    /// receives the message).
    pub(crate) fn traces(&self) -> Vec<Option<String>> {
        std::mem::take(&mut lock(&self.state).traces)
    }

    /// Whether sending is refused from now on.
    pub(crate) fn set_broken(&self, broken: bool) {
        lock(&self.state).broken = broken;
    }
}

async fn call(State(state): State<Arc<Mutex<Queues>>>, head: HeaderMap, body: Bytes) -> Response {
    let mut state = lock(&state);
    if state.broken {
        // A refusal that the SDK does not try again by itself.
        return refuse("com.amazonaws.sqs#QueueDoesNotExist");
    }
    let Ok(ask) = serde_json::from_slice::<Value>(&body) else {
        return refuse("com.amazon.coral.service#SerializationException");
    };
    let trace = head.get("x-amzn-trace-id").and_then(|v| v.to_str().ok());
    state.traces.push(trace.map(str::to_owned));
    let url = ask["QueueUrl"].as_str().unwrap_or_default().to_owned();
    let queue = state.messages.entry(url).or_default();
    let target = head.get("x-amz-target").and_then(|v| v.to_str().ok());
    let answer = match target {
        Some("AmazonSQS.SendMessage") => keep(queue, &ask),
        Some("AmazonSQS.SendMessageBatch") => {
            let entries = ask["Entries"].as_array().cloned().unwrap_or_default();
            let taken = entries.iter().map(|entry| keep(queue, entry));
            json!({"Successful": taken.collect::<Vec<_>>(), "Failed": []})
        }
        _ => return refuse("com.amazonaws.sqs#UnsupportedOperation"),
    };
    reply(StatusCode::OK, &answer)
}

/// What SQS says of a message it took; without the MD5 sums, which the SDK does not look at.
fn keep(queue: &mut Vec<String>, message: &Value) -> Value {
    queue.push(
        message["MessageBody"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
    );
    json!({"Id": message["Id"], "MessageId": format!("message-{}", queue.len())})
}

fn refuse(kind: &str) -> Response {
    let error = json!({"__type": kind, "message": "refused by the test"});
    reply(StatusCode::BAD_REQUEST, &error)
}

fn reply(status: StatusCode, body: &Value) -> Response {
    let json = [(header::CONTENT_TYPE, "application/x-amz-json-1.0")];
    (status, json, body.to_string()).into_response()
}

fn lock(state: &Mutex<Queues>) -> MutexGuard<'_, Queues> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
