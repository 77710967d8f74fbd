//! `GET /v3/messages`: the mails that match a query (API facts, email activity).

use std::cmp::Reverse;
use std::ops::RangeInclusive;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use posthaste_http::{Caller, Query as Parameters, QueryReader, Rejection};
use posthaste_store::{SearchStatus, Seek};
use serde::Serialize;

use crate::App;
use crate::look_up::{LookUpRequest, look_up, with_copies};
use crate::mail::FoundMail;
use crate::query::{FieldSet, Query};

/// How many mails may be asked for.
pub(crate) const LIMITS: RangeInclusive<usize> = 1..=1_000;

/// Reports that older mails were not examined.
pub(crate) const INCOMPLETE: HeaderName = HeaderName::from_static("x-search-incomplete");

/// The `after` of the next page.
const NEXT: HeaderName = HeaderName::from_static("x-search-next");

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct MessageList {
    messages: Vec<MessageSummary>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct MessageSummary {
    from_email: String,
    msg_id: String,
    subject: String,
    to_email: String,
    status: &'static str,
    opens_count: u32,
    clicks_count: u32,
    last_event_time: String,
    /// With `details=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    /// With `details=true`: the last words about a mail that did not arrive, or not yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// The latest mails that match the query, those with the latest event first; without a query the
/// latest of all. With `after` a page of them.
pub(crate) async fn find(
    State(app): State<App>,
    caller: Caller,
    parameters: Parameters,
) -> Result<(HeaderMap, Json<MessageList>), Rejection> {
    let (limit, query, page, has_details) = parameters.checked(|parameters| {
        let limit = parameters.limit_within(10, LIMITS);
        let place = |text: &str| (text.is_empty() || Seek::is_place(text)).then_some(());
        let wrong = "after must be empty or the X-Search-Next of the page before";
        let _checked = parameters.parsed("after", place, wrong);
        let page = parameters.text("after");
        (
            limit,
            query_of(parameters),
            page,
            parameters.flag("details"),
        )
    })?;
    let request = LookUpRequest {
        query: &query,
        limit,
        page,
    };
    let found = look_up(&app, caller.id(), request).await?;
    let mut mails = if has_details {
        // Of the others there is nothing more to say.
        let is_open = |mail: &FoundMail| mail.row.status != SearchStatus::Delivered;
        with_copies(&app, caller.id(), found.mails, is_open).await?
    } else {
        found.mails
    };
    mails.sort_by_key(|mail| Reverse(mail.row.last_event_at));
    let messages = mails.into_iter();
    let messages = messages.map(|mail| MessageSummary::of(mail, has_details));
    let incomplete = if found.is_complete { "false" } else { "true" };
    let mut headers = HeaderMap::from_iter([(INCOMPLETE, HeaderValue::from_static(incomplete))]);
    let next = found.next.and_then(|next| HeaderValue::try_from(next).ok());
    headers.extend(next.map(|next| (NEXT, next)));
    let messages = messages.collect();
    Ok((headers, Json(MessageList { messages })))
}

/// The mails that `query` asks for: all of them without one.
pub(crate) fn query_of(parameters: &mut QueryReader<'_>) -> Query {
    let text = parameters.text("query").unwrap_or_default();
    Query::read(text, FieldSet::Messages).unwrap_or_else(|error| {
        parameters.refuse("query", error.to_string());
        Query::All(Vec::new())
    })
}

impl MessageSummary {
    fn of(mail: FoundMail, has_details: bool) -> Self {
        let state = has_details.then(|| mail.state());
        let is_open = mail.row.status != SearchStatus::Delivered;
        let reason = mail.copy.filter(|_| has_details && is_open);
        let row = mail.row;
        Self {
            state,
            reason: reason.and_then(|copy| copy.reason),
            msg_id: row.message.of_copy(row.recipient),
            from_email: row.from,
            subject: row.subject,
            to_email: row.to,
            status: row.status.as_str(),
            opens_count: row.opens,
            clicks_count: row.clicks,
            last_event_time: row.last_event_at.iso(),
        }
    }
}
