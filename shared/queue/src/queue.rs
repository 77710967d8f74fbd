//! Sending to a queue.

use std::time::Duration;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::SendMessageBatchRequestEntry;

use crate::account::account_of;
use crate::client::{LazyClient, QueueError, lazy_client};
use crate::local::Local;

/// SQS delays a message by at most fifteen minutes; work that waits longer is a due row.
pub const LONGEST_DELAY: Duration = Duration::from_secs(900);

/// SQS takes this many messages, and this many bytes of bodies, in one call.
pub(crate) const BATCH: usize = 10;
pub(crate) const BATCH_BYTES: usize = 256 * 1024;

/// Before messages that SQS did not take are sent again.
const PAUSES: [Duration; 4] = [
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(400),
];

/// One queue, to send to.
#[derive(Clone, Debug)]
pub struct Queue(QueueKind);

#[derive(Clone, Debug)]
enum QueueKind {
    Sqs {
        client: LazyClient<Client>,
        url: String,
    },
    Local(Local),
}

impl Queue {
    /// The SQS queue at this URL.
    pub fn sqs(config: &aws_config::SdkConfig, url: &str) -> Self {
        Self(QueueKind::Sqs {
            client: lazy_client(config, Client::new),
            url: url.to_owned(),
        })
    }

    /// A local queue of this process.
    pub fn local(local: Local) -> Self {
        Self(QueueKind::Local(local))
    }

    /// Client and URL, if this is the SQS queue of this name.
    pub(crate) fn sqs_named(&self, name: &str) -> Option<(&Client, &str)> {
        match &self.0 {
            QueueKind::Sqs { client, url } if url.rsplit('/').next() == Some(name) => {
                let client: &Client = client;
                Some((client, url))
            }
            QueueKind::Sqs { .. } | QueueKind::Local(_) => None,
        }
    }

    /// Sends one message, to be handed out after `delay`; durable once this returns.
    pub async fn send(&self, body: String, delay: Duration) -> Result<(), QueueError> {
        match &self.0 {
            QueueKind::Local(local) => local.send(vec![(body, delay)]).await,
            QueueKind::Sqs { client, url } => {
                let send = client.send_message().queue_url(url);
                let send = send.set_message_group_id(group(&body));
                let send = send.message_body(for_sqs(body));
                let send = send.delay_seconds(seconds(delay)).send().await;
                send.map(drop).map_err(QueueError::from_sdk)
            }
        }
    }

    /// Sends many messages. After an error some may have been accepted, so callers repeat all of
    /// them or none; every job may run twice.
    pub async fn send_all(&self, messages: Vec<(String, Duration)>) -> Result<(), QueueError> {
        match &self.0 {
            QueueKind::Local(_) if messages.is_empty() => Ok(()),
            QueueKind::Local(local) => local.send(messages).await,
            QueueKind::Sqs { client, url } => {
                for chunk in chunks(messages, |(body, _)| body.len()) {
                    send_chunk(client, url, chunk).await?;
                }
                Ok(())
            }
        }
    }
}

/// The `MessageGroupId` of a message.
pub(crate) fn group(body: &str) -> Option<String> {
    account_of(body).map(|account| account.as_str().to_owned())
}

fn seconds(delay: Duration) -> i32 {
    // Rounded up: a message must not appear before its second.
    let whole = delay.min(LONGEST_DELAY).as_millis().div_ceil(1000);
    i32::try_from(whole).unwrap_or(0)
}

/// Splits messages so that each call stays within SQS's limits; `size` is what one adds to a call,
/// in bytes.
pub(crate) fn chunks<T>(
    messages: impl IntoIterator<Item = T>,
    size: impl Fn(&T) -> usize,
) -> Vec<Vec<T>> {
    let mut chunks: Vec<Vec<T>> = Vec::new();
    let mut bytes = 0;
    for message in messages {
        let size = size(&message);
        match chunks.last_mut() {
            Some(last) if last.len() < BATCH && bytes + size <= BATCH_BYTES => {
                bytes += size;
                last.push(message);
            }
            Some(_) | None => {
                bytes = size;
                chunks.push(vec![message]);
            }
        }
    }
    chunks
}

/// Writes as escapes the two characters that JSON allows in a text and SQS does not in a message
/// (`SendMessage`: it takes U+0009, U+000A, U+000D, U+0020 to U+D7FF, U+E000 to U+FFFD and above
/// U+10000; others it refuses or replaces). Every message is JSON, which has them only in texts.
fn for_sqs(body: String) -> String {
    if !body.contains(['\u{fffe}', '\u{ffff}']) {
        return body;
    }
    body.replace('\u{fffe}', "\\ufffe")
        .replace('\u{ffff}', "\\uffff")
}

