//! The page behind the mailed link. Opening it verifies nothing: programs that look into mailboxes
//! open every link; only a person presses the button.

use axum::extract::State;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use posthaste_http::{Path, Rejection};

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
        "<h1>Confirm your sender address</h1><p>May mail be sent from <b>{email}</b>?</p>\
         <form method=\"post\"><button>Yes, confirm</button></form>"
    );
    Ok(page(StatusCode::OK, &body))
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
    let body = format!("<h1>Thank you</h1><p><b>{email}</b> is confirmed.</p>");
    Ok(page(StatusCode::OK, &body))
}

fn gone() -> Response {
    let body = "<h1>This link does not work any more</h1><p>Ask for a new one.</p>";
    page(StatusCode::NOT_FOUND, body)
}

fn page(status: StatusCode, body: &str) -> Response {
    const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; \
        frame-ancestors 'none'; base-uri 'none'";
    let html = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>Sender address</title>\
         <style>body{{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:4rem auto;\
         padding:0 1rem}}button{{font:inherit;padding:.5rem 1.5rem}}</style>{body}</html>"
    );
    let headers: [(HeaderName, &str); 4] = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
        // The address of the page is the secret.
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (status, headers, html).into_response()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}
