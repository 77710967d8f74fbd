//! A mail submitted whole, by SMTP, as stored on the queue.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{DropReason, MessageId};

/// What a [`Mail`](crate::Mail) has instead of contents and attachments when it was submitted as
/// MIME.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submitted {
    /// The message with its header.
    pub mime: Raw,
    /// Its Message-ID without angle brackets; one is added when it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// Whether the recipients came from the X-SMTPAPI header: each is then the only one in `To`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
    /// Whether its X-SMTPAPI header named one category as a text: events repeat that shape.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub single_category: bool,
    /// Why no copy is to leave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<DropReason>,
    /// The message that this one repeats: the bytes are a composed copy of it, of which each setting
    /// was applied, and whose links name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<MessageId>,
}

/// Bytes of a message. In JSON they are text if valid, otherwise base64.
#[derive(Clone, PartialEq, Eq)]
pub struct Raw(Vec<u8>);

impl Raw {
    /// The bytes, taken out.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Takes the bytes as they are.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes as text if its JSON is not much longer than itself: a control character would take
    /// six bytes there.
    fn text(&self) -> Option<&str> {
        let strange = |b: &u8| *b < b' ' && !b"\t\r\n".contains(b);
        let text = std::str::from_utf8(&self.0).ok()?;
        (!self.0.iter().any(strange)).then_some(text)
    }
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Raw({} bytes)", self.0.len())
    }
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum RawSubmission<'a> {
    Text(&'a str),
    Base64(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum SubmittedRead {
    Text(String),
    Base64(String),
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = match self.text() {
            Some(text) => RawSubmission::Text(text),
            None => RawSubmission::Base64(STANDARD.encode(&self.0)),
        };
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match SubmittedRead::deserialize(deserializer)? {
            SubmittedRead::Text(text) => Ok(Self(text.into_bytes())),
            SubmittedRead::Base64(text) => {
                let bytes = STANDARD.decode(text);
                bytes.map(Self).map_err(de::Error::custom)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_stays_readable_and_other_bytes_become_base64() {
        for (bytes, want) in [
            (
                &b"A: b\r\n\r\n\xc3\xbc\t"[..],
                r#"{"text":"A: b\r\n\r\nü\t"}"#,
            ),
            (b"\xfc", r#"{"base64":"/A=="}"#),
            (b"a\0b", r#"{"base64":"YQBi"}"#),
        ] {
            let raw = Raw::new(bytes.to_vec());
            assert_eq!(serde_json::to_string(&raw).unwrap(), want);
        }
        assert!(serde_json::from_str::<Raw>(r#"{"base64":"!"}"#).is_err());
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        let read: Submitted = serde_json::from_str(r#"{"mime":{"text":"x"}}"#).unwrap();
        let want = Submitted {
            mime: Raw::new(b"x".to_vec()),
            message_id: None,
            apart: false,
            single_category: false,
            refused: None,
            again: None,
        };
        assert_eq!(read, want);
        assert_eq!(
            serde_json::to_string(&want).unwrap(),
            r#"{"mime":{"text":"x"}}"#
        );
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes: Vec<u8>) {
            let raw = Raw::new(bytes);
            let json = serde_json::to_string(&raw).unwrap();
            prop_assert_eq!(serde_json::from_str::<Raw>(&json).unwrap(), raw);
        }
    }
}