/// Sends messages in one call, and those of them again that SQS did not take for a reason of its own: a
/// caller could only repeat all of them, and of a thousand some fail every time.
async fn send_chunk(
    client: &Client,
    url: &str,
    chunk: Vec<(String, Duration)>,
) -> Result<(), QueueError> {
    let mut left = Vec::with_capacity(chunk.len());
    for (i, (body, delay)) in chunk.into_iter().enumerate() {
        let entry = SendMessageBatchRequestEntry::builder()
            .id(i.to_string())
            .set_message_group_id(group(&body))
            .message_body(for_sqs(body))
            .delay_seconds(seconds(delay))
            .build();
        left.push(entry.map_err(|e| QueueError(e.to_string()))?);
    }
    let mut pauses = PAUSES.iter();
    loop {
        let send = client.send_message_batch().queue_url(url);
        let sent = send.set_entries(Some(left.clone())).send().await;
        let sent = sent.map_err(QueueError::from_sdk)?;
        let Some(first) = sent.failed.first() else {
            return Ok(());
        };
        let is_final = sent.failed.iter().any(|failed| failed.sender_fault());
        let Some(pause) = pauses.next().filter(|_| !is_final) else {
            let why = first.message().unwrap_or(first.code());
            return Err(QueueError(why.to_owned()));
        };
        tokio::time::sleep(*pause).await;
        left.retain(|entry| sent.failed.iter().any(|failed| failed.id() == entry.id()));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use axum::extract::State;
    use axum::{Json, Router, body::Bytes, routing::post};
    use serde_json::{Value, json};

    use super::*;
    use crate::client::stand_in::serve;

    /// What an SQS took, and the places (of all entries of all calls) of those that it refuses.
    struct Picky {
        taken: Vec<String>,
        seen: usize,
        refuses: fn(usize) -> bool,
        is_senders_fault: bool,
    }

    async fn take(State(sqs): State<Arc<Mutex<Picky>>>, body: Bytes) -> Json<Value> {
        let call: Value = serde_json::from_slice(&body).unwrap();
        let mut sqs = sqs.lock().unwrap();
        let (mut successful, mut failed) = (Vec::new(), Vec::new());
        for entry in call["Entries"].as_array().unwrap() {
            sqs.seen += 1;
            let id = &entry["Id"];
            if (sqs.refuses)(sqs.seen) {
                let fault = sqs.is_senders_fault;
                failed.push(json!({"Id": id, "Code": "InternalError", "SenderFault": fault}));
            } else {
                sqs.taken
                    .push(entry["MessageBody"].as_str().unwrap().to_owned());
                successful.push(json!({"Id": id, "MessageId": "m", "MD5OfMessageBody": "m"}));
            }
        }
        Json(json!({"Successful": successful, "Failed": failed}))
    }

    /// Sends so many messages; what was taken, in order, and whether all of them.
    async fn sent(count: usize, refuses: fn(usize) -> bool, fault: bool) -> (Vec<String>, bool) {
        let sqs = Arc::new(Mutex::new(Picky {
            taken: Vec::new(),
            seen: 0,
            refuses,
            is_senders_fault: fault,
        }));
        let router = Router::new().route("/", post(take));
        let (endpoint, config) = serve(router.with_state(Arc::clone(&sqs))).await;
        let queue = Queue::sqs(&config, &format!("{endpoint}/000000000000/send"));
        let messages = (0..count).map(|n| (n.to_string(), Duration::ZERO));
        let done = queue.send_all(messages.collect()).await.is_ok();
        let mut taken = sqs.lock().unwrap().taken.clone();
        taken.sort_by_key(|body| body.parse::<usize>().unwrap());
        (taken, done)
    }

    #[tokio::test]
    async fn what_sqs_does_not_take_of_a_call_is_sent_again_and_nothing_twice() {
        let all: Vec<_> = (0..400).map(|n| n.to_string()).collect();
        // One in twenty, wherever it is.
        assert_eq!(sent(400, |n| n % 20 == 7, false).await, (all, true));
        let (taken, done) = sent(3, |_| true, false).await;
        assert!(taken.is_empty() && !done);
        // What is the sender's fault is no better the next time.
        let (taken, done) = sent(3, |n| n == 2, true).await;
        assert_eq!((taken, done), (vec!["0".to_owned(), "2".to_owned()], false));
    }

    #[test]
    fn what_sqs_takes_in_no_message_is_escaped() {
        let said = "\u{fffe}a\u{ffff}\u{fffd}\u{10ffff}\u{1}";
        let body = serde_json::to_string(&said).unwrap();
        let sent = for_sqs(body.clone());
        assert!(!sent.contains(['\u{fffe}', '\u{ffff}', '\u{1}']), "{sent}");
        assert_eq!(serde_json::from_str::<String>(&sent).unwrap(), said);
        assert_eq!(for_sqs("{}".to_owned()), "{}");
    }

    #[test]
    fn a_delay_is_rounded_up_and_capped() {
        for (millis, want) in [
            (0, 0),
            (1, 1),
            (1000, 1),
            (1001, 2),
            (899_001, 900),
            (10_000_000, 900),
        ] {
            assert_eq!(seconds(Duration::from_millis(millis)), want, "{millis} ms");
        }
    }

    #[test]
    fn a_call_holds_ten_messages_and_256_kilobytes() {
        let sizes = |lengths: &[usize]| {
            let chunks = chunks(lengths.iter().copied(), |length| *length);
            chunks.iter().map(Vec::len).collect::<Vec<_>>()
        };
        assert_eq!(sizes(&[1; 21]), [10, 10, 1]);
        assert_eq!(sizes(&[BATCH_BYTES, 1, BATCH_BYTES - 1, 1]), [1, 2, 1]);
        assert_eq!(sizes(&[]), [0_usize; 0]);
    }
}
