//! Events and answers of webhooks as lines of a table, whatever form they come in.

use serde::Serialize;
use serde_json::Value;

use crate::query::instant;
use crate::rows::rfc3339;
use crate::sources::CopyFacts;

/// One line: what happened, when, to whom, and why.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct EventLine {
    /// The kind of the event, or the status that a webhook answered.
    pub pill: String,
    /// Good, bad or neither: the colour of the line.
    pub tone: &'static str,
    /// RFC 3339; empty when unknown.
    pub at: String,
    /// The recipient, or the URL of the webhook.
    pub about: String,
    /// The enhanced status code of an event.
    pub status: String,
    pub attempt: String,
    pub why: String,
    /// The whole object, for the expanded view.
    pub json: String,
}

/// All events and answers of one copy.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct EventLines {
    /// The last event.
    pub status: Option<EventLine>,
    pub events: Vec<EventLine>,
    pub webhooks: Vec<EventLine>,
}

impl EventLines {
    pub(crate) fn of(told: &CopyFacts) -> Self {
        Self {
            status: told.events.last().map(event),
            events: told.events.iter().map(event).collect(),
            webhooks: told.webhooks.iter().map(answer).collect(),
        }
    }
}

/// A delivery event, in the form of the store or of a webhook post.
fn event(value: &Value) -> EventLine {
    let pill = first(value, &["event", "kind", "type"]);
    let tone = match pill.as_str() {
        "delivered" | "open" | "click" | "group_resubscribe" => "good",
        "bounce" | "dropped" | "spamreport" | "spam_report" => "bad",
        "deferred" | "unsubscribe" | "group_unsubscribe" => "warn",
        _ => "plain",
    };
    EventLine {
        pill,
        tone,
        about: first(value, &["email"]),
        status: first(value, &["status"]),
        why: first(value, &["reason", "response", "url"]),
        ..line(value)
    }
}

/// The answer of a webhook.
fn answer(value: &Value) -> EventLine {
    let status = first(value, &["status"]);
    let tone = match status.parse::<u16>() {
        Ok(200..=299) => "good",
        Ok(_) | Err(_) => "bad",
    };
    EventLine {
        pill: if status.is_empty() {
            "no answer".to_owned()
        } else {
            status
        },
        tone,
        about: first(value, &["url", "webhook", "name"]),
        why: first(value, &["error", "answer", "body", "reason"]),
        ..line(value)
    }
}

fn line(value: &Value) -> EventLine {
    let at = first(value, &["timestamp", "at", "time"]);
    EventLine {
        pill: String::new(),
        tone: "plain",
        at: instant(&at).map(rfc3339).unwrap_or(at),
        about: String::new(),
        status: String::new(),
        attempt: first(value, &["attempt"]),
        why: String::new(),
        json: serde_json::to_string_pretty(value).unwrap_or_default(),
    }
}

/// The first non-empty one of these fields.
fn first(value: &Value, names: &[&str]) -> String {
    let texts = names.iter().filter_map(|name| match value.get(*name)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(_) | Value::Null | Value::Array(_) | Value::Object(_) => None,
    });
    texts
        .into_iter()
        .find(|text| !text.is_empty())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn both_forms_of_an_event_give_the_same_line() {
        let stored = json!({"kind": "bounce", "at": 1_795_780_800, "email": "a@b.co",
            "reason": "550 no", "status": "5.1.1"});
        let posted = json!({"event": "bounce", "timestamp": 1_795_780_800, "email": "a@b.co",
            "reason": "550 no", "status": "5.1.1"});
        for value in [stored, posted] {
            let line = event(&value);
            assert_eq!(line.pill, "bounce");
            assert_eq!(line.tone, "bad");
            assert_eq!(line.at, "2026-11-27T12:00:00Z");
            assert_eq!(
                (line.why.as_str(), line.status.as_str()),
                ("550 no", "5.1.1")
            );
        }
    }

    #[test]
    fn an_answer_is_good_only_with_a_status_of_200() {
        for (value, tone) in [
            (json!({"url": "http://x", "status": 204}), "good"),
            (json!({"url": "http://x", "status": "500"}), "bad"),
            (json!({"url": "http://x", "error": "timed out"}), "bad"),
            (json!(null), "bad"),
        ] {
            assert_eq!(answer(&value).tone, tone, "{value}");
            assert!(!answer(&value).pill.is_empty());
        }
    }
}
