//! The page for a link that is not ours.

use axum::http::StatusCode;
use axum::response::Response;
use posthaste_http::page;

/// The answer to a link that is not ours.
pub(crate) fn gone() -> Response {
    page(
        StatusCode::NOT_FOUND,
        "This link does not work",
        "<p>It may have been cut short on its way. Please use the link in the mail itself.</p>",
    )
}
