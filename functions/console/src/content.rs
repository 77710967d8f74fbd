//! What a page shows, or why it shows a sentence instead.

use askama::Template;
use axum::http::StatusCode;
use posthaste_http::Rejection;

use crate::api::ReadError;
use crate::texts;

/// The inside of a page.
#[derive(Debug)]
pub(crate) struct PageContent {
    pub(crate) status: StatusCode,
    pub(crate) title: String,
    /// HTML.
    pub(crate) body: String,
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

impl From<Rejection> for PageError {
    fn from(rejection: Rejection) -> Self {
        let problems = rejection.problems.into_iter();
        let messages: Vec<_> = problems.map(|problem| problem.message).collect();
        Self {
            status: rejection.status,
            message: messages.join("; "),
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
