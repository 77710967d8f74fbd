//! Bodies: request bodies count against a budget and may not pause for long; the end of the
//! response body ends the request.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes};
use hyper::body::{Frame, Incoming, SizeHint};
use posthaste_http::BodyFault;
use posthaste_listen::{Budget, Grant};
use tokio::time::{Instant, Sleep};

/// The part of the budget that one request holds, from the first byte of its body until it is
/// answered: handlers hold the body in memory.
#[derive(Debug)]
pub(super) struct Reservation {
    budget: Budget,
    grant: Mutex<Grant>,
}

impl Reservation {
    pub(super) fn new(budget: Budget) -> Self {
        Self {
            budget,
            grant: Mutex::default(),
        }
    }

    fn cover(&self, bytes: usize) -> bool {
        let mut grant = self.grant.lock().unwrap_or_else(PoisonError::into_inner);
        self.budget.cover(&mut grant, bytes)
    }

    /// The request is answered.
    pub(super) fn release(&self) {
        let mut grant = self.grant.lock().unwrap_or_else(PoisonError::into_inner);
        drop(std::mem::take(&mut *grant));
    }
}

/// A request body.
pub(super) struct RequestBody {
    inner: Incoming,
    reservation: Arc<Reservation>,
    /// Bytes that have arrived.
    length: usize,
    longest_pause: Duration,
    /// Runs while the body waits for bytes.
    pause: Pin<Box<Sleep>>,
    waiting: bool,
}

impl RequestBody {
    pub(super) fn new(
        inner: Incoming,
        reservation: Arc<Reservation>,
        longest_pause: Duration,
    ) -> Self {
        Self {
            inner,
            reservation,
            length: 0,
            longest_pause,
            pause: Box::pin(tokio::time::sleep(longest_pause)),
            waiting: false,
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
            if !self.waiting {
                self.waiting = true;
                let end = Instant::now() + self.longest_pause;
                self.pause.as_mut().reset(end);
            }
            ready!(self.pause.as_mut().poll(cx));
            return Poll::Ready(Some(Err(BodyFault::Stalled.into())));
        };
        self.waiting = false;
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
