//! The Mailpit REST calls, for automated tests.
//!
//! Where this is stricter: a body that is not JSON deletes nothing, where Mailpit deletes all.

pub(crate) mod chaos;
pub(crate) mod checks;
pub(crate) mod outgoing;
pub(crate) mod tags;

use axum::Json;
use axum::extract::{Path, RawQuery, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use posthaste_mime::read::ParsedMail;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::app::{App, Refusal, find, find_row};
use crate::mail::fields_by_name;
use crate::mailbox::Selection;
use crate::message::{self, Full};
use crate::params::Params;
use crate::query::{self, Term, Test};
use crate::rows::{ListSlice, Totals};
use crate::{Summary, download};

pub(crate) type ApiResponse<T> = Result<T, Refusal>;

pub(crate) const OK: ([(header::HeaderName, &str); 1], &str) =
    ([(header::CONTENT_TYPE, "text/plain")], "ok");

/// `GET /api/v1/messages`: the newest first.
pub(crate) async fn list(
    State(app): State<App>,
    RawQuery(query): RawQuery,
) -> ApiResponse<Response> {
    let params = Params::read(&query.unwrap_or_default());
    let slice = app
        .mailbox
        .list(before(&params), params.start, params.limit())
        .await?;
    let (all, tags) = (slice.totals, tag_names(&app).await?);
    json(&app, move || page(params.start, slice, all, tags)).await
}

/// `GET /api/v1/search`.
pub(crate) async fn search(
    State(app): State<App>,
    RawQuery(query): RawQuery,
) -> ApiResponse<Response> {
    let params = Params::read(&query.unwrap_or_default());
    let mut terms = searched(&params)?;
    terms.extend(before(&params));
    let slice = app
        .mailbox
        .list(terms, params.start, params.limit())
        .await?;
    let (matching, tags) = (slice.matching, tag_names(&app).await?);
    json(&app, move || page(params.start, slice, matching, tags)).await
}

/// `DELETE /api/v1/search`.
pub(crate) async fn delete_search(
    State(app): State<App>,
    RawQuery(query): RawQuery,
) -> ApiResponse<impl IntoResponse> {
    let params = Params::read(&query.unwrap_or_default());
    let terms = searched(&params)?;
    app.mailbox.delete(Selection::Matching(terms)).await?;
    Ok(OK)
}

/// `DELETE /api/v1/messages`: those of `IDs`, or all.
pub(crate) async fn delete(State(app): State<App>, body: String) -> ApiResponse<impl IntoResponse> {
    let change = read_body(&app, body).await?;
    app.mailbox.delete(change.which()?).await?;
    Ok(OK)
}

/// `PUT /api/v1/messages`: marks those of `IDs`, those that match `Search`, or all.
pub(crate) async fn mark(
    State(app): State<App>,
    RawQuery(query): RawQuery,
    body: String,
) -> ApiResponse<impl IntoResponse> {
    let zone = Params::read(&query.unwrap_or_default()).zone;
    if body.trim().is_empty() {
        return Err(Refusal::Bad("EOF".to_owned()));
    }
    let change = read_body(&app, body).await?;
    if !change.ids.is_empty() && !change.search.is_empty() {
        let why = "You may specify either IDs or a search query, not both";
        return Err(Refusal::Bad(why.to_owned()));
    }
    check_zone(&zone, &change.search)?;
    app.mailbox.mark(change.which()?, change.read).await?;
    Ok(OK)
}

/// `GET /api/v1/message/{id}`: marks it as read.
pub(crate) async fn message(
    State(app): State<App>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> ApiResponse<Response> {
    let found = find(&app, &id, query).await?;
    app.mailbox.mark_read(&found.summary.id).await?;
    json(&app, move || Full::of(&found)).await
}

/// `GET /api/v1/message/{id}/headers`.
pub(crate) async fn heads(
    State(app): State<App>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> ApiResponse<Response> {
    let found = find(&app, &id, query).await?;
    json(&app, move || fields_by_name(&ParsedMail::read(&found.raw))).await
}

/// `GET /api/v1/message/{id}/raw`: the bytes as they came.
pub(crate) async fn raw(
    State(app): State<App>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> ApiResponse<Response> {
    let params = Params::read(query.as_deref().unwrap_or_default());
    let found = find(&app, &id, query).await?;
    let mail = found.mail;
    Ok(download::raw(&mail.summary.id, params.download, mail.raw))
}

/// `GET /api/v1/message/{id}/part/{part}`.
pub(crate) async fn part(
    State(app): State<App>,
    Path((id, part)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> ApiResponse<Response> {
    let found = find(&app, &id, query).await?;
    let fetch = move || message::fetch(&found.raw, &part);
    let found = app.mailbox.apart("part", fetch).await?;
    let found = found.ok_or(Refusal::NotFound)?;
    let charset = found.charset.as_deref();
    Ok(download::part(
        &found.kind,
        charset,
        &found.name,
        found.bytes,
    ))
}

/// `GET /api/v1/message/{id}/events`, which Mailpit does not have: the envelope, the events of
/// this copy and the answers of the webhooks.
pub(crate) async fn events(
    State(app): State<App>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> ApiResponse<Json<Value>> {
    let row = find_row(&app, &id, query).await?;
    let facts = app.facts(&row).await;
    Ok(Json(json!({
        "Envelope": row.envelope,
        "Events": facts.events,
        "Webhooks": facts.webhooks,
    })))
}

/// `GET /api/v1/info`.
pub(crate) async fn info(State(app): State<App>) -> ApiResponse<Json<Value>> {
    let counts = app.mailbox.counts().await?;
    let tags = app.mailbox.tags().await?;
    let file = app.mailbox.file().map(|file| file.display().to_string());
    Ok(Json(json!({
        "Version": concat!("posthaste/", env!("CARGO_PKG_VERSION")),
        "LatestVersion": "disabled",
        "Database": file.unwrap_or_else(|| ":memory:".to_owned()),
        "DatabaseSize": counts.footprint,
        "Messages": counts.totals.total,
        "Unread": counts.totals.unread,
        "Tags": tags.into_iter().map(|(name, mails)| (name, mails.into())).collect::<Map<_, _>>(),
        "RuntimeStats": {
            "Uptime": app.mailbox.uptime(),
            "Memory": memory(),
            "MessagesDeleted": counts.gone,
            "SMTPAccepted": counts.taken,
            "SMTPAcceptedSize": counts.taken_bytes,
            "SMTPRejected": app.mailbox.refusals(),
            // No mail is ignored.
            "SMTPIgnored": 0,
        },
    })))
}

/// Bytes of memory that the process uses; 0 where the system does not say.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kilobytes.map_or(0, |kilobytes: u64| kilobytes.saturating_mul(1024))
}

/// `GET /api/v1/webui`: what the host is set up for.
pub(crate) async fn configuration(State(app): State<App>) -> Json<Value> {
    let sources = &app.sources;
    Json(json!({
        "ChaosEnabled": sources.chaos.is_some(),
        "DuplicatesIgnored": false,
        "HideDeleteAllButton": false,
        "Label": "Posthaste",
        "MessageRelay": {
            "AllowedRecipients": "",
            "BlockedRecipients": "",
            "Enabled": sources.release.is_some(),
            "OverrideFrom": "",
            "PreserveMessageIDs": true,
            "RecipientAllowlist": "",
            "ReturnPath": "",
            "SMTPServer": sources.release_relay.as_deref().unwrap_or_default(),
        },
        "SpamAssassin": sources.spam.is_some(),
    }))
}

/// The fields of a body; names match in any case, as in Go.
#[derive(Debug, Default)]
struct ApiBody {
    ids: Vec<String>,
    search: String,
    read: bool,
}

impl ApiBody {
    fn read(body: &str) -> ApiResponse<Self> {
        if body.trim().is_empty() {
            return Ok(Self::default());
        }
        let bad = |why: String| Refusal::Bad(format!("the body is not understood: {why}"));
        let value: Value = serde_json::from_str(body).map_err(|e| bad(e.to_string()))?;
        let mut change = Self::default();
        let fields = match value {
            Value::Object(fields) => fields,
            Value::Null => return Ok(change),
            _ => return Err(bad("an object is expected".to_owned())),
        };
        for (name, value) in fields {
            let wrong = |e: serde_json::Error| bad(format!("{name}: {e}"));
            match name.to_ascii_lowercase().as_str() {
                _ if value.is_null() => {}
                "ids" => change.ids = serde_json::from_value(value).map_err(wrong)?,
                "search" => change.search = serde_json::from_value(value).map_err(wrong)?,
                "read" => change.read = serde_json::from_value(value).map_err(wrong)?,
                _ => {}
            }
        }
        Ok(change)
    }

    fn which(&self) -> ApiResponse<Selection> {
        Ok(if self.ids.is_empty() {
            Selection::Matching(query::parse(&self.search)?)
        } else {
            Selection::Ids(self.ids.clone())
        })
    }
}

/// An answer built and serialised on the pool: a message may be thirty megabytes.
pub(crate) async fn json<T: Serialize>(
    app: &App,
    make: impl FnOnce() -> T + Send + 'static,
) -> ApiResponse<Response> {
    let write = move || serde_json::to_vec(&make());
    let json = app.mailbox.apart("json", write).await?;
    let json = json.map_err(crate::Error::from)?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}

/// The fields of a body, of which names of the first level match in any case, as in Go. One that is not known is an
/// error: it may be a misspelt one.
pub(crate) async fn read_fields<T: DeserializeOwned + Send + 'static>(
    app: &App,
    body: String,
    form: &'static str,
) -> ApiResponse<T> {
    let read = move || {
        let bad = |why: String| Refusal::Bad(format!("the body is not of the form {form}: {why}"));
        let value: Value = serde_json::from_str(&body).map_err(|error| bad(error.to_string()))?;
        let Value::Object(fields) = value else {
            return Err(bad("an object is expected".to_owned()));
        };
        let fields = fields.into_iter();
        let fields = fields.filter(|(_, value)| !value.is_null());
        let fields: Map<_, _> = fields
            .map(|(name, value)| (name.to_ascii_lowercase(), value))
            .collect();
        serde_json::from_value(fields.into()).map_err(|error| bad(error.to_string()))
    };
    app.mailbox.apart("body", read).await?
}

async fn read_body(app: &App, body: String) -> ApiResponse<ApiBody> {
    app.mailbox
        .apart("body", move || ApiBody::read(&body))
        .await?
}

fn searched(params: &Params) -> ApiResponse<Vec<Term>> {
    if params.query.is_empty() {
        return Err(Refusal::Bad("Error: no search query".to_owned()));
    }
    check_zone(&params.zone, &params.query)?;
    Ok(query::parse(&params.query)?)
}

/// Days and times of a search are UTC: one meant in another zone selects other mails, perhaps to delete.
fn check_zone(zone: &str, search: &str) -> ApiResponse<()> {
    let is_utc = ["", "UTC", "Etc/UTC", "GMT"]
        .iter()
        .any(|utc| zone.eq_ignore_ascii_case(utc));
    let lower = search.to_ascii_lowercase();
    let has_time = ["before:", "after:"]
        .iter()
        .any(|term| lower.contains(term));
    if is_utc || !has_time {
        return Ok(());
    }
    let why = "tz may only be UTC: write times of before: and after: with their offset, such as \
               2026-11-27T12:00:00+02:00";
    Err(Refusal::Bad(why.to_owned()))
}

async fn tag_names(app: &App) -> ApiResponse<Vec<String>> {
    let counted = app.mailbox.tags().await?;
    Ok(counted.into_iter().map(|(name, _)| name).collect())
}

fn before(params: &Params) -> Vec<Term> {
    let at = query::instant(&params.before);
    let test = at.map(Test::Before);
    test.map(|test| Term { not: false, test })
        .into_iter()
        .collect()
}

fn page(start: usize, slice: ListSlice, matching: Totals, tags: Vec<String>) -> Value {
    let messages: Vec<Summary> = slice.rows.into_iter().map(|row| row.summary).collect();
    json!({
        "total": slice.totals.total,
        "unread": slice.totals.unread,
        "count": messages.len(),
        "messages_count": matching.total,
        "messages_unread": matching.unread,
        "start": start,
        "tags": tags,
        "messages": messages,
    })
}
