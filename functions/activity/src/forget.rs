//! `DELETE /v3/messages/recipients/{email}`: an extension. Erases the stored data of an address.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use posthaste_http::{Caller, PathParams, Query, Rejection};
use posthaste_model::{EmailAddress, Masked};
use serde_json::json;

use crate::App;
use crate::erase::{Eraser, Progress, Unerased};

/// Pages of the table that one call looks through, 1 MB each: some seconds.
const PAGES: usize = 20;

/// 204 when nothing is left; 202 with the remainder, and then the client repeats the call.
pub(crate) async fn forget(
    State(app): State<App>,
    caller: Caller,
    PathParams(email): PathParams<String>,
    query: Query,
) -> Result<Response, Rejection> {
    let address = EmailAddress::parse(&email);
    let address = address.map_err(|_| Rejection::on("email", "the email is not an address"))?;
    let eraser = Eraser {
        store: &app.store,
        blob: &app.blob,
        account: caller.id(),
        address: &address,
        suppressions: query.flag("suppressions")?,
    };
    let done = eraser.run(app.clock.now(), PAGES).await;
    let progress = done.map_err(|error: Unerased| Rejection::unavailable(&error))?;
    let who = Masked(&email);
    tracing::info!(account.id = %caller.id(), "{} rows of {who} were erased", progress.erased);
    Ok(answer(&progress))
}

fn answer(progress: &Progress) -> Response {
    let message = match progress {
        Progress {
            complete: false, ..
        } => "The rest of the table is still to be looked through. Send the request again.",
        Progress { under_way: 0, .. } => return StatusCode::NO_CONTENT.into_response(),
        _ => {
            "Mails to this address are still under way. Send the request again when they have \
             ended, at most six days from now."
        }
    };
    let body = json!({
        "status": "pending",
        "message": message,
        "erased": progress.erased,
        "under_way": progress.under_way,
    });
    (StatusCode::ACCEPTED, Json(body)).into_response()
}
