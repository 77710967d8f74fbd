//! The listener: admission of clients, and shutdown.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use posthaste_listen::{
    AcceptFailures, ConnectionLimiter, ConnectionLimits, MemoryBudget, Permit, RefusalTurn,
    Refusals,
};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::timeout;

use crate::connection::{Connection, ServerState};
use crate::{Config, Handler, Session};

/// How long a client refused at capacity may take to read the refusal.
const NO_ROOM: Duration = Duration::from_secs(2);

/// Serves the port until `stop` resolves, then lets mails under way finish for as long as
/// [`farewell`](crate::SmtpLimits::farewell) allows, and returns.
pub async fn serve<H: Handler>(
    listener: TcpListener,
    config: Config,
    handler: Arc<H>,
    stop: impl Future<Output = ()>,
) {
    let limits = &config.limits;
    let open = ConnectionLimiter::new(ConnectionLimits {
        all: limits.connections,
        per_client: limits.connections_per_peer,
    });
    let refusals = Refusals::default();
    let mut failures = AcceptFailures::new("SMTP port");
    let farewell = config.limits.farewell;
    let shared = Arc::new(ServerState {
        budget: MemoryBudget::new(config.limits.buffered),
        config,
        handler,
    });
    let (stopping, stopped) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut stop = std::pin::pin!(stop);
    let mut id = 0_u64;
    loop {
        tokio::select! {
            () = &mut stop => break,
            Some(ended) = connections.join_next() => report(ended),
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => {
                    failures.accepted();
                    id += 1;
                    match open.acquire(peer.ip()) {
                        Some(permit) => {
                            let client = Client { stream, peer, id, _permit: permit };
                            connections.spawn(serve_client(client, Arc::clone(&shared), stopped.clone()));
                        }
                        None => refuse(stream, &refusals, &mut connections),
                    }
                }
                Err(error) => {
                    let pause = failures.failed(&error);
                    tokio::select! {
                        () = &mut stop => break,
                        () = tokio::time::sleep(pause) => {}
                    }
                }
            },
        }
    }
    drop(listener);
    stopping.send_replace(true);
    let all = async {
        while let Some(ended) = connections.join_next().await {
            report(ended);
        }
    };
    if timeout(farewell, all).await.is_err() {
        connections.shutdown().await;
    }
}

/// An admitted client.
struct Client {
    stream: TcpStream,
    peer: SocketAddr,
    /// Number of the connection.
    id: u64,
    _permit: Permit,
}

async fn serve_client<H: Handler>(
    client: Client,
    shared: Arc<ServerState<H>>,
    stop: watch::Receiver<bool>,
) {
    // Replies are written whole: there is nothing to wait for before sending them.
    if client.stream.set_nodelay(true).is_err() {
        return;
    }
    let session = Session {
        id: client.id,
        peer: client.peer,
        tls: false,
        hello: String::new(),
        esmtp: false,
        identity: None,
    };
    let stream = Box::new(client.stream);
    Connection::new(stream, session, shared, stop).run().await;
}

/// Turns a client away at capacity. While enough others are being answered, its connection is
/// closed without a word.
fn refuse(
    stream: impl AsyncWrite + Unpin + Send + 'static,
    refusals: &Refusals,
    connections: &mut JoinSet<()>,
) {
    if let Some(turn) = refusals.turn() {
        connections.spawn(turn_away(stream, turn));
    }
}

/// Tells a client that the port is at capacity, while `_turn` is held and no longer than
/// [`NO_ROOM`].
async fn turn_away(mut stream: impl AsyncWrite + Unpin, _turn: RefusalTurn) {
    let sorry = b"421 4.7.0 too many connections\r\n";
    // Whether or not it is delivered, the connection ends.
    let _ = timeout(NO_ROOM, stream.write_all(sorry)).await;
}

fn report(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "an SMTP connection panicked");
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, DuplexStream};

    use super::*;

    async fn heard(client: &mut DuplexStream) -> String {
        let mut heard = String::new();
        client.read_to_string(&mut heard).await.unwrap();
        heard
    }

    #[tokio::test(start_paused = true)]
    async fn so_many_clients_are_told_at_a_time_and_others_are_closed() {
        let (refusals, mut connections) = (Refusals::default(), JoinSet::new());
        // Too narrow for the whole reply: telling lasts until the client reads.
        let call = |connections: &mut JoinSet<()>| {
            let (ours, theirs) = tokio::io::duplex(8);
            refuse(theirs, &refusals, connections);
            ours
        };
        let mut told: Vec<_> = (0..Refusals::AT_A_TIME)
            .map(|_| call(&mut connections))
            .collect();
        let mut closed = call(&mut connections);
        assert_eq!(heard(&mut closed).await, "");
        assert_eq!(connections.len(), Refusals::AT_A_TIME);

        let sorry = "421 4.7.0 too many connections\r\n";
        assert_eq!(heard(&mut told[0]).await, sorry);
        connections.join_next().await.unwrap().unwrap();
        let mut next = call(&mut connections);
        assert_eq!(heard(&mut next).await, sorry);

        // Who does not read loses the turn.
        while let Some(ended) = connections.join_next().await {
            ended.unwrap();
        }
        let mut last = call(&mut connections);
        assert_eq!(heard(&mut last).await, sorry);
    }
}
