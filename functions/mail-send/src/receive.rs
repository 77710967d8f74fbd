//! Receives a request: reads, decompresses and checks its body to be text, and hands it on.

use axum::extract::{DefaultBodyLimit, FromRequest, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use posthaste_http::{
    BodyRoom, Caller, Dialect, Inflated, PathParams, RawBody, Rejection, body_is_json,
    inflate_within, no_room, too_large,
};

use crate::errors::bad_request;
use crate::{App, idempotency};

/// `POST /v3/mail/send`.
pub(crate) async fn receive(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: Result<SendBody, Rejection>,
) -> Response {
    match handle(&app, &caller, &headers, body).await {
        Ok(response) => response,
        Err(rejection) => rejection.in_dialect(Dialect::Mail).into_response(),
    }
}

async fn handle(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    body: Result<SendBody, Rejection>,
) -> Result<Response, Rejection> {
    let body = body?.unpack(headers, caller.account.gzip).await?;
    idempotency::accept_once(app, caller, headers, &body).await
}

/// A body is below 30 MiB as received (SPEC, "Limits"): more than other routes take.
const LARGEST_RECEIVED: usize = (30 << 20) - 1;

/// A decompressed body is below 48 MiB.
const LARGEST_UNPACKED: usize = (48 << 20) - 1;

/// A body as received.
pub(crate) struct SendBody {
    received: Bytes,
    /// For what it unpacks to.
    room: BodyRoom,
}

impl<S: Send + Sync> FromRequest<S> for SendBody {
    type Rejection = Rejection;

    async fn from_request(mut req: Request, state: &S) -> Result<Self, Rejection> {
        DefaultBodyLimit::max(LARGEST_RECEIVED).apply(&mut req);
        let room = BodyRoom::of(req.extensions());
        let RawBody(received) = RawBody::from_request(req, state).await?;
        Ok(Self { received, room })
    }
}

impl SendBody {
    /// The JSON of the request: of the right type, decompressed where the account may send `gzip`,
    /// UTF-8.
    async fn unpack(self, headers: &HeaderMap, gzip: bool) -> Result<Bytes, Rejection> {
        if !body_is_json(headers) {
            return Err(unsupported("Content-Type should be application/json."));
        }
        let encoding = headers.get(header::CONTENT_ENCODING);
        let body = match encoding.map(|value| value.to_str().unwrap_or_default().trim()) {
            None => self.received,
            Some(name) if name.is_empty() || name.eq_ignore_ascii_case("identity") => self.received,
            Some(name) if name.eq_ignore_ascii_case("gzip") && gzip => {
                match self.inflated().await {
                    Inflated::Whole(whole) => whole,
                    Inflated::TooLarge => return Err(too_large()),
                    Inflated::NoRoom => return Err(no_room()),
                    Inflated::Broken => {
                        return Err(Rejection::all(StatusCode::BAD_REQUEST, vec![bad_request()]));
                    }
                }
            }
            Some(_) => return Err(unsupported("Content-Encoding is not supported.")),
        };
        if posthaste_offload::run(body.len(), || std::str::from_utf8(&body).is_ok()).await {
            Ok(body)
        } else {
            Err(unsupported("Invalid UTF8 in request"))
        }
    }

    /// Decompresses a small body inline, and a larger one on a separate thread: a thousand bytes
    /// may expand to a million.
    async fn inflated(&self) -> Inflated {
        let packed = &self.received;
        // Both are held for a while.
        let cover = |unpacked: usize| self.room.cover(packed.len().saturating_add(unpacked));
        match inflate_within(packed, posthaste_offload::INLINE, cover) {
            Inflated::TooLarge => {
                let whole = || inflate_within(packed, LARGEST_UNPACKED, cover);
                posthaste_offload::run(posthaste_offload::UNKNOWN, whole).await
            }
            end @ (Inflated::Whole(_) | Inflated::NoRoom | Inflated::Broken) => end,
        }
    }
}

fn unsupported(message: &str) -> Rejection {
    Rejection::plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, message)
}

/// `POST /v3/messages/{msg_id}/send_again`.
pub(crate) async fn receive_again(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    headers: HeaderMap,
) -> Response {
    match idempotency::repeat_once(&app, &caller, &headers, &id).await {
        Ok(response) => response,
        Err(rejection) => rejection.in_dialect(Dialect::Mail).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use axum::http::HeaderValue;
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    const MIB: usize = 1 << 20;

    fn packed(length: usize) -> Bytes {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&vec![b' '; length]).unwrap();
        gzip.finish().unwrap().into()
    }

    #[tokio::test]
    async fn what_a_body_unpacks_to_takes_room_beside_it() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            (header::CONTENT_TYPE, "application/json"),
            (header::CONTENT_ENCODING, "gzip"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        for (length, most, fits) in [
            (4 * MIB, 8 * MIB, true),
            (4 * MIB, 4 * MIB, false),
            (1024, MIB, true),
            (1024, 512, false),
        ] {
            let received = packed(length);
            let own = received.len();
            let body = SendBody {
                received,
                room: BodyRoom::new(move |bytes| bytes <= own + most),
            };
            match body.unpack(&headers, true).await {
                Ok(whole) => assert!(fits && whole.len() == length, "{length} in {most}"),
                Err(rejection) => {
                    assert!(!fits, "{length} in {most}");
                    assert_eq!(rejection.status, StatusCode::SERVICE_UNAVAILABLE);
                }
            }
        }
    }
}
