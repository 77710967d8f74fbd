//! `GET /v3/messages`: the mails that match a query (API facts, email activity), and the search under
//! it and `/v3/logs`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue};
use posthaste_http::{Caller, Query as Parameters, QueryReader, Rejection};
use posthaste_model::{AccountId, MessageId};
use posthaste_store::{Seek, Sought};
use serde::Serialize;

use crate::App;
use crate::mail::{CopyDetails, FoundMail, waiting_mails};
use crate::query::{FieldSet, Query};

/// The maximum number of mails that one search examines. A search that reaches it sets a header.
pub(crate) const EXAMINED: usize = 10_000;

/// Mails read at a time.
const LOT: usize = 500;

/// Rows of scheduled mail that one search examines. A row has the copies of one mail.
const EXAMINED_WAITING: usize = 500;

/// How many mails may be asked for.
pub(crate) const LIMITS: RangeInclusive<usize> = 1..=1_000;

/// Reports that older mails were not examined.
pub(crate) const INCOMPLETE: HeaderName = HeaderName::from_static("x-search-incomplete");

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
}

/// The latest mails that match the query, those with the latest event first; without a query the
/// latest of all.
pub(crate) async fn find(
    State(app): State<App>,
    caller: Caller,
    parameters: Parameters,
) -> Result<([(HeaderName, HeaderValue); 1], Json<MessageList>), Rejection> {
    let (limit, query) = parameters.checked(|parameters| {
        let limit = parameters.limit_within(10, LIMITS);
        (limit, query_of(parameters))
    })?;
    let LookUp {
        mut mails,
        is_complete,
    } = look_up(&app, caller.id(), &query, limit).await?;
    mails.sort_by_key(|mail| Reverse(mail.row.last_event_at));
    let messages = mails.into_iter().map(MessageSummary::of).collect();
    let incomplete = HeaderValue::from_static(if is_complete { "false" } else { "true" });
    Ok(([(INCOMPLETE, incomplete)], Json(MessageList { messages })))
}

/// The mails that `query` asks for: all of them without one.
pub(crate) fn query_of(parameters: &mut QueryReader<'_>) -> Query {
    let text = parameters.text("query").unwrap_or_default();
    Query::read(text, FieldSet::Messages).unwrap_or_else(|error| {
        parameters.refuse("query", error.to_string());
        Query::All(Vec::new())
    })
}

/// Refuses a search where the deployment stores no rows for it.
pub(crate) fn check_searches(app: &App) -> Result<(), Rejection> {
    if app.searches {
        return Ok(());
    }
    let why = "the search over messages is disabled on this service";
    Err(Rejection::bad(why))
}

/// What a search found.
#[derive(Debug, Default)]
pub(crate) struct LookUp {
    /// Latest accepted first.
    pub mails: Vec<FoundMail>,
    /// Whether all mails were examined, or enough found.
    pub is_complete: bool,
}

/// The latest `limit` mails of an account that match.
///
/// # Errors
/// 400 where the deployment stores no rows for the search.
pub(crate) async fn look_up(
    app: &App,
    account: &AccountId,
    query: &Query,
    limit: usize,
) -> Result<LookUp, Rejection> {
    check_searches(app)?;
    let (store, until, since) = (&app.store, query.until(), query.since());
    let names = KnownNames::of(app, account, query).await?;
    let (waiting, all_waiting) = waiting(app, account, query, &names, limit).await?;
    let mut found = LookUp::default();
    let (mut examined, mut after) = (0, None);
    while examined < EXAMINED {
        let Sought { rows, next } = match query.recipient() {
            Some(to) => store.seek_to((account, to), until, after, LOT).await?,
            None => store.seek(account, until, after, LOT).await?,
        };
        examined += rows.len().max(1);
        let is_past = |row: &Seek| since.is_some_and(|since| row.accepted_at < since);
        let is_over = next.is_none() || rows.last().is_some_and(is_past);
        let mails = rows.into_iter().map(|row| names.with(row)).collect();
        let mails = if query.needs().copy {
            with_copies(app, account, mails).await?
        } else {
            mails
        };
        let missing = limit - found.mails.len();
        found.mails.extend(matching(mails, query, missing).await);
        if found.mails.len() == limit || is_over {
            found.is_complete = true;
            break;
        }
        after = next;
    }
    // One that has just left has a row of its own.
    let place = |mail: &FoundMail| (mail.row.message.clone(), mail.row.recipient);
    let known: BTreeSet<_> = found.mails.iter().map(place).collect();
    let waiting = waiting
        .into_iter()
        .filter(|mail| !known.contains(&place(mail)));
    found.mails.extend(waiting);
    found
        .mails
        .sort_by_key(|mail| Reverse(mail.row.accepted_at));
    found.mails.truncate(limit);
    found.is_complete &= all_waiting;
    Ok(found)
}

