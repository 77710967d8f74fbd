//! `GET /v3/messages/{msg_id}/content`: a copy as it was composed, where its account keeps that. An extension.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use posthaste_http::{Caller, PathParams, Query, Rejection};
use posthaste_mime::read::{BodyKind, MailPart, ParsedMail};
use posthaste_model::{Problem, cut};
use serde::Serialize;

use crate::App;
use crate::message::read_id;

pub(crate) const PATH: &str = "/v3/messages/{msg_id}/content";

/// Bytes of each text in an answer: with JSON around them, both fit the 6 MB of an answer of Lambda.
const LONGEST_TEXT: usize = 1 << 20;

/// Bytes of all header fields in an answer.
const LONGEST_HEADER: usize = 64 << 10;

/// Files that an answer lists.
const MOST_FILES: usize = 200;

/// Bytes of a mail that is answered whole: Lambda answers 6 MB in base64.
pub(crate) const LARGEST_WHOLE: usize = 4 << 20;

/// A composed mail.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ComposedMail {
    msg_id: String,
    /// From then on it is not shown any more, in ISO 8601.
    kept_until: String,
    /// Of the whole message in bytes.
    size: usize,
    headers: Vec<ComposedHeader>,
    /// The first `text/plain`; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The first `text/html`; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    html: Option<String>,
    /// Whether a text or the header is longer than what is shown of it.
    truncated: bool,
    files: Vec<ComposedFile>,
}

/// A field of the header, decoded.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ComposedHeader {
    name: String,
    value: String,
}

/// A part that is no text of the mail.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ComposedFile {
    #[serde(rename = "type")]
    media_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_id: Option<String>,
    /// In bytes, decoded.
    size: usize,
}

/// One composed mail: its parts, or with `format=raw` all of it.
pub(crate) async fn show(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    query: Query,
) -> Result<Response, Rejection> {
    let is_raw = |text: &str| match text {
        "parts" => Some(false),
        "raw" => Some(true),
        _ => None,
    };
    let raw = query.checked(|query| {
        let raw = query.parsed("format", is_raw, "format must be parts or raw");
        raw.unwrap_or(false)
    })?;
    let missing = |why: String| Rejection::unknown_id([Problem::on("message_id", why)]);
    let unknown = || missing("not found".to_owned());
    let (message, recipient) = read_id(&id).ok_or_else(unknown)?;
    let copy = (caller.id(), &message, recipient);
    let row = app.store.recipient(copy.0, copy.1, copy.2).await?;
    let term = row.ok_or_else(unknown)?.kept;
    let found = app.kept.get(copy, term, app.clock.now()).await;
    let found = found.map_err(|error| Rejection::unavailable(&error))?;
    let kept = found.map_err(|why| missing(why.to_string()))?;
    let bytes = kept.mail.submitted.map(|whole| whole.mime.into_bytes());
    let bytes = bytes.unwrap_or_default();
    if raw {
        return whole(bytes);
    }
    let until = term.map(|term| term.until.iso()).unwrap_or_default();
    let size = bytes.len();
    let read = || ComposedMail::read(&bytes, message.of_copy(recipient), until);
    let mail = posthaste_offload::run(size, read).await;
    Ok(Json(mail).into_response())
}

fn whole(bytes: Vec<u8>) -> Result<Response, Rejection> {
    if bytes.len() > LARGEST_WHOLE {
        let message = format!("the mail has more than {LARGEST_WHOLE} bytes");
        return Err(Rejection::plain(StatusCode::PAYLOAD_TOO_LARGE, message));
    }
    let mut response = bytes.into_response();
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, "message/rfc822"),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"mail.eml\"",
        ),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}

impl ComposedMail {
    fn read(bytes: &[u8], msg_id: String, kept_until: String) -> Self {
        let mail = ParsedMail::read(bytes);
        let mut truncated = false;
        let mut room = LONGEST_HEADER;
        let mut headers = Vec::new();
        for (name, value) in mail.texts() {
            let size = name.len() + value.len();
            if size > room {
                truncated = true;
                break;
            }
            room -= size;
            headers.push(ComposedHeader { name, value });
        }
        let mut text = |kind: BodyKind| {
            let mut parts = mail.parts().iter();
            let part = parts.find(|part| part.body_kind == Some(kind))?;
            let whole = part.text();
            truncated |= whole.len() > LONGEST_TEXT;
            Some(cut(&whole, LONGEST_TEXT).to_owned())
        };
        let (plain, html) = (text(BodyKind::Text), text(BodyKind::Html));
        let files = mail.parts().iter();
        let files = files.filter(|part| part.body_kind.is_none() && !part.is_multipart);
        Self {
            msg_id,
            kept_until,
            size: bytes.len(),
            headers,
            text: plain,
            html,
            truncated,
            files: files.take(MOST_FILES).map(ComposedFile::of).collect(),
        }
    }
}

impl ComposedFile {
    fn of(part: &MailPart<'_>) -> Self {
        Self {
            media_type: part.media_type.clone(),
            filename: part.filename.clone(),
            content_id: part.content_id.clone(),
            size: part.bytes().len(),
        }
    }
}
