//! The moments of a mail's life.

use posthaste_model::Timestamp;
use serde::Deserialize;

use super::MailAnswer;
use crate::texts::mail as texts;

/// Something that happened.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    pub(crate) at: Timestamp,
    pub(crate) title: String,
    /// The class of the line: `good`, `warn`, `bad`, or none.
    pub(crate) tone: &'static str,
    /// What is said about it, a sentence each.
    pub(crate) words: Vec<String>,
}

/// An event of `/v3/logs/{id}`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LogEvent {
    event: String,
    pub(super) timestamp: Timestamp,
    reason: Option<String>,
    status: Option<String>,
    response: Option<String>,
    attempt: Option<String>,
    ip: Option<String>,
    tls: Option<u8>,
    #[serde(rename = "type")]
    kind: Option<String>,
    bounce_classification: Option<String>,
    url: Option<String>,
    useragent: Option<String>,
}

/// The request and each event.
pub(super) fn moments(mail: &MailAnswer, key: Option<&str>) -> Vec<Moment> {
    let first = mail.events.first().map(|event| event.timestamp);
    let request = first.map(|at| request(mail, key, at));
    let events = mail.events.iter().map(moment);
    request.into_iter().chain(events).collect()
}

fn request(mail: &MailAnswer, key: Option<&str>, at: Timestamp) -> Moment {
    let mut words = vec![texts::by(key, &mail.api_key_id)];
    if !mail.client_ip.is_empty() {
        words.push(texts::from(&mail.client_ip));
    }
    Moment {
        at,
        title: texts::ACCEPTED.to_owned(),
        tone: "good",
        words,
    }
}

fn moment(event: &LogEvent) -> Moment {
    let (title, tone) = texts::event(&event.event, event.kind.as_deref());
    let mut words = Vec::new();
    let mut add = |before: &str, value: &Option<String>| {
        if let Some(value) = value.as_deref().filter(|value| !value.is_empty()) {
            words.push(format!("{before}{value}"));
        }
    };
    add(texts::ATTEMPT, &event.attempt);
    add("", &event.response);
    add("", &event.reason);
    add(texts::STATUS, &event.status);
    add("", &event.bounce_classification);
    add(texts::BY, &event.ip);
    add("", &event.url);
    add("", &event.useragent);
    if event.tls == Some(1) {
        words.push(texts::ENCRYPTED.to_owned());
    }
    Moment {
        at: event.timestamp,
        title: title.to_owned(),
        tone,
        words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_has_the_words_of_the_relay() {
        let event: LogEvent = serde_json::from_value(serde_json::json!({
            "event": "bounce", "type": "blocked", "timestamp": 1_800_000_000, "attempt": "2",
            "reason": "550 5.7.1 not here", "status": "5.7.1", "ip": "192.0.2.7", "tls": 1,
            "bounce_classification": "Content", "pool": {"name": "x", "id": "1"},
        }))
        .unwrap_or_default();
        let moment = moment(&event);
        assert_eq!((moment.title.as_str(), moment.tone), ("Blocked", "warn"));
        assert_eq!(moment.at.iso(), "2027-01-15T08:00:00Z");
        let words = [
            "attempt 2",
            "550 5.7.1 not here",
            "status 5.7.1",
            "Content",
            "by 192.0.2.7",
            "encrypted",
        ];
        assert_eq!(moment.words, words);
    }
}
