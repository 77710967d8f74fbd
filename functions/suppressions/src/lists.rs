//! `/v3/suppression/{list}`: page, one address, take off some, all or one.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use posthaste_http::{
    Caller, JsonBody, Pagination, PathParams, Query, QueryReader, Rejection, RequestUrl, Takeover,
};
use posthaste_model::{Problem, Timestamp};
use posthaste_store::{BouncePurge, ListWindow, Suppressed, SuppressedAddress, SuppressionList};

use crate::App;
use crate::app::{addresses, folded};
use crate::kind::ListKind;
use crate::wire::{Clear, SuppressionEntry};

/// The default and the most of `limit` (API facts 1, suppressions).
const PAGE: usize = 500;

/// The most of `limit` where a command of the operator reads the list.
const PAGE_OF_OPERATOR: usize = 5_000;

/// `GET`: the addresses of the list, latest first.
pub(crate) async fn page<K: ListKind>(
    State(app): State<App>,
    caller: Caller,
    takeover: Takeover,
    query: Query,
    address: RequestUrl,
) -> Result<(HeaderMap, Json<Vec<SuppressionEntry>>), Rejection> {
    let most = if takeover.by_operator {
        PAGE_OF_OPERATOR
    } else {
        PAGE
    };
    let (mut window, after) = query.checked(|query| (window(query, most), place(query)))?;
    window.from = window.from.max(forgotten::<K>(&app, &caller).await?);
    let begin = query
        .text("email")
        .unwrap_or_default()
        .trim()
        .to_lowercase();
    let wanted = |listed: &SuppressedAddress| listed.email.starts_with(&begin);
    let entries = |rows: Vec<SuppressedAddress>| {
        let rows = rows.into_iter().map(|row| K::row(row.email, row.mark));
        Json(rows.collect())
    };
    if window
        .from
        .zip(window.to)
        .is_some_and(|(from, to)| from > to)
    {
        let none = cut(&mut Vec::<SuppressionEntry>::new(), &window, AHEAD);
        return Ok((none.links(&address, &query), entries(Vec::new())));
    }
    if let Some(after) = after {
        let after = Some(after.to_owned()).filter(|after| !after.is_empty());
        let part = app
            .store
            .list_part((caller.id(), K::LIST), &window, after, wanted);
        let part = part.await?;
        let links = address.next_link(&query, part.next.as_deref());
        return Ok((links, entries(part.rows)));
    }
    // Rows that do not match are read too: to find the last page would be to read the whole list.
    // The operator's commands read on to the end, and need no link to it.
    let is_counted = begin.is_empty() && !takeover.by_operator;
    let ahead = if is_counted { AHEAD } else { 1 };
    let reach = with_rows_behind(&window, ahead);
    let page = app.store.list_page(caller.id(), K::LIST, &reach, wanted);
    let mut rows = page.await?;
    let slice = cut(&mut rows, &window, ahead);
    Ok((slice.links(&address, &query), entries(rows)))
}

/// The place behind which a page begins, empty for the first one; `None` where pages are counted by `offset`.
pub(crate) fn place<'q>(query: &mut QueryReader<'q>) -> Option<&'q str> {
    let after = query.text("after")?;
    if !after.is_empty() && !SuppressedAddress::is_place(after) {
        let why = "after must be empty or that of the Link of the page before";
        query.refuse("after", why);
    }
    if query.text("offset").is_some() {
        query.refuse(
            "offset",
            "a page begins at an offset or after a place, not both",
        );
    }
    Some(after)
}

/// How many rows behind a page are read to learn where the list ends: the `Link` header then names
/// the last page. In a longer list only the next one.
pub(crate) const AHEAD: usize = 5_000;

/// The window and so many rows behind it.
pub(crate) fn with_rows_behind(window: &ListWindow, ahead: usize) -> ListWindow {
    ListWindow {
        limit: window.limit.saturating_add(ahead),
        ..*window
    }
}

