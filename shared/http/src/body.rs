//! Request bodies, and the answers to those that cannot be read in full.

use std::error::Error;
use std::sync::Arc;

use axum::extract::rejection::{BytesRejection, FailedToBufferBody};
use axum::extract::{FromRequest, Request};
use axum::http::{Extensions, StatusCode};
use bytes::Bytes;

use crate::Rejection;

/// Why a host stopped reading a request body. It is the error of the body that the host hands to
/// the router, or a source of that error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyFault {
    /// No byte came for too long.
    #[error("the request body stopped arriving")]
    Stalled,
    /// The bodies in progress take all the memory reserved for them.
    #[error("too many large requests at this moment, try again later")]
    NoRoom,
}

/// The memory that a request may take of what the host has for all bodies together: a body that is
/// unpacked counts like one that was sent so.
///
/// A host that bounds it puts this into the request's extensions; elsewhere there is always room
/// (Lambda handles one request at a time).
#[derive(Clone, Default)]
pub struct BodyRoom(Option<Arc<dyn Fn(usize) -> bool + Send + Sync>>);

impl BodyRoom {
    /// `cover` gets the bytes that the request takes in all, what it sent and what that is unpacked
    /// to, and reserves them until the request is answered; `false` when there is not enough left.
    pub fn new(cover: impl Fn(usize) -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(cover)))
    }

    /// What the host has put into a request.
    pub fn of(extensions: &Extensions) -> Self {
        extensions.get().cloned().unwrap_or_default()
    }

    /// Reserves so many bytes for the request in all; `false` when there is not enough left.
    pub fn cover(&self, bytes: usize) -> bool {
        self.0.as_ref().is_none_or(|cover| cover(bytes))
    }
}

/// A raw body, of whatever type.
#[derive(Clone, Debug)]
pub struct RawBody(pub Bytes);

impl<S: Send + Sync> FromRequest<S> for RawBody {
    type Rejection = Rejection;

    async fn from_request(req: Request, state: &S) -> Result<Self, Rejection> {
        let bytes = Bytes::from_request(req, state).await;
        bytes.map(Self).map_err(|rejection| unreadable(&rejection))
    }
}

/// The answer to a request whose body could not be read: 413 when it is too long, 408 or 503 for
/// the host's reasons, and 400 for a malformed body, such as a chunk without a length.
fn unreadable(rejection: &BytesRejection) -> Rejection {
    if let BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_)) = rejection {
        return too_large();
    }
    let mut cause: Option<&(dyn Error + 'static)> = Some(rejection);
    while let Some(error) = cause {
        match error.downcast_ref() {
            Some(fault @ BodyFault::Stalled) => {
                return Rejection::plain(StatusCode::REQUEST_TIMEOUT, fault.to_string());
            }
            Some(BodyFault::NoRoom) => return no_room(),
            None => cause = error.source(),
        }
    }
    Rejection::bad("the request body could not be read")
}

/// 413, the generic body.
pub fn too_large() -> Rejection {
    Rejection::plain(StatusCode::PAYLOAD_TOO_LARGE, "content too large")
}

/// 503: the bodies in progress take all the memory there is for them.
pub fn no_room() -> Rejection {
    Rejection::busy(BodyFault::NoRoom.to_string())
}
