//! Bytes to and from the relay, each wait with a deadline.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::timeout;

use crate::reply::{ProtocolError, RelayReply, Replies};

/// A connection, encrypted or not.
pub(super) trait Io: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

/// Why no reply came.
#[derive(Debug, thiserror::Error)]
pub(super) enum WireError {
    #[error("the relay closed the connection")]
    Closed,
    #[error("the connection to the relay broke: {0}")]
    Broken(#[from] io::Error),
    #[error("the relay did not answer within {0:?}")]
    Silent(Duration),
    #[error("the relay did not take the whole message within {0:?}")]
    Slow(Duration),
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
}

/// A stream and the bytes read ahead from it.
pub(super) struct Wire<S> {
    stream: S,
    inbox: BytesMut,
    replies: Replies,
}

impl<S: Io> Wire<S> {
    pub(super) fn new(stream: S) -> Self {
        Self {
            stream,
            inbox: BytesMut::with_capacity(1024),
            replies: Replies::default(),
        }
    }

    /// Writes all of it; the stream is unbuffered, so once written it is on its way.
    pub(super) async fn write(&mut self, bytes: &[u8], limit: Duration) -> Result<(), WireError> {
        let stream = &mut self.stream;
        within(limit, async {
            stream.write_all(bytes).await?;
            stream.flush().await?;
            Ok(())
        })
        .await
    }

    /// The next reply.
    pub(super) async fn reply(&mut self, limit: Duration) -> Result<RelayReply, WireError> {
        let Self {
            stream,
            inbox,
            replies,
        } = self;
        if let Some(reply) = replies.take(inbox)? {
            return Ok(reply);
        }
        within(limit, async {
            loop {
                if stream.read_buf(inbox).await? == 0 {
                    return Err(WireError::Closed);
                }
                if let Some(reply) = replies.take(inbox)? {
                    return Ok(reply);
                }
            }
        })
        .await
    }

    /// One command, one reply.
    pub(super) async fn ask(
        &mut self,
        command: &str,
        limit: Duration,
    ) -> Result<RelayReply, WireError> {
        self.write(command.as_bytes(), limit).await?;
        self.reply(limit).await
    }

    /// Whether no unsolicited bytes have arrived: between two mails those are the relay's goodbye,
    /// or the end of the stream.
    pub(super) async fn is_quiet(&mut self) -> bool {
        let mut byte = [0];
        let stream = &mut self.stream;
        let waiting = poll_fn(|cx| {
            let mut probe = ReadBuf::new(&mut byte);
            let polled = Pin::new(&mut *stream).poll_read(cx, &mut probe);
            Poll::Ready(polled.is_pending())
        })
        .await;
        waiting && self.inbox.is_empty() && self.replies.is_empty()
    }

    /// The stream itself, and whether anything was read ahead: text sent in the clear must not pass
    /// for an answer inside TLS (RFC 3207 section 6).
    pub(super) fn into_stream(self) -> (S, bool) {
        (self.stream, !self.inbox.is_empty())
    }
}

async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, WireError>>,
) -> Result<T, WireError> {
    timeout(limit, work)
        .await
        .unwrap_or(Err(WireError::Silent(limit)))
}
