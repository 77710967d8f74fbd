//! `POST /v3/messages/{msg_id}/send_again`: sends a composed mail again to its recipient, as a message of its own.
//! An extension.
//!
//! It is a mail like any other from here on: its account may have lost the sender, the recipient may have been
//! suppressed, and it costs a credit. Its id, its Message-ID, its bounce address and its links are its own.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse as _, Response};
use posthaste_http::{Caller, Dialect, PathParams, Rejection};
use posthaste_kept::repeatable;
use posthaste_model::{MessageId, Problem};
use posthaste_store::ApiKey;

use crate::accept::{SendOutcome, accept_mail};
use crate::{App, idempotency};

pub(crate) async fn receive(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    headers: HeaderMap,
) -> Response {
    match idempotency::repeat_once(&app, &caller, &headers, &id).await {
        Ok(response) => response,
        Err(rejection) => rejection.in_dialect(Dialect::Mail).into_response(),
    }
}

/// Accepts the kept mail of a copy as this message.
pub(crate) async fn send_again(
    app: &App,
    caller: &Caller,
    message: &MessageId,
    id: &str,
) -> Result<SendOutcome, Rejection> {
    let missing = |why: String| Rejection::unknown_id([Problem::on("message_id", why)]);
    let unknown = || missing("not found".to_owned());
    let (before, recipient) = MessageId::read_copy(id).ok_or_else(unknown)?;
    let copy = (caller.id(), &before, recipient.unwrap_or(0));
    let row = app.store.recipient(copy.0, copy.1, copy.2).await?;
    let term = row.ok_or_else(unknown)?.kept;
    let found = app.kept.get(copy, term, app.clock.now()).await;
    let found = found.map_err(|error| Rejection::unavailable(&error))?;
    let kept = found.map_err(|why| missing(why.to_string()))?;
    // What may not leave once may not leave again, by any key.
    let caller = Caller {
        key: Arc::new(ApiKey {
            is_test: caller.key.is_test || kept.is_test,
            ..(*caller.key).clone()
        }),
        ..caller.clone()
    };
    let mail = posthaste_offload::run(posthaste_offload::UNKNOWN, || repeatable(kept)).await;
    let size = mail.submitted.as_ref().map_or(0, |m| m.mime.bytes().len());
    accept_mail(app, &caller, message, mail, size).await
}
