//! A certificate made for one test.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// A self-signed certificate and a server configuration that uses it.
#[derive(Clone, Debug)]
pub struct Certificate {
    pub server: Arc<ServerConfig>,
    /// What a client must trust, in PEM.
    pub pem: String,
    /// Its private key, in PEM.
    pub key_pem: String,
}

impl Certificate {
    /// For host names or addresses.
    ///
    /// # Panics
    /// When a name is invalid.
    #[expect(
        clippy::expect_used,
        reason = "a test without its certificate cannot go on"
    )]
    pub fn of(names: &[&str]) -> Self {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let made = rcgen::generate_simple_self_signed(names).expect("the names are names");
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let server = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider speaks TLS")
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .expect("the key is the certificate's");
        Self {
            server: Arc::new(server),
            pem: made.cert.pem(),
            key_pem: made.signing_key.serialize_pem(),
        }
    }
}
