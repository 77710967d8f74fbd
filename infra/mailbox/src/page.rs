//! The page: the list, the open message beside it, and their forms.

use askama::Template;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};

use crate::app::{App, Refusal};
use crate::events::{EventsUpdate, Trace};
use crate::list::MailList;
use crate::mailbox::Selection;
use crate::params::{PAGE, Params};
use crate::query;
use crate::reader::{CopySources, MessageView, Panel};
use crate::rows;
use crate::rows::{ListRow, Shown};
use crate::schedule::{read_change, waiting_parts};

type PageResponse<T> = Result<T, Refusal>;

/// The whole page: the list, and beside it the open message.
#[derive(Template)]
#[template(path = "page.html")]
struct MailboxPage {
    list: MailList,
    reader: Option<MessageView>,
    /// What the page says instead of a message, in a sentence.
    notice: Option<String>,
    /// The relay that takes the mails.
    relay: Option<String>,
}

/// `GET /`: the list, newest first, or what a search found.
pub(crate) async fn list(
    State(app): State<App>,
    RawQuery(query): RawQuery,
) -> PageResponse<Response> {
    show(&app, &app.params(query.as_deref()), None, None).await
}

/// `GET /list`: the list alone, with the message `open` chosen in it. An open page requests it
/// after a change.
pub(crate) async fn lines(
    State(app): State<App>,
    RawQuery(query): RawQuery,
) -> PageResponse<Response> {
    let params = app.params(query.as_deref());
    app.render(list_of(&app, &params, None).await?).await
}

