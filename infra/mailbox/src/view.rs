//! The body of a mail alone: as the document of the reader's frame, and for end-to-end tests.

use std::collections::HashMap;

use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use posthaste_mime::read::ParsedMail;

use crate::message::Full;
use crate::params::Params;
use crate::refusal::Refusal;
use crate::routes::App;
use crate::{api, frame, parse};

/// `GET /view/{id}.html` and `.txt`. `embed=1` makes links open in a new window, `images=1` lets
/// remote pictures load.
pub(crate) async fn view(
    State(app): State<App>,
    Path(file): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let params = Params::read(query.as_deref().unwrap_or_default());
    let (id, kind) = file.rsplit_once('.').ok_or(Refusal::NotFound)?;
    let kept = api::find(&app, id, query).await?;
    let embed = params.embed;
    match kind {
        "html" => {
            let rewrite = move || {
                let full = Full::of(&kept);
                (!full.html.is_empty()).then(|| document(&full, embed).html)
            };
            let html = app.mailbox.apart("view", rewrite).await?;
            Ok(framed(html.ok_or(Refusal::NoHtml)?, params.images))
        }
        "txt" => {
            let read = move || parse::text(&ParsedMail::read(&kept.raw));
            let text = app.mailbox.apart("view", read).await?;
            Ok(text.into_response())
        }
        _ => Err(Refusal::NotFound),
    }
}

/// The HTML, rewritten for a frame.
pub(crate) fn document(full: &Full, embed: bool) -> frame::Document {
    let files = full.inline.iter().chain(&full.attachments);
    let cids: HashMap<_, _> = files
        .filter(|file| !file.content_id.is_empty())
        .map(|file| {
            let url = format!("/api/v1/message/{}/part/{}", full.id, file.part_id);
            (file.content_id.clone(), url)
        })
        .collect();
    frame::document(&full.html, &cids, embed)
}

fn framed(html: String, images: bool) -> Response {
    let mut response = Html(html).into_response();
    let headers = response.headers_mut();
    if let Ok(policy) = frame::policy(images).parse() {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    let none = HeaderValue::from_static("no-referrer");
    headers.insert(header::REFERRER_POLICY, none);
    response
}
