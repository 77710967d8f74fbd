//! The Mailpit REST calls, for automated tests.
//!
//! Where this is stricter: a body that is not JSON deletes nothing, where Mailpit deletes all.

use axum::Json;
use axum::extract::{Path, RawQuery, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use posthaste_mime::read::ParsedMail;
use serde::Serialize;
use serde_json::{Value, json};

use crate::mailbox::{LoadedMail, Selection};
use crate::message::{self, Full};
use crate::params::Params;
use crate::query::{self, Term, Test};
use crate::refusal::Refusal;
use crate::routes::App;
use crate::rows::{ListRow, ListSlice, Totals};
use crate::{Summary, download, headers};

type ApiResponse<T> = Result<T, Refusal>;

const OK: ([(header::HeaderName, &str); 1], &str) = ([(header::CONTENT_TYPE, "text/plain")], "ok");

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
    let all = slice.totals;
    json(&app, move || page(params.start, slice, all)).await
}

/// `GET /api/v1/search`.
pub(crate) async fn search(
    State(app): State<App>,
    RawQuery(query): RawQuery,
) -> ApiResponse<Response> {
    let params = Params::read(&query.unwrap_or_default());
    let mut terms = searched(&params.query)?;
    terms.extend(before(&params));
    let slice = app
        .mailbox
        .list(terms, params.start, params.limit())
        .await?;
    let matching = slice.matching;
    json(&app, move || page(params.start, slice, matching)).await
}

/// `DELETE /api/v1/search`.
pub(crate) async fn delete_search(
    State(app): State<App>,
    RawQuery(query): RawQuery,
) -> ApiResponse<impl IntoResponse> {
    let params = Params::read(&query.unwrap_or_default());
    let terms = searched(&params.query)?;
    app.mailbox.delete(Selection::Matching(terms)).await?;
    Ok(OK)
}

/// `DELETE /api/v1/messages`: those of `IDs`, or all.
pub(crate) async fn delete(State(app): State<App>, body: String) -> ApiResponse<impl IntoResponse> {
    let order = order(&app, body).await?;
    app.mailbox.delete(order.which()?).await?;
    Ok(OK)
}

/// `PUT /api/v1/messages`: marks those of `IDs`, those that match `Search`, or all.
pub(crate) async fn mark(State(app): State<App>, body: String) -> ApiResponse<impl IntoResponse> {
    if body.trim().is_empty() {
        return Err(Refusal::Bad("EOF".to_owned()));
    }
    let order = order(&app, body).await?;
    if !order.ids.is_empty() && !order.search.is_empty() {
        let why = "You may specify either IDs or a search query, not both";
        return Err(Refusal::Bad(why.to_owned()));
    }
    app.mailbox.mark(order.which()?, order.read).await?;
    Ok(OK)
}

