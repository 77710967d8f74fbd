//! A certificate made for one test.

use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, SupportedProtocolVersion};

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
        let (pem, key_pem) = (made.cert.pem(), made.signing_key.serialize_pem());
        Self {
            server: server(&pem, &key_pem, rustls::ALL_VERSIONS),
            pem,
            key_pem,
        }
    }

    /// A server configuration that speaks these versions of TLS alone.
    pub fn limited_to(&self, versions: &[&'static SupportedProtocolVersion]) -> Arc<ServerConfig> {
        server(&self.pem, &self.key_pem, versions)
    }
}

#[expect(
    clippy::expect_used,
    reason = "a test without its certificate cannot go on"
)]
fn server(
    pem: &str,
    key_pem: &str,
    versions: &[&'static SupportedProtocolVersion],
) -> Arc<ServerConfig> {
    let certificate = CertificateDer::from_pem_slice(pem.as_bytes()).expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(key_pem.as_bytes()).expect("a key");
    let server = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(versions)
        .expect("the provider speaks TLS")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("the key is the certificate's");
    Arc::new(server)
}
