//! The signature of a post (API facts 3.4): ECDSA over P-256 and SHA-256.
//!
//! Uses `p256` and not the faster `aws-lc-rs`: it signs deterministically (RFC 6979) and so needs
//! no randomness, and at a hundred events a post it is still two orders of magnitude faster than
//! required (see `benches/fanout.rs`).

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue};
use p256::ecdsa::signature::DigestSigner as _;
use p256::ecdsa::{Signature, SigningKey};
use p256::pkcs8::EncodePublicKey as _;
use posthaste_model::{Entropy, Timestamp};
use sha2::{Digest as _, Sha256};

/// The header that holds the signature.
pub const SIGNATURE: HeaderName = HeaderName::from_static("x-twilio-email-event-webhook-signature");
/// The header that holds the signed time.
pub const TIMESTAMP: HeaderName = HeaderName::from_static("x-twilio-email-event-webhook-timestamp");

/// The bytes are not a private key of P-256: zero, or not below the group's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bytes are not a private key")]
pub struct UnusableKey;

/// The key pair of one webhook or security policy. Does not print.
#[derive(Clone)]
pub struct WebhookKeyPair {
    private: SigningKey,
    public: String,
}

impl fmt::Debug for WebhookKeyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WebhookKeyPair({})", self.public)
    }
}

impl WebhookKeyPair {
    /// A new pair, by trying candidates (FIPS 186-5, A.2.2). One in four thousand million fails,
    /// so a source that gives none within eight is broken.
    pub fn generate(entropy: &Entropy) -> Result<Self, UnusableKey> {
        let candidates = (0..8).map(|_| Self::from_bytes(&entropy.bytes()));
        candidates.flatten().next().ok_or(UnusableKey)
    }

    /// The pair with this private key.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, UnusableKey> {
        let private = SigningKey::from_bytes(bytes.into()).map_err(|_| UnusableKey)?;
        let spki = private.verifying_key().to_public_key_der();
        let spki = spki.map_err(|_| UnusableKey)?;
        Ok(Self {
            private,
            public: STANDARD.encode(spki.as_bytes()),
        })
    }

    /// The private key, to be sealed before it is stored.
    pub fn to_bytes(&self) -> [u8; 32] {
        self.private.to_bytes().into()
    }

    /// The public key as shown to the owner: base64 of the DER `SubjectPublicKeyInfo`, 124
    /// characters.
    pub fn public_key(&self) -> &str {
        &self.public
    }

    /// Signs `timestamp` (the header's text) followed by the body as it is sent: base64 of DER.
    pub fn sign(&self, timestamp: &str, body: &[u8]) -> String {
        let signed = Sha256::new().chain_update(timestamp).chain_update(body);
        let signature: Signature = self.private.sign_digest(signed);
        STANDARD.encode(signature.to_der().as_bytes())
    }

    /// Adds the two headers of a post: the signature of `body` at `now`, and that time.
    pub fn put_signature(&self, headers: &mut HeaderMap, now: Timestamp, body: &[u8]) {
        let signature = self.sign(&now.to_string(), body);
        // Base64 is always a legal header value.
        if let Ok(value) = HeaderValue::try_from(signature) {
            headers.insert(SIGNATURE, value);
            headers.insert(TIMESTAMP, now.0.into());
        }
    }
}

#[cfg(test)]
mod tests;
