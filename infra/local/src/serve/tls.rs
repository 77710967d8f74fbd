//! The certificate of the HTTPS listener and of STARTTLS.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

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

/// Reads a certificate chain and its key.
pub(crate) fn tls(cert: &Path, key: &Path) -> Result<Arc<ServerConfig>, TlsError> {
    let open = |path: &Path| {
        let bytes = std::fs::read(path);
        bytes.map_err(|e| TlsError::File(path.to_owned(), e))
    };
    let unreadable = |path: &Path, e: pem::Error| {
        TlsError::File(
            path.to_owned(),
            io::Error::new(io::ErrorKind::InvalidData, e),
        )
    };
    let chain: Vec<_> = CertificateDer::pem_slice_iter(&open(cert)?)
        .collect::<Result<_, _>>()
        .map_err(|e| unreadable(cert, e))?;
    if chain.is_empty() {
        return Err(TlsError::Empty(cert.to_owned(), "certificate"));
    }
    let key = PrivateKeyDer::from_pem_slice(&open(key)?).map_err(|e| match e {
        pem::Error::NoItemsFound => TlsError::Empty(key.to_owned(), "private key"),
        other => unreadable(key, other),
    })?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(chain, key))
        .map_err(TlsError::Rustls)?;
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests;