/// `GET /api/v1/message/{id}`: marks it as read.
pub(crate) async fn message(
    State(app): State<App>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> ApiResponse<Response> {
    let kept = find(&app, &id, query).await?;
    app.mailbox.mark_read(&kept.summary.id).await?;
    json(&app, move || Full::of(&kept)).await
}

/// `GET /api/v1/message/{id}/headers`.
pub(crate) async fn heads(
    State(app): State<App>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> ApiResponse<Response> {
    let kept = find(&app, &id, query).await?;
    json(&app, move || headers::by_name(&ParsedMail::read(&kept.raw))).await
}

/// `GET /api/v1/message/{id}/raw`: the bytes as they came.
pub(crate) async fn raw(
    State(app): State<App>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> ApiResponse<Response> {
    let params = Params::read(query.as_deref().unwrap_or_default());
    let kept = find(&app, &id, query).await?;
    let mail = kept.mail;
    Ok(download::raw(&mail.summary.id, params.download, mail.raw))
}

/// `GET /api/v1/message/{id}/part/{part}`.
pub(crate) async fn part(
    State(app): State<App>,
    Path((id, part)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> ApiResponse<Response> {
    let kept = find(&app, &id, query).await?;
    let fetch = move || message::fetch(&kept.raw, &part);
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
/// this copy and what the webhooks answered.
pub(crate) async fn events(
    State(app): State<App>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> ApiResponse<Json<Value>> {
    let row = find_row(&app, &id, query).await?;
    let told = app.told(&row.summary, &row.envelope).await;
    Ok(Json(json!({
        "Envelope": row.envelope,
        "Events": told.events,
        "Webhooks": told.webhooks,
    })))
}

/// `GET /api/v1/info`.
pub(crate) async fn info(State(app): State<App>) -> ApiResponse<Json<Value>> {
    let counts = app.mailbox.counts().await?;
    let file = app.mailbox.file().map(|file| file.display().to_string());
    Ok(Json(json!({
        "Version": concat!("posthaste/", env!("CARGO_PKG_VERSION")),
        "LatestVersion": "disabled",
        "Database": file.unwrap_or_else(|| ":memory:".to_owned()),
        "DatabaseSize": counts.footprint,
        "Messages": counts.totals.total,
        "Unread": counts.totals.unread,
        "Tags": {},
        "RuntimeStats": {
            "Uptime": app.mailbox.uptime(),
            "MessagesDeleted": counts.gone,
            "SMTPAccepted": counts.taken,
            "SMTPAcceptedSize": counts.taken_bytes,
        },
    })))
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
        let mut order = Self::default();
        let fields = match value {
            Value::Object(fields) => fields,
            Value::Null => return Ok(order),
            _ => return Err(bad("an object is expected".to_owned())),
        };
        for (name, value) in fields {
            let wrong = |e: serde_json::Error| bad(format!("{name}: {e}"));
            match name.to_ascii_lowercase().as_str() {
                _ if value.is_null() => {}
                "ids" => order.ids = serde_json::from_value(value).map_err(wrong)?,
                "search" => order.search = serde_json::from_value(value).map_err(wrong)?,
                "read" => order.read = serde_json::from_value(value).map_err(wrong)?,
                _ => {}
            }
        }
        Ok(order)
    }

    fn which(&self) -> ApiResponse<Selection> {
        Ok(match self.ids.is_empty() {
            true => Selection::Matching(query::parse(&self.search)?),
            false => Selection::Ids(self.ids.clone()),
        })
    }
}

/// The row of the mail of this id, or of the newest (that matches `query`) for `latest`.
async fn find_row(app: &App, id: &str, query: Option<String>) -> ApiResponse<ListRow> {
    if id != "latest" {
        let found = app.mailbox.head(id.to_owned()).await?;
        return found.ok_or(Refusal::NotFound);
    }
    let params = Params::read(&query.unwrap_or_default());
    let terms = query::parse(&params.query)?;
    let newest = app.mailbox.list(terms, 0, Some(1)).await?;
    newest.rows.into_iter().next().ok_or(Refusal::NoMail)
}

/// The same mail with its bytes.
pub(crate) async fn find(app: &App, id: &str, query: Option<String>) -> ApiResponse<LoadedMail> {
    let row = find_row(app, id, query).await?;
    let found = app.mailbox.load(row).await?;
    found.ok_or(match id {
        "latest" => Refusal::NoMail,
        _ => Refusal::NotFound,
    })
}

/// An answer built and serialised on the pool: a message may be thirty megabytes.
async fn json<T: Serialize>(
    app: &App,
    make: impl FnOnce() -> T + Send + 'static,
) -> ApiResponse<Response> {
    let write = move || serde_json::to_vec(&make());
    let json = app.mailbox.apart("json", write).await?;
    let json = json.map_err(crate::Error::from)?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}

async fn order(app: &App, body: String) -> ApiResponse<ApiBody> {
    app.mailbox
        .apart("order", move || ApiBody::read(&body))
        .await?
}

fn searched(search: &str) -> ApiResponse<Vec<Term>> {
    if search.is_empty() {
        return Err(Refusal::Bad("Error: no search query".to_owned()));
    }
    Ok(query::parse(search)?)
}

fn before(params: &Params) -> Vec<Term> {
    let at = query::instant(&params.before);
    let test = at.map(Test::Before);
    test.map(|test| Term { not: false, test })
        .into_iter()
        .collect()
}

fn page(start: usize, slice: ListSlice, matching: Totals) -> Value {
    let messages: Vec<Summary> = slice.rows.into_iter().map(|row| row.summary).collect();
    json!({
        "total": slice.totals.total,
        "unread": slice.totals.unread,
        "count": messages.len(),
        "messages_count": matching.total,
        "messages_unread": matching.unread,
        "start": start,
        "tags": [],
        "messages": messages,
    })
}
