//! What stands before a service and speaks TLS for it, as a load balancer does.

use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use crate::Certificate;

/// Passes on to a service what comes by TLS; dropped, it stops.
#[derive(Debug)]
pub struct TlsProxy {
    pub address: SocketAddr,
    running: JoinHandle<()>,
}

impl TlsProxy {
    /// On a port of its own, with this certificate.
    ///
    /// # Panics
    /// When this machine has no port left.
    #[expect(clippy::expect_used, reason = "a test without its proxy cannot go on")]
    pub async fn start(certificate: &Certificate, service: SocketAddr) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let address = listener.local_addr().expect("its address");
        let acceptor = TlsAcceptor::from(certificate.server.clone());
        let running = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(pass_on(acceptor.clone(), stream, service));
            }
        });
        Self { address, running }
    }
}

impl Drop for TlsProxy {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// Passes one connection on; a client that does not trust the certificate ends it.
async fn pass_on(acceptor: TlsAcceptor, stream: TcpStream, service: SocketAddr) {
    let (Ok(mut client), Ok(mut service)) = (
        acceptor.accept(stream).await,
        TcpStream::connect(service).await,
    ) else {
        return;
    };
    let _end = tokio::io::copy_bidirectional(&mut client, &mut service).await;
}
