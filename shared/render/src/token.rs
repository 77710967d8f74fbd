//! Self-contained signed tokens: all data of a tracking link, with a signature of the service.
//!
//! A token is `version and kind ‖ key id ‖ fields ‖ HMAC-SHA256 cut to 128 bits`, in URL-safe
//! base64 without padding. It is signed, not encrypted: anyone with the mail can read it. The
//! signature covers the kind, so an open token never passes for a click token. The key id lets an
//! old secret verify while a new one signs.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use posthaste_model::{AccountId, MessageId, Timestamp};
use sha2::Sha256;

use crate::wire::{WireReader, Writer};

/// Octets of the signature: 128 bits, above the 80 that RFC 2104 section 5 recommends.
const TAG: usize = 16;

/// Secrets shorter than the hash weaken the signature (RFC 2104, section 3).
const SHORTEST_SECRET: usize = 32;

/// Separates these signatures from any other use of the same secret.
const DOMAIN: &[u8] = b"posthaste tracking link 1\0";

/// The version of the fields; a reader refuses unknown versions.
const VERSION: u8 = 1;

/// The version of a token that names the host it was made for.
const VERSION_WITH_HOST: u8 = 2;

/// The part of a mail that contains a link; the `type` of `url_offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkPart {
    Html,
    Text,
    Amp,
    Header,
}

/// The action of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkAction {
    /// The mail was shown.
    Open { part: LinkPart },
    /// A link was followed: the `index`th of its part, counted from 0.
    Click {
        part: LinkPart,
        index: u32,
        url: String,
    },
    /// Unsubscribes from every list of the account.
    Unsubscribe,
    /// Unsubscribes from one group.
    GroupUnsubscribe { group: i64 },
    /// The page that lists groups: `group` is the one of the mail, `display` those the sender
    /// shows.
    Preferences { group: i64, display: Vec<i64> },
}

/// The data of one tracking link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkToken {
    pub account: AccountId,
    pub message: MessageId,
    /// Position of the recipient within the message.
    pub recipient: u32,
    /// The recipient's address, as the caller wrote it: an unsubscribe must work for as long as the
    /// mail is in a mailbox, which is longer than the message is stored.
    pub email: String,
    /// When the link was made.
    pub issued: Timestamp,
    /// The host of the account's own that the link was made with, in lower-case A-labels; none for a link with the
    /// host that all accounts share. Under another account's host the link must not work.
    pub host: Option<String>,
    pub action: LinkAction,
}

/// Why a token is refused. The two are distinguished in logs, never for the visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidToken {
    /// Not a token, a token of another release, or cut short.
    #[error("not a token")]
    Form,
    /// No key of the ring made this signature.
    #[error("the signature does not match")]
    Signature,
}

/// Why a key ring is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKey {
    #[error("a key ring needs a key")]
    Empty,
    #[error("the secret of key {id} has fewer than {SHORTEST_SECRET} bytes")]
    Short { id: u8 },
    #[error("key id {id} is used twice")]
    Twice { id: u8 },
    #[error("a key ring reads `<id>:<base64>`, several joined by commas")]
    Form,
}

type TokenSigner = Hmac<Sha256>;

/// The secrets that sign and verify links. The first one signs; all of them verify.
#[derive(Clone)]
pub struct KeyRing {
    current: (u8, TokenSigner),
    older: Vec<(u8, TokenSigner)>,
}

/// `<id>:<URL-safe base64>`, several joined by commas, the signing key first: the form of the
/// stack's secret.
impl std::str::FromStr for KeyRing {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        let mut keys = Vec::new();
        for part in text.split(',') {
            let (id, secret) = part.trim().split_once(':').ok_or(InvalidKey::Form)?;
            let id: u8 = id.parse().map_err(|_| InvalidKey::Form)?;
            let secret = URL_SAFE_NO_PAD
                .decode(secret)
                .map_err(|_| InvalidKey::Form)?;
            keys.push((id, secret));
        }
        let keys: Vec<(u8, &[u8])> = keys.iter().map(|(id, s)| (*id, s.as_slice())).collect();
        Self::new(&keys)
    }
}

