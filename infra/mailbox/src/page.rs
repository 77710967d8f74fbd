//! The page: the list and its forms.

use std::sync::Arc;

use axum::extract::{Path, RawQuery, State};
use axum::http::header;
use axum::response::{Html, IntoResponse, Redirect, Response};
use handlebars::{Handlebars, handlebars_helper};
use serde::Serialize;

use crate::mailbox::Selection;
use crate::params::{PAGE, Params};
use crate::reader::MessageView;
use crate::refusal::Refusal;
use crate::routes::App;
use crate::rows::{ListRow, ListSlice};
use crate::{ApiAddress, query, rows};

type PageResponse<T> = Result<T, Refusal>;

/// Only the page's own two files run or style it; pictures are those of mails.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; \
    frame-ancestors 'none'";

/// The templates, which escape all their input.
#[expect(
    clippy::expect_used,
    reason = "the templates are part of the program, and a test renders each of them"
)]
pub(crate) fn templates() -> Handlebars<'static> {
    let mut pages = Handlebars::new();
    pages.set_strict_mode(true);
    handlebars_helper!(brief: |at: str| rows::utc(at, "%-d %b, %H:%M"));
    handlebars_helper!(full: |at: str| rows::utc(at, "%-d %b %Y, %H:%M:%S UTC"));
    pages.register_helper("brief", Box::new(brief));
    pages.register_helper("full", Box::new(full));
    for (name, text) in [
        ("page", include_str!("../ui/page.html")),
        ("list", include_str!("../ui/list.html")),
        ("reader", include_str!("../ui/reader.html")),
        ("panel", include_str!("../ui/panel.html")),
        ("status", include_str!("../ui/status.html")),
        ("events", include_str!("../ui/events.html")),
        ("told", include_str!("../ui/told.html")),
        ("fragment", include_str!("../ui/fragment.html")),
    ] {
        pages
            .register_template_string(name, text)
            .expect("a template that comes with the program is well formed");
    }
    pages
}

/// Everything a page shows.
#[derive(Serialize)]
struct MailboxPage {
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
    reader: Option<MessageView>,
}

/// One line of the list.
#[derive(Serialize)]
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
    let page = page(&app, &params, None).await?;
    app.render("list", page).await
}

/// The whole page: the list, and beside it the open message.
pub(crate) async fn show(
    app: &App,
    params: &Params,
    reader: Option<MessageView>,
) -> PageResponse<Response> {
    let page = page(app, params, reader).await?;
    app.render("page", page).await
}

async fn page(
    app: &App,
    params: &Params,
    reader: Option<MessageView>,
) -> PageResponse<MailboxPage> {
    let terms = query::parse(&params.query)?;
    let slice = app.mailbox.list(terms, params.start, Some(PAGE)).await?;
    Ok(MailboxPage::new(params, &slice, reader))
}

impl App {
    /// A page, or a piece of one, from a template.
    pub(crate) async fn render(
        &self,
        template: &'static str,
        data: impl Serialize + Send + 'static,
    ) -> PageResponse<Response> {
        let pages = Arc::clone(&self.pages);
        let render = move || pages.render(template, &data);
        let html = self.mailbox.apart("render", render).await?;
        let html = html.map_err(|cause| crate::Error::Store(cause.to_string()))?;
        let policy = [(header::CONTENT_SECURITY_POLICY, POLICY)];
        Ok((policy, Html(html)).into_response())
    }
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

impl MailboxPage {
    fn new(params: &Params, slice: &ListSlice, reader: Option<MessageView>) -> Self {
        let (start, shown) = (params.start, slice.rows.len());
        let matching = slice.matching.total;
        let link = |start: usize| format!("/{}", params.place(start, &[]));
        let unread = slice.matching.unread;
        let title = match &reader {
            Some(reader) => reader.subject.clone(),
            None if unread > 0 => format!("({unread}) Mailbox"),
            None => "Mailbox".to_owned(),
        };
        let open = reader.as_ref().map_or(params.open.as_str(), |r| &r.id);
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
            reader,
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
            size: bytes(mail.size),
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

/// `1.5 KB`: a size for people.
pub(crate) fn bytes(size: usize) -> String {
    const KB: usize = 1024;
    let tenths = |unit: usize| {
        let tenths = size.saturating_mul(10) / unit;
        match tenths {
            100.. => (tenths / 10).to_string(),
            _ => format!("{}.{}", tenths / 10, tenths % 10),
        }
    };
    match size {
        0..KB => format!("{size} B"),
        KB..1_048_576 => format!("{} KB", tenths(KB)),
        _ => format!("{} MB", tenths(KB * KB)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        for (size, want) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KB"),
            (10_239, "9.9 KB"),
            (10_240, "10 KB"),
            (1_048_575, "1023 KB"),
            (31_457_280, "30 MB"),
        ] {
            assert_eq!(bytes(size), want);
        }
    }
}
