//! The page: the list, the open message beside it, and their forms.

use askama::Template;
use axum::extract::{Path, RawQuery, State};
use axum::response::{Redirect, Response};

use crate::app::{App, PAGE, Params, Refusal};
use crate::events::EventsUpdate;
use crate::mailbox::Selection;
use crate::reader::{MessageView, Panel};
use crate::rows::{ListRow, ListSlice};
use crate::{ApiAddress, query, rows};

type PageResponse<T> = Result<T, Refusal>;

/// The whole page: the list, and beside it the open message.
#[derive(Template)]
#[template(path = "page.html")]
struct MailboxPage {
    list: MailList,
    reader: Option<MessageView>,
}

/// The list, and what leads from it to others.
#[derive(Template)]
#[template(path = "list.html")]
struct MailList {
    /// Of the page: the subject of the open message, if there is one.
    title: String,
    query: String,
    start: usize,
    total: usize,
    /// How many mails match the search, and how many of these are unread.
    matching: usize,
    unread: usize,
    /// Which lines are shown, `51–100`; empty when there are none.
    range: String,
    newer: Option<String>,
    older: Option<String>,
    /// Back to the list from a message.
    home: String,
    rows: Vec<ListLine>,
}

/// One line of the list.
struct ListLine {
    href: String,
    current: bool,
    unread: bool,
    from: String,
    to: String,
    more: usize,
    subject: String,
    snippet: String,
    at: String,
    size: String,
    files: usize,
}

/// `GET /`: the list, newest first, or what a search found.
pub(crate) async fn list(
    State(app): State<App>,
    RawQuery(query): RawQuery,
) -> PageResponse<Response> {
    let params = Params::read(&query.unwrap_or_default());
    show(&app, &params, None).await
}

/// `GET /list`: the list alone, with the message `open` chosen in it. An open page requests it
/// after a change.
pub(crate) async fn lines(
    State(app): State<App>,
    RawQuery(query): RawQuery,
) -> PageResponse<Response> {
    let params = Params::read(&query.unwrap_or_default());
    app.render(list_of(&app, &params, None).await?).await
}

/// `GET /message/{id}`: the list with this message open, which marks it as read.
pub(crate) async fn open(
    State(app): State<App>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> PageResponse<Response> {
    let params = Params::read(query.as_deref().unwrap_or_default());
    let row = app.mailbox.head(id).await?.ok_or(Refusal::NotFound)?;
    let facts = app.facts(&row).await;
    let mail = app.mailbox.load(row).await?.ok_or(Refusal::NotFound)?;
    app.mailbox.mark_read(&mail.summary.id).await?;
    let reader = {
        let params = params.clone();
        let read = move || MessageView::new(&mail, &facts, &params);
        app.mailbox.apart("reader", read).await?
    };
    show(&app, &params, Some(reader)).await
}

/// `GET /message/{id}/events`: the latest events and answers of this copy. An open page requests it
/// repeatedly, so it leaves the mail unread.
pub(crate) async fn events(
    State(app): State<App>,
    Path(id): Path<String>,
) -> PageResponse<Response> {
    let row = app.mailbox.head(id).await?.ok_or(Refusal::NotFound)?;
    let facts = app.facts(&row).await;
    app.render(EventsUpdate::of(&facts)).await
}

async fn show(app: &App, params: &Params, reader: Option<MessageView>) -> PageResponse<Response> {
    let list = list_of(app, params, reader.as_ref()).await?;
    app.render(MailboxPage { list, reader }).await
}

async fn list_of(
    app: &App,
    params: &Params,
    reader: Option<&MessageView>,
) -> PageResponse<MailList> {
    let terms = query::parse(&params.query)?;
    let slice = app.mailbox.list(terms, params.start, Some(PAGE)).await?;
    Ok(MailList::new(params, &slice, reader))
}

/// `POST /message/{id}/delete`.
pub(crate) async fn delete(
    State(app): State<App>,
    Path(id): Path<String>,
    body: String,
) -> PageResponse<Redirect> {
    app.mailbox.delete(Selection::Ids(vec![id])).await?;
    Ok(home(&body))
}

/// `POST /clear`: what the search in the form finds, or everything.
pub(crate) async fn clear(State(app): State<App>, body: String) -> PageResponse<Redirect> {
    let terms = query::parse(&Params::read(&body).query)?;
    app.mailbox.delete(Selection::Matching(terms)).await?;
    Ok(Redirect::to("/"))
}

/// `POST /read`: marks what the search in the form finds, or everything.
pub(crate) async fn read(State(app): State<App>, body: String) -> PageResponse<Redirect> {
    let terms = query::parse(&Params::read(&body).query)?;
    app.mailbox.mark(Selection::Matching(terms), true).await?;
    Ok(home(&body))
}

fn home(body: &str) -> Redirect {
    let params = Params::read(body);
    Redirect::to(&format!("/{}", params.place(params.start, &[])))
}

impl MailList {
    fn new(params: &Params, slice: &ListSlice, reader: Option<&MessageView>) -> Self {
        let (start, shown) = (params.start, slice.rows.len());
        let matching = slice.matching.total;
        let link = |start: usize| format!("/{}", params.place(start, &[]));
        let unread = slice.matching.unread;
        let title = match reader {
            Some(reader) => reader.subject.clone(),
            None if unread > 0 => format!("({unread}) Mailbox"),
            None => "Mailbox".to_owned(),
        };
        let open = reader.map_or(params.open.as_str(), |reader| &reader.id);
        Self {
            title,
            query: params.query.clone(),
            start,
            total: slice.totals.total,
            unread,
            matching,
            range: match shown {
                0 => String::new(),
                shown => format!("{}–{}", start + 1, start + shown),
            },
            newer: (start > 0).then(|| link(start.saturating_sub(PAGE))),
            older: (start + shown < matching && shown > 0).then(|| link(start + PAGE)),
            home: link(start),
            rows: slice
                .rows
                .iter()
                .map(|row| ListLine::new(row, params, open))
                .collect(),
        }
    }
}

impl ListLine {
    fn new(row: &ListRow, params: &Params, open: &str) -> Self {
        let mail = &row.summary;
        let place = params.place(params.start, &[]);
        Self {
            href: format!("/message/{}{place}", mail.id),
            current: open == mail.id,
            unread: !mail.read,
            from: mail.from.short().to_owned(),
            to: recipient(row),
            more: row.envelope.to.len().saturating_sub(1),
            subject: mail.subject.clone(),
            snippet: mail.snippet.clone(),
            at: mail.created.clone(),
            size: rows::size(mail.size),
            files: mail.attachments,
        }
    }
}

/// The recipient of this copy: every recipient gets one, and the headers are the same in all.
fn recipient(row: &ListRow) -> String {
    let mail = &row.summary;
    match row.envelope.to.first() {
        Some(to) => to.clone(),
        None => mail.to.first().map(ApiAddress::shown).unwrap_or_default(),
    }
}
