//! The texts of a composed mail, each a document of its own for a frame of the mail's page.
//!
//! They are bytes of strangers at the address of the console, so their policy takes all rights from them: no script,
//! no origin, no form, no link that opens, and nothing is loaded. An image of elsewhere would tell its sender that the
//! mail was opened, which its recipient may not have done. Pictures of the mail itself stand in the document: a frame
//! without an origin has no cookie to ask for them.

use std::collections::HashMap;
use std::sync::Arc;

use axum::http::{HeaderName, Uri, header};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use posthaste_http::{Access, BrowserRequest};
use posthaste_mime::read::{MailPart, ParsedMail};
use posthaste_render::{OwnPictures, with_pictures};
use serde::Deserialize;

use crate::api::{ApiReader, encoded};
use crate::app::AppState;
use crate::content::PageError;
use crate::frame;

/// The name of the page in its address; `?text` asks for the plain text instead of the HTML.
pub(crate) const MAIL_PART: &str = "mail-part";

/// The type of a document in HTML.
pub(crate) const HTML: &str = "text/html; charset=utf-8";

const POLICY: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; \
    form-action 'none'; frame-ancestors 'self'; base-uri 'none'";

/// Bytes of pictures in a document, as they are written there: with a text of 1 MiB it fits the 6 MB of an answer of
/// Lambda.
const ROOM: usize = 4 << 20;

#[derive(Deserialize)]
struct TextsAnswer {
    text: Option<String>,
    html: Option<String>,
    files: Vec<NamedFile>,
}

/// A file of the mail, which the HTML can show by this id.
#[derive(Deserialize)]
struct NamedFile {
    #[serde(default)]
    content_id: Option<String>,
}

/// `GET /console/mail-part/{id}`: for a frame of the mail's page.
pub(crate) async fn answer(
    state: &AppState,
    browser: BrowserRequest,
    uri: &Uri,
    id: &str,
) -> Response {
    let endpoint: Arc<str> = "GET /console/mail-part/{id}".into();
    let caller = state.gate.visitor(&browser, &endpoint, Access::AnyKey);
    if let Err(refused) = caller.await {
        return frame::page(Err(refused.into()), None);
    }
    let wants_text = uri.query() == Some("text");
    let api = state.api.for_reader(browser);
    match show(&api, id, wants_text).await {
        Ok(part) => part,
        Err(error) => frame::page(Err(error), None),
    }
}

/// The HTML of a mail, or its plain text.
///
/// # Errors
/// The API's refusal, or that the mail has no such text.
async fn show(api: &ApiReader, id: &str, wants_text: bool) -> Result<Response, PageError> {
    let path = format!("/v3/messages/{}/content", encoded(id));
    let texts = api.get::<TextsAnswer>(&path).await?;
    let (text, media) = if wants_text {
        (texts.text, "text/plain; charset=utf-8")
    } else {
        (texts.html, HTML)
    };
    let text = text.ok_or_else(PageError::not_found)?;
    let has_pictures = texts.files.iter().any(|file| file.content_id.is_some());
    if wants_text || !has_pictures {
        return Ok(document(text, media));
    }
    // The API answers no mail above 4 MiB whole, and then its text is all there is.
    let whole = api.get_bytes(&format!("{path}?format=raw")).await;
    let text = match whole {
        Ok(mail) => illustrated(text, &mail).await,
        Err(_) => text,
    };
    Ok(document(text, media))
}

/// The HTML with the pictures of its mail.
async fn illustrated(html: String, mail: &[u8]) -> String {
    posthaste_offload::run(mail.len(), || {
        let mail = ParsedMail::read(mail);
        let parts = mail.parts().iter();
        let parts = parts.filter_map(|part| Some((part.content_id.as_deref()?, part)));
        let parts: HashMap<_, _> = parts.collect();
        let address = |id: &str| parts.get(id).and_then(|part| data_url(part));
        with_pictures(&html, &OwnPictures::new(ROOM, address))
    })
    .await
}

/// The picture as an address (RFC 2397); `None` of what is none.
fn data_url(part: &MailPart<'_>) -> Option<String> {
    let kind = part.media_type.strip_prefix("image/")?;
    // The text of an attribute or of a style sheet ends at other characters of a token.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let bytes = part.bytes();
    // Three bytes are four characters.
    let fits = bytes.len() / 3 * 4 < ROOM;
    (kind.chars().all(is_plain) && fits)
        .then(|| format!("data:image/{kind};base64,{}", STANDARD.encode(bytes)))
}

/// A document that may do nothing.
pub(crate) fn document(text: String, media: &'static str) -> Response {
    let headers: [(HeaderName, &str); 4] = [
        (header::CONTENT_TYPE, media),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (headers, text).into_response()
}
