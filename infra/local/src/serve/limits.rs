//! The limits for each client of an HTTP port.

use std::time::Duration;

use posthaste_listen::{ConnectionLimits, Refusals};

/// Connections of one port.
const CONNECTIONS: usize = 1024;

/// Connections of one client to one port.
const CONNECTIONS_PER_CLIENT: usize = 64;

/// Event streams and long waits of one port, counted separately from the connections above.
const STREAMS: usize = 256;

/// Event streams and long waits of one client.
const STREAMS_PER_CLIENT: usize = 64;

/// From a new connection, or the first byte of a later request, to the end of the request's head.
const HEAD: Duration = Duration::from_secs(10);

/// A pause within a request body.
const BODY: Duration = Duration::from_secs(30);

/// Between an answer and the next request.
const IDLE: Duration = Duration::from_secs(75);

/// A client that reads none of an answer.
const ANSWER: Duration = Duration::from_secs(30);

const HANDSHAKE: Duration = Duration::from_secs(10);

/// A request that takes longer to answer, once it was received, is a long wait.
const LONG_WAIT: Duration = Duration::from_secs(10);

/// Bytes of request bodies that are being received or handled, and of what they are decompressed to,
/// over all connections of the process.
const BODIES: usize = 256 * 1024 * 1024;

/// The limits of an HTTP port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpLimits {
    /// Open connections; one more is answered 503 and closed, or only closed when many are being
    /// answered so.
    pub connections: ConnectionLimits,
    /// Event streams and requests that wait long; they leave their place among `connections` to
    /// others. A stream more is answered 503.
    pub streams: ConnectionLimits,
    /// For the head of a request, to its last byte.
    pub head: Duration,
    /// For the next byte of a request body.
    pub body: Duration,
    /// For the next request.
    pub idle: Duration,
    /// For a client to take the next bytes of an answer.
    pub answer: Duration,
    /// For the TLS handshake.
    pub handshake: Duration,
    /// For an answer to begin, after the service has read what it wants of the request's body,
    /// before the request counts among `streams`.
    pub long_wait: Duration,
    /// Bytes of request bodies in progress, compressed and decompressed; a body that no longer fits is
    /// answered 503.
    pub bodies: usize,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            connections: ConnectionLimits {
                all: CONNECTIONS,
                per_client: CONNECTIONS_PER_CLIENT,
            },
            streams: ConnectionLimits {
                all: STREAMS,
                per_client: STREAMS_PER_CLIENT,
            },
            head: HEAD,
            body: BODY,
            idle: IDLE,
            answer: ANSWER,
            handshake: HANDSHAKE,
            long_wait: LONG_WAIT,
            bodies: BODIES,
        }
    }
}

impl HttpLimits {
    /// The defaults with another number of connections for one client: behind a reverse proxy all
    /// of them come from its address. The port's own limit is unchanged unless it would be smaller.
    pub fn with_connections_per_client(mut self, per_client: usize) -> Self {
        self.connections.per_client = per_client;
        self.connections.all = self.connections.all.max(per_client);
        self.streams.per_client = self
            .streams
            .per_client
            .max(per_client.min(self.streams.all));
        self
    }

    /// The most sockets that clients of a port hold at a time: clients that are being turned away
    /// hold some too.
    pub(crate) fn most_sockets(&self) -> usize {
        let served = self.connections.all.saturating_add(self.streams.all);
        served.saturating_add(Refusals::AT_A_TIME)
    }
}
