//! Messages of the event queue: events in batches, because a message costs the same with one event
//! as with a hundred.

use posthaste_model::Event;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::JobError;
use crate::job::read_versioned;

/// One message of the event queue stays below this, so that every SQS queue takes ten in a call.
const LARGEST: usize = 24 * 1024;

/// Events that happened, of any accounts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventBatch {
    /// Form of this record; 1.
    #[serde(default)]
    pub v: u8,
    pub events: Vec<Event>,
}

impl EventBatch {
    /// The events as messages of the queue.
    pub fn to_texts(events: &[Event]) -> Result<Vec<String>, JobError> {
        let mut texts = Vec::new();
        let (mut open, mut size) = (Vec::new(), 0);
        for event in events {
            let json = to_raw_value(event)?;
            // With its comma.
            let more = json.get().len() + 1;
            if !open.is_empty() && size + more > LARGEST {
                texts.push(message(&open)?);
                (open, size) = (Vec::new(), 0);
            }
            open.push(json);
            size += more;
        }
        if !open.is_empty() {
            texts.push(message(&open)?);
        }
        Ok(texts)
    }

    /// Reads a message of the queue.
    ///
    /// # Errors
    /// When it is not one, or of a form newer than this release.
    pub fn from_text(text: &str) -> Result<Self, JobError> {
        read_versioned(text, 1, |batch: &Self| batch.v)
    }
}

/// An [`EventBatch`] of events that are JSON already, because their size decides which message each is in.
#[derive(Serialize)]
struct WrittenBatch<'a> {
    v: u8,
    events: &'a [Box<RawValue>],
}

fn message(events: &[Box<RawValue>]) -> Result<String, JobError> {
    Ok(serde_json::to_string(&WrittenBatch { v: 1, events })?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use posthaste_model::{AccountId, EventKind, Timestamp};

    #[test]
    fn events_are_put_into_messages_and_come_back_in_order() {
        let account = AccountId::from_bytes([7; 10]);
        let events: Vec<_> = (0..500)
            .map(|i| {
                Event::new(
                    format!("id-{i}"),
                    account.clone(),
                    EventKind::Open,
                    Timestamp(i),
                    "a@b.co".to_owned(),
                )
            })
            .collect();
        let texts = EventBatch::to_texts(&events).unwrap();
        assert!(texts.len() > 1 && texts.iter().all(|t| t.len() <= LARGEST + 100));
        let back: Vec<_> = texts
            .iter()
            .flat_map(|t| EventBatch::from_text(t).unwrap().events)
            .collect();
        assert_eq!(back, events);
        assert!(EventBatch::to_texts(&[]).unwrap().is_empty());
        assert!(EventBatch::from_text(r#"{"v":9,"events":[]}"#).is_err());
    }
}
