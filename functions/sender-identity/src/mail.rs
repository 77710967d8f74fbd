//! Mails of our own, on their way like any other.

use std::time::Duration;

use posthaste_http::Rejection;
use posthaste_model::{AccountId, EmailAddress, Mail};
use posthaste_queue::{Body, Job};

use crate::App;

/// Queues a text to one address. No list keeps it back: without it the owner could not go on.
pub(crate) async fn send(
    app: &App,
    account: &AccountId,
    to: EmailAddress,
    subject: &str,
    text: String,
) -> Result<(), Rejection> {
    let mail = Mail::notice(app.names.sender.clone(), to, subject, text);
    let job = Job {
        v: 1,
        account: account.clone(),
        message: app.entropy.message_id(),
        accepted: app.clock.now_ms(),
        spans: Vec::new(),
        attempt: 0,
        due: None,
        left: false,
        key: None,
        body: Body::Mail(Box::new(mail)),
    };
    let text = job.to_text().map_err(|e| Rejection::internal(&e))?;
    let sent = app.send.send(text, Duration::ZERO).await;
    sent.map_err(|e| Rejection::unavailable(&e))
}
