//! Opens and clicks.

use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use posthaste_model::{EventKind, UrlOffset, is_machine};
use posthaste_render::{LinkAction, LinkPart};
use url::Url;

use crate::visit::{Visit, tell};
use crate::{App, page};

/// A GIF of one transparent pixel.
const PIXEL: &[u8] = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x01D\x00;";

/// `GET /wf/open`: always returns the pixel, so that no mail shows a broken image, even if counting
/// fails.
pub(crate) async fn opened(State(app): State<App>, visit: Result<Visit, Response>) -> Response {
    if let Ok(visit) = visit
        && let LinkAction::Open { part } = visit.token.action
    {
        count(&app, &visit, EventKind::Open, |event| {
            event.sg_machine_open = Some(is_machine(&visit.agent));
            event.sg_content_type = Some(name(part).to_owned());
        })
        .await;
    }
    let headers: [(HeaderName, &str); 2] = [
        (header::CONTENT_TYPE, "image/gif"),
        (header::CACHE_CONTROL, "no-store, max-age=0"),
    ];
    (headers, PIXEL).into_response()
}

/// `GET /ls/click`: redirects to the signed URL only.
pub(crate) async fn clicked(State(app): State<App>, visit: Visit) -> Response {
    let LinkAction::Click { part, index, url } = &visit.token.action else {
        return page::gone();
    };
    let Ok(location) = HeaderValue::from_str(&ascii(url)) else {
        return page::gone();
    };
    count(&app, &visit, EventKind::Click, |event| {
        event.url = Some(url.clone());
        event.url_offset = Some(UrlOffset {
            index: *index,
            part: name(*part).to_owned(),
        });
        // The v3 API has the mark for opens; on a click it is an extension, set only for machines.
        event.sg_machine_open = is_machine(&visit.agent).then_some(true);
    })
    .await;
    let headers: [(HeaderName, HeaderValue); 3] = [
        (header::LOCATION, location),
        (
            header::CACHE_CONTROL,
            HeaderValue::from_static("no-store, max-age=0"),
        ),
        // The token names the reader.
        (
            header::REFERRER_POLICY,
            HeaderValue::from_static("no-referrer"),
        ),
    ];
    (StatusCode::FOUND, headers).into_response()
}

/// Reports a visit, unless it is a mere probe (`HEAD`). Errors are logged and not shown.
async fn count(
    app: &App,
    visit: &Visit,
    kind: EventKind,
    fill: impl FnOnce(&mut posthaste_model::Event),
) {
    if visit.is_probe {
        return;
    }
    let recorded = match visit.first_event(app).await {
        Ok(copy) => {
            let mut event = visit.event(app, kind, copy.as_ref());
            fill(&mut event);
            tell(app, &[event]).await
        }
        Err(refused) => Err(refused),
    };
    if let Err(refused) = recorded {
        let message = &visit.token.message;
        tracing::error!(message.id = %message, "{} of message {message} not recorded: {}", kind.wire(), refused.status);
    }
}

/// A URL as a header can carry it. The slash that the parser adds to a bare host is left out: some
/// sites tell the two apart.
fn ascii(text: &str) -> String {
    let Ok(url) = Url::parse(text) else {
        return text.to_owned();
    };
    // Without `://` there is no host to be bare.
    let after = text.split_once("://").map(|(_, rest)| rest);
    let end = after.and_then(|rest| rest.chars().find(|c| "/\\?#".contains(*c)));
    let is_bare = after.is_some() && !matches!(end, Some('/' | '\\')) && url.path() == "/";
    let text = String::from(url);
    let parts = text.split_once("://").filter(|_| is_bare);
    match parts.and_then(|(scheme, rest)| Some((scheme, rest.split_once('/')?))) {
        Some((scheme, (host, query))) => format!("{scheme}://{host}{query}"),
        None => text,
    }
}

fn name(part: LinkPart) -> &'static str {
    match part {
        LinkPart::Html => "html",
        LinkPart::Text => "text",
        LinkPart::Amp => "amp",
        LinkPart::Header => "header",
    }
}