fn marked(signer: &TokenSigner, text: &str) -> u32 {
    let tag = signer
        .clone()
        .chain_update(b"mark:")
        .chain_update(text.as_bytes())
        .finalize()
        .into_bytes();
    tag.iter()
        .take(4)
        .fold(0, |mark, byte| (mark << 8) | u32::from(*byte))
}

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyRing(key {} signs, …)", self.current.0)
    }
}

impl KeyRing {
    /// A ring of `(key id, secret)`, the signing key first. To rotate, put the new secret in front
    /// under an unused id and keep the old one for as long as its mails may be read.
    ///
    /// # Errors
    /// When there is no key, a secret is shorter than 32 bytes, or an id comes twice.
    pub fn new(keys: &[(u8, &[u8])]) -> Result<Self, InvalidKey> {
        let mut signers: Vec<(u8, TokenSigner)> = Vec::with_capacity(keys.len());
        for (id, secret) in keys {
            if secret.len() < SHORTEST_SECRET {
                return Err(InvalidKey::Short { id: *id });
            }
            if signers.iter().any(|(other, _)| other == id) {
                return Err(InvalidKey::Twice { id: *id });
            }
            let mut signer =
                TokenSigner::new_from_slice(secret).map_err(|_| InvalidKey::Short { id: *id })?;
            signer.update(DOMAIN);
            signers.push((*id, signer));
        }
        let mut signers = signers.into_iter();
        let current = signers.next().ok_or(InvalidKey::Empty)?;
        Ok(Self {
            current,
            older: signers.collect(),
        })
    }

    /// A keyed hash of 32 bits, for a bounce address: short, because a local part holds 64 octets.
    pub fn mark(&self, text: &str) -> u32 {
        marked(&self.current.1, text)
    }

    /// Whether one key of the ring produced this mark of the text.
    pub fn has_marked(&self, text: &str, mark: u32) -> bool {
        std::iter::once(&self.current)
            .chain(&self.older)
            .any(|(_, signer)| marked(signer, text) == mark)
    }

    /// The token as it appears in a link: letters, digits, `-` and `_`.
    pub fn sign(&self, token: &LinkToken) -> String {
        let (id, signer) = &self.current;
        let mut bytes = token.encode(*id);
        let tag = signer.clone().chain_update(&bytes).finalize().into_bytes();
        bytes.extend(tag.iter().take(TAG));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Parses a token from a link. The comparison takes the same time for every wrong signature.
    ///
    /// # Errors
    /// When the text is not a token, or no key of the ring signed it.
    pub fn verify(&self, text: &str) -> Result<LinkToken, InvalidToken> {
        let bytes = URL_SAFE_NO_PAD
            .decode(text)
            .map_err(|_| InvalidToken::Form)?;
        let (body, tag) = bytes
            .len()
            .checked_sub(TAG)
            .and_then(|at| bytes.split_at_checked(at))
            .ok_or(InvalidToken::Form)?;
        let id = body.get(1).ok_or(InvalidToken::Form)?;
        let (_, signer) = std::iter::once(&self.current)
            .chain(&self.older)
            .find(|(known, _)| known == id)
            .ok_or(InvalidToken::Signature)?;
        signer
            .clone()
            .chain_update(body)
            .verify_truncated_left(tag)
            .map_err(|_| InvalidToken::Signature)?;
        LinkToken::decode(body).ok_or(InvalidToken::Form)
    }
}

impl LinkPart {
    /// The `type` of `url_offset` and the `sg_content_type` of an open.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Text => "text",
            Self::Amp => "amp",
            Self::Header => "header",
        }
    }

    fn code(self) -> u8 {
        match self {
            Self::Html => 0,
            Self::Text => 1,
            Self::Amp => 2,
            Self::Header => 3,
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        [Self::Html, Self::Text, Self::Amp, Self::Header]
            .into_iter()
            .find(|part| part.code() == code)
    }
}

