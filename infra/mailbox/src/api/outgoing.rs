//! The REST calls that record a mail out of fields, and hand a recorded one to a real relay.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use posthaste_mime::read::ParsedMail;
use posthaste_mime::submitted::{Changes, pass_on};
use posthaste_mime::{
    HeaderRule, Outgoing, Stamp, build, header_rule, is_base64, is_header_name, message_id,
};
use posthaste_model::{Attachment, Content, Disposition, EmailAddress, Mailbox, Timestamp};
use serde::Deserialize;
use serde_json::json;

use super::{ApiResponse, OK, read_fields};
use crate::app::{App, Refusal, find};
use crate::{ReleasedMail, StoredEnvelope, mail, tags};

/// Recipients of one call.
const MOST_RECIPIENTS: usize = 100;

/// A name and an address.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct Person {
    email: String,
    #[serde(default)]
    name: String,
}

/// A file in base64, with or without `data:…,` before it.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct SentFile {
    content: String,
    filename: String,
    #[serde(default)]
    content_type: String,
    /// Makes it a picture of the HTML.
    #[serde(default, rename = "ContentID")]
    content_id: String,
}

/// The body of `POST /api/v1/send`.
#[derive(Deserialize)]
#[serde(default, rename_all = "lowercase", deny_unknown_fields)]
#[derive(Default)]
struct SendBody {
    from: Option<Person>,
    to: Option<Vec<Person>>,
    cc: Option<Vec<Person>>,
    bcc: Option<Vec<String>>,
    replyto: Option<Vec<Person>>,
    subject: String,
    text: String,
    html: String,
    headers: Option<BTreeMap<String, String>>,
    attachments: Option<Vec<SentFile>>,
    tags: Option<Vec<String>>,
}

/// `POST /api/v1/send`: records a mail, which neither passes through the service nor leaves. Answers errors as JSON.
pub(crate) async fn send(
    State(app): State<App>,
    headers: HeaderMap,
    body: Result<String, axum::extract::rejection::StringRejection>,
) -> Response {
    let body = match body {
        Ok(body) => body,
        Err(rejection) => return refused(rejection.status(), &rejection.body_text()),
    };
    match record(&app, &headers, body).await {
        Ok(id) => Json(json!({"ID": id})).into_response(),
        Err(Refusal::Bad(why)) => refused(StatusCode::BAD_REQUEST, &why),
        Err(other) => other.into_response(),
    }
}

fn refused(status: StatusCode, why: &str) -> Response {
    (status, Json(json!({"Error": why}))).into_response()
}

async fn record(app: &App, headers: &HeaderMap, body: String) -> ApiResponse<String> {
    let form = r#"{"From": {"Email": "…"}, "To": [{"Email": "…"}], "Subject": "…", "Text": "…"}"#;
    let body: SendBody = read_fields(app, body, form).await?;
    let id = app.mailbox.fresh_id().await?;
    let now = app.mailbox.now();
    let compose = move || compose(body, &id, now);
    let (envelope, raw) = app.mailbox.apart("compose", compose).await??;
    let user = basic_user(headers).unwrap_or_default();
    Ok(app.mailbox.deliver_from(envelope, raw.into(), user).await?)
}

/// The user name of HTTP's Basic scheme.
fn basic_user(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, credentials) = value.split_once(' ')?;
    let is_basic = scheme.eq_ignore_ascii_case("basic");
    let decoded = STANDARD
        .decode(credentials.trim())
        .ok()
        .filter(|_| is_basic)?;
    let text = String::from_utf8(decoded).ok()?;
    Some(mail::head(text.split(':').next()?, 255).to_owned())
}

/// The envelope and the bytes of the mail.
fn compose(body: SendBody, id: &str, now: Timestamp) -> ApiResponse<(StoredEnvelope, Vec<u8>)> {
    let from = body.from.ok_or_else(|| bad("From is missing".to_owned()))?;
    let from = person("From", from)?;
    let people = |field: &str, list: Option<Vec<Person>>| -> ApiResponse<Vec<Mailbox>> {
        let list = list.unwrap_or_default().into_iter();
        list.map(|one| person(field, one)).collect()
    };
    let to = people("To", body.to)?;
    let cc = people("Cc", body.cc)?;
    let reply_to = people("ReplyTo", body.replyto)?;
    let bcc = body.bcc.unwrap_or_default().into_iter();
    let bcc: Vec<_> = bcc
        .map(|email| address("Bcc", &email))
        .collect::<ApiResponse<_>>()?;
    let named = to.iter().chain(&cc).map(|one| &one.email);
    let recipients: Vec<_> = named.chain(&bcc).map(|to| to.as_str().to_owned()).collect();
    if recipients.is_empty() {
        return Err(bad("To, Cc or Bcc must name a recipient".to_owned()));
    }
    if recipients.len() > MOST_RECIPIENTS {
        let why = format!("To, Cc and Bcc name more than {MOST_RECIPIENTS} recipients");
        return Err(bad(why));
    }
    let headers = own_headers(body.headers.unwrap_or_default())?;
    let message_id = own_id(&headers)?.unwrap_or_else(|| format!("{id}@mailbox.posthaste"));
    let stamp = Stamp {
        message_id: &message_id,
        date: now,
        boundary: id,
    };
    let names = tags::cleaned(&body.tags.unwrap_or_default());
    let extra = [("X-Tags", names.join(", "))];
    let files = body.attachments.unwrap_or_default();
    let files: Vec<_> = files.into_iter().map(file).collect::<ApiResponse<_>>()?;
    let contents = contents(body.text, body.html);
    let outgoing = Outgoing {
        from: &from,
        to: &to,
        cc: &cc,
        reply_to: &reply_to,
        subject: &body.subject,
        contents: &contents,
        attachments: &files,
        headers: &headers,
        extra: if names.is_empty() { &[] } else { &extra },
    };
    let raw = build(&outgoing, &stamp).map_err(|error| bad(error.to_string()))?;
    let envelope = StoredEnvelope {
        from: from.email.as_str().to_owned(),
        to: recipients,
        peer: String::new(),
    };
    Ok((envelope, raw))
}

