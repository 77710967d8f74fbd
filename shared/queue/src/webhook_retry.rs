//! Events that one webhook has not accepted yet, queued for another attempt.
//!
//! They have a queue of their own, so that a dead receiver's retries never delay other receivers.
//! The same events may come twice; their ids show it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use posthaste_model::{AccountId, Event, Timestamp, WebhookId};
use serde::{Deserialize, Serialize};

use crate::job::{compress, read_versioned, unzip};
use crate::{JobError, LARGEST_INLINE};

/// The largest text: SQS bills each 64 KB as one request.
const LARGEST_TEXT: usize = 60 * 1024;

/// The decompressed size limit of events; what the service compresses is far below.
const LARGEST_UNPACKED: u64 = 32 << 20;

/// Events that wait for another attempt at one webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookRetry {
    pub retry: Retry,
    pub events: Vec<Event>,
}

/// The destination, and the progress so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    pub account: AccountId,
    pub webhook: WebhookId,
    /// How many attempts have failed.
    pub attempt: u32,
    /// The second before which no attempt is made. A queue delays a message by a quarter of an hour
    /// at most, so it may be handed out earlier.
    pub not_before: Timestamp,
    /// How the last attempt ended.
    #[serde(default)]
    pub last: String,
}

#[derive(Serialize)]
struct Written<'a> {
    v: u8,
    retry: &'a Retry,
    undelivered: WrittenEvents<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum WrittenEvents<'a> {
    Plain(&'a [Event]),
    /// JSON compressed by zstd, in base64.
    Packed(String),
}

#[derive(Deserialize)]
struct WebhookRetryRead {
    /// Form of this record; 1.
    #[serde(default = "first_version")]
    v: u8,
    retry: Retry,
    undelivered: ReadEvents,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ReadEvents {
    Plain(Vec<Event>),
    Packed(String),
}

fn first_version() -> u8 {
    1
}

impl WebhookRetry {
    /// The events as messages of the queue: several if they are many.
    pub fn to_texts(&self) -> Result<Vec<String>, JobError> {
        let mut texts = Vec::new();
        write(&self.retry, &self.events, &mut texts)?;
        Ok(texts)
    }

    /// Reads a message of the queue.
    ///
    /// # Errors
    /// When it is not one, or of a form newer than this release.
    pub fn from_text(text: &str) -> Result<Self, JobError> {
        let read = read_versioned(text, 1, |read: &WebhookRetryRead| read.v)?;
        let events = match read.undelivered {
            ReadEvents::Plain(events) => events,
            ReadEvents::Packed(packed) => {
                let bytes = STANDARD.decode(packed);
                let bytes = bytes.map_err(|e| JobError::Packed(e.to_string()))?;
                serde_json::from_slice(&unzip(&bytes, LARGEST_UNPACKED)?)?
            }
        };
        Ok(Self {
            retry: read.retry,
            events,
        })
    }
}

/// Splits what is too large for one message.
fn write(retry: &Retry, events: &[Event], texts: &mut Vec<String>) -> Result<(), JobError> {
    if events.is_empty() {
        return Ok(());
    }
    let json = serde_json::to_vec(events)?;
    let undelivered = match json.len() {
        0..=LARGEST_INLINE => WrittenEvents::Plain(events),
        _ => WrittenEvents::Packed(STANDARD.encode(compress(&json)?)),
    };
    let text = serde_json::to_string(&Written {
        v: 1,
        retry,
        undelivered,
    })?;
    let (first, second) = events.split_at(events.len() / 2);
    if text.len() > LARGEST_TEXT && !first.is_empty() {
        write(retry, first, texts)?;
        return write(retry, second, texts);
    }
    texts.push(text);
    Ok(())
}

#[cfg(test)]
mod tests {
    use posthaste_model::EventKind;

    use super::*;

    fn event(n: u64, noise: usize) -> Event {
        let account = AccountId::parse("abcdefghij").unwrap();
        let id = format!("processed-0-{n}");
        let mut event = Event::new(
            id,
            account,
            EventKind::Processed,
            Timestamp(7),
            "a@b.co".into(),
        );
        let mut state = n + 1;
        let letters = std::iter::repeat_with(|| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            char::from(b'a' + u8::try_from(state >> 60).unwrap())
        });
        event.reason = Some(letters.take(noise).collect());
        event
    }

    fn undelivered(count: u64, noise: usize) -> WebhookRetry {
        WebhookRetry {
            retry: Retry {
                account: AccountId::parse("abcdefghij").unwrap(),
                webhook: WebhookId::from_bytes([1; 16]),
                attempt: 3,
                not_before: Timestamp(99),
                last: "answered 500".into(),
            },
            events: (0..count).map(|n| event(n, noise)).collect(),
        }
    }

    #[test]
    fn a_message_written_by_the_first_release_still_reads() {
        let old = r#"{"undelivered":{"plain":[{"id":"i","account":"abcdefghij","kind":"open","at":1,"email":"a@b.co"}]},
            "retry":{"account":"abcdefghij","webhook":"00000000-0000-4000-8000-000000000000","attempt":2,"not_before":9}}"#;
        let read = WebhookRetry::from_text(old).unwrap();
        assert_eq!((read.retry.attempt, read.retry.last.as_str()), (2, ""));
        assert_eq!(read.events.len(), 1);
    }

    #[test]
    fn what_is_no_such_message_is_an_error() {
        let good = undelivered(1, 1).to_texts().unwrap().remove(0);
        assert!(WebhookRetry::from_text(&good).is_ok());
        for bad in [
            String::new(),
            "{}".to_owned(),
            r#"{"v":1,"events":[]}"#.to_owned(),
            good.replace("\"v\":1", "\"v\":2"),
            good.replace("plain", "packed"),
            good.replace("retry", "other"),
        ] {
            assert!(WebhookRetry::from_text(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn every_event_comes_back_once_with_its_retry_whatever_the_size() {
        for (count, noise) in [
            (0, 0),
            (1, 0),
            (10, 100),
            (1_000, 10),
            (300, 2_000),
            (3, 90_000),
        ] {
            let sent = undelivered(count, noise);
            let texts = sent.to_texts().unwrap();
            let largest = texts.iter().map(String::len).max().unwrap_or(0);
            let alone = texts.len() == sent.events.len();
            assert!(
                largest <= LARGEST_TEXT || alone,
                "{count} of {noise}: {largest}"
            );
            let mut back = Vec::new();
            for text in texts {
                let read = WebhookRetry::from_text(&text).unwrap();
                assert_eq!(read.retry, sent.retry);
                back.extend(read.events);
            }
            assert_eq!(back, sent.events, "{count} of {noise}");
        }
    }
}
