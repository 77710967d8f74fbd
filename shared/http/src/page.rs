//! Plain pages for people who follow an emailed link: readable without styles, usable without
//! scripts, on a phone as on a desktop.

use askama::Template;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// The stylesheet that all pages of the service begin with: colours, light and dark, text and buttons.
pub const BASE_STYLE: &str = include_str!("../ui/base.css");

/// The frame of every such page.
#[derive(Template)]
#[template(path = "page.html")]
struct PageFrame<'a> {
    /// CSS.
    style: &'a str,
    title: &'a str,
    /// HTML.
    body: &'a str,
}

/// A page with this title and, below it, this template.
pub fn page(status: StatusCode, title: &str, body: &impl Template) -> Response {
    const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; \
        frame-ancestors 'none'; base-uri 'none'";
    let html = body.render().and_then(|body| {
        PageFrame {
            style: BASE_STYLE,
            title,
            body: &body,
        }
        .render()
    });
    let html = match html {
        Ok(html) => html,
        Err(error) => {
            tracing::error!(error = %error, "a page could not be rendered: {error}");
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
    };
    let headers: [(HeaderName, &str); 4] = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
        // The URL of the page identifies the reader.
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (status, headers, html).into_response()
}
