//! Encrypts secrets of webhooks at rest: AES-256-GCM under the stack's secret.
//!
//! Bound to its place: a sealed text moved to another row or field cannot be opened.

use std::fmt;
use std::str::FromStr;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use posthaste_model::{AccountId, Entropy};

use crate::WebhookKeyPair;

/// Secrets shorter than the cipher's key weaken it.
const SHORTEST_SECRET: usize = 32;

/// Separates these keys from any other use of the same secret.
const PURPOSE: &[u8] = b"posthaste webhook seal 1";

/// Why a text is not a valid stack secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSecret {
    #[error("the secret has not the form <id>:<URL-safe base64>,…")]
    Form,
    #[error("the secret of key {0} has fewer than {SHORTEST_SECRET} bytes")]
    Short(u8),
}

/// A sealed text does not open: another stack's secret, another place, or changed bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a sealed secret cannot be opened")]
pub struct Unopened;

/// Seals with the first key, opens with any. Reads from the text of the stack's secret:
/// `<id>:<URL-safe base64>`, several joined by commas.
pub struct Sealer {
    keys: Vec<(u8, LessSafeKey)>,
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sealer({} keys)", self.keys.len())
    }
}

impl FromStr for Sealer {
    type Err = InvalidSecret;

    fn from_str(text: &str) -> Result<Self, InvalidSecret> {
        let keys = text.split(',').map(|part| {
            let (id, secret) = part.trim().split_once(':').ok_or(InvalidSecret::Form)?;
            let id = id.parse().map_err(|_| InvalidSecret::Form)?;
            let secret = URL_SAFE_NO_PAD.decode(secret);
            key(id, &secret.map_err(|_| InvalidSecret::Form)?)
        });
        Ok(Self {
            keys: keys.collect::<Result<_, _>>()?,
        })
    }
}

fn key(id: u8, secret: &[u8]) -> Result<(u8, LessSafeKey), InvalidSecret> {
    if secret.len() < SHORTEST_SECRET {
        return Err(InvalidSecret::Short(id));
    }
    let derived = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), PURPOSE);
    let unbound = UnboundKey::new(&AES_256_GCM, derived.as_ref());
    let unbound = unbound.map_err(|_| InvalidSecret::Short(id))?;
    Ok((id, LessSafeKey::new(unbound)))
}

/// The place of the private signing key of an event webhook or a security policy with this id.
pub fn signing_place(account: &AccountId, id: &impl fmt::Display) -> String {
    format!("{account}/{id}/signing")
}

/// The place of the OAuth secret of an event webhook or a security policy with this id.
pub fn oauth_place(account: &AccountId, id: &impl fmt::Display) -> String {
    format!("{account}/{id}/oauth")
}

impl Sealer {
    /// Seals a secret for one place, such as [`signing_place`].
    ///
    /// # Errors
    /// Never for secrets of less than gigabytes.
    pub fn seal(&self, entropy: &Entropy, place: &str, plain: &[u8]) -> Result<String, Unopened> {
        let (id, key) = self.keys.first().ok_or(Unopened)?;
        // Random nonces are safe for four thousand million seals under one key (NIST SP 800-38D).
        let nonce: [u8; NONCE_LEN] = entropy.bytes();
        let mut bytes = plain.to_vec();
        let with = Nonce::assume_unique_for_key(nonce);
        key.seal_in_place_append_tag(with, Aad::from(place), &mut bytes)
            .map_err(|_| Unopened)?;
        let sealed = [nonce.as_slice(), &bytes].concat();
        Ok(format!("{id}.{}", URL_SAFE_NO_PAD.encode(sealed)))
    }

    /// Opens a text sealed for the same place.
    pub fn open(&self, place: &str, sealed: &str) -> Result<Vec<u8>, Unopened> {
        let (id, text) = sealed.split_once('.').ok_or(Unopened)?;
        let id: u8 = id.parse().map_err(|_| Unopened)?;
        let (_, key) = self.keys.iter().find(|key| key.0 == id).ok_or(Unopened)?;
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| Unopened)?;
        let (nonce, bytes) = bytes.split_first_chunk::<NONCE_LEN>().ok_or(Unopened)?;
        let mut bytes = bytes.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let plain = key.open_in_place(nonce, Aad::from(place), &mut bytes);
        Ok(plain.map_err(|_| Unopened)?.to_vec())
    }

    /// Opens a signing key.
    pub fn open_pair(&self, place: &str, sealed: &str) -> Result<WebhookKeyPair, Unopened> {
        let bytes = self.open(place, sealed)?;
        let bytes = bytes.as_slice().try_into().map_err(|_| Unopened)?;
        WebhookKeyPair::from_bytes(bytes).map_err(|_| Unopened)
    }

    /// Opens a secret that is text.
    pub fn open_text(&self, place: &str, sealed: &str) -> Result<String, Unopened> {
        String::from_utf8(self.open(place, sealed)?).map_err(|_| Unopened)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(id: u8, byte: u8) -> String {
        format!("{id}:{}", URL_SAFE_NO_PAD.encode([byte; 32]))
    }

    #[test]
    fn a_sealed_secret_opens_only_in_its_place_and_unchanged() {
        let sealer: Sealer = secret(1, 7).parse().unwrap();
        let entropy = Entropy::counting();
        for plain in [&b""[..], b"hush", &[0; 5000]] {
            let sealed = sealer.seal(&entropy, "a/b/secret", plain).unwrap();
            assert_eq!(sealer.open("a/b/secret", &sealed).as_deref(), Ok(plain));
            assert_eq!(sealer.open("a/c/secret", &sealed), Err(Unopened));
            for at in [0, 2, sealed.len() / 2, sealed.len() - 1] {
                let mut changed = sealed.clone().into_bytes();
                changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
                let changed = String::from_utf8(changed).unwrap();
                assert_eq!(
                    sealer.open("a/b/secret", &changed),
                    Err(Unopened),
                    "{changed}"
                );
            }
            assert_ne!(sealed, sealer.seal(&entropy, "a/b/secret", plain).unwrap());
        }
        for nonsense in ["", "1", "1.", "2.AAAA", "x.AAAA", "1.!"] {
            assert_eq!(
                sealer.open("a/b/secret", nonsense),
                Err(Unopened),
                "{nonsense}"
            );
        }
    }

    #[test]
    fn a_rotated_stack_secret_still_opens_what_the_old_one_sealed() {
        let old: Sealer = secret(1, 7).parse().unwrap();
        let sealed = old.seal(&Entropy::counting(), "p", b"hush").unwrap();
        let rotated: Sealer = format!("{}, {}", secret(2, 8), secret(1, 7))
            .parse()
            .unwrap();
        assert_eq!(rotated.open("p", &sealed).as_deref(), Ok(&b"hush"[..]));
        let fresh = rotated.seal(&Entropy::counting(), "p", b"hush").unwrap();
        assert!(fresh.starts_with("2."));
        assert_eq!(old.open("p", &fresh), Err(Unopened));
    }

    #[test]
    fn what_is_not_a_secret_is_refused() {
        for (text, want) in [
            ("", InvalidSecret::Form),
            ("abc", InvalidSecret::Form),
            ("x:AAAA", InvalidSecret::Form),
            ("1:!", InvalidSecret::Form),
            ("1:AAAA", InvalidSecret::Short(1)),
        ] {
            assert_eq!(text.parse::<Sealer>().err(), Some(want), "{text}");
        }
    }
}
