//! HTTP and HTTPS listeners.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::serve::{Listener, ListenerExt as _};
use rustls::ServerConfig;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// Why HTTPS cannot be spoken.
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

/// Serves a router until `stop` resolves, then lets requests under way finish.
pub(crate) async fn http(
    listener: TcpListener,
    tls: Option<Arc<ServerConfig>>,
    router: Router,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    match tls {
        None => {
            let listener = listener.tap_io(no_delay);
            let serving = axum::serve(listener, service);
            serving.with_graceful_shutdown(stop).await
        }
        Some(config) => {
            // The tap does nothing; it is what gives the listener its peer addresses.
            let listener = Tls::start(listener, config)?.tap_io(|_| {});
            let serving = axum::serve(listener, service);
            serving.with_graceful_shutdown(stop).await
        }
    }
}

/// An answer must not wait for more of itself.
fn no_delay(stream: &mut TcpStream) {
    let _ = stream.set_nodelay(true);
}

/// Hands out connections whose handshake is done, so that a slow one holds nobody up.
struct Tls {
    address: SocketAddr,
    ready: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
}

impl Tls {
    fn start(listener: TcpListener, config: Arc<ServerConfig>) -> io::Result<Self> {
        const HANDSHAKE: Duration = Duration::from_secs(10);
        let address = listener.local_addr()?;
        let (sender, ready) = mpsc::channel(64);
        let acceptor = TlsAcceptor::from(config);
        let mut listener = listener.tap_io(no_delay);
        tokio::spawn(async move {
            while !sender.is_closed() {
                let accepted = tokio::select! {
                    accepted = listener.accept() => accepted,
                    () = sender.closed() => return,
                };
                let (stream, peer) = accepted;
                let (acceptor, sender) = (acceptor.clone(), sender.clone());
                tokio::spawn(async move {
                    let shaken = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await;
                    if let Ok(Ok(stream)) = shaken {
                        // Closed only when the server is; the connection then goes with it.
                        let _ = sender.send((stream, peer)).await;
                    }
                });
            }
        });
        Ok(Self { address, ready })
    }
}

impl Listener for Tls {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.ready.recv().await {
            Some(connection) => connection,
            // The acceptor ends only with this listener.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}

#[cfg(test)]
mod tests;
