//! Ids: short strings of a fixed form, made from random bytes that the caller passes in.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Why a text is not an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a valid {what}")]
pub struct InvalidId {
    what: &'static str,
}

const ALPHANUMERIC: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

fn letters(bytes: &[u8], alphabet: &[u8]) -> String {
    bytes
        .iter()
        .filter_map(|b| alphabet.get(usize::from(*b) % alphabet.len()))
        .map(|b| char::from(*b))
        .collect()
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal, $legal:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Reads an id from external input.
            pub fn parse(text: &str) -> Result<Self, InvalidId> {
                let legal: fn(&str) -> bool = $legal;
                if legal(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(InvalidId { what: $what })
                }
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;
            fn try_from(text: String) -> Result<Self, InvalidId> {
                Self::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

fn url_safe(text: &str) -> bool {
    text.bytes()
        .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

fn lower(text: &str) -> bool {
    text.bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
}

id!(
    /// An account: a tenant, a subuser or a customer account. Ten lower-case letters and digits,
    /// so that it survives inside the local part of a bounce address.
    AccountId,
    "account id",
    |text| text.len() == 10 && lower(text)
);
id!(
    /// The id of one accepted request, answered as `X-Message-Id`: 22 URL-safe characters.
    MessageId,
    "message id",
    |text| text.len() == 22 && url_safe(text)
);
id!(
    /// The id that groups scheduled sends (SPEC: `^[a-zA-Z0-9\-\_]`). Never empty, at most 100.
    BatchId,
    "batch id",
    |text| (1..=100).contains(&text.len()) && url_safe(text)
);
id!(
    /// The public half of an API key: 22 URL-safe characters.
    KeyId,
    "API key id",
    |text| text.len() == 22 && url_safe(text)
);
id!(
    /// A job that erases addresses: 22 URL-safe characters.
    ErasureId,
    "erasure job id",
    |text| text.len() == 22 && url_safe(text)
);
id!(
    /// A job that posts the events of a span of time again: 22 URL-safe characters.
    ReplayId,
    "replay id",
    |text| text.len() == 22 && url_safe(text)
);
id!(
    /// An event webhook: a UUID in its usual form.
    WebhookId,
    "webhook id",
    is_uuid
);
id!(
    /// A security policy of webhooks: a UUID in its usual form.
    PolicyId,
    "security policy id",
    is_uuid
);

id!(
    /// A template: a UUID for a legacy one, `d-` and 32 hex digits for a dynamic one (API facts,
    /// section 1).
    TemplateId,
    "template id",
    |text| match text.strip_prefix("d-") {
        Some(hex) => hex.len() == 32 && hex.bytes().all(lower_hex),
        None => is_uuid(text),
    }
);
id!(
    /// A version of a template: a UUID in its usual form.
    VersionId,
    "template version id",
    is_uuid
);
id!(
    /// A requested download: a UUID in its usual form.
    DownloadId,
    "download id",
    is_uuid
);

fn lower_hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase()
}

/// The usual form: 36 characters, lower case.
fn is_uuid(text: &str) -> bool {
    let read = Uuid::try_parse(text);
    read.is_ok_and(|id| id.hyphenated().encode_lower(&mut Uuid::encode_buffer()) == text)
}

/// A version 4 UUID made of these random bytes (RFC 9562, section 5.4).
fn uuid(bytes: [u8; 16]) -> String {
    uuid::Builder::from_random_bytes(bytes)
        .into_uuid()
        .to_string()
}

fn first_half(hash: [u8; 32]) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (to, from) in bytes.iter_mut().zip(hash) {
        *to = from;
    }
    bytes
}

impl AccountId {
    /// The id made of these random bytes.
    pub fn from_bytes(bytes: [u8; 10]) -> Self {
        Self(letters(&bytes, b"0123456789abcdefghijklmnopqrstuvwxyz"))
    }
}

impl MessageId {
    /// The id made of these random bytes: their URL-safe base64 without padding.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// The id derived from a hash: its first half.
    pub fn from_digest(hash: [u8; 32]) -> Self {
        Self::from_bytes(first_half(hash))
    }

    /// The `sg_message_id` of one copy: begins with the `X-Message-Id` of the request.
    pub fn of_copy(&self, recipient: u32) -> String {
        format!("{self}.posthaste-0.{recipient}.0")
    }

    /// Reads an `sg_message_id`, with the position of its copy, or an id as `X-Message-Id` has it, without one.
    pub fn read_copy(text: &str) -> Option<(Self, Option<u32>)> {
        let mut parts = text.split('.');
        let message = Self::parse(parts.next()?).ok()?;
        let recipient = match parts.next() {
            None => None,
            Some("posthaste-0") => Some(parts.next()?.parse().ok()?),
            Some(_) => return None,
        };
        Some((message, recipient))
    }

    /// The sixteen bytes behind the id; `None` for an id that does not decode.
    pub fn to_bytes(&self) -> Option<[u8; 16]> {
        URL_SAFE_NO_PAD.decode(&self.0).ok()?.try_into().ok()
    }
}

impl BatchId {
    /// A batch id as the service creates them: 32 letters and digits.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(letters(&bytes, ALPHANUMERIC))
    }
}

impl ErasureId {
    /// The id derived from a hash: the URL-safe base64 of its first half.
    pub fn from_digest(hash: [u8; 32]) -> Self {
        Self(URL_SAFE_NO_PAD.encode(first_half(hash)))
    }
}

impl ReplayId {
    /// The id made of these random bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(URL_SAFE_NO_PAD.encode(bytes))
    }
}

