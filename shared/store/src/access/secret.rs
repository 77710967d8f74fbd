//! The secret of an API key, as its caller presents it.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use posthaste_model::{Entropy, KeyId};
use sha2::{Digest as _, Sha256};

/// A full API key as the caller sent it: `SG.<22>.<43>`, 69 characters (SPEC, "API key").
/// Hash it, compare it, never print it.
#[derive(Clone)]
pub struct Secret {
    id: KeyId,
    text: String,
}

impl Secret {
    /// A new key.
    pub fn generate(entropy: &Entropy) -> Self {
        let id = entropy.key_id();
        let secret = URL_SAFE_NO_PAD.encode(entropy.bytes::<32>());
        Self {
            text: format!("SG.{id}.{secret}"),
            id,
        }
    }

    /// Reads a key from a header; `None` when it is malformed.
    pub fn parse(text: &str) -> Option<Self> {
        let (id, secret) = text.strip_prefix("SG.")?.split_once('.')?;
        let url_safe = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        (secret.len() == 43 && secret.bytes().all(url_safe)).then_some(())?;
        Some(Self {
            id: KeyId::parse(id).ok()?,
            text: text.to_owned(),
        })
    }

    /// The public half.
    pub fn id(&self) -> &KeyId {
        &self.id
    }

    /// The key in clear, for the one time it is shown.
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// What is stored. The secret has 256 random bits, so a plain hash cannot be brute-forced.
    pub fn hash(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(self.text.as_bytes()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({}.…)", self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_69_characters_and_does_not_print() {
        let secret = Secret::generate(&Entropy::counting());
        assert_eq!(secret.expose().len(), 69);
        let read = Secret::parse(secret.expose()).unwrap();
        assert_eq!(read.hash(), secret.hash());
        let printed = format!("{secret:?}");
        let hidden = secret.expose().rsplit('.').next().unwrap();
        assert!(!printed.contains(hidden), "{printed}");
    }

    #[test]
    fn what_has_not_the_form_of_a_key_is_none() {
        let good = Secret::generate(&Entropy::counting()).expose().to_owned();
        let quoted = format!("\"{good}\"");
        let longer = format!("{good}a");
        let other = good.replacen("SG", "XX", 1);
        for bad in [
            "",
            "SG.",
            "SG.a.b",
            &quoted,
            &longer,
            &other,
            good.get(..68).unwrap(),
        ] {
            assert!(Secret::parse(bad).is_none(), "{bad:?}");
        }
    }
}
