//! What surrounds every page: the head, the navigation, and the headers that bind the browser.

use askama::Template;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::api::ReadError;
use crate::assets::{ASSETS, Assets};
use crate::pages::{Group, PAGES, Page};
use crate::texts;

/// Scripts, styles and calls are the service's own, nothing is inline, nobody frames a page. Mails are shown in frames
/// without an origin, whose text comes with the page.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; \
    connect-src 'self'; frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// The inside of a page.
#[derive(Debug)]
pub(crate) struct PageContent {
    status: StatusCode,
    title: String,
    /// HTML.
    body: String,
}

/// Why a page shows a sentence instead of its content.
#[derive(Debug)]
pub(crate) struct PageError {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
}

impl PageError {
    pub(crate) fn not_found() -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            message: texts::NO_PAGE.to_owned(),
        }
    }
}

impl From<ReadError> for PageError {
    fn from(error: ReadError) -> Self {
        Self {
            status: error.status,
            message: error.message,
        }
    }
}

impl From<askama::Error> for PageError {
    fn from(error: askama::Error) -> Self {
        tracing::error!(%error, "a page could not be rendered: {error}");
        Self {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            message: texts::UNREADABLE.to_owned(),
        }
    }
}

/// The inside of a page, or why there is none.
pub(crate) type PageResult = Result<PageContent, PageError>;

impl PageContent {
    /// A page with this title, of this template.
    pub(crate) fn of(title: impl Into<String>, template: &impl Template) -> PageResult {
        Ok(Self {
            status: StatusCode::OK,
            title: title.into(),
            body: template.render()?,
        })
    }

    pub(crate) fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }
}

#[derive(Template)]
#[template(path = "refusal.html")]
struct Refusal<'a> {
    title: &'a str,
    message: &'a str,
    advice: &'a str,
}

/// Who is signed in, and where.
pub(crate) struct Signed<'a> {
    pub(crate) username: &'a str,
    /// The name of the page.
    pub(crate) page: &'a str,
}

struct NavGroup {
    label: &'static str,
    pages: Vec<&'static Page>,
}

#[derive(Template)]
#[template(path = "frame.html")]
struct Frame<'a> {
    title: &'a str,
    body: &'a str,
    signed: Option<Signed<'a>>,
    nav: Vec<NavGroup>,
    assets: &'a Assets,
}

/// The whole page.
pub(crate) fn page(content: PageResult, signed: Option<Signed<'_>>) -> Response {
    let content = match content {
        Ok(content) => Ok(content),
        Err(error) => refusal(&error),
    };
    let framed = content.and_then(|content| {
        let frame = Frame {
            title: &content.title,
            body: &content.body,
            nav: match &signed {
                Some(_) => navigation(),
                None => Vec::new(),
            },
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
    let page = Refusal {
        title,
        message: &error.message,
        advice,
    };
    Ok(PageContent::of(title, &page)?.with_status(error.status))
}

fn navigation() -> Vec<NavGroup> {
    let of = |group: &Group| NavGroup {
        label: group.label(),
        pages: PAGES.iter().filter(|page| page.group == *group).collect(),
    };
    let groups = Group::ALL.iter().map(of);
    groups.filter(|group| !group.pages.is_empty()).collect()
}
