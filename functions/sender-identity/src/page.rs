//! The page behind the mailed link. Opening it verifies nothing: programs that look into mailboxes
//! open every link; only a person presses the button.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use posthaste_http::{Path, Rejection, escaped, page};

use crate::App;

pub(crate) const PATH: &str = "/senders/verify/{token}";

/// The address of the page.
pub(crate) fn url(base: &str, token: &str) -> String {
    format!("{base}{}", PATH.replace("{token}", token))
}

/// `GET`: whose address it is, and a button.
pub(crate) async fn ask(
    State(app): State<App>,
    Path(token): Path<String>,
) -> Result<Response, Rejection> {
    let sender = app.store.linked_sender(&token, app.clock.now()).await?;
    let Some(sender) = sender else {
        return Ok(gone());
    };
    let email = escaped(&sender.fields.from_email);
    let body = format!(
        "<p>May mail be sent from <b>{email}</b>?</p>\
         <form method=\"post\"><button>Yes, confirm</button></form>"
    );
    Ok(page(StatusCode::OK, "Confirm your sender address", &body))
}

/// `POST`: the button.
pub(crate) async fn confirm(
    State(app): State<App>,
    Path(token): Path<String>,
) -> Result<Response, Rejection> {
    let verified = app.store.verify_sender(&token, app.clock.now()).await?;
    let Some(sender) = verified else {
        return Ok(gone());
    };
    let (id, account) = (sender.id, &sender.account);
    tracing::info!(account.id = %account, "sender {id} of account {account} verified");
    let email = escaped(&sender.fields.from_email);
    let body = format!("<p><b>{email}</b> is confirmed.</p>");
    Ok(page(StatusCode::OK, "Thank you", &body))
}

fn gone() -> Response {
    let title = "This link does not work any more";
    page(StatusCode::NOT_FOUND, title, "<p>Ask for a new one.</p>")
}
