//! `POST /v3/whitelabel/dns/email`: the records of a domain, mailed to its DNS administrator.

use std::fmt::Write as _;

use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Authorizer, Caller, JsonBody, Rejection, UNKNOWN_ID};
use posthaste_model::{EmailAddress, Problems, Record};
use posthaste_notices::{LONGEST_NOTE, NoticeRequest, quoted};

use crate::wire::MailRecords;
use crate::{App, branded_links};

/// The same for every domain: a domain's name is chosen by the caller.
const SUBJECT: &str = "DNS records for sending mail";

/// Mails the records of a domain of the account, with a short note of the caller's. As the note is
/// free text, the key must be one that may send, and the account must have credits left if it has
/// an allowance. The same request again within ten minutes is the same mail.
pub(crate) async fn mail_records(
    State(app): State<App>,
    State(gate): State<Authorizer>,
    caller: Caller,
    JsonBody(body): JsonBody<MailRecords>,
) -> Result<StatusCode, Rejection> {
    let mut found = Problems::default();
    let email = EmailAddress::parse(body.email.as_deref().unwrap_or_default());
    found.unless(email.is_ok(), "email", "email must be a valid address");
    let message = body.message.unwrap_or_default();
    let short = message.chars().count() <= LONGEST_NOTE;
    let too_long = format!("message must be at most {LONGEST_NOTE} characters");
    found.unless(short, "message", &too_long);
    found.unless(
        body.domain_id.is_some(),
        "domain_id",
        "domain_id is required",
    );
    let (Ok(email), Some(id), true) = (email, body.domain_id, found.is_empty()) else {
        return Err(found.into());
    };
    check_may_write(&app, &caller).await?;
    let domain = app.store.domain(caller.id(), id).await?;
    let unknown = || Rejection::on("domain_id", "unknown domain_id").with_help(UNKNOWN_ID);
    let domain = domain.ok_or_else(unknown)?;
    let mut records = domain.records.clone();
    // Clients send 0 for none.
    let link = body.link_id.filter(|id| *id != 0);
    if let Some(link) = link {
        let unknown = || Rejection::on("link_id", "unknown link_id").with_help(UNKNOWN_ID);
        let branding = app.store.link_branding(caller.id()).await?;
        let link = branding.link(link).ok_or_else(unknown)?;
        records.extend(branded_links::records(&app, link, &caller.account));
    }
    let about = match link {
        None => format!("records of {id}: {message}"),
        Some(link) => format!("records of {id} and link {link}: {message}"),
    };
    let wanted = NoticeRequest {
        account: &caller.account,
        to: &email,
        field: "email",
        about: &about,
        resend: false,
        is_test: caller.key.is_test,
    };
    let cleared = app.notices.clear(&gate, &wanted).await?;
    let text = text(&domain.domain, &records, &message);
    app.notices.send(cleared, SUBJECT, text).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Refuses what mail/send would not send for this caller either.
async fn check_may_write(app: &App, caller: &Caller) -> Result<(), Rejection> {
    if !caller.key.holds("mail.send") {
        return Err(Rejection::forbidden());
    }
    if !caller.account.metered {
        return Ok(());
    }
    let credits = app.store.credits(caller.id(), app.clock.now()).await?;
    if credits.is_some_and(|credits| credits.remain <= 0) {
        Err(Rejection::not_authorized_to_send())
    } else {
        Ok(())
    }
}

/// The names of domain and subdomain are the caller's words too, and are not verified: they are written so
/// that mail programs find no link in them.
fn text(domain: &str, records: &[Record], note: &str) -> String {
    let name = unlinked(domain);
    let mut text = format!(
        "You are asked to publish DNS records for the domain {name}. If you do not look after \
         that domain, ignore this mail.\n\n\
         To send mail from it, these DNS records are needed. Hosts are relative to the domain, @ is \
         the domain itself, and [.] is a dot, written so that this mail holds no link.\n\n"
    );
    for record in records {
        let (kind, data) = (record.kind, &record.data);
        let host = relative(&record.host, domain);
        // No name ends with a label that holds an underscore: `s1._domainkey` is no link.
        let is_link = host
            .rsplit_once('.')
            .is_some_and(|(_, last)| !last.contains('_'));
        let host = if is_link {
            unlinked(host)
        } else {
            host.to_owned()
        };
        let _ = write!(text, "Type:  {kind}\nHost:  {host}\nValue: {data}\n\n");
    }
    if let Some(note) = quoted(note) {
        let _ = write!(
            text,
            "The person who asked added a note. It is not from this service, which has disabled \
             links and telephone numbers in it:\n\n{note}\n"
        );
    }
    text
}

/// The name, of which no mail program makes a link.
fn unlinked(name: &str) -> String {
    name.replace('.', "[.]")
}

fn relative<'a>(host: &'a str, domain: &str) -> &'a str {
    match host.strip_suffix(domain) {
        Some("") => "@",
        Some(start) => start.strip_suffix('.').unwrap_or(host),
        None => host,
    }
}
