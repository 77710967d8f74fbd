//! A web server that records the posts it receives and answers as scripted.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

/// One request as it arrived.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    pub method: Method,
    /// Path and query.
    pub target: String,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// The sender's side of the connection: the same for requests on one connection.
    pub peer: SocketAddr,
    pub at: Instant,
}

impl ReceivedRequest {
    /// A header as text; empty when it is missing or not text.
    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.and_then(|value| value.to_str().ok()).unwrap_or("")
    }
}

/// How the receiver answers one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    Answer {
        status: u16,
        headers: Vec<(String, String)>,
        body: Bytes,
    },
    /// Reads the request and never answers.
    Hang,
    /// Reads the request and closes the connection.
    Drop,
    /// Answers the head and the beginning of a body that never ends or goes on.
    Stall { status: u16, body: Bytes },
    /// Answers the head and a body without end, as fast as it is read.
    Flood { status: u16 },
}

impl Reply {
    /// An answer with only a status.
    pub fn status(status: u16) -> Self {
        Self::with_body(status, "")
    }

    /// An answer with a body.
    pub fn with_body(status: u16, body: impl Into<Bytes>) -> Self {
        Self::Answer {
            status,
            headers: Vec::new(),
            body: body.into(),
        }
    }

    /// An answer that requests a later retry.
    pub fn retry_after(status: u16, value: &str) -> Self {
        Self::with_header(status, "retry-after", value)
    }

    /// A redirect.
    pub fn redirect(status: u16, location: &str) -> Self {
        Self::with_header(status, "location", location)
    }

    fn with_header(status: u16, name: &str, value: &str) -> Self {
        Self::Answer {
            status,
            headers: vec![(name.to_owned(), value.to_owned())],
            body: Bytes::new(),
        }
    }
}

type Decide = Box<dyn Fn(&ReceivedRequest) -> Reply + Send>;

struct State {
    posts: Vec<ReceivedRequest>,
    /// Answers for the next requests, used up in order.
    script: VecDeque<Reply>,
    /// The answer when the script is used up.
    otherwise: Decide,
    /// How many of `posts` `next` has returned.
    taken: usize,
}

struct Shared {
    state: Mutex<State>,
    arrived: watch::Sender<usize>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, request: ReceivedRequest) -> Reply {
        let mut state = self.state();
        let scripted = state.script.pop_front();
        let reply = scripted.unwrap_or_else(|| (state.otherwise)(&request));
        state.posts.push(request);
        self.arrived.send_replace(state.posts.len());
        reply
    }
}

/// A running web server on loopback. Dropping it closes the port and every connection.
pub struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: Option<JoinHandle<()>>,
}

impl Receiver {
    /// Listens on a free port of 127.0.0.1 and answers 200 by default.
    pub async fn start() -> io::Result<Self> {
        let shared = Shared {
            state: Mutex::new(State {
                posts: Vec::new(),
                script: VecDeque::new(),
                otherwise: Box::new(|_| Reply::status(200)),
                taken: 0,
            }),
            arrived: watch::Sender::new(0),
        };
        let mut receiver = Self {
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            shared: Arc::new(shared),
            server: None,
        };
        receiver.restart().await?;
        Ok(receiver)
    }

    /// Stops listening and breaks every connection, as a crash does. The records stay.
    pub async fn stop(&mut self) {
        if let Some(server) = self.server.take() {
            server.abort();
            // Resolves once the task is gone and its sockets with it.
            let _aborted = server.await;
        }
    }