impl KeyId {
    /// The id made of these random bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(URL_SAFE_NO_PAD.encode(bytes))
    }
}

impl WebhookId {
    /// A version 4 UUID made of these random bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(uuid(bytes))
    }
}

impl PolicyId {
    /// A version 4 UUID made of these random bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(uuid(bytes))
    }
}

impl TemplateId {
    /// The id of a legacy template made of these random bytes.
    pub fn legacy(bytes: [u8; 16]) -> Self {
        Self(uuid(bytes))
    }

    /// The id of a dynamic template made of these random bytes.
    pub fn dynamic(bytes: [u8; 16]) -> Self {
        Self(format!("d-{:032x}", u128::from_be_bytes(bytes)))
    }

    /// Whether the template is written in Handlebars (SPEC: its id starts with `d-`).
    pub fn is_dynamic(&self) -> bool {
        self.0.starts_with("d-")
    }
}

impl VersionId {
    /// A version 4 UUID made of these random bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(uuid(bytes))
    }
}

impl DownloadId {
    /// A version 4 UUID made of these random bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(uuid(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_ids_have_their_own_form() {
        for seed in 0..=255_u8 {
            let message = MessageId::from_bytes([seed; 16]);
            assert_eq!(MessageId::parse(message.as_str()), Ok(message.clone()));
            assert_eq!(message.to_bytes(), Some([seed; 16]));
            let copy = MessageId::read_copy(&message.of_copy(3));
            assert_eq!(copy, Some((message.clone(), Some(3))));
            assert_eq!(
                MessageId::read_copy(message.as_str()),
                Some((message.clone(), None))
            );
            assert_eq!(MessageId::read_copy(&format!("{message}.other.3.0")), None);
            let account = AccountId::from_bytes([seed; 10]);
            assert_eq!(AccountId::parse(account.as_str()), Ok(account));
            let erasure = ErasureId::from_digest([seed; 32]);
            assert_eq!(ErasureId::parse(erasure.as_str()), Ok(erasure));
            let replay = ReplayId::from_bytes([seed; 16]);
            assert_eq!(ReplayId::parse(replay.as_str()), Ok(replay));
            let batch = BatchId::from_bytes([seed; 32]);
            assert_eq!(BatchId::parse(batch.as_str()), Ok(batch));
            let hook = WebhookId::from_bytes([seed; 16]);
            assert_eq!(WebhookId::parse(hook.as_str()), Ok(hook.clone()));
            assert_eq!(hook.as_str().get(14..15), Some("4"));
            let upper = hook.as_str().to_uppercase();
            let braced = format!("{{{hook}}}");
            let bare = hook.as_str().replace('-', "");
            for other in [braced, bare] {
                assert!(WebhookId::parse(&other).is_err(), "{other}");
            }
            assert_eq!(WebhookId::parse(&upper).is_ok(), upper == hook.as_str());
            let dynamic = TemplateId::dynamic([seed; 16]);
            assert_eq!(TemplateId::parse(dynamic.as_str()), Ok(dynamic.clone()));
            let legacy = TemplateId::legacy([seed; 16]);
            assert_eq!(TemplateId::parse(legacy.as_str()), Ok(legacy.clone()));
            assert!(dynamic.is_dynamic() && !legacy.is_dynamic());
        }
    }

    #[test]
    fn a_batch_id_holds_only_url_safe_characters() {
        for bad in ["", "a b", "a/b", "ä", "a\n", &"x".repeat(101)] {
            assert!(BatchId::parse(bad).is_err(), "{bad:?}");
        }
        assert!(BatchId::parse("YOUR_BATCH-ID").is_ok());
    }
}
