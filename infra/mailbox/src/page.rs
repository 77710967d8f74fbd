//! The page: the list, its forms, and the documents shown in frames.

use std::collections::HashMap;

use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use handlebars::Handlebars;
use mail_parser::Message;
use serde::Serialize;

use crate::params::{PAGE, Params};
use crate::reader::Reader;
use crate::refusal::Refusal;
use crate::routes::App;
use crate::rows::{Row, Slice};
use crate::{Address, api, frame, parse, parts, query, sql};

type Answer<T> = Result<T, Refusal>;

/// Nothing but our own two files runs or paints; pictures are those of mails.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; \
    frame-ancestors 'none'";

/// The templates, which escape whatever they are given.
#[expect(
    clippy::expect_used,
    reason = "the templates are part of the program, and a test renders each of them"
)]
pub(crate) fn templates() -> Handlebars<'static> {
    let mut pages = Handlebars::new();
    pages.set_strict_mode(true);
    for (name, text) in [
        ("page", include_str!("../ui/page.html")),
        ("list", include_str!("../ui/list.html")),
        ("reader", include_str!("../ui/reader.html")),
        ("panel", include_str!("../ui/panel.html")),
        ("told", include_str!("../ui/told.html")),
    ] {
        pages
            .register_template_string(name, text)
            .expect("a template that comes with the program is well formed");
    }
    pages
}

/// Everything a page shows.
#[derive(Serialize)]
struct Page {
    title: String,
    query: String,
    start: usize,
    total: usize,
    /// How many mails match the search, and how many of these nobody has read.
    matching: usize,
    unread: usize,
    /// Which lines are shown, `51–100`; empty when there are none.
    range: String,
    newer: Option<String>,
    older: Option<String>,
    /// Back to the list from a message.
    home: String,
    rows: Vec<Line>,
    reader: Option<Reader>,
}

/// One line of the list.
#[derive(Serialize)]
struct Line {
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
pub(crate) async fn list(State(app): State<App>, RawQuery(query): RawQuery) -> Answer<Response> {
    let params = Params::read(&query.unwrap_or_default());
    show(&app, &params, None).await
}

/// The whole page: the list, and beside it the open message.
pub(crate) async fn show(app: &App, params: &Params, reader: Option<Reader>) -> Answer<Response> {
    let terms = query::parse(&params.query);
    let slice = app.mailbox.list(terms, params.start, Some(PAGE)).await?;
    let page = Page::new(params, &slice, reader);
    let html = app.pages.render("page", &page);
    let html = html.map_err(|cause| crate::Error::Store(cause.to_string()))?;
    let policy = [(header::CONTENT_SECURITY_POLICY, POLICY)];
    Ok((policy, Html(html)).into_response())
}

/// `POST /message/{id}/delete`.
pub(crate) async fn delete(
    State(app): State<App>,
    Path(id): Path<String>,
    body: String,
) -> Answer<Redirect> {
    app.mailbox.delete(sql::named(&[id])).await?;
    Ok(home(&body))
}

/// `POST /clear`: what the search in the form finds, or everything.
pub(crate) async fn clear(State(app): State<App>, body: String) -> Answer<Redirect> {
    let terms = query::parse(&Params::read(&body).query);
    app.mailbox.delete(sql::matching(&terms)).await?;
    Ok(Redirect::to("/"))
}

/// `POST /read`: marks what the search in the form finds, or everything.
pub(crate) async fn read(State(app): State<App>, body: String) -> Answer<Redirect> {
    let terms = query::parse(&Params::read(&body).query);
    app.mailbox.mark(sql::matching(&terms), true).await?;
    Ok(home(&body))
}

fn home(body: &str) -> Redirect {
    let params = Params::read(body);
    Redirect::to(&format!("/{}", params.place(params.start, &[])))
}

/// `GET /view/{id}.html` and `.txt`: the body alone. `embed=1` makes links open in a new window,
/// `images=1` lets remote pictures load.
pub(crate) async fn view(
    State(app): State<App>,
    Path(file): Path<String>,
    RawQuery(query): RawQuery,
) -> Answer<Response> {
    let params = Params::read(query.as_deref().unwrap_or_default());
    let (id, kind) = file.rsplit_once('.').ok_or(Refusal::NotFound)?;
    let kept = api::find(&app, id, query).await?;
    match kind {
        "html" => {
            let embed = params.embed;
            let id = kept.summary.id.clone();
            let html = api::apart(move || {
                parse::with(&kept.raw, |message| document(&id, message, embed).html)
            });
            let html = html.await?.filter(|html| !html.is_empty());
            Ok(framed(html.ok_or(Refusal::NoHtml)?, params.images))
        }
        "txt" => {
            let text = api::apart(move || parse::with(&kept.raw, parse::text)).await?;
            Ok(text.unwrap_or_default().into_response())
        }
        _ => Err(Refusal::NotFound),
    }
}

/// A mail's HTML, rewritten for a frame; empty when it has none.
pub(crate) fn document(id: &str, message: &Message<'_>, embed: bool) -> frame::Document {
    let cids: HashMap<_, _> = parts::files(message)
        .iter()
        .filter(|leaf| !leaf.content_id().is_empty())
        .map(|leaf| {
            let url = format!("/api/v1/message/{id}/part/{}", leaf.id);
            (leaf.content_id().to_owned(), url)
        })
        .collect();
    frame::document(&parse::html(message), &cids, embed)
}

fn framed(html: String, images: bool) -> Response {
    let mut response = Html(html).into_response();
    let headers = response.headers_mut();
    if let Ok(policy) = frame::policy(images).parse() {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    let none = HeaderValue::from_static("no-referrer");
    headers.insert(header::REFERRER_POLICY, none);
    response
}

impl Page {
    fn new(params: &Params, slice: &Slice, reader: Option<Reader>) -> Self {
        let (start, shown) = (params.start, slice.rows.len());
        let matching = slice.matching.total;
        let link = |start: usize| format!("/{}", params.place(start, &[]));
        let unread = slice.matching.unread;
        let title = match &reader {
            Some(reader) => reader.subject.clone(),
            None if unread > 0 => format!("({unread}) Mailbox"),
            None => "Mailbox".to_owned(),
        };
        let open = reader.as_ref().map(|reader| reader.id.as_str());
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
                .map(|row| Line::new(row, params, open))
                .collect(),
            reader,
        }
    }
}

impl Line {
    fn new(row: &Row, params: &Params, open: Option<&str>) -> Self {
        let mail = &row.summary;
        let place = params.place(params.start, &[]);
        Self {
            href: format!("/message/{}{place}", mail.id),
            current: open == Some(&mail.id),
            unread: !mail.read,
            from: mail.from.short().to_owned(),
            to: recipient(row),
            more: row.recipients.len().saturating_sub(1),
            subject: mail.subject.clone(),
            snippet: mail.snippet.clone(),
            at: mail.created.clone(),
            size: bytes(mail.size),
            files: mail.attachments,
        }
    }
}

/// Whom this copy went to: every recipient gets one, and the headers are the same in all.
fn recipient(row: &Row) -> String {
    let mail = &row.summary;
    match row.recipients.first() {
        Some(to) => to.clone(),
        None => mail.to.first().map(Address::shown).unwrap_or_default(),
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
