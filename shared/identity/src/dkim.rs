//! DKIM (RFC 6376): key pairs, and the signature of a composed mail.

use std::fmt;

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rsa::{self, KeySize};
use aws_lc_rs::signature::KeyPair as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mail_auth::common::crypto::{RsaKey, Sha256};
use mail_auth::common::headers::HeaderWriter as _;
use mail_auth::dkim::{DkimSigner, Done};
use posthaste_model::AccountId;
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::canonical::{Relaxed, plain};

/// A key that could not be created or read, or a mail that could not be signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {why}")]
pub struct DkimError {
    what: &'static str,
    why: String,
}

fn failed(what: &'static str) -> impl Fn(String) -> DkimError {
    move |why| DkimError { what, why }
}

/// A fresh RSA key pair.
///
/// 2048 bits: every verifier supports RSA, not every one supports Ed25519 (RFC 8463), and every DNS
/// service accepts a record of this size.
pub struct KeyPair {
    /// PKCS #8, encrypted before it is stored.
    pub private: Vec<u8>,
    /// The public half as DNS carries it: the subject public key info in base64.
    pub public: String,
}

impl fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyPair({})", self.public)
    }
}

impl KeyPair {
    /// Generates a key pair with the library's randomness. Takes a tenth of a second of computing:
    /// do not call it on a serving thread.
    pub fn generate() -> Result<Self, DkimError> {
        let error = |_| failed("a DKIM key was not made")("no reason given".to_owned());
        let pair = rsa::KeyPair::generate(KeySize::Rsa2048).map_err(error)?;
        let private = AsDer::<Pkcs8V1Der<'_>>::as_der(&pair).map_err(error)?;
        let public = AsDer::<PublicKeyX509Der<'_>>::as_der(pair.public_key()).map_err(error)?;
        Ok(Self {
            private: private.as_ref().to_vec(),
            public: STANDARD.encode(public.as_ref()),
        })
    }
}

/// The place the private half is sealed to: it cannot be opened elsewhere.
pub fn place(account: &AccountId, domain: i64, selector: &str) -> String {
    format!("{account}/{domain}/dkim/{selector}")
}

/// The headers that a signature covers, where a mail has them. Headers that a relay may add or
/// change on the way (`Received`, `Return-Path`, `Bcc`) are left out (RFC 6376, section 5.4.1).
const COVERED: [&str; 14] = [
    "From",
    "To",
    "Cc",
    "Subject",
    "Date",
    "Message-ID",
    "Reply-To",
    "In-Reply-To",
    "References",
    "MIME-Version",
    "Content-Type",
    "Content-Transfer-Encoding",
    "List-Unsubscribe",
    "List-Unsubscribe-Post",
];

/// Signs mails for one domain. Creating one parses the key, so reuse it.
pub struct Signer {
    inner: DkimSigner<RsaKey<Sha256>, Done>,
    domain: String,
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signer({})", self.domain)
    }
}

impl Signer {
    /// A signer with the private half of a [`KeyPair`].
    pub fn new(domain: &str, selector: &str, private: &[u8]) -> Result<Self, DkimError> {
        let der = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(private));
        let key = RsaKey::<Sha256>::from_key_der(der)
            .map_err(|e| failed("a DKIM key cannot be read")(e.to_string()))?;
        let inner = DkimSigner::from_key(key)
            .domain(domain)
            .selector(selector)
            .headers(COVERED)
            .header_canonicalization(mail_auth::dkim::Canonicalization::Relaxed)
            .body_canonicalization(mail_auth::dkim::Canonicalization::Relaxed);
        Ok(Self {
            inner,
            domain: domain.to_owned(),
        })
    }

    /// The mail with its signature in front. The mail's own bytes stay as they are. The signature
    /// carries the time of the system's clock, which the library reads.
    ///
    /// # Errors
    /// When the mail has no header that a signature covers.
    pub fn sign(&self, mail: &[u8]) -> Result<Vec<u8>, DkimError> {
        let signature = self.inner.sign(&plain(mail, Relaxed::BOTH));
        let signature = signature.map_err(|e| failed("a mail was not signed")(e.to_string()))?;
        let mut signed = signature.to_header().into_bytes();
        signed.extend_from_slice(mail);
        Ok(signed)
    }
}