    /// Listens again, on the same port as before.
    ///
    /// # Errors
    /// When another process took the port meanwhile.
    pub async fn restart(&mut self) -> io::Result<()> {
        self.stop().await;
        let listener = TcpListener::bind(self.address).await?;
        self.address = listener.local_addr()?;
        self.server = Some(tokio::spawn(serve(listener, self.shared.clone())));
        Ok(())
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:<port>/`.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Answers the next requests with these, one each; then as before.
    pub fn script(&self, replies: impl IntoIterator<Item = Reply>) {
        self.shared.state().script.extend(replies);
    }

    /// Answers every request outside the script with this.
    pub fn always(&self, reply: Reply) {
        self.decide(move |_| reply.clone());
    }

    /// Answers every request outside the script with the result of this function.
    pub fn decide(&self, decide: impl Fn(&ReceivedRequest) -> Reply + Send + 'static) {
        self.shared.state().otherwise = Box::new(decide);
    }

    /// Everything received so far, in order.
    pub fn posts(&self) -> Vec<ReceivedRequest> {
        self.shared.state().posts.clone()
    }

    /// The oldest request that `next` has not returned; waits for it up to `timeout`.
    pub async fn next(&self, timeout: Duration) -> Option<ReceivedRequest> {
        let wanted = {
            let mut state = self.shared.state();
            state.taken += 1;
            state.taken
        };
        if self.wait_for(wanted, timeout).await {
            return self.shared.state().posts.get(wanted - 1).cloned();
        }
        self.shared.state().taken -= 1;
        None
    }

    /// Waits until `count` requests have arrived; false when `timeout` passes first.
    pub async fn wait_for(&self, count: usize, timeout: Duration) -> bool {
        let mut arrived = self.shared.arrived.subscribe();
        let enough = arrived.wait_for(|have| *have >= count);
        matches!(tokio::time::timeout(timeout, enough).await, Ok(Ok(_)))
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        if let Some(server) = &self.server {
            server.abort();
        }
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    // Connections end with this task.
    let mut connections = JoinSet::new();
    while let Ok((stream, peer)) = listener.accept().await {
        connections.spawn(converse(stream, peer, shared.clone()));
        while connections.try_join_next().is_some() {}
    }
}

async fn converse(stream: TcpStream, peer: SocketAddr, shared: Arc<Shared>) {
    let service = service_fn(move |request| answer(request, peer, shared.clone()));
    let connection = hyper::server::conn::http1::Builder::new();
    // A connection that ends badly was closed by the client or by the script.
    let _end = connection
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// The connection is to be closed without an answer.
#[derive(Debug)]
struct HangUp;

impl std::fmt::Display for HangUp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("scripted to close the connection")
    }
}

impl std::error::Error for HangUp {}

async fn answer(
    request: Request<Incoming>,
    peer: SocketAddr,
    shared: Arc<Shared>,
) -> Result<Response<Scripted>, HangUp> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| HangUp)?.to_bytes();
    let reply = shared.take(ReceivedRequest {
        method: head.method,
        target: head.uri.to_string(),
        headers: head.headers,
        body,
        peer,
        at: Instant::now(),
    });
    let (status, headers, body) = match reply {
        Reply::Answer {
            status,
            headers,
            body,
        } => (status, headers, Scripted::Whole(Some(body))),
        Reply::Hang => std::future::pending().await,
        Reply::Drop => return Err(HangUp),
        Reply::Stall { status, body } => (status, Vec::new(), Scripted::Stall(Some(body))),
        Reply::Flood { status } => (status, Vec::new(), Scripted::Flood),
    };
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(name, value);
    }
    response.body(body).map_err(|_| HangUp)
}

enum Scripted {
    Whole(Option<Bytes>),
    Stall(Option<Bytes>),
    Flood,
}

impl Body for Scripted {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let chunk = match &mut *self {
            Self::Whole(body) => body.take(),
            Self::Stall(body) => match body.take() {
                Some(body) => Some(body),
                None => return Poll::Pending,
            },
            Self::Flood => Some(Bytes::from_static(&[b'x'; 8192])),
        };
        Poll::Ready(chunk.map(|chunk| Ok(Frame::data(chunk))))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body) => {
                SizeHint::with_exact(body.as_ref().map_or(0, |body| body.len() as u64))
            }
            Self::Stall(_) | Self::Flood => SizeHint::default(),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(body) if body.as_ref().is_none_or(Bytes::is_empty))
    }
}

#[cfg(test)]
mod tests;
