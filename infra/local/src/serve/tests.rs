//! A port on pipes in memory, with a clock that advances to the next event.

mod bodies;
mod clients;
mod timeouts;

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::routing::{get, post};
use axum::{Extension, Router};
use futures_util::stream;
use posthaste_http::{BodyRoom, RawBody, no_room};
use posthaste_listen::{ConnectionLimits, MemoryBudget};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::sync::{Mutex, Notify, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::{HttpLimits, Listen, Server};

/// Bytes that a pipe buffers before a read is required.
const PIPE: usize = 16 * 1024;

/// Of the answer to `GET /large`.
const LARGE: usize = 1024 * 1024;

type Accepted = io::Result<(DuplexStream, SocketAddr)>;

struct Pipes(Mutex<mpsc::UnboundedReceiver<Accepted>>);

impl Listen for Pipes {
    type Stream = DuplexStream;

    async fn accept(&self) -> Accepted {
        match self.0.lock().await.recv().await {
            Some(accepted) => accepted,
            None => std::future::pending().await,
        }
    }
}

/// A running port.
struct Port {
    pipes: mpsc::UnboundedSender<Accepted>,
    /// Lets a request to `/wait` be answered.
    go: Arc<Notify>,
    stop: watch::Sender<bool>,
    running: JoinHandle<()>,
}

impl Port {
    fn open(limits: HttpLimits) -> Self {
        Self::with_tls(limits, None)
    }

    fn with_tls(limits: HttpLimits, tls: Option<Arc<rustls::ServerConfig>>) -> Self {
        let go = Arc::new(Notify::new());
        let waiting = go.clone();
        let wait = move || {
            let go = waiting.clone();
            async move {
                go.notified().await;
                "went"
            }
        };
        let waiting = go.clone();
        // As a handler does that unpacks a body to four times its size.
        let unpack = move |Extension(room): Extension<BodyRoom>, RawBody(body): RawBody| {
            let go = waiting.clone();
            async move {
                if !room.cover(body.len() * 5) {
                    return Err(no_room());
                }
                go.notified().await;
                Ok("went")
            }
        };
        let live = || async {
            let events = stream::pending::<Result<Bytes, Infallible>>();
            (
                [(CONTENT_TYPE, "text/event-stream")],
                Body::from_stream(events),
            )
        };
        let router = Router::new()
            .route("/", get(|| async { ([("x-message-id", "7")], "hello") }))
            .route("/large", get(|| async { vec![b'x'; LARGE] }))
            .route("/live", get(live))
            .route("/wait", get(wait).post(unpack))
            .route(
                "/length",
                post(|RawBody(body): RawBody| async move { body.len().to_string() }),
            );
        let (pipes, accepted) = mpsc::unbounded_channel();
        let (stop, stopped) = watch::channel(false);
        let server = Server {
            name: "API",
            bodies: MemoryBudget::new(limits.bodies),
            limits,
            tls,
            router,
        };
        let listener = Pipes(Mutex::new(accepted));
        let until = crate::workers::stopped(stopped);
        Self {
            pipes,
            go,
            stop,
            running: tokio::spawn(server.run(listener, until)),
        }
    }

    fn connect_from(&self, ip: impl Into<IpAddr>) -> Client {
        let (ours, theirs) = tokio::io::duplex(PIPE);
        let peer = SocketAddr::new(ip.into(), 50_000);
        self.pipes.send(Ok((theirs, peer))).expect("the port runs");
        Client(ours)
    }

    fn connect(&self) -> Client {
        self.connect_from([192, 0, 2, 1])
    }
}

struct Client(DuplexStream);

impl Client {
    async fn say(&mut self, text: &str) {
        self.0
            .write_all(text.as_bytes())
            .await
            .expect("a connection that is open");
    }

    async fn get(&mut self, path: &str) {
        self.say(&format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n"))
            .await;
    }

    /// The beginning of a request with a body of so many bytes.
    async fn post(&mut self, length: usize) {
        self.post_to("/length", length).await;
    }

    async fn post_to(&mut self, path: &str, length: usize) {
        let head = format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n");
        self.say(&head).await;
    }

    /// What the server sends until it closes the connection.
    async fn hear_all(&mut self) -> String {
        let mut heard = Vec::new();
        self.0
            .read_to_end(&mut heard)
            .await
            .expect("a connection that ends in order");
        String::from_utf8(heard).expect("text")
    }

    /// What the server sends up to and with this text.
    async fn hear(&mut self, end: &str) -> String {
        let mut heard = String::new();
        while !heard.ends_with(end) {
            let byte = self.0.read_u8().await;
            heard.push(char::from(
                byte.unwrap_or_else(|_| panic!("only {heard:?}")),
            ));
        }
        heard
    }
}

fn limits(all: usize, per_client: usize) -> ConnectionLimits {
    ConnectionLimits { all, per_client }
}

/// Lets so many seconds of the paused clock pass, and everything happen that is due in them.
async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

/// Checks that so many seconds have passed, and not one more.
#[track_caller]
fn check_seconds(since: Instant, want: u64) {
    assert_eq!(since.elapsed().as_secs(), want, "{:?}", since.elapsed());
}
