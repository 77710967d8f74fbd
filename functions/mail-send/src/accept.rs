//! Accepts a mail: validates the request, checks it against its account, enqueues it. Answers `202`
//! once the mail is durable.

use std::pin::Pin;
use std::sync::Arc;

use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use posthaste_http::{Caller, Rejection, too_large};
use posthaste_kept::repeatable;
use posthaste_metrics::Metric;
use posthaste_model::{AccountId, Mail, MessageId, Problem, Timestamp};
use posthaste_store::ApiKey;

use crate::enqueue::enqueue;
use crate::{App, account, decode_and_check, size};

/// A mail that passed every check.
#[derive(Clone, Copy, Debug)]
pub struct AcceptedSend<'a> {
    pub account: &'a AccountId,
    pub message: &'a MessageId,
    /// The name of the API key of the request.
    pub key_name: &'a str,
    pub mail: &'a Mail,
    /// Whether it was only checked, in sandbox mode.
    pub is_sandbox: bool,
    pub now: Timestamp,
    /// How far ahead a send may be scheduled, in seconds.
    pub horizon: i64,
}

/// The rest of an observation, which a request waits for.
pub type Observing = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Sees what is accepted.
pub trait AcceptanceObserver: Send + Sync {
    /// Called before the mail is queued.
    fn accepted(&self, send: &AcceptedSend<'_>) -> Observing;

    /// Called when it could not be queued after all.
    fn withdrawn(&self, account: &AccountId, message: &MessageId) -> Observing;
}

/// The outcome of a valid request.
#[derive(Debug)]
pub(crate) enum SendOutcome {
    /// Sandbox mode: the request was only checked.
    Sandbox,
    Accepted(MessageId),
}

/// Checks a request and makes its mail durable.
pub(crate) async fn validate_and_accept(
    app: &App,
    caller: &Caller,
    message: &MessageId,
    body: &[u8],
) -> Result<SendOutcome, Rejection> {
    let now = app.clock.now();
    let checked = posthaste_offload::run(body.len(), || {
        let checked = decode_and_check(body, now, &app.limits)
            .map_err(|problems| Rejection::all(StatusCode::BAD_REQUEST, problems))?;
        if size::is_too_large(&checked.mail, &checked.mail.content) {
            return Err(too_large());
        }
        Ok(checked)
    });
    let mail = checked.await?.mail;
    accept_mail(app, caller, message, mail, body.len()).await
}

/// Checks a mail against its account and makes it durable. `size` is that of the request in bytes.
pub(crate) async fn accept_mail(
    app: &App,
    caller: &Caller,
    message: &MessageId,
    mail: Mail,
    size: usize,
) -> Result<SendOutcome, Rejection> {
    account::check(app, caller, &mail).await?;
    let is_sandbox = mail.mail_settings.is_sandbox();
    if let Some(observer) = &app.observer {
        let seen = observer.accepted(&AcceptedSend {
            account: caller.id(),
            message,
            key_name: &caller.key.name,
            mail: &mail,
            is_sandbox,
            now: app.clock.now(),
            horizon: app.limits.horizon,
        });
        seen.await;
    }
    if is_sandbox {
        return Ok(SendOutcome::Sandbox);
    }
    let copies = mail.count();
    if let Err(rejection) = enqueue(app, caller, message, mail, size).await {
        if let Some(observer) = &app.observer {
            observer.withdrawn(caller.id(), message).await;
        }
        return Err(rejection);
    }
    posthaste_metrics::record(&[
        Metric::Requests.of(1),
        Metric::Accepted.of(copies),
        Metric::AcceptedBytes.of(size),
    ]);
    tracing::debug!(account.id = %caller.id(), message.id = %message, "accepted message {message}");
    Ok(SendOutcome::Accepted(message.clone()))
}

/// Accepts a mail submitted by SMTP, by the rules of mail/send, and returns its id. Once this
/// returns, the mail is durable.
pub async fn submit(
    app: &App,
    caller: &Caller,
    mail: Mail,
    size: usize,
    message: &MessageId,
) -> Result<(), Rejection> {
    accept_mail(app, caller, message, mail, size)
        .await
        .map(drop)
}

impl IntoResponse for SendOutcome {
    fn into_response(self) -> Response {
        let Self::Accepted(message) = self else {
            return StatusCode::OK.into_response();
        };
        let mut response = StatusCode::ACCEPTED.into_response();
        if let Ok(id) = HeaderValue::from_str(message.as_str()) {
            let name = HeaderName::from_static("x-message-id");
            response.headers_mut().insert(name, id);
        }
        response
    }
}

/// Accepts the kept mail of a copy as this message.
///
/// It is a mail like any other from here on: its account may have lost the sender, the recipient may have been
/// suppressed, and it costs a credit. Its id, its Message-ID, its bounce address and its links are its own.
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
