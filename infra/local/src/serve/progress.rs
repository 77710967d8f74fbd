//! The state of a connection, and its deadline.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use super::limits::HttpLimits;

/// The state of one connection. Only the connection's own task changes it, and checks
/// [`Progress::deadline`] each time it becomes idle.
#[derive(Debug)]
pub(super) struct Progress {
    head: Duration,
    idle: Duration,
    answer: Duration,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    /// When the client last accepted a byte, while bytes wait to be written.
    unread_since: Option<Instant>,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// A head is being read.
    Head { since: Instant },
    /// A request is being read, worked on or answered.
    Request,
    /// Waits for the next request, since the last byte was written.
    Idle { since: Instant },
}

impl Progress {
    /// Of a connection that was just made.
    pub(super) fn new(limits: &HttpLimits) -> Self {
        Self {
            head: limits.head,
            idle: limits.idle,
            answer: limits.answer,
            state: Mutex::new(State {
                phase: Phase::Head {
                    since: Instant::now(),
                },
                unread_since: None,
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each field is set in one step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When the connection is closed unless something happens; `None` while the server works.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let state = self.lock();
        let of_answer = state.unread_since.map(|since| since + self.answer);
        let of_phase = match state.phase {
            Phase::Head { since } => Some(since + self.head),
            Phase::Request => None,
            // Still waits for the client to read the end of the answer.
            Phase::Idle { .. } if of_answer.is_some() => None,
            Phase::Idle { since } => Some(since + self.idle),
        };
        of_phase.into_iter().chain(of_answer).min()
    }

    /// Whether a head is being read; the server does not wait for the rest of it when it stops.
    pub(super) fn is_in_head(&self) -> bool {
        matches!(self.lock().phase, Phase::Head { .. })
    }

    /// The head of a request was read.
    pub(super) fn begin_request(&self) {
        self.lock().phase = Phase::Request;
    }

    /// The answer has ended, except for bytes still to be written.
    pub(super) fn end_request(&self) {
        self.lock().phase = Phase::Idle {
            since: Instant::now(),
        };
    }

    fn read_bytes(&self) {
        let mut state = self.lock();
        if let Phase::Idle { .. } = state.phase {
            state.phase = Phase::Head {
                since: Instant::now(),
            };
        }
    }

    fn wrote<T>(&self, polled: &Poll<T>) {
        let mut state = self.lock();
        if polled.is_pending() {
            state.unread_since.get_or_insert_with(Instant::now);
        } else if state.unread_since.take().is_some()
            && let Phase::Idle { since } = &mut state.phase
        {
            *since = Instant::now();
        }
    }
}

/// A stream that reports its traffic to the connection's state.
pub(super) struct Watched<S> {
    stream: S,
    progress: Arc<Progress>,
}

impl<S> Watched<S> {
    pub(super) fn new(stream: S, progress: Arc<Progress>) -> Self {
        Self { stream, progress }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        if buf.filled().len() > before {
            self.progress.read_bytes();
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.progress.wrote(&polled);
        polled
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.progress.wrote(&polled);
        polled
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(cx);
        self.progress.wrote(&polled);
        polled
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.progress.wrote(&polled);
        polled
    }
}
