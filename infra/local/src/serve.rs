//! HTTP and HTTPS listeners.
//!
//! A client that sends or reads nothing holds a connection for a bounded time, no client can use
//! all connections, and bodies share one bounded amount of memory: [`HttpLimits`] has the figures.
//! Event streams and requests that wait long are exempt from the time limits and counted
//! separately.

mod body;
mod connection;
mod files;
mod limits;
mod progress;
#[cfg(test)]
mod tests;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use posthaste_listen::{
    AcceptFailures, ConnectionLimiter, LinePace, MemoryBudget, Permit, RefusalTurn, Refusals,
};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use connection::PortState;

pub(crate) use files::allow_files;
pub use limits::HttpLimits;

/// The answer to a client refused at capacity.
const NO_CONNECTION: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
    Content-Type: application/json\r\n\
    Retry-After: 5\r\n\
    Connection: close\r\n\
    Content-Length: 77\r\n\
    \r\n\
    {\"errors\":[{\"field\":null,\"message\":\"too many connections, try again later\"}]}";

/// How long a client may take to read that answer.
const READ_WITHIN: Duration = Duration::from_secs(2);

/// One HTTP port.
pub(crate) struct Server {
    /// Names the port in log lines, as in "API".
    pub(crate) name: &'static str,
    pub(crate) limits: HttpLimits,
    /// For the bodies of all ports together.
    pub(crate) bodies: MemoryBudget,
    pub(crate) tls: Option<Arc<ServerConfig>>,
    pub(crate) router: Router,
}

/// Where connections come from.
pub(crate) trait Listen {
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    fn accept(&self) -> impl Future<Output = io::Result<(Self::Stream, SocketAddr)>> + Send;
}

impl Listen for TcpListener {
    type Stream = TcpStream;

    async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let (stream, peer) = Self::accept(self).await?;
        // An answer must not wait for more of itself.
        let _ = stream.set_nodelay(true);
        Ok((stream, peer))
    }
}

impl Server {
    /// Serves until `stop` resolves, then lets requests under way finish.
    pub(crate) async fn run(self, listener: impl Listen, stop: impl Future<Output = ()>) {
        let open = ConnectionLimiter::new(self.limits.connections);
        let shared = Arc::new(PortState {
            streams: ConnectionLimiter::new(self.limits.streams),
            open: open.clone(),
            limits: self.limits,
            bodies: self.bodies,
            router: self.router,
        });
        let acceptor = self.tls.map(TlsAcceptor::from);
        let turns = Refusals::default();
        let name = self.name;
        let mut failures = AcceptFailures::new(name);
        let mut refusals = LinePace::default();
        let (stopping, stopped) = watch::channel(false);
        let mut connections = JoinSet::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            let (stream, peer) = tokio::select! {
                () = &mut stop => break,
                Some(ended) = connections.join_next() => {
                    report(ended);
                    continue;
                }
                accepted = accept(&listener, &mut failures) => accepted,
            };
            let Some(permit) = open.acquire(peer.ip()) else {
                if let Some(count) = refusals.note() {
                    tracing::warn!(
                        connections.refused = count,
                        "the {name} refused {count} connections: too many are open, of one client or in all"
                    );
                }
                // Without a handshake a TLS client could not read it.
                if acceptor.is_none()
                    && let Some(turn) = turns.turn()
                {
                    connections.spawn(turn_away(stream, turn));
                }
                continue;
            };
            let (shared, until) = (Arc::clone(&shared), stopped.clone());
            connections.spawn(serve_one(
                acceptor.clone(),
                (stream, peer),
                permit,
                shared,
                until,
            ));
        }
        drop(listener);
        stopping.send_replace(true);
        while let Some(ended) = connections.join_next().await {
            report(ended);
        }
    }
}

/// Serves one connection, after its handshake where the port speaks TLS.
async fn serve_one<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    acceptor: Option<TlsAcceptor>,
    (stream, peer): (S, SocketAddr),
    permit: Permit,
    shared: Arc<PortState>,
    stop: watch::Receiver<bool>,
) {
    let Some(acceptor) = acceptor else {
        return connection::serve(stream, peer, permit, shared, stop).await;
    };
    let handshake = acceptor.accept(stream);
    if let Ok(Ok(stream)) = timeout(shared.limits.handshake, handshake).await {
        connection::serve(stream, peer, permit, shared, stop).await;
    }
}

/// The next connection. Errors of accept are logged and retried after a while. Dropping the future
/// half-way loses nothing.
async fn accept<L: Listen>(listener: &L, failures: &mut AcceptFailures) -> (L::Stream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => {
                failures.accepted();
                return accepted;
            }
            Err(error) => tokio::time::sleep(failures.failed(&error)).await,
        }
    }
}

/// Answers that the port is at capacity, while `_turn` is held and no longer than [`READ_WITHIN`].
async fn turn_away(stream: impl AsyncRead + AsyncWrite + Unpin, _turn: RefusalTurn) {
    let _ = timeout(READ_WITHIN, say_no_connection(stream)).await;
}

/// Writes the answer and reads a little: closing a socket with unread bytes in it would discard the
/// answer.
async fn say_no_connection(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    let written = stream.write_all(NO_CONNECTION).await;
    if written.is_err() || stream.shutdown().await.is_err() {
        return;
    }
    let mut rest = stream.take(64 * 1024);
    let mut unread = [0; 4096];
    while matches!(rest.read(&mut unread).await, Ok(1..)) {}
}

fn report(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "an HTTP connection panicked");
    }
}