/// The latest `limit` copies of scheduled mail that match, and whether all were examined or enough
/// found. The copies of one row at a time are in memory.
async fn waiting(
    app: &App,
    account: &AccountId,
    query: &Query,
    names: &KnownNames,
    limit: usize,
) -> Result<(Vec<FoundMail>, bool), Rejection> {
    let page = app
        .store
        .waiting(account, query.until(), None, EXAMINED_WAITING)
        .await?;
    let mut found = Vec::new();
    for row in &page.rows {
        let mails = waiting_mails(row).map(|mail| names.with(mail)).collect();
        found.extend(matching(mails, query, limit - found.len()).await);
        if found.len() == limit {
            return Ok((found, true));
        }
    }
    Ok((found, page.next.is_none()))
}

/// The first `limit` of these mails that match. Patterns are compared off the threads that serve.
pub(crate) async fn matching(mails: Vec<FoundMail>, query: &Query, limit: usize) -> Vec<FoundMail> {
    let size = if query.has_pattern() {
        posthaste_offload::UNKNOWN
    } else {
        0
    };
    let holds = |mail: &FoundMail| query.holds(mail);
    posthaste_offload::run(size, || {
        mails.into_iter().filter(holds).take(limit).collect()
    })
    .await
}

/// A scheduled copy that has yet to leave.
pub(crate) async fn waiting_copy(
    app: &App,
    account: &AccountId,
    message: &MessageId,
    recipient: u32,
) -> Result<Option<FoundMail>, Rejection> {
    let rows = app.store.waiting_of(account, message).await?;
    let mut all = rows.iter().flat_map(waiting_mails);
    Ok(all.find(|mail| mail.row.recipient == recipient))
}

/// The names that a query compares; empty where it compares none.
#[derive(Debug, Default)]
pub(crate) struct KnownNames {
    templates: BTreeMap<String, String>,
    groups: BTreeMap<i64, String>,
}

impl KnownNames {
    pub(crate) async fn of(
        app: &App,
        account: &AccountId,
        query: &Query,
    ) -> Result<Self, Rejection> {
        let mut names = Self::default();
        let needs = query.needs();
        if needs.template_names {
            let all = app.store.templates(account).await?.into_iter();
            names.templates = all.map(|one| (one.id.to_string(), one.name)).collect();
        }
        if needs.group_names {
            let all = app.store.groups(account).await?.into_iter();
            names.groups = all.map(|one| (one.id, one.name)).collect();
        }
        Ok(names)
    }

    pub(crate) fn with(&self, mail: impl Into<FoundMail>) -> FoundMail {
        let mail = mail.into();
        let template = mail.row.template_id.as_ref();
        let group = mail.row.asm_group_id.as_ref();
        FoundMail {
            template_name: template.and_then(|id| self.templates.get(id).cloned()),
            group_name: group.and_then(|id| self.groups.get(id).cloned()),
            ..mail
        }
    }
}

/// The mails with what the rows of their copies say. One whose copy is gone stays without.
pub(crate) async fn with_copies(
    app: &App,
    account: &AccountId,
    mails: Vec<FoundMail>,
) -> Result<Vec<FoundMail>, Rejection> {
    let which: Vec<_> = mails
        .iter()
        .filter(|mail| mail.copy.is_none())
        .map(|mail| (&mail.row.message, mail.row.recipient))
        .collect();
    let copies = app.store.copies(account, &which).await?;
    let mut copies: BTreeMap<_, _> = copies
        .into_iter()
        .map(|(message, recipient, copy)| ((message, recipient), CopyDetails::of(&copy)))
        .collect();
    let mut complete = Vec::with_capacity(mails.len());
    for mail in mails {
        let place = (mail.row.message.clone(), mail.row.recipient);
        let copy = mail.copy.or_else(|| copies.remove(&place));
        complete.push(FoundMail { copy, ..mail });
    }
    Ok(complete)
}

impl MessageSummary {
    fn of(mail: FoundMail) -> Self {
        let row = mail.row;
        Self {
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