/// Cuts those rows off again.
pub(crate) fn cut<T>(rows: &mut Vec<T>, window: &ListWindow, ahead: usize) -> Pagination {
    let ListWindow { offset, limit, .. } = *window;
    let more = rows.len() > limit;
    let ends = rows.len() < limit.saturating_add(ahead);
    let total = (more && ends).then(|| offset.saturating_add(rows.len()));
    rows.truncate(limit);
    Pagination {
        offset,
        limit,
        more,
        total,
    }
}

/// Before when the account wants what stands on this list forgotten (`bounce_purge`).
async fn forgotten<K: ListKind>(
    app: &App,
    caller: &Caller,
) -> Result<Option<Timestamp>, Rejection> {
    let since = match K::LIST {
        SuppressionList::Bounces => BouncePurge::hard_since,
        SuppressionList::Blocks => BouncePurge::soft_since,
        SuppressionList::InvalidEmails
        | SuppressionList::SpamReports
        | SuppressionList::Unsubscribes
        | SuppressionList::Group(_) => {
            return Ok(None);
        }
    };
    if caller.account.settings == 0 {
        return Ok(None);
    }
    let purge = app.store.settings(caller.id()).await?.bounce_purge;
    Ok(since(purge, app.clock.now()))
}

/// The paging that every list takes.
fn window(query: &mut QueryReader<'_>, most: usize) -> ListWindow {
    let mut second = |name| {
        let number = query.number(name);
        number.map(|n| Timestamp(i64::try_from(n).unwrap_or(i64::MAX)))
    };
    let (from, to) = (second("start_time"), second("end_time"));
    if from.zip(to).is_some_and(|(from, to)| from > to) {
        query.refuse("end_time", "end_time must not be before start_time");
    }
    ListWindow {
        from,
        to,
        offset: query.offset(),
        limit: query.limit(PAGE, most),
    }
}

/// `GET …/{email}`: the address as a list of one or none.
pub(crate) async fn one<K: ListKind>(
    State(app): State<App>,
    caller: Caller,
    PathParams(email): PathParams<String>,
) -> Result<Json<Vec<SuppressionEntry>>, Rejection> {
    let found = app.store.suppressed(caller.id(), &folded(&email)).await?;
    let forgotten = forgotten::<K>(&app, &caller).await?;
    let mark = found.on(K::LIST).cloned();
    let mark = mark.filter(|mark| forgotten.is_none_or(|since| mark.at >= since));
    let row = mark.map(|mark| K::row(found.email, mark));
    Ok(Json(row.into_iter().collect()))
}

/// `DELETE`: takes the named addresses off the list, or all of them.
pub(crate) async fn clear<K: ListKind>(
    State(app): State<App>,
    caller: Caller,
    JsonBody(body): JsonBody<Clear>,
) -> Result<StatusCode, Rejection> {
    match (body.delete_all.unwrap_or(false), &body.emails) {
        (true, None) => app.store.clear_list(caller.id(), K::LIST).await?,
        (false, Some(emails)) => {
            let emails = addresses("emails", Some(emails))?;
            let done = app.store.unsuppress_all(caller.id(), &emails, K::LIST);
            done.await?;
        }
        (true, Some(_)) | (false, None) => {
            let message = "either delete_all or emails is required, and not both";
            return Err(Rejection::on("delete_all", message));
        }
    }
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE …/{email}`: off the list. What is on it no longer, or never was, is 404 where clients know
/// it so: on the lists of bounces and blocks (API facts, appendix C). The v3 API documents 204 alone.
pub(crate) async fn remove<K: ListKind>(
    State(app): State<App>,
    caller: Caller,
    PathParams(email): PathParams<String>,
) -> Result<StatusCode, Rejection> {
    let take = |lists: &mut Suppressed| lists.take(K::LIST);
    let email = folded(&email);
    let before = app.store.change_suppressed(caller.id(), &email, take);
    let was_listed = before.await?.on(K::LIST).is_some();
    let is_strict = matches!(K::LIST, SuppressionList::Bounces | SuppressionList::Blocks);
    if !was_listed && is_strict {
        let problem = Problem::plain("not found: the address is not on this list");
        return Err(Rejection::unknown_id([problem]));
    }
    Ok(StatusCode::NO_CONTENT)
}
