//! Errors as Mailpit answers them: plain text, 404 or 400.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::Error;
use crate::query::TooManyTerms;

/// Why a request is refused.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// No such mail, part or page.
    NotFound,
    /// `latest` of an empty mailbox.
    NoMail,
    /// `/view/….html` of a mail without HTML.
    NoHtml,
    /// The request is invalid, for this reason.
    Bad(String),
    /// Internal: logged, not shown.
    Internal(Error),
}

impl From<Error> for Refusal {
    fn from(cause: Error) -> Self {
        Self::Internal(cause)
    }
}

impl From<TooManyTerms> for Refusal {
    fn from(why: TooManyTerms) -> Self {
        Self::Bad(why.to_string())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, text) = match self {
            Self::NotFound => (StatusCode::NOT_FOUND, "404 page not found".to_owned()),
            Self::NoMail => (StatusCode::NOT_FOUND, "Message not found".to_owned()),
            Self::NoHtml => (
                StatusCode::NOT_FOUND,
                "This message does not contain a HTML part".to_owned(),
            ),
            Self::Bad(why) => (StatusCode::BAD_REQUEST, why),
            Self::Internal(cause) => {
                tracing::error!(error = %cause, "the mailbox failed: {cause}");
                let text = "the mailbox cannot be read or written; its log says why";
                (StatusCode::INTERNAL_SERVER_ERROR, text.to_owned())
            }
        };
        let kind = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
        (status, kind, text).into_response()
    }
}
