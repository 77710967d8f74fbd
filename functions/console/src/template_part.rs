//! The HTML of a template as the renderer makes it, a document of its own for the frame of its editor.
//!
//! It may do as little as a mail in its frame: see [`mail_part`](crate::mail_part).

use axum::http::Uri;
use axum::response::Response;
use posthaste_http::BrowserRequest;

use crate::api::{ApiReader, ReadError, encoded};
use crate::app::AppState;
use crate::content::PageError;
use crate::pages::PreviewAnswer;
use crate::visit::Params;
use crate::{frame, mail_part};

/// The name of the page in its address.
pub(crate) const TEMPLATE_PART: &str = "template-part";

/// `GET /console/template-part/{template}?version=…`: a version as it is stored, with its own data.
pub(crate) async fn stored(
    state: &AppState,
    browser: BrowserRequest,
    uri: &Uri,
    template: &str,
) -> Response {
    let params = Params::read(uri.query().unwrap_or_default());
    let api = state.api.for_reader(browser);
    let path = preview_path(template, params.text("version"));
    shown(api.get::<PreviewAnswer>(&path).await)
}

/// `POST /console/template-part` with `template`, `version` and `preview`, the JSON that the API's preview takes: what
/// the editor holds. It is a form, as a frame's content can come in no other way under the policy of the pages; it
/// changes nothing, and the API refuses one of another origin.
pub(crate) async fn edited(state: &AppState, browser: BrowserRequest, params: &Params) -> Response {
    let api: ApiReader = state.api.for_reader(browser);
    let path = preview_path(params.text("template"), params.text("version"));
    let json = params.text("preview");
    shown(api.post::<PreviewAnswer>(&path, json).await)
}

fn preview_path(template: &str, version: &str) -> String {
    let (template, version) = (encoded(template), encoded(version));
    format!("/v3/templates/{template}/versions/{version}/preview")
}

fn shown(preview: Result<PreviewAnswer, ReadError>) -> Response {
    let html = preview
        .map_err(PageError::from)
        .map(|preview| preview.html_content.unwrap_or_default());
    match html {
        Ok(html) => mail_part::document(html, mail_part::HTML),
        Err(error) => frame::page(Err(error), None),
    }
}
