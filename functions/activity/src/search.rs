//! `GET /v3/messages`: the mails that match a query (API facts, email activity).

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue};
use posthaste_http::{Caller, Query as Parameters, Rejection};
use posthaste_store::{Seek, Sought};
use serde::Serialize;

use crate::App;
use crate::query::{InvalidQuery, Query};

/// The maximum number of mails that one search examines. A search that reaches it sets a header.
const EXAMINED: usize = 10_000;

/// Mails read at a time.
const LOT: usize = 500;

/// Reports that older mails were not examined.
const INCOMPLETE: HeaderName = HeaderName::from_static("x-search-incomplete");

#[derive(Serialize)]
pub(crate) struct Found {
    messages: Vec<MessageSummary>,
}

#[derive(Serialize)]
struct MessageSummary {
    from_email: String,
    msg_id: String,
    subject: String,
    to_email: String,
    status: &'static str,
    opens_count: u32,
    clicks_count: u32,
    last_event_time: String,
}

/// The latest mails that match the query, those with the latest event first.
pub(crate) async fn find(
    State(app): State<App>,
    caller: Caller,
    parameters: Parameters,
) -> Result<([(HeaderName, HeaderValue); 1], Json<Found>), Rejection> {
    let limit = limit(&parameters)?;
    let text = parameters.text("query").unwrap_or_default();
    if text.trim().is_empty() {
        return Err(Rejection::on("query", "missing required parameter"));
    }
    let query = Query::read(text);
    let query = query.map_err(|error: InvalidQuery| Rejection::on("query", error.to_string()))?;
    if !app.searches {
        let why = "the search over messages is switched off on this service";
        return Err(Rejection::bad(why));
    }
    let (mut mails, complete) = look(&app, &caller, &query, limit).await?;
    mails.sort_by_key(|mail| std::cmp::Reverse(mail.last_event_at));
    let messages = mails.into_iter().map(MessageSummary::of).collect();
    let incomplete = HeaderValue::from_static(if complete { "false" } else { "true" });
    Ok(([(INCOMPLETE, incomplete)], Json(Found { messages })))
}

/// `limit` of 1 to 1000, 10 when it is left out.
fn limit(parameters: &Parameters) -> Result<usize, Rejection> {
    const MOST: u64 = 1_000;
    let wrong = || Rejection::on("limit", format!("limit must be a number from 1 to {MOST}"));
    match parameters.number("limit") {
        Ok(None) => Ok(10),
        Ok(Some(n)) if (1..=MOST).contains(&n) => usize::try_from(n).map_err(|_| wrong()),
        Ok(Some(_)) | Err(_) => Err(wrong()),
    }
}

/// The mails, and whether all of them were examined or enough were found.
async fn look(
    app: &App,
    caller: &Caller,
    query: &Query,
    limit: usize,
) -> Result<(Vec<Seek>, bool), Rejection> {
    let (store, account, until) = (&app.store, caller.id(), query.until());
    let (mut mails, mut examined, mut after) = (Vec::new(), 0, None);
    while examined < EXAMINED {
        let Sought { rows, next } = match query.recipient() {
            Some(to) => store.seek_to((account, to), until, after, LOT).await?,
            None => store.seek(account, until, after, LOT).await?,
        };
        examined += rows.len().max(1);
        let meant = rows.into_iter().filter(|mail| query.holds(mail));
        mails.extend(meant.take(limit - mails.len()));
        if mails.len() == limit || next.is_none() {
            return Ok((mails, true));
        }
        after = next;
    }
    Ok((mails, false))
}

impl MessageSummary {
    fn of(mail: Seek) -> Self {
        Self {
            msg_id: mail.message.of_copy(mail.recipient),
            from_email: mail.from,
            subject: mail.subject,
            to_email: mail.to,
            status: mail.status.as_str(),
            opens_count: mail.opens,
            clicks_count: mail.clicks,
            last_event_time: mail.last_event_at.iso(),
        }
    }
}
