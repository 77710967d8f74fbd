//! The documentation that the service carries: `/docs`, `/openapi.json`, `/docs/errors`, and `/`, which says where
//! things are. The same for every reader, whatever the request holds.

mod document;
mod fields;
mod page;
mod places;

use std::fmt::Write as _;
use std::sync::LazyLock;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
pub(crate) use places::PlaceLinks;

pub use places::OtherPlaces;

use crate::{AppState, PATHS};

const OF_ALL: &str = include_str!("../../../shared/http/ERRORS.md");
const OF_MAIL_SEND: &str = include_str!("../../mail-send/ERRORS.md");

/// The text of the page.
fn catalogue() -> String {
    let mut text = format!(
        "{OF_ALL}\n## Paths\n<a id=\"paths\"></a>\n\nWhat each does is in [the API reference](/docs); what is not \
         served, and why, is [there too](/docs#not-served).\n\n"
    );
    for path in PATHS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "* `{path}`");
    }
    text.push('\n');
    text.push_str(&document::drop_reasons());
    text.push('\n');
    text.push_str(OF_MAIL_SEND);
    text
}

/// `GET /`: a page for browsers, JSON for others.
pub(crate) async fn places(State(state): State<AppState>, headers: HeaderMap) -> Response {
    let places = PlaceLinks::of(&state.app.places);
    let accept = headers
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok());
    let mut response = if accept.is_some_and(wants_html) {
        html(places::page(&places))
    } else {
        Json(places).into_response()
    };
    response
        .headers_mut()
        .insert(header::VARY, HeaderValue::from_static("accept"));
    response
}

/// Whether the first type that is known of an `Accept` header is HTML. Browsers name it first.
fn wants_html(accept: &str) -> bool {
    let types = accept
        .split(',')
        .map(|one| one.split(';').next().unwrap_or_default().trim());
    let mut known = types.filter_map(|one| match one.to_ascii_lowercase().as_str() {
        "text/html" | "application/xhtml+xml" => Some(true),
        "application/json" | "application/*" | "*/*" => Some(false),
        _ => None,
    });
    known.next().unwrap_or(false)
}

/// `GET /docs`: the reference as a page.
pub(crate) async fn reference() -> Response {
    static PAGE: LazyLock<String> = LazyLock::new(|| page::reference(&document::document()));
    html(PAGE.as_str())
}

/// `GET /openapi.json`.
pub(crate) async fn openapi() -> Response {
    static DOCUMENT: LazyLock<String> = LazyLock::new(|| document::document().to_string());
    cached("application/json", DOCUMENT.as_str())
}

/// `GET /docs/errors`: the catalogue that the `help` of an error leads to.
pub(crate) async fn errors() -> Response {
    static PAGE: LazyLock<String> = LazyLock::new(|| page::errors(&catalogue()));
    html(PAGE.as_str())
}

fn html(page: impl Into<axum::body::Body>) -> Response {
    const POLICY: &str =
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'";
    let mut response = cached("text/html; charset=utf-8", page);
    let policy = HeaderValue::from_static(POLICY);
    response
        .headers_mut()
        .insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

fn cached(content_type: &'static str, body: impl Into<axum::body::Body>) -> Response {
    let headers: [(HeaderName, &str); 2] = [
        (header::CONTENT_TYPE, content_type),
        (header::CACHE_CONTROL, "public, max-age=3600"),
    ];
    (headers, body.into()).into_response()
}

#[cfg(test)]
mod tests {
    use posthaste_model::DropReason;

    use super::*;

    #[test]
    fn a_page_is_for_readers_that_name_it_first() {
        for (accept, want) in [
            (
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
                true,
            ),
            ("TEXT/HTML", true),
            ("application/json", false),
            ("application/json, text/html", false),
            ("*/*", false),
            ("image/png", false),
            ("", false),
        ] {
            assert_eq!(wants_html(accept), want, "{accept}");
        }
    }

    #[test]
    fn each_reason_of_a_drop_is_in_the_reference_and_in_the_catalogue() {
        let document = document::document();
        let pages = [page::reference(&document), page::errors(&catalogue())];
        let described = document["info"]["description"].as_str().unwrap();
        for reason in DropReason::FIXED {
            assert!(described.contains(&format!("| `{reason}` |")), "{reason}");
            let cell = format!("<td><code>{reason}</code></td>");
            for page in &pages {
                assert!(page.contains(&cell), "{reason}");
            }
        }
        assert!(
            pages
                .iter()
                .all(|page| page.contains("<td>any other words</td>"))
        );
    }

    #[test]
    fn each_anchor_is_in_the_page_and_each_path_is_listed() {
        let page = page::errors(&catalogue());
        for anchor in [
            "invalid-json",
            "wrong-type",
            "unknown-id",
            "unknown-path",
            "paths",
            "drop-reasons",
            "headers-of-the-caller",
        ] {
            assert!(page.contains(&format!("id=\"{anchor}\"")), "{anchor}");
        }
        let anchors = OF_MAIL_SEND.matches("<a id=").count();
        assert!(anchors > 50 && page.matches("<a id=").count() > anchors);
        assert!(page.contains("<td><code>content too large</code></td>"));
        let listed = |path: &&str| page.contains(&format!("<li><code>{path}</code></li>"));
        assert!(PATHS.iter().all(listed));
    }
}