fn person(field: &str, person: Person) -> ApiResponse<Mailbox> {
    Ok(Mailbox {
        email: address(field, &person.email)?,
        name: Some(person.name).filter(|name| !name.is_empty()),
    })
}

fn address(field: &str, text: &str) -> ApiResponse<EmailAddress> {
    EmailAddress::parse(text)
        .map_err(|error| bad(format!("invalid {field} address {text:?}: {error}")))
}

/// The texts of a mail, of which there is one at least.
fn contents(text: String, html: String) -> Vec<Content> {
    let is_bare = text.is_empty() && html.is_empty();
    let texts = [("text/plain", text), ("text/html", html)].into_iter();
    let texts = texts.filter(|(kind, value)| !value.is_empty() || is_bare && *kind == "text/plain");
    texts
        .map(|(kind, value)| Content {
            mime_type: kind.to_owned(),
            value,
        })
        .collect()
}

/// The caller's own `Message-ID`, without angle brackets.
fn own_id(headers: &BTreeMap<String, String>) -> ApiResponse<Option<String>> {
    let mut headers = headers.iter();
    let Some((_, value)) = headers.find(|(name, _)| name.eq_ignore_ascii_case("message-id")) else {
        return Ok(None);
    };
    let id = message_id(value).map(str::to_owned);
    let why = "the Message-ID header is not of the form <left@right>";
    id.map(Some).ok_or_else(|| bad(why.to_owned()))
}

/// The caller's headers, of which none may be one that the fields make.
fn own_headers(headers: BTreeMap<String, String>) -> ApiResponse<BTreeMap<String, String>> {
    for name in headers.keys() {
        if !is_header_name(name) {
            return Err(bad(format!("{name:?} is not a header name")));
        }
        let is_own = name.eq_ignore_ascii_case("message-id");
        let is_tags = name.eq_ignore_ascii_case("x-tags");
        if is_tags || !is_own && header_rule(name) != HeaderRule::Written {
            return Err(bad(format!("cannot overwrite header: {name:?}")));
        }
    }
    Ok(headers)
}

fn file(file: SentFile) -> ApiResponse<Attachment> {
    let content = match file.content.rsplit_once(',') {
        Some((_, content)) => content.to_owned(),
        None => file.content,
    };
    if !is_base64(content.as_bytes()) {
        let name = file.filename;
        return Err(bad(format!(
            "the content of attachment {name:?} is not base64"
        )));
    }
    let is_inline = !file.content_id.is_empty();
    Ok(Attachment {
        content,
        mime_type: Some(file.content_type).filter(|kind| !kind.is_empty()),
        filename: file.filename,
        disposition: if is_inline {
            Disposition::Inline
        } else {
            Disposition::Attachment
        },
        content_id: Some(file.content_id).filter(|id| !id.is_empty()),
    })
}

/// `{"To": ["…"]}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReleaseBody {
    to: Vec<String>,
}

/// `POST /api/v1/message/{id}/release`: hands the mail to the real relay, as it was recorded except for `Bcc`.
pub(crate) async fn release(
    State(app): State<App>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    body: String,
) -> ApiResponse<impl IntoResponse> {
    let found = find(&app, &id, query).await?;
    let Some(release) = app.sources.release.clone() else {
        return Err(bad(
            "no relay is configured: start the service with --release-relay or --relay".to_owned(),
        ));
    };
    let ReleaseBody { to } = read_fields(&app, body, r#"{"To": ["…"]}"#).await?;
    if to.is_empty() || to.len() > MOST_RECIPIENTS {
        let why = format!("To names between 1 and {MOST_RECIPIENTS} recipients");
        return Err(bad(why));
    }
    let to: Vec<_> = to
        .iter()
        .map(|one| address("To", one))
        .collect::<ApiResponse<_>>()?;
    let (fresh, now) = (app.mailbox.fresh_id().await?, app.mailbox.now());
    let prepare = move || {
        let mail = ParsedMail::read(&found.raw);
        let senders = ["Sender", "From"].map(|name| mail::addresses(&mail, name));
        let sender = senders.iter().flatten().next();
        let from = sender.ok_or_else(|| bad("the mail has no From header".to_owned()))?;
        let from = address("From", &from.address)?;
        let stamp = Stamp {
            message_id: &format!("{fresh}@mailbox.posthaste"),
            date: now,
            boundary: &fresh,
        };
        let raw = pass_on(&found.raw, &Changes::default(), &stamp);
        let raw = raw.map_err(|error| bad(error.to_string()))?;
        Ok(ReleasedMail { from, to, raw })
    };
    let released: ApiResponse<ReleasedMail> = app.mailbox.apart("release", prepare).await?;
    release(released?)
        .await
        .map_err(|why| bad(format!("SMTP error: {why}")))?;
    Ok(OK)
}

fn bad(why: String) -> Refusal {
    Refusal::Bad(why)
}
