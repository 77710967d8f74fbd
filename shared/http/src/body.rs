//! Request bodies, compressed or not, and the answers to those that cannot be read in full.

use std::error::Error;
use std::io::Read as _;
use std::sync::Arc;

use axum::extract::rejection::{BytesRejection, FailedToBufferBody};
use axum::extract::{FromRequest, Request};
use axum::http::{Extensions, StatusCode};
use bytes::Bytes;
use flate2::read::MultiGzDecoder;

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
/// decompressed counts like one that was sent so.
///
/// A host that bounds it puts this into the request's extensions; elsewhere there is always room
/// (Lambda handles one request at a time).
#[derive(Clone, Default)]
pub struct BodyRoom(Option<Arc<dyn Fn(usize) -> bool + Send + Sync>>);

impl BodyRoom {
    /// `cover` gets the bytes that the request takes in all, what it sent and what that is
    /// decompressed to, and reserves them until the request is answered; `false` when there is not enough left.
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

/// The result of decompression.
#[derive(Debug, PartialEq, Eq)]
pub enum Inflated {
    Whole(Bytes),
    /// It exceeds the cap when decompressed; decompression stopped there.
    TooLarge,
    /// There is not enough memory for it at this moment.
    NoRoom,
    /// Not gzip, or truncated.
    Broken,
}

/// Decompresses a gzip body. Stops at `cap` bytes, so a bomb costs no more memory than that.
pub fn inflate(body: &[u8], cap: usize) -> Inflated {
    inflate_within(body, cap, |_| true)
}

/// Like [`inflate`], in memory that is asked for before it is taken: `cover` gets the bytes that
/// the decompressed body may take so far, and stops the decompression by `false`.
pub fn inflate_within(body: &[u8], cap: usize, cover: impl Fn(usize) -> bool) -> Inflated {
    // One byte past the cap shows that there are more.
    let limit = cap.saturating_add(1);
    // In steps that do not depend on the body, so that the most memory that is taken does not either.
    let first = body.len().saturating_mul(2).saturating_add(64);
    let mut size = first
        .checked_next_power_of_two()
        .unwrap_or(limit)
        .min(limit);
    let mut unpacked = MultiGzDecoder::new(body);
    let mut whole = Vec::new();
    loop {
        if !cover(size) {
            return Inflated::NoRoom;
        }
        let missing = size - whole.len();
        whole.reserve_exact(missing);
        let next = u64::try_from(missing).unwrap_or(u64::MAX);
        match unpacked.by_ref().take(next).read_to_end(&mut whole) {
            Err(_) => return Inflated::Broken,
            Ok(_) if whole.len() > cap => return Inflated::TooLarge,
            Ok(read) if read < missing => return Inflated::Whole(whole.into()),
            Ok(_) => size = size.saturating_mul(2).min(limit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::cell::RefCell;
    use std::io::Write as _;

    fn gzip(plain: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_body_unpacks_up_to_the_cap_and_not_beyond() {
        let plain = vec![b'a'; 1000];
        assert_eq!(
            inflate(&gzip(&plain), 1000),
            Inflated::Whole(plain.clone().into())
        );
        assert_eq!(inflate(&gzip(&plain), 999), Inflated::TooLarge);
        assert_eq!(
            inflate(&gzip(&vec![0; 50_000_000]), 1000),
            Inflated::TooLarge
        );
    }

    #[test]
    fn memory_is_asked_for_before_it_is_taken() {
        let packed = gzip(&vec![b'a'; 100_000]);
        let asked = RefCell::new(Vec::new());
        let within = |most: usize| {
            asked.borrow_mut().clear();
            inflate_within(&packed, 150_000, |bytes| {
                asked.borrow_mut().push(bytes);
                bytes <= most
            })
        };
        let Inflated::Whole(whole) = within(150_001) else {
            panic!("there is room");
        };
        assert_eq!(whole.len(), 100_000);
        assert!(asked.borrow().is_sorted_by(|a, b| a < b), "{asked:?}");
        let most = asked.borrow().last().copied().unwrap();
        assert!((100_001..=150_001).contains(&most), "{most}");
        assert_eq!(within(most - 1), Inflated::NoRoom);
        assert_eq!(within(0), Inflated::NoRoom);
        assert_eq!(asked.borrow().len(), 1);
    }

    #[test]
    fn what_is_not_gzip_is_broken() {
        let whole = gzip(b"hello");
        assert_eq!(inflate(b"{}", 10), Inflated::Broken);
        assert_eq!(
            inflate(whole.get(..whole.len() - 3).unwrap(), 10),
            Inflated::Broken
        );
    }
}
