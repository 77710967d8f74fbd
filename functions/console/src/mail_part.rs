//! The texts of a composed mail, each a document of its own for a frame of the mail's page.
//!
//! They are bytes of strangers at the address of the console, so their policy takes all rights from them: no script,
//! no origin, no form, no link that opens, and nothing is loaded. An image of elsewhere would tell its sender that the
//! mail was opened, which its recipient may not have done.

use std::sync::Arc;

use axum::http::{HeaderName, Uri, header};
use axum::response::{IntoResponse as _, Response};
use posthaste_http::{Access, BrowserRequest};
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

#[derive(Deserialize)]
struct TextsAnswer {
    text: Option<String>,
    html: Option<String>,
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
    Ok(document(text, media))
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
