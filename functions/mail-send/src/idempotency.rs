//! `Idempotency-Key`, an extension of the v3 API: a client that did not receive the response may
//! retry without sending a second mail.
//!
//! * the same key and body within 24 hours: the first answer again, with `Idempotency-Replayed`
//! * the same key with another body: `422`
//! * while the first one is being processed: `409` with `Retry-After`
//!
//! A key belongs to the account the mail is sent for. A request that is rejected, or only checked
//! in sandbox mode, frees its key.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use posthaste_http::{Caller, Dialect, Rejection};
use posthaste_model::MessageId;
use posthaste_store::{Acquire, IdempotentRequest, REMEMBERED};

use crate::App;
use crate::accept::{SendOutcome, send_again, validate_and_accept};

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// Seconds for which a request to send again without a key is remembered.
const IMPLIED: i64 = 60;

/// Characters of a key at most.
const LONGEST: usize = 255;

/// The key in the request, if any.
fn key(headers: &HeaderMap) -> Result<Option<&str>, Rejection> {
    let mut values = headers.get_all(KEY).iter();
    let Some(first) = values.next() else {
        return Ok(None);
    };
    // `to_str` takes visible ASCII, spaces and tabs.
    let text = first.to_str().unwrap_or_default().trim();
    if text.is_empty() || text.len() > LONGEST || values.next().is_some() {
        return Err(Rejection::bad(
            "The Idempotency-Key header must be given once, with 1 to 255 ASCII characters.",
        ));
    }
    Ok(Some(text))
}

/// Accepts the mail of a request, unless the request has a key and was accepted before.
pub(crate) async fn accept_once(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Response, Rejection> {
    let Some(key) = key(headers)? else {
        let message = app.entropy.message_id();
        let outcome = validate_and_accept(app, caller, &message, body).await?;
        return Ok(outcome.into_response());
    };
    let request = IdempotentRequest {
        account: caller.id(),
        key,
        body,
        remembered: REMEMBERED,
    };
    once(app, request, async |message| {
        validate_and_accept(app, caller, message, body).await
    })
    .await
}

/// Sends a copy again, once for its key. Without one in the request, a repeat within a minute is the same request: a
/// button that is pressed twice, or a client that did not receive the response.
pub(crate) async fn repeat_once(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    id: &str,
) -> Result<Response, Rejection> {
    // No header has a line break: this is the key of no other request.
    let implied = format!("send_again\n{id}");
    let (key, remembered) = match key(headers)? {
        Some(key) => (key, REMEMBERED),
        None => (implied.as_str(), IMPLIED),
    };
    let request = IdempotentRequest {
        account: caller.id(),
        key,
        body: implied.as_bytes(),
        remembered,
    };
    once(app, request, async |message| {
        send_again(app, caller, message, id).await
    })
    .await
}

/// Accepts a mail under the message id of its key, unless it was accepted before.
async fn once(
    app: &App,
    request: IdempotentRequest<'_>,
    accept: impl AsyncFnOnce(&MessageId) -> Result<SendOutcome, Rejection>,
) -> Result<Response, Rejection> {
    let message = app.entropy.message_id();
    let hold = match app.store.begin(request, &message, app.clock.now()).await? {
        Acquire::Acquired(hold) => hold,
        Acquire::Replay(message) => {
            let mut response = SendOutcome::Accepted(message).into_response();
            let replayed = HeaderValue::from_static("true");
            response.headers_mut().insert(REPLAYED, replayed);
            return Ok(response);
        }
        Acquire::InProgress { until } => {
            let left = until.since(app.clock.now()).max(1);
            return Ok(in_progress(left));
        }
        Acquire::KeyReused => {
            return Err(Rejection::plain(
                StatusCode::UNPROCESSABLE_ENTITY,
                "This Idempotency-Key was used with another request body.",
            ));
        }
    };
    let outcome = accept(hold.message()).await;
    let updated = match &outcome {
        Ok(SendOutcome::Accepted(_)) => app.store.finish(&hold).await,
        Ok(SendOutcome::Sandbox) => app.store.abort(&hold).await,
        // A part of the mail may have been queued.
        Err(rejection) if rejection.status.is_server_error() => app.store.release(&hold).await,
        Err(_) => app.store.abort(&hold).await,
    };
    if let Err(error) = updated {
        // The response is unaffected. The key is held until its lease expires; then the same
        // request is processed under the same message id.
        tracing::warn!(%error, "idempotency key could not be updated: {error}");
    }
    outcome.map(SendOutcome::into_response)
}

fn in_progress(seconds: i64) -> Response {
    let rejection = Rejection::plain(
        StatusCode::CONFLICT,
        "A request with this Idempotency-Key is still being processed.",
    );
    let mut response = rejection.in_dialect(Dialect::Mail).into_response();
    let after = HeaderValue::from(seconds);
    response.headers_mut().insert(header::RETRY_AFTER, after);
    response
}
