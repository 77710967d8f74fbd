//! JSON bodies in, for every endpoint but mail/send (which has its own decoder).

use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use bytes::Bytes;
use serde::de::DeserializeOwned;

use crate::Rejection;

/// A JSON body. An empty one reads as `{}`: clients send a JSON content type with nothing on
/// POST and DELETE (API facts, section 0). The content type itself is not insisted on here.
#[derive(Debug)]
pub struct Body<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Rejection;

    async fn from_request(req: Request, state: &S) -> Result<Self, Rejection> {
        let bytes = Bytes::from_request(req, state).await;
        let bytes = bytes.map_err(|_| too_large())?;
        let bytes: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        Ok(Self(parse(bytes)?))
    }
}

pub(crate) fn too_large() -> Rejection {
    Rejection::plain(StatusCode::PAYLOAD_TOO_LARGE, "content too large")
}

/// Reads JSON, naming the field that does not fit where the decoder knows it.
///
/// # Errors
/// 400 in the contract's shape.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Rejection> {
    serde_json::from_slice(bytes).map_err(|e| {
        let text = e.to_string();
        let message = match e.classify() {
            serde_json::error::Category::Data => text.split(" at line").next().unwrap_or(&text),
            _ => "request body is not valid JSON",
        };
        Rejection::bad(message)
    })
}

/// Whether the request says its body is JSON; parameters such as `charset=utf-8` are fine.
pub fn body_is_json(headers: &HeaderMap) -> bool {
    let Some(value) = headers
        .get(header::CONTENT_TYPE)
        .and_then(|v| v.to_str().ok())
    else {
        return false;
    };
    let essence = value.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}
