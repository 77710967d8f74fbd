//! What surrounds every page: the head, the navigation, and the headers that bind the browser.

use askama::Template;
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};

use crate::assets::{ASSETS, Assets};
use crate::content::{PageContent, PageError, PageResult};
use crate::texts;

/// Scripts, styles and calls are the own ones of the service, nothing is inline, no page frames this one. Mails are shown in frames
/// without an origin, whose text comes with the page.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; \
    connect-src 'self'; frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

#[derive(Template)]
#[template(path = "refusal.html")]
struct RefusalPage<'a> {
    title: &'a str,
    message: &'a str,
    advice: &'a str,
}

/// Who is signed in, and where.
pub(crate) struct Signed<'a> {
    pub(crate) username: &'a str,
    /// Whether it is a subuser that the reader acts for.
    pub(crate) is_acting: bool,
    pub(crate) nav: Vec<NavGroup>,
}

/// A heading of the navigation.
pub(crate) struct NavGroup {
    pub(crate) label: &'static str,
    pub(crate) links: Vec<NavLink>,
}

/// A page in the navigation.
pub(crate) struct NavLink {
    pub(crate) label: &'static str,
    pub(crate) path: String,
    pub(crate) is_current: bool,
}

#[derive(Template)]
#[template(path = "frame.html")]
struct ConsoleFrame<'a> {
    title: &'a str,
    body: &'a str,
    signed: Option<Signed<'a>>,
    assets: &'a Assets,
}

/// The whole page.
pub(crate) fn page(content: PageResult, signed: Option<Signed<'_>>) -> Response {
    let content = match content {
        Ok(content) => Ok(content),
        Err(error) => refusal(&error),
    };
    let framed = content.and_then(|content| {
        let frame = ConsoleFrame {
            title: &content.title,
            body: &content.body,
            signed,
            assets: &ASSETS,
        };
        Ok((content.status, frame.render()?))
    });
    match framed {
        Ok((status, html)) => (status, headers(), html).into_response(),
        Err(error) => error.status.into_response(),
    }
}

fn headers() -> [(HeaderName, &'static str); 5] {
    [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
        // Not `no-referrer`: under that, browsers send `Origin: null` with the page's own forms.
        (header::REFERRER_POLICY, "same-origin"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ]
}

/// The page that says why there is no other.
fn refusal(error: &PageError) -> PageResult {
    let (title, advice) = texts::refusal(error.status);
    let page = RefusalPage {
        title,
        message: &error.message,
        advice,
    };
    Ok(PageContent::of(title, &page)?.with_status(error.status))
}
