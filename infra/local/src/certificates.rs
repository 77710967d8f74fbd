//! Certificates: those that are trusted, and the one of the HTTPS listener and of STARTTLS.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use posthaste_runtime::{ConfigError, Env};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{self, CryptoProvider};
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, ServerConfig, SignatureScheme,
};

/// The variable that names the file of trusted certificates.
const VARIABLE: &str = "SSL_CERT_FILE";

/// Why HTTPS is unavailable.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("{0} cannot be read: {1}")]
    File(PathBuf, io::Error),
    #[error("{0} holds no {1}")]
    Empty(PathBuf, &'static str),
    #[error("the certificate and its key do not work: {0}")]
    Rustls(rustls::Error),
}

/// Checks that the file of trusted certificates is one, where a variable names it.
///
/// The TLS library reads it at the first connection, and without a certificate in it every webhook and every
/// relay would fail.
///
/// # Errors
/// When it cannot be read, or holds no certificate.
pub fn check(vars: &Env) -> Result<(), ConfigError> {
    let Some(file) = vars.get(VARIABLE) else {
        return Ok(());
    };
    let wrong = |why: String| ConfigError::Unreadable(VARIABLE.to_owned(), why);
    let bytes =
        std::fs::read(&file).map_err(|e| wrong(format!("the file {file} cannot be read: {e}")))?;
    match CertificateDer::pem_slice_iter(&bytes).next() {
        Some(Ok(_)) => Ok(()),
        Some(Err(_)) | None => Err(wrong(format!("the file {file} holds no certificate (PEM)"))),
    }
}

/// Reads a certificate chain and its key.
pub(crate) fn server_config(cert: &Path, key: &Path) -> Result<Arc<ServerConfig>, TlsError> {
    let (chain, key) = (chain(cert)?, private_key(key)?);
    let provider = Arc::new(crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(chain, key))
        .map_err(TlsError::Rustls)?;
    Ok(Arc::new(config))
}

/// How a client reaches the listener that has the first certificate of this file, and no other: by an address
/// that the certificate need not name, and without an authority that vouches for it.
pub(crate) fn client_config(cert: &Path) -> Result<Arc<ClientConfig>, TlsError> {
    let mut chain = chain(cert)?;
    let provider = Arc::new(crypto::aws_lc_rs::default_provider());
    let pinned = Pinned {
        certificate: chain.swap_remove(0),
        provider: provider.clone(),
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(TlsError::Rustls)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(pinned))
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// Accepts one certificate, whose key the listener has to prove.
#[derive(Debug)]
struct Pinned {
    certificate: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if *end_entity == self.certificate {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        crypto::verify_tls12_signature(message, cert, signature, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        crypto::verify_tls13_signature(message, cert, signature, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let known = &self.provider.signature_verification_algorithms;
        known.supported_schemes()
    }
}

fn chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let chain: Vec<_> = CertificateDer::pem_slice_iter(&read(path)?)
        .collect::<Result<_, _>>()
        .map_err(|e| unreadable(path, e))?;
    if chain.is_empty() {
        return Err(TlsError::Empty(path.to_owned(), "certificate"));
    }
    Ok(chain)
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_slice(&read(path)?).map_err(|e| match e {
        pem::Error::NoItemsFound => TlsError::Empty(path.to_owned(), "private key"),
        other => unreadable(path, other),
    })
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|e| TlsError::File(path.to_owned(), e))
}

fn unreadable(path: &Path, error: pem::Error) -> TlsError {
    let error = io::Error::new(io::ErrorKind::InvalidData, error);
    TlsError::File(path.to_owned(), error)
}

#[cfg(test)]
mod tests {
    use posthaste_testkit::Certificate;

    use super::*;

    fn checked(file: String) -> Result<(), String> {
        let vars = Env::new(move |_| Some(file.clone()));
        check(&vars).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_without_a_certificate_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("trusted.pem");
        let named = file.to_str().unwrap().to_owned();
        assert_eq!(check(&Env::new(|_| None)), Ok(()));
        for (text, why) in [
            (None, "cannot be read"),
            (Some("nothing"), "no certificate"),
        ] {
            if let Some(text) = text {
                std::fs::write(&file, text).unwrap();
            }
            let said = checked(named.clone()).unwrap_err();
            assert!(said.contains(VARIABLE) && said.contains(why), "{said}");
            assert!(said.contains(&named) && !said.contains('\n'), "{said}");
        }
        let pem = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
        std::fs::write(&file, pem).unwrap();
        assert_eq!(checked(named), Ok(()));
    }

    #[test]
    fn a_certificate_and_its_key_are_read_from_pem_and_what_is_none_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let (made, other) = (Certificate::of(&["localhost"]), Certificate::of(&["other"]));
        let words = "Bag Attributes\n    friendlyName: x\n";
        let cert = put("cert", &format!("{words}{}{}", made.pem, other.pem));
        // Key and certificate in one file, as some tools store them.
        let key = put("key", &format!("{words}{}{}", made.pem, made.key_pem));
        server_config(&cert, &key).unwrap();

        let empty = put("empty", "");
        let torn = put("torn", "-----BEGIN CERTIFICATE-----\nAAAA\n");
        let foreign = put("foreign", &other.key_pem);
        for (cert, key, want) in [
            (&empty, &key, "empty holds no certificate"),
            (&cert, &empty, "empty holds no private key"),
            (&torn, &key, "torn cannot be read: "),
            (&cert, &torn, "torn cannot be read: "),
            (&cert, &foreign, "the certificate and its key do not work: "),
            (&dir.path().join("gone"), &key, "gone cannot be read: "),
        ] {
            let error = server_config(cert, key).unwrap_err().to_string();
            assert!(error.contains(want) && !error.contains('\n'), "{error}");
        }
    }
}
