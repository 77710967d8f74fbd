//! The mails of the account: searched by what the API searches by, with how each stands.

mod filters;

use askama::Template;
use serde::Deserialize;
use url::form_urlencoded;

use crate::api::ReadError;
use crate::content::{PageContent, PageResult};
use crate::texts::{self, MailStatus};
use crate::visit::PageVisit;
use filters::Filters;

/// Mails on a page.
const SHOWN: usize = 25;

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
    /// Whether the page ends before it is full, with older mails that were not looked at.
    is_incomplete: bool,
    /// The address of the first page, where this is another.
    newest: Option<String>,
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
    opens_count: u32,
    clicks_count: u32,
    last_event_time: String,
    /// In the words of the email logs.
    state: String,
    #[serde(default)]
    reason: String,
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
    let after = visit.params.text("after");
    let query = filters.query(visit.now);
    let (keys, found) = futures_util::join!(
        visit.api.get::<KeysAnswer>("/v3/api_keys"),
        find(&visit, &query, after),
    );
    let (found, problem) = match found {
        Ok(found) => (found, None),
        Err(error) => (Found::default(), Some(error.message)),
    };
    let page = Activity {
        statuses: texts::SEARCH_STATUSES,
        events: texts::SEARCH_EVENTS,
        periods: texts::PERIODS,
        keys: keys.map(|keys| keys.result).unwrap_or_default(),
        problem,
        is_incomplete: found.next.is_some() && found.mails.len() < SHOWN,
        newest: (!after.is_empty()).then(|| filters.page("")),
        older: found.next.map(|next| filters.page(&next)),
        rows: found.mails.into_iter().map(Row::of).collect(),
        csv_query: query,
        filters,
    };
    PageContent::of(texts::ACTIVITY, &page)
}

/// A page of the search.
#[derive(Default)]
struct Found {
    mails: Vec<MessageAnswer>,
    /// Where the next one goes on.
    next: Option<String>,
}

async fn find(visit: &PageVisit, query: &str, after: &str) -> Result<Found, ReadError> {
    let path = format!(
        "/v3/messages?limit={SHOWN}&details=true&after={}&query={}",
        encoded(after),
        encoded(query)
    );
    let answer = visit.api.get_with_headers::<MessagesAnswer>(&path).await?;
    let (headers, found) = answer;
    let next = headers.get("x-search-next");
    let next = next.and_then(|next| next.to_str().ok());
    Ok(Found {
        mails: found.messages,
        next: next.map(str::to_owned),
    })
}

impl Row {
    fn of(mail: MessageAnswer) -> Self {
        Self {
            id: mail.msg_id,
            to: mail.to_email,
            from: mail.from_email,
            subject: mail.subject,
            status: MailStatus::of(&mail.state),
            reason: mail.reason,
            at: mail.last_event_time,
            opens: mail.opens_count,
            clicks: mail.clicks_count,
        }
    }
}

/// A text in the query of an address.
fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
