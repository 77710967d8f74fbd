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

async fn send_chunk(
    client: &Client,
    url: &str,
    chunk: Vec<(String, Duration)>,
) -> Result<(), QueueError> {
    let mut send = client.send_message_batch().queue_url(url);
    for (i, (body, delay)) in chunk.into_iter().enumerate() {
        let entry = SendMessageBatchRequestEntry::builder()
            .id(i.to_string())
            .set_message_group_id(group(&body))
            .message_body(for_sqs(body))
            .delay_seconds(seconds(delay))
            .build()
            .map_err(|e| QueueError(e.to_string()))?;
        send = send.entries(entry);
    }
    let sent = send.send().await;
    let sent = sent.map_err(QueueError::from_sdk)?;
    match sent.failed.first() {
        None => Ok(()),
        Some(failed) => Err(QueueError(
            failed.message().unwrap_or(failed.code()).to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
