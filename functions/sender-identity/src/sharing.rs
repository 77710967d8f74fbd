//! `POST /v3/whitelabel/dns/email`: the records, mailed to whoever keeps the zone.

use std::fmt::Write as _;

use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Body, Caller, Gate, Rejection};
use posthaste_model::{EmailAddress, Problems};
use posthaste_store::Domain;

use crate::wire::MailRecords;
use crate::{App, mail};

/// Mails the records of a domain to a colleague, with a few words of the owner's.
pub(crate) async fn mail_records(
    State(app): State<App>,
    State(gate): State<Gate>,
    caller: Caller,
    Body(body): Body<MailRecords>,
) -> Result<StatusCode, Rejection> {
    const WORDS: usize = 2_000;
    let mut found = Problems::default();
    let email = EmailAddress::parse(body.email.as_deref().unwrap_or_default());
    found.unless(email.is_ok(), "email", "email must be a valid address");
    let message = body.message.unwrap_or_default();
    let short = message.chars().count() <= WORDS;
    found.unless(short, "message", "message must be at most 2000 characters");
    found.unless(
        body.domain_id.is_some(),
        "domain_id",
        "domain_id is required",
    );
    let (Ok(email), Some(id), true) = (email, body.domain_id, found.is_empty()) else {
        return Err(found.into());
    };
    let domain = app.store.domain(caller.id(), id).await?;
    let unknown = || Rejection::on("domain_id", "unknown domain_id");
    let domain = domain.ok_or_else(unknown)?;
    gate.check_may_send(&caller.account).await?;
    let subject = format!("DNS records for {}", domain.domain);
    mail::send(&app, caller.id(), email, &subject, text(&domain, &message)).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn text(domain: &Domain, message: &str) -> String {
    let mut text = String::new();
    if !message.is_empty() {
        let _ = write!(text, "{message}\n\n");
    }
    let name = &domain.domain;
    let _ = write!(
        text,
        "To send mail from {name}, these DNS records are needed:\n\n"
    );
    for record in &domain.records {
        let (kind, host, data) = (record.kind, &record.host, &record.data);
        let _ = write!(text, "Type:  {kind}\nHost:  {host}\nValue: {data}\n\n");
    }
    text
}
