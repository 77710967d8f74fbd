//! What SNS delivers to a queue. The subscriptions of the template deliver messages without an
//! envelope, but SNS and SES also announce themselves: when a topic is subscribed to, or named as the
//! destination of events or of received mail.

use std::borrow::Cow;

use serde::Deserialize;

/// The content of a queue message that came by SNS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnsContent<'a> {
    /// What was published, without SNS's envelope.
    Message(Cow<'a, str>),
    /// An announcement of AWS, by its type. It asks for nothing.
    Announcement(String),
}

/// The members by which announcements and envelopes are known.
#[derive(Deserialize)]
struct SnsMessage {
    #[serde(rename = "Type")]
    kind: Option<String>,
    #[serde(rename = "TopicArn")]
    topic: Option<String>,
    #[serde(rename = "Message")]
    message: Option<String>,
    #[serde(rename = "notificationType")]
    notification: Option<String>,
}

impl<'a> SnsContent<'a> {
    /// Reads a queue message. A text that has no mark of SNS is a message.
    pub fn read(text: &'a str) -> Self {
        // SES publishes this line, which is no JSON, when a topic becomes a destination of events.
        if text
            .trim_start()
            .starts_with("Successfully validated SNS topic")
        {
            return Self::Announcement("validation of the topic".to_owned());
        }
        let message = Self::Message(Cow::Borrowed(text));
        let Ok(sns) = serde_json::from_str::<SnsMessage>(text) else {
            return message;
        };
        match (sns.topic, sns.kind, sns.message, sns.notification) {
            (Some(_), Some(kind), Some(inner), _) if kind == "Notification" => {
                match SnsContent::read(&inner) {
                    SnsContent::Announcement(kind) => Self::Announcement(kind),
                    SnsContent::Message(inner) => Self::Message(Cow::Owned(inner.into_owned())),
                }
            }
            // `SubscriptionConfirmation`, `UnsubscribeConfirmation`.
            (Some(_), Some(kind), ..) => Self::Announcement(kind),
            // `AmazonSnsSubscriptionSucceeded`: a topic was set for notifications.
            (.., Some(kind)) if kind.starts_with("AmazonSns") => Self::Announcement(kind),
            _ => message,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announcements_are_told_from_messages_in_an_envelope_or_without() {
        let envelope = |inner: &str| {
            let inner = serde_json::to_string(inner).unwrap();
            format!(
                r#"{{"Type":"Notification","MessageId":"m","TopicArn":"arn:aws:sns:x:1:t","Message":{inner}}}"#
            )
        };
        let event = r#"{"eventType":"Send","mail":{}}"#;
        let validated = "Successfully validated SNS topic for Amazon SES event publishing.";
        let subscribed = r#"{"notificationType":"AmazonSnsSubscriptionSucceeded","message":"…"}"#;
        let confirm =
            r#"{"Type":"SubscriptionConfirmation","TopicArn":"a","Token":"t","Message":"You …"}"#;
        let received = r#"{"notificationType":"Received","mail":{},"receipt":{}}"#;
        for (text, want) in [
            (validated.to_owned(), None),
            (envelope(validated), None),
            (subscribed.to_owned(), None),
            (envelope(subscribed), None),
            (confirm.to_owned(), None),
            (event.to_owned(), Some(event)),
            (envelope(event), Some(event)),
            (received.to_owned(), Some(received)),
            (
                r#"{"Type":"Notification"}"#.to_owned(),
                Some(r#"{"Type":"Notification"}"#),
            ),
            ("no JSON".to_owned(), Some("no JSON")),
            (String::new(), Some("")),
        ] {
            let message = match SnsContent::read(&text) {
                SnsContent::Message(message) => Some(message.into_owned()),
                SnsContent::Announcement(kind) => {
                    assert!(!kind.is_empty());
                    None
                }
            };
            assert_eq!(message.as_deref(), want, "{text}");
        }
    }
}
