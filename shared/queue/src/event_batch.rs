//! Messages of the event queue: events in batches, because a message costs the same with one event
//! as with a hundred.

use posthaste_model::Event;
use serde::{Deserialize, Serialize};

use crate::JobError;

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
    ///
    /// # Errors
    /// Never for events that were read from JSON.
    pub fn to_texts(events: &[Event]) -> Result<Vec<String>, JobError> {
        let mut texts = Vec::new();
        let mut open = String::new();
        for event in events {
            let json = serde_json::to_string(event)?;
            if !open.is_empty() && open.len() + json.len() > LARGEST {
                texts.push(close(&mut open));
            }
            open.push(if open.is_empty() { ' ' } else { ',' });
            open.push_str(&json);
        }
        if !open.is_empty() {
            texts.push(close(&mut open));
        }
        Ok(texts)
    }

    /// Reads a message of the queue.
    ///
    /// # Errors
    /// When it is not one, or of a form newer than this release.
    pub fn from_text(text: &str) -> Result<Self, JobError> {
        let happened: Self = serde_json::from_str(text)?;
        match happened.v {
            0 | 1 => Ok(happened),
            newer => Err(JobError::TooNew(newer)),
        }
    }
}

fn close(open: &mut String) -> String {
    let text = format!("{{\"v\":1,\"events\":[{}]}}", open.trim_start());
    open.clear();
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use posthaste_model::{AccountId, EventKind, Timestamp};

    #[test]
    fn events_are_packed_into_messages_and_come_back_in_order() {
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
