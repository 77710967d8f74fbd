//! Encryption towards the relay: rustls with the system's authorities or the operator's.

use std::sync::Arc;

use posthaste_model::TlsVersion;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, ProtocolVersion, RootCertStore,
    SignatureScheme,
};
use tokio_rustls::TlsConnector;

/// A handshake that checks the certificate against the system's authorities and those in `extra`
/// (PEM).
pub(super) fn checked(extra: Option<&[u8]>) -> Result<TlsConnector, String> {
    let roots = roots(extra)?;
    connector(|builder| builder.with_root_certificates(roots).with_no_client_auth())
}

/// Checks certificates as [`checked`] does, after the handshake.
pub(super) fn verifier(extra: Option<&[u8]>) -> Result<Arc<WebPkiServerVerifier>, String> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots(extra)?), provider)
        .build()
        .map_err(|e| format!("certificates cannot be checked: {e}"))
}

fn roots(extra: Option<&[u8]>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    let system = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(system.certs);
    for certificate in CertificateDer::pem_slice_iter(extra.unwrap_or_default()) {
        let certificate =
            certificate.map_err(|e| format!("the relay's authority is no PEM certificate: {e}"))?;
        roots
            .add(certificate)
            .map_err(|e| format!("the relay's authority cannot be used: {e}"))?;
    }
    if roots.is_empty() {
        return Err("no certificate authority is installed on this system".to_owned());
    }
    Ok(roots)
}

/// A handshake that accepts any certificate: for connections that may also be unencrypted.
pub(super) fn unchecked() -> Result<TlsConnector, String> {
    let any = AnyCertificate(Arc::new(aws_lc_rs::default_provider()));
    connector(|builder| {
        builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(any))
            .with_no_client_auth()
    })
}

fn connector(
    finish: impl FnOnce(rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>) -> ClientConfig,
) -> Result<TlsConnector, String> {
    let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|e| format!("TLS is not available: {e}"))?;
    Ok(TlsConnector::from(Arc::new(finish(builder))))
}

/// What the handshake of a connection established.
pub(super) struct Encryption {
    version: Option<ProtocolVersion>,
    /// Of the relay, its own first.
    certificates: Vec<CertificateDer<'static>>,
    name: ServerName<'static>,
    /// Whether the handshake checked the certificate.
    is_checked: bool,
}

impl Encryption {
    pub(super) fn of(
        session: &ClientConnection,
        name: ServerName<'static>,
        is_checked: bool,
    ) -> Self {
        Self {
            version: session.protocol_version(),
            certificates: session.peer_certificates().unwrap_or_default().to_vec(),
            name,
            is_checked,
        }
    }

    pub(super) fn is_at_least(&self, oldest: TlsVersion) -> bool {
        match oldest {
            // Nothing older is negotiated.
            TlsVersion::V1_1 | TlsVersion::V1_2 => true,
            TlsVersion::V1_3 => self.version == Some(ProtocolVersion::TLSv1_3),
        }
    }

    pub(super) fn is_checked(&self) -> bool {
        self.is_checked
    }

    /// Whether the certificate of a connection that did not check it is valid.
    pub(super) fn is_valid(&self, verifier: &WebPkiServerVerifier) -> bool {
        let Some((own, others)) = self.certificates.split_first() else {
            return false;
        };
        verifier
            .verify_server_cert(own, others, &self.name, &[], UnixTime::now())
            .is_ok()
    }
}

/// Checks that the peer holds its key, but not the peer's identity.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            cert,
            dss,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            cert,
            dss,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
