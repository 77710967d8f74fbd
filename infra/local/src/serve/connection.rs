//! One connection, from its first byte to its last.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, Request, Response, header};
use axum::response::IntoResponse as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use posthaste_http::{BodyRoom, Rejection};
use posthaste_listen::{ConnectionLimiter, MemoryBudget, Permit};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tower::ServiceExt as _;

use super::body::{RequestBody, Reservation, ResponseBody, Upload};
use super::limits::HttpLimits;
use super::progress::{Progress, Watched};

/// The longest head of a request; beyond it the connection ends with 431. It is also the read
/// buffer's maximum.
const LONGEST_HEAD: usize = 64 * 1024;

/// State shared by all connections of a port.
pub(super) struct PortState {
    pub(super) limits: HttpLimits,
    pub(super) bodies: MemoryBudget,
    pub(super) router: Router,
    pub(super) open: ConnectionLimiter,
    pub(super) streams: ConnectionLimiter,
}

/// Serves the requests of a connection until it ends, a limit is passed, or, after `stop`, the
/// request under way is answered.
pub(super) async fn serve<S>(
    stream: S,
    peer: SocketAddr,
    permit: Permit,
    shared: Arc<PortState>,
    mut stop: watch::Receiver<bool>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let progress = Arc::new(Progress::new(&shared.limits));
    let io = TokioIo::new(Watched::new(stream, Arc::clone(&progress)));
    let place = Arc::new(PeerSlot {
        peer,
        permit: Mutex::new(Some(permit)),
        shared,
        progress: Arc::clone(&progress),
    });
    let service = service_fn(move |request| answer(request, Arc::clone(&place)));
    let connection = http1::Builder::new()
        // The watch below also enforces the idle limit.
        .header_read_timeout(None::<Duration>)
        .max_buf_size(LONGEST_HEAD)
        // `X-Message-Id`: some clients look headers up by this exact spelling.
        .title_case_headers(true)
        .serve_connection(io, service)
        // A WebSocket outlives this, and has no limits of time.
        .with_upgrades();
    let mut connection = pin!(connection);
    let mut stopping = pin!(async move {
        let _ = stop.wait_for(|stop| *stop).await;
    });
    let mut is_stopping = false;
    let mut watch = pin!(sleep_until(Instant::now()));
    poll_fn(|cx| {
        if !is_stopping && stopping.as_mut().poll(cx).is_ready() {
            is_stopping = true;
            connection.as_mut().graceful_shutdown();
        }
        if let Poll::Ready(ended) = connection.as_mut().poll(cx) {
            if let Err(error) = ended {
                tracing::debug!(%error, "an HTTP connection ended early: {error}");
            }
            return Poll::Ready(());
        }
        if is_stopping && progress.is_in_head() {
            return Poll::Ready(());
        }
        let Some(deadline) = progress.deadline() else {
            return Poll::Pending;
        };
        if watch.deadline() != deadline {
            watch.as_mut().reset(deadline);
        }
        watch.as_mut().poll(cx)
    })
    .await;
}

/// The place of a connection among the open ones.
struct PeerSlot {
    peer: SocketAddr,
    /// `None` while the connection counts among the streams.
    permit: Mutex<Option<Permit>>,
    shared: Arc<PortState>,
    progress: Arc<Progress>,
}

impl PeerSlot {
    /// Counts the connection among the streams instead, if there is room.
    fn move_to_streams(self: &Arc<Self>) -> Option<Streaming> {
        let permit = self.shared.streams.acquire(self.peer.ip())?;
        *self.permit.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Some(Streaming {
            place: Arc::clone(self),
            _permit: permit,
        })
    }
}

/// A connection that counts among the streams until this is dropped.
struct Streaming {
    place: Arc<PeerSlot>,
    _permit: Permit,
}

impl Drop for Streaming {
    fn drop(&mut self) {
        let permit = self.place.shared.open.readmit(self.place.peer.ip());
        let mut slot = self
            .place
            .permit
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *slot = Some(permit);
    }
}

/// Lasts as long as a request.
struct Underway {
    progress: Arc<Progress>,
    reservation: Arc<Reservation>,
    streaming: Option<Streaming>,
}

impl Drop for Underway {
    fn drop(&mut self) {
        self.reservation.release();
        self.progress.end_request();
    }
}

async fn answer(
    request: Request<Incoming>,
    place: Arc<PeerSlot>,
) -> Result<Response<ResponseBody<Underway>>, Infallible> {
    let shared = &place.shared;
    place.progress.begin_request();
    let reservation = Arc::new(Reservation::new(shared.bodies.clone()));
    let mut underway = Underway {
        progress: Arc::clone(&place.progress),
        reservation: Arc::clone(&reservation),
        streaming: None,
    };
    let upload = Arc::new(Upload::new());
    let mut request = request.map(|body| {
        Body::new(RequestBody::new(
            body,
            Arc::clone(&reservation),
            Arc::clone(&upload),
            shared.limits.body,
        ))
    });
    request.extensions_mut().insert(ConnectInfo(place.peer));
    let counted = Arc::clone(&reservation);
    let room = BodyRoom::new(move |bytes| counted.cover(bytes));
    request.extensions_mut().insert(room);
    let mut answering = pin!(shared.router.clone().oneshot(request));
    let answered = match unless_long(answering.as_mut(), &upload, shared.limits.long_wait).await {
        Some(answered) => answered,
        None => {
            // At capacity it stays where it is counted.
            underway.streaming = place.move_to_streams();
            answering.await
        }
    };
    let mut response = match answered {
        Ok(response) => response,
        Err(never) => match never {},
    };
    // The received request is handled.
    reservation.release();
    if is_stream(&response) && underway.streaming.is_none() {
        underway.streaming = place.move_to_streams();
        if underway.streaming.is_none() {
            response = Rejection::busy("too many event streams are open").into_response();
        }
    }
    Ok(response.map(|body| ResponseBody::new(body, underway)))
}

/// The answer; `None` as soon as the service has worked on it for so long. While it waits for bytes
/// of the request's body no time passes: a client could make any request long by sending slowly.
async fn unless_long<F: Future>(
    mut answering: Pin<&mut F>,
    upload: &Upload,
    long_wait: Duration,
) -> Option<F::Output> {
    let mut watch = pin!(sleep_until(Instant::now() + long_wait));
    poll_fn(|cx| {
        if let Poll::Ready(answered) = answering.as_mut().poll(cx) {
            return Poll::Ready(Some(answered));
        }
        let Some(since) = upload.working_since() else {
            return Poll::Pending;
        };
        let deadline = since + long_wait;
        if watch.deadline() != deadline {
            watch.as_mut().reset(deadline);
        }
        watch.as_mut().poll(cx).map(|()| None)
    })
    .await
}

fn is_stream(response: &Response<Body>) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    kind.map(HeaderValue::as_bytes)
        .is_some_and(|kind| kind.starts_with(b"text/event-stream"))
}
