//! The mails of the account: searched by what the API searches by, with how each stands.

mod filters;
mod statuses;

use std::collections::BTreeSet;

use askama::Template;
use serde::Deserialize;
use url::form_urlencoded;

use crate::api::ReadError;
use crate::content::{PageContent, PageResult};
use crate::texts::{self, MailStatus};
use crate::visit::PageVisit;
use filters::Filters;

/// Mails on a page. Of each that did not arrive the page reads why.
const SHOWN: usize = 25;

/// Mails that can be paged through: the API shows no more at once.
const MOST: usize = 1_000;

#[derive(Template)]
#[template(path = "activity.html")]
struct Activity {
    filters: Filters,
    statuses: [(&'static str, &'static str); 3],
    events: [(&'static str, &'static str); 9],
    periods: [(&'static str, &'static str); 4],
    keys: Vec<KeyAnswer>,
    /// Why there is no list.
    problem: Option<String>,
    rows: Vec<Row>,
    /// Whether older mails were not looked at.
    is_incomplete: bool,
    /// The addresses of the pages around this one.
    newer: Option<String>,
    older: Option<String>,
    /// What the file holds: the same search.
    csv_query: String,
}

/// One mail.
struct Row {
    id: String,
    to: String,
    from: String,
    subject: String,
    status: MailStatus,
    /// The last words about it.
    reason: String,
    at: String,
    opens: u32,
    clicks: u32,
}

#[derive(Deserialize)]
struct MessagesAnswer {
    messages: Vec<MessageAnswer>,
}

#[derive(Deserialize)]
struct MessageAnswer {
    from_email: String,
    msg_id: String,
    subject: String,
    to_email: String,
    status: String,
    opens_count: u32,
    clicks_count: u32,
    last_event_time: String,
}

#[derive(Deserialize)]
struct KeysAnswer {
    result: Vec<KeyAnswer>,
}

/// A key to search by.
#[derive(Deserialize)]
pub(crate) struct KeyAnswer {
    pub(crate) api_key_id: String,
    pub(crate) name: String,
}

pub(crate) async fn show(visit: PageVisit) -> PageResult {
    let filters = Filters::read(&visit.params);
    let keys = visit.api.get::<KeysAnswer>("/v3/api_keys").await;
    let query = filters.query(visit.now);
    let start = visit.params.number("start").min(MOST - SHOWN);
    let found = find(&visit, &query, start).await;
    let (rows, is_incomplete, has_more, problem) = match found {
        Ok(page) => {
            let rows = statuses::rows(&visit.api, page.mails).await;
            (rows, page.is_incomplete, page.has_more, None)
        }
        Err(error) => (Vec::new(), false, false, Some(error.message)),
    };
    let older = start + SHOWN;
    let page = Activity {
        statuses: texts::SEARCH_STATUSES,
        events: texts::SEARCH_EVENTS,
        periods: texts::PERIODS,
        keys: keys.map(|keys| keys.result).unwrap_or_default(),
        problem,
        rows,
        is_incomplete,
        newer: (start > 0).then(|| filters.page(start.saturating_sub(SHOWN))),
        older: (has_more && older < MOST).then(|| filters.page(older)),
        csv_query: query,
        filters,
    };
    PageContent::of("Activity", &page)
}

/// A page of the search.
struct Found {
    mails: Vec<MessageAnswer>,
    is_incomplete: bool,
    has_more: bool,
}

/// The mails from this place on. The API answers the so many that were accepted last, sorted by their last event: a
/// page is what more of them has than fewer.
async fn find(visit: &PageVisit, query: &str, start: usize) -> Result<Found, ReadError> {
    let path = |limit| format!("/v3/messages?limit={limit}&query={}", encoded(query));
    let end = start + SHOWN;
    let (headers, found) = visit
        .api
        .get_with_headers::<MessagesAnswer>(&path(end))
        .await?;
    let mut mails = found.messages;
    let has_more = mails.len() == end;
    if start > 0 {
        let before = visit.api.get::<MessagesAnswer>(&path(start)).await?;
        let before: BTreeSet<_> = before
            .messages
            .into_iter()
            .map(|mail| mail.msg_id)
            .collect();
        mails.retain(|mail| !before.contains(&mail.msg_id));
    }
    let incomplete = headers.get("x-search-incomplete");
    Ok(Found {
        mails,
        is_incomplete: incomplete.is_some_and(|value| value == "true"),
        has_more,
    })
}

/// A text in the query of an address.
fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
