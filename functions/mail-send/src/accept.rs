//! The request pipeline: edge checks, decode and check, account, durable, `202`.

use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use posthaste_http::{Caller, Dialect, Rejection, too_large};
use posthaste_model::{BatchId, Mail, MessageId, Millis, Span, Timestamp};
use posthaste_queue::{Job, JobBody, JobError, Packing};
use posthaste_store::ScheduledMail;

use crate::body::SendBody;
use crate::jobs::{ScheduledSpans, groups, parts};
use crate::waiting::listings;
use crate::{App, decode_and_check};

/// `POST /v3/mail/send`.
pub(crate) async fn accept(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: Result<SendBody, Rejection>,
) -> Response {
    let taken = match body {
        Ok(body) => handle(&app, &caller, &headers, body).await,
        Err(rejection) => Err(rejection),
    };
    match taken {
        Ok(response) => response,
        Err(rejection) => rejection.in_dialect(Dialect::Mail).into_response(),
    }
}

async fn handle(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    body: SendBody,
) -> Result<Response, Rejection> {
    let body = body.unpack(headers, caller.account.gzip).await?;
    let message = app.entropy.message_id();
    match crate::idempotency::key(headers)? {
        None => Ok(validate_and_accept(app, caller, &message, &body)
            .await?
            .into_response()),
        Some(key) => crate::idempotency::take(app, caller, key, &message, &body).await,
    }
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
        match crate::size::is_too_large(&checked.mail, &checked.mail.content) {
            true => Err(too_large()),
            false => Ok(checked),
        }
    });
    let mail = checked.await?.mail;
    accept_mail(app, caller, message, mail, body.len()).await
}

/// Checks a mail against its account and makes it durable. `size` is that of the request in bytes.
async fn accept_mail(
    app: &App,
    caller: &Caller,
    message: &MessageId,
    mail: Mail,
    size: usize,
) -> Result<SendOutcome, Rejection> {
    crate::account::check(app, caller, &mail).await?;
    if mail.mail_settings.is_sandbox() {
        return Ok(SendOutcome::Sandbox);
    }
    let copies = mail.count();
    enqueue(app, caller, message, mail, size).await?;
    tracing::info!(target: "metrics", requests = 1_u64, accepted = copies, accepted_bytes = size);
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

/// Makes the mail durable: immediate mail on the queue, scheduled mail as due rows.
async fn enqueue(
    app: &App,
    caller: &Caller,
    message: &MessageId,
    mail: Mail,
    size: usize,
) -> Result<(), Rejection> {
    let mut groups = groups(&mail, app.clock.now(), app.limits.horizon);
    let accepted = hold_immediate(app, caller, mail.batch_id.as_ref(), &mut groups).await?;
    let batch = mail.batch_id.clone();
    let waiting = if app.searches {
        listings(&mail, &groups, message, &caller.key.id, accepted.seconds())
    } else {
        Vec::new()
    };
    let mail_is_whole = mail.submitted.is_some();
    let jobs = groups.len();
    // Submission repeats parts of a request for each recipient.
    let most = size.saturating_mul(mail.personalizations.len());
    let packed = posthaste_offload::run(most, || JobBody::pack(mail, jobs)).await;
    let body = match packed.map_err(|error| not_packed(&error))? {
        Packing::Inline(body) => body,
        Packing::Large(bytes) => {
            let name = format!("mail/{}/{message}", caller.id());
            let put = app.blob.put(&name, bytes.into()).await;
            put.map_err(|e| Rejection::unavailable(&e))?;
            JobBody::Blob(name)
        }
    };
    let job = Job {
        v: if mail_is_whole { 2 } else { 1 },
        account: caller.id().clone(),
        message: message.clone(),
        accepted,
        spans: Vec::new(),
        attempt: 0,
        due: None,
        left: false,
        waits_since: None,
        key: Some(caller.key.id.clone()),
        client_ip: caller.ip.map(|ip| ip.to_string()),
        body,
    };
    let written = size.saturating_mul(groups.len());
    let parts = posthaste_offload::run(written, || parts(&job, groups)).await?;
    if !waiting.is_empty() {
        app.store.list_waiting(caller.id(), &waiting).await?;
    }
    persist(app, &job, batch.as_ref(), &parts).await
}

/// When the mail counts as accepted. What is added to a batch that is paused or cancelled, and is to
/// leave at once, becomes scheduled mail of this second, so that the hold reaches it.
async fn hold_immediate(
    app: &App,
    caller: &Caller,
    batch: Option<&BatchId>,
    groups: &mut [(Option<Timestamp>, Vec<Span>)],
) -> Result<Millis, Rejection> {
    let now = app.clock.now_ms();
    let is_immediate = groups.iter().any(|(due, _)| due.is_none());
    let Some(batch) = batch.filter(|_| is_immediate) else {
        return Ok(now);
    };
    let hold = app.store.hold_on(caller.id(), batch, now.seconds()).await?;
    let Some(hold) = hold else { return Ok(now) };
    // The clock of the process that set the hold may be ahead.
    let accepted = now.max(hold.since.millis());
    for (due, _) in groups.iter_mut().filter(|(due, _)| due.is_none()) {
        *due = Some(accepted.seconds());
    }
    Ok(accepted)
}

fn not_packed(error: &JobError) -> Rejection {
    match error {
        JobError::TooLarge(_) => too_large(),
        JobError::TooNew(_) | JobError::Json(_) | JobError::Packed(_) => Rejection::internal(error),
    }
}

/// Scheduled parts first: if one cannot be stored, the request is rejected before anything was
/// sent.
async fn persist(
    app: &App,
    job: &Job,
    batch: Option<&BatchId>,
    parts: &[ScheduledSpans],
) -> Result<(), Rejection> {
    let later: Vec<ScheduledMail<'_>> = parts
        .iter()
        .filter_map(|part| {
            Some(ScheduledMail {
                account: &job.account,
                message: &job.message,
                first: part.spans.first().map_or(0, |span| span.from),
                recipients: part.spans.iter().map(|span| span.to - span.from).sum(),
                accepted: job.accepted.seconds(),
                at: part.due?,
                batch,
                job: &part.text,
            })
        })
        .collect();
    let mut leaving = match later.as_slice() {
        [] => Vec::new(),
        pieces => app.store.schedule(pieces, &app.clock).await?,
    };
    let now = parts.iter().filter(|part| part.due.is_none());
    leaving.extend(now.map(|part| (part.text.clone(), Duration::ZERO)));
    let sent = app.queue.send_all(leaving).await;
    sent.map_err(|e| Rejection::unavailable(&e))
}
