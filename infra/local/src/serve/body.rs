//! Bodies: request bodies count against a budget, may not pause for long and report which side
//! is waited for; the end of the response body ends the request.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes};
use hyper::body::{Frame, Incoming, SizeHint};
use posthaste_http::BodyFault;
use posthaste_listen::{Grant, MemoryBudget};
use tokio::time::{Instant, Sleep};

/// The part of the budget that one request holds, from the first byte of its body until it is
/// answered: handlers hold the body in memory.
#[derive(Debug)]
pub(super) struct Reservation {
    budget: MemoryBudget,
    grant: Mutex<Grant>,
}

impl Reservation {
    pub(super) fn new(budget: MemoryBudget) -> Self {
        Self {
            budget,
            grant: Mutex::default(),
        }
    }

    /// Extends the part to this many bytes; `false` when there is not enough left.
    pub(super) fn cover(&self, bytes: usize) -> bool {
        let mut grant = self.grant.lock().unwrap_or_else(PoisonError::into_inner);
        self.budget.cover(&mut grant, bytes)
    }

    /// The request is answered.
    pub(super) fn release(&self) {
        let mut grant = self.grant.lock().unwrap_or_else(PoisonError::into_inner);
        drop(std::mem::take(&mut *grant));
    }
}

/// Whether a request waits for its client or for the service.
///
/// The body is read by the task that answers the request, so what that task sees after it has
/// polled the service is current.
#[derive(Debug)]
pub(super) struct Upload {
    /// Since when the service has what it wants of the body; `None` while it waits for bytes.
    working_since: Mutex<Option<Instant>>,
}

impl Upload {
    /// Of a request whose head was just read.
    pub(super) fn new() -> Self {
        Self {
            working_since: Mutex::new(Some(Instant::now())),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        // It is set in one step.
        self.working_since
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Since when the service has worked without waiting for its client; `None` while it waits.
    pub(super) fn working_since(&self) -> Option<Instant> {
        *self.lock()
    }

    /// The service waits for bytes. Returns whether it only begins to.
    fn wait(&self) -> bool {
        self.lock().take().is_some()
    }

    /// Bytes, the end of the body or a failure reached the service.
    fn arrive(&self) {
        *self.lock() = Some(Instant::now());
    }

    /// The service reads no further.
    fn leave(&self) {
        self.lock().get_or_insert_with(Instant::now);
    }
}

/// A request body.
pub(super) struct RequestBody {
    inner: Incoming,
    reservation: Arc<Reservation>,
    upload: Arc<Upload>,
    /// Bytes that have arrived.
    length: usize,
    longest_pause: Duration,
    /// Runs while the body waits for bytes.
    pause: Pin<Box<Sleep>>,
}

impl RequestBody {
    pub(super) fn new(
        inner: Incoming,
        reservation: Arc<Reservation>,
        upload: Arc<Upload>,
        longest_pause: Duration,
    ) -> Self {
        Self {
            inner,
            reservation,
            upload,
            length: 0,
            longest_pause,
            pause: Box::pin(tokio::time::sleep(longest_pause)),
        }
    }
}

impl hyper::body::Body for RequestBody {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let Poll::Ready(polled) = Pin::new(&mut self.inner).poll_frame(cx) else {
            if self.upload.wait() {
                let end = Instant::now() + self.longest_pause;
                self.pause.as_mut().reset(end);
            }
            ready!(self.pause.as_mut().poll(cx));
            return Poll::Ready(Some(Err(BodyFault::Stalled.into())));
        };
        self.upload.arrive();
        let Some(frame) = polled else {
            return Poll::Ready(None);
        };
        let frame = frame?;
        if let Some(data) = frame.data_ref() {
            self.length = self.length.saturating_add(data.len());
            if !self.reservation.cover(self.length) {
                return Poll::Ready(Some(Err(BodyFault::NoRoom.into())));
            }
        }
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        self.upload.leave();
    }
}

/// The body of an answer, with the guards that last as long as it.
pub(super) struct ResponseBody<E> {
    inner: Body,
    _until_end: E,
}

impl<E> ResponseBody<E> {
    pub(super) fn new(inner: Body, until_end: E) -> Self {
        Self {
            inner,
            _until_end: until_end,
        }
    }
}

impl<E: Unpin> hyper::body::Body for ResponseBody<E> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut self.inner).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