/// `GET /message/{id}`: the list with this message open, which marks it as read.
pub(crate) async fn open(
    State(app): State<App>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> PageResponse<Response> {
    let mut params = app.params(query.as_deref());
    match read_message(&app, &id, &mut params).await? {
        Some(reader) => show(&app, &params, Some(reader), None).await,
        None => {
            let gone = "This message is gone. It was deleted, its address was erased, or it was among the oldest \
                of a full mailbox.";
            let page = show(&app, &params, None, Some(gone.to_owned())).await?;
            Ok((StatusCode::NOT_FOUND, page).into_response())
        }
    }
}

async fn read_message(
    app: &App,
    id: &str,
    params: &mut Params,
) -> PageResponse<Option<MessageView>> {
    let Some(row) = app.mailbox.head(id.to_owned()).await? else {
        return Ok(None);
    };
    // A link from elsewhere names no place in the list.
    if params.start == 0 && params.query.is_empty() && !params.by_request {
        let place = app.mailbox.place(id.to_owned()).await?.unwrap_or_default();
        params.start = place / PAGE * PAGE;
    }
    let about = CopySources {
        facts: app.facts(&row).await,
        waiting: waiting_parts(app.sources.schedule.as_ref(), [&row]).await,
        relay: app.sources.relay.clone(),
        forms: app.post_forms(&row),
    };
    let Some(mail) = app.mailbox.load(row.clone()).await? else {
        return Ok(None);
    };
    app.mailbox.mark_read(id).await?;
    let params = params.clone();
    let read = move || MessageView::new(&row, &mail, &about, &params);
    app.mailbox
        .apart("reader", read)
        .await
        .map(Some)
        .map_err(Refusal::from)
}

/// `GET /message/{id}/events`: the latest events and answers of this copy. An open page requests it
/// repeatedly, so it leaves the mail unread.
pub(crate) async fn events(
    State(app): State<App>,
    Path(id): Path<String>,
) -> PageResponse<Response> {
    let row = row_of(&app, &id).await?;
    let facts = app.facts(&row).await;
    let forms = app.post_forms(&row);
    app.render(EventsUpdate::of(&facts, &forms)).await
}

async fn show(
    app: &App,
    params: &Params,
    reader: Option<MessageView>,
    notice: Option<String>,
) -> PageResponse<Response> {
    let list = list_of(app, params, reader.as_ref()).await?;
    let relay = app.sources.relay.clone();
    let page = MailboxPage {
        list,
        reader,
        notice,
        relay,
    };
    app.render(page).await
}

async fn list_of(
    app: &App,
    params: &Params,
    reader: Option<&MessageView>,
) -> PageResponse<MailList> {
    let terms = query::parse(&params.query)?;
    let (mailbox, schedule) = (&app.mailbox, app.sources.schedule.as_ref());
    let mut list = if params.by_request {
        let slice = mailbox.requests(terms, params.start, PAGE).await?;
        let opened = query::request(&params.request);
        let copies = if params.request.is_empty() {
            Vec::new()
        } else {
            let copies = mailbox.list_shown(opened, Shown::All, 0, Some(PAGE));
            let mut copies = copies.await?.rows;
            copies.sort_by_key(|row| row.copy.as_ref().map(|copy| copy.recipient));
            copies
        };
        let rows = slice.rows.iter().map(|row| &row.first).chain(&copies);
        let waiting = waiting_parts(schedule, rows).await;
        MailList::of_requests(params, &slice, &copies, &waiting)
    } else {
        let slice = mailbox.list_shown(terms, Shown::All, params.start, Some(PAGE));
        let slice = slice.await?;
        let waiting = waiting_parts(schedule, &slice.rows).await;
        MailList::of_copies(params, &slice, &waiting)
    };
    list.deleted = mailbox.trash().await?;
    if let Some(reader) = reader {
        list.choose(&reader.id, &reader.subject);
    }
    Ok(list)
}

/// `POST /message/{id}/delete`.
pub(crate) async fn delete(
    State(app): State<App>,
    Path(id): Path<String>,
    body: String,
) -> PageResponse<Redirect> {
    app.mailbox.discard(Selection::Ids(vec![id])).await?;
    Ok(home(&app, &body))
}

/// `POST /clear`: what the search in the form finds, or everything.
pub(crate) async fn clear(State(app): State<App>, body: String) -> PageResponse<Redirect> {
    let params = app.params(Some(&body));
    let terms = query::parse(&params.query)?;
    app.mailbox.discard(Selection::Matching(terms)).await?;
    Ok(Redirect::to(&format!("{}/", params.base)))
}

/// `POST /restore`: brings back what was deleted last.
pub(crate) async fn restore(State(app): State<App>, body: String) -> PageResponse<Redirect> {
    app.mailbox.restore().await?;
    Ok(home(&app, &body))
}

/// `POST /read`: marks what the search in the form finds, or everything.
pub(crate) async fn read(State(app): State<App>, body: String) -> PageResponse<Redirect> {
    let terms = query::parse(&Params::read(&body).query)?;
    app.mailbox.mark(Selection::Matching(terms), true).await?;
    Ok(home(&app, &body))
}

/// `POST /message/{id}/post`: posts the events of the copy to webhooks again, or the one that the form names.
pub(crate) async fn post_again(
    State(app): State<App>,
    Path(id): Path<String>,
    body: String,
) -> PageResponse<Response> {
    let mut params = app.params(Some(&body));
    let row = row_of(&app, &id).await?;
    let posted = match &app.sources.post_again {
        Some(post) => {
            let event = Some(params.event.clone()).filter(|event| !event.is_empty());
            post(Trace::of(&row), event).await
        }
        None => Err("There are no webhooks here.".to_owned()),
    };
    match posted {
        Ok(_) => {
            let link = params.link(
                &format!("/message/{id}"),
                params.start,
                &[("view", "events")],
            );
            Ok(Redirect::to(&link).into_response())
        }
        Err(why) => refused(&app, &id, &mut params, why).await,
    }
}

/// `POST /message/{id}/post-span`: posts the events of a span of time to webhooks again, of whichever mails they are; the
/// page of the message says how many.
pub(crate) async fn post_span(
    State(app): State<App>,
    Path(id): Path<String>,
    body: String,
) -> PageResponse<Response> {
    let mut params = app.params(Some(&body));
    "events".clone_into(&mut params.view);
    let span = query::instant(&params.from).zip(query::instant(&params.to));
    let posted = match (&app.sources.post_span, span) {
        (None, _) => Err("There are no webhooks here.".to_owned()),
        (_, None) => Err("A time is not one: write it as 2026-11-30T12:00.".to_owned()),
        (_, Some((from, to))) if from > to => Err("The span ends before it begins.".to_owned()),
        (Some(post), Some((from, to))) => post(from.seconds(), to.seconds()).await,
    };
    match posted {
        Ok(done) => {
            let reader = read_message(&app, &id, &mut params).await?;
            show(&app, &params, reader, Some(done)).await
        }
        Err(why) => refused(&app, &id, &mut params, why).await,
    }
}

/// The row of a message, which is recorded or was only accepted.
async fn row_of(app: &App, id: &str) -> PageResponse<ListRow> {
    let found = app.mailbox.head(id.to_owned()).await?;
    found.ok_or(Refusal::NotFound)
}

/// The page of a message with why a change was refused.
async fn refused(app: &App, id: &str, params: &mut Params, why: String) -> PageResponse<Response> {
    let reader = read_message(app, id, params).await?;
    let page = show(app, params, reader, Some(why)).await?;
    Ok((StatusCode::BAD_REQUEST, page).into_response())
}

/// `POST /message/{id}/schedule`: cancels, pauses, resumes or moves scheduled mail.
pub(crate) async fn schedule(
    State(app): State<App>,
    Path(id): Path<String>,
    body: String,
) -> PageResponse<Response> {
    let mut params = app.params(Some(&body));
    let row = row_of(&app, &id).await?;
    let (Some(copy), Some(control)) = (row.copy, app.sources.schedule.as_ref()) else {
        return Err(Refusal::Bad("This message is not scheduled.".to_owned()));
    };
    let changed = match read_change(&params.action, &params.at) {
        Ok(change) => control.change(copy.account, copy.message, change).await,
        Err(why) => Err(why.to_owned()),
    };
    match changed {
        Ok(()) => {
            app.mailbox.touch();
            let link = params.link(&format!("/message/{id}"), params.start, &[]);
            Ok(Redirect::to(&link).into_response())
        }
        Err(why) => refused(&app, &id, &mut params, why).await,
    }
}

fn home(app: &App, body: &str) -> Redirect {
    let params = app.params(Some(body));
    Redirect::to(&params.link("/", params.start, &[]))
}
