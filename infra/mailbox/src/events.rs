//! What the relay does not have: the events of a copy and the answers of webhooks, from the
//! host's sources and shown as lines whatever form they come in.

use std::sync::Arc;

use askama::Template;
use futures_util::future::BoxFuture;
use posthaste_model::{EmailAddress, Timestamp, Verp};
use posthaste_spam::Filter;
use posthaste_webhook::WebhookClient;
use serde_json::Value;

use crate::chaos::Chaos;
use crate::copies::copy_of;
use crate::query::instant;
use crate::rows::{self, ListRow, rfc3339};
use crate::schedule::ScheduleControl;

/// Identifies a copy of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The `Message-ID` header, without angle brackets; empty when the mail has none.
    pub message_id: String,
    /// From the envelope sender: account, message and number of the recipient. `None` for a mail
    /// that another program sent.
    pub verp: Option<Verp>,
    /// The recipients of the envelope.
    pub recipients: Vec<String>,
}

impl Trace {
    pub(crate) fn of(row: &ListRow) -> Self {
        let copy = row.copy.clone();
        Self {
            message_id: row.summary.message_id.clone(),
            verp: copy.or_else(|| copy_of(&row.envelope.from)),
            recipients: row.envelope.to.clone(),
        }
    }
}

/// Finds JSON objects about a copy, oldest first.
pub type Lookup = Arc<dyn Fn(Trace) -> BoxFuture<'static, Vec<Value>> + Send + Sync>;

/// Posts the events of a copy to webhooks again, or the one of this id, and returns how many events were
/// queued; the error is a sentence.
pub type PostAgain =
    Arc<dyn Fn(Trace, Option<String>) -> BoxFuture<'static, Result<u64, String>> + Send + Sync>;

/// Posts the events of all copies between two seconds, both included, to webhooks again. The result is a sentence
/// about how many they are, the error one about what is in the way.
pub type PostSpan =
    Arc<dyn Fn(Timestamp, Timestamp) -> BoxFuture<'static, Result<String, String>> + Send + Sync>;

/// A recorded mail on its way to a real relay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleasedMail {
    /// The sender of the envelope.
    pub from: EmailAddress,
    /// The recipients of the envelope.
    pub to: Vec<EmailAddress>,
    /// The mail, without `Bcc`.
    pub raw: Vec<u8>,
}

/// Hands a mail to a real relay; the error says what the relay answered.
pub type Release =
    Arc<dyn Fn(ReleasedMail) -> BoxFuture<'static, Result<(), String>> + Send + Sync>;

/// The page's sources of data about a copy; without a source it shows nothing of that kind.
///
/// Events may have the form of the store (`kind`, `at`) or of a webhook post (`event`,
/// `timestamp`, `sg_event_id`); besides those the page shows `email`, `reason` or `response`, `status` and
/// `attempt`. Answers of webhooks show `url`, `status`, `at`, `attempt`, and `answer` or `error`.
/// All other fields of an object can be expanded.
#[derive(Clone, Default)]
pub struct Sources {
    pub events: Option<Lookup>,
    pub webhooks: Option<Lookup>,
    pub post_again: Option<PostAgain>,
    pub post_span: Option<PostSpan>,
    /// Scheduled mail, which the page cancels, pauses and moves.
    pub schedule: Option<Arc<dyn ScheduleControl>>,
    /// The relay that takes the mails instead of the mailbox, without its password.
    pub relay: Option<String>,
    /// The relay that recorded mails are released to, without its password, and the way there.
    pub release_relay: Option<String>,
    pub release: Option<Release>,
    /// Opens links, under the host's guard of addresses.
    pub links: Option<WebhookClient>,
    /// The spam filter.
    pub spam: Option<Filter>,
    /// Refusals by chance on the submission ports.
    pub chaos: Option<Chaos>,
}

/// The result of the sources for one copy.
#[derive(Debug, Default)]
pub(crate) struct CopyFacts {
    pub events: Vec<Value>,
    pub webhooks: Vec<Value>,
}

impl Sources {
    pub(crate) async fn about(&self, trace: Trace) -> CopyFacts {
        let look_up = async |source: &Option<Lookup>| match source {
            Some(source) => source(trace.clone()).await,
            None => Vec::new(),
        };
        CopyFacts {
            events: look_up(&self.events).await,
            webhooks: look_up(&self.webhooks).await,
        }
    }
}

/// One line: what happened, when, to whom, and why.
#[derive(Debug, PartialEq, Eq)]
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
    /// The id of an event, by which it is posted again.
    pub id: String,
    /// The whole object, for the expanded view.
    pub json: String,
}

/// All events of one copy and the answers of webhooks to them.
#[derive(Debug, PartialEq, Eq, Template)]
#[template(path = "events.html")]
pub(crate) struct EventLines {
    events: Vec<EventLine>,
    webhooks: Vec<EventLine>,
    /// Where a form asks to post events again.
    again: Option<String>,
    /// Where a form asks to post those of a span of time again.
    span: Option<String>,
}

/// Where the forms beside the events of a copy post to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PostForms {
    pub again: Option<String>,
    /// Of the events of a span of time, whichever mails they are of.
    pub span: Option<String>,
}

/// The latest event of one copy.
#[derive(Debug, PartialEq, Eq, Template)]
#[template(
    ext = "html",
    source = r#"<span id="status">{% if let Some(line) = last %}<b class="pill {{ line.tone }}">{{ line.pill }}</b>{% endif %}</span>"#
)]
pub(crate) struct LatestEvent {
    last: Option<EventLine>,
}

/// What an open page asks for repeatedly.
#[derive(Debug, PartialEq, Eq, Template)]
#[template(ext = "html", source = "{{ latest|safe }}\n{{ lines|safe }}")]
pub(crate) struct EventsUpdate {
    latest: LatestEvent,
    lines: EventLines,
}

impl EventLines {
    pub(crate) fn of(facts: &CopyFacts, forms: &PostForms) -> Self {
        Self {
            events: facts.events.iter().map(event).collect(),
            webhooks: facts.webhooks.iter().map(answer).collect(),
            again: forms.again.clone(),
            span: forms.span.clone(),
        }
    }

    /// The first second of the span that the form offers: that of the first event. For a field, in UTC.
    fn span_begin(&self) -> String {
        let first = self.events.first().map(|event| event.at.as_str());
        first.unwrap_or_default().trim_end_matches('Z').to_owned()
    }

    /// The last second: that of the last event.
    fn span_end(&self) -> String {
        let last = self.events.last().map(|event| event.at.as_str());
        last.unwrap_or_default().trim_end_matches('Z').to_owned()
    }
}

impl LatestEvent {
    pub(crate) fn of(facts: &CopyFacts) -> Self {
        Self {
            last: facts.events.last().map(event),
        }
    }
}

impl EventsUpdate {
    pub(crate) fn of(facts: &CopyFacts, forms: &PostForms) -> Self {
        Self {
            latest: LatestEvent::of(facts),
            lines: EventLines::of(facts, forms),
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
        id: String::new(),
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
        id: first(value, &["sg_event_id"]),
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