impl LinkAction {
    fn code(&self) -> u8 {
        match self {
            Self::Open { .. } => 1,
            Self::Click { .. } => 2,
            Self::Unsubscribe => 3,
            Self::GroupUnsubscribe { .. } => 4,
            Self::Preferences { .. } => 5,
        }
    }

    fn write(&self, out: &mut Writer) {
        match self {
            Self::Open { part } => out.byte(part.code()),
            Self::Click { part, index, url } => {
                out.byte(part.code());
                out.number(u64::from(*index));
                out.text(url);
            }
            Self::Unsubscribe => {}
            Self::GroupUnsubscribe { group } => out.signed(*group),
            Self::Preferences { group, display } => {
                out.signed(*group);
                for shown in display {
                    out.signed(*shown);
                }
            }
        }
    }

    fn read(code: u8, from: &mut WireReader<'_>) -> Option<Self> {
        Some(match code {
            1 => Self::Open {
                part: LinkPart::from_code(from.byte()?)?,
            },
            2 => Self::Click {
                part: LinkPart::from_code(from.byte()?)?,
                index: u32::try_from(from.number()?).ok()?,
                url: from.text()?,
            },
            3 => Self::Unsubscribe,
            4 => Self::GroupUnsubscribe {
                group: from.signed()?,
            },
            5 => {
                let group = from.signed()?;
                let mut display = Vec::new();
                while !from.is_empty() {
                    display.push(from.signed()?);
                }
                Self::Preferences { group, display }
            }
            _ => return None,
        })
    }
}

impl LinkToken {
    fn encode(&self, key: u8) -> Vec<u8> {
        let url = match &self.action {
            LinkAction::Click { url, .. } => url.len(),
            LinkAction::Open { .. }
            | LinkAction::Unsubscribe
            | LinkAction::GroupUnsubscribe { .. }
            | LinkAction::Preferences { .. } => 0,
        };
        let host = self.host.as_ref().map_or(0, String::len);
        let mut out = Writer::with_capacity(96 + self.email.len() + host + url);
        let version = match self.host {
            None => VERSION,
            Some(_) => VERSION_WITH_HOST,
        };
        out.byte(version << 4 | self.action.code());
        out.byte(key);
        out.text(self.account.as_str());
        // Ids of the service are sixteen bytes; any other id is encoded as its text.
        match self.message.to_bytes() {
            Some(raw) => out.bytes(&raw),
            None => out.bytes(self.message.as_str().as_bytes()),
        }
        out.number(u64::from(self.recipient));
        out.text(&self.email);
        out.signed(self.issued.0);
        if let Some(host) = &self.host {
            out.text(host);
        }
        self.action.write(&mut out);
        out.into_bytes()
    }

    fn decode(body: &[u8]) -> Option<Self> {
        let mut from = WireReader::new(body);
        let head = from.byte()?;
        from.byte()?;
        let has_host = match head >> 4 {
            VERSION => false,
            VERSION_WITH_HOST => true,
            _ => return None,
        };
        let account = AccountId::parse(&from.text()?).ok()?;
        let raw = from.bytes()?;
        let message = match <[u8; 16]>::try_from(raw) {
            Ok(raw) => MessageId::from_bytes(raw),
            Err(_) => MessageId::parse(std::str::from_utf8(raw).ok()?).ok()?,
        };
        let token = Self {
            account,
            message,
            recipient: u32::try_from(from.number()?).ok()?,
            email: from.text()?,
            issued: Timestamp(from.signed()?),
            host: if has_host { Some(from.text()?) } else { None },
            action: LinkAction::read(head & 0xf, &mut from)?,
        };
        from.is_empty().then_some(token)
    }
}

#[cfg(test)]
mod tests;
