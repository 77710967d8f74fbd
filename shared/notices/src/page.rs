//! The pages behind a mailed link. Opening one confirms nothing, because mail scanners open every link;
//! its button does.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use posthaste_http::page;

/// What a link asks.
#[derive(Clone, Copy, Debug, Template)]
#[template(
    ext = "html",
    source = r#"<p>{{ question }} <b>{{ email }}</b>?</p>
<form method="post"><button>{{ button }}</button></form>"#
)]
pub struct ConfirmPage<'a> {
    /// Up to the address.
    pub question: &'a str,
    pub email: &'a str,
    pub button: &'a str,
}

#[derive(Template)]
#[template(
    ext = "html",
    source = "<p><b>{{ email }}</b> is confirmed.</p>
{%- if let Some(more) = more %}
<p>{{ more }}</p>
{%- endif %}"
)]
struct ConfirmedPage<'a> {
    email: &'a str,
    more: Option<&'a str>,
}

#[derive(Template)]
#[template(ext = "html", source = "<p>Ask for a new one.</p>")]
struct ExpiredPage;

/// `GET`: whose address it is, and a button.
pub fn ask(title: &str, body: &ConfirmPage<'_>) -> Response {
    page(StatusCode::OK, title, body)
}

/// `POST`: thanks, and what else there is to do.
pub fn confirmed(email: &str, more: Option<&str>) -> Response {
    page(StatusCode::OK, "Thank you", &ConfirmedPage { email, more })
}

/// Of a link that is unknown, used or over.
pub fn expired() -> Response {
    let title = "This link does not work any more";
    page(StatusCode::NOT_FOUND, title, &ExpiredPage)
}
