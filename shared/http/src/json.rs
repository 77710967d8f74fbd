//! JSON bodies of every endpoint except mail/send (which has its own decoder).

use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use serde::de::DeserializeOwned;

use crate::decode::{DecodeError, decode};
use crate::{RawBody, Rejection};

/// A JSON body. An empty one reads as `{}`: clients send a JSON content type without a body on POST
/// and DELETE (API facts, section 0). The content type itself is not required here.
#[derive(Debug)]
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = Rejection;

    async fn from_request(req: Request, state: &S) -> Result<Self, Rejection> {
        let RawBody(bytes) = RawBody::from_request(req, state).await?;
        let bytes: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        let parsed = posthaste_offload::run(bytes.len(), || parse(bytes)).await;
        Ok(Self(parsed?))
    }
}

/// Reads JSON. Every field that does not fit is named, in JSON's words.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Rejection> {
    decode(bytes).map_err(|error| match error {
        DecodeError::Syntax => {
            Rejection::bad("request body is not valid JSON").with_help("invalid-json")
        }
        DecodeError::Fields(problems) => {
            Rejection::all(StatusCode::BAD_REQUEST, problems).with_help("wrong-type")
        }
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
