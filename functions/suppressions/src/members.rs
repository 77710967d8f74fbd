//! `/v3/asm/groups/{group_id}/suppressions`: who left one group.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use posthaste_http::{Caller, JsonBody, PathParams, Query, QueryReader, Rejection, RequestUrl};
use posthaste_store::{ListWindow, Mark, SuppressionList};

use crate::App;
use crate::app::{addresses, folded, number};
use crate::lists::{AHEAD, cut, place, with_rows_behind};
use crate::wire::Emails;

/// `POST`: unsubscribes these addresses from the group. If the group does not exist (any more),
/// they are unsubscribed from everything, with the same response (API facts 1).
pub(crate) async fn add(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    JsonBody(body): JsonBody<Emails>,
) -> Result<(StatusCode, Json<Emails>), Rejection> {
    let id = number(&id)?;
    let emails = addresses("recipient_emails", body.recipient_emails.as_deref())?;
    let list = match app.store.group(caller.id(), id).await? {
        Some(group) => SuppressionList::Group(group.id),
        None => SuppressionList::Unsubscribes,
    };
    let mark = Mark::at(app.clock.now());
    app.store
        .suppress_all(caller.id(), &emails, list, &mark)
        .await?;
    Ok((StatusCode::CREATED, Json(body)))
}

/// `GET`: every address that left the group, latest first; one page if `limit` or `offset` is
/// given.
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    query: Query,
    address: RequestUrl,
) -> Result<(HeaderMap, Json<Vec<String>>), Rejection> {
    let (window, after) = query.checked(|query| (everyone(query), place(query)))?;
    let group = app.group(&caller, &id).await?;
    let list = SuppressionList::Group(group.id);
    if let Some(after) = after {
        let after = Some(after.to_owned()).filter(|after| !after.is_empty());
        let part = app
            .store
            .list_part((caller.id(), list), &window, after, |_| true);
        let part = part.await?;
        let emails = part.rows.into_iter().map(|listed| listed.email);
        let links = address.next_link(&query, part.next.as_deref());
        return Ok((links, Json(emails.collect())));
    }
    let reach = with_rows_behind(&window, AHEAD);
    let page = app.store.list_page(caller.id(), list, &reach, |_| true);
    let mut rows = page.await?;
    let slice = cut(&mut rows, &window, AHEAD);
    let emails = rows.into_iter().map(|listed| listed.email);
    Ok((slice.links(&address, &query), Json(emails.collect())))
}

/// A window without a limit of its own: these lists are returned whole (API facts, appendix A). The
/// maximum response size of a function bounds them.
pub(crate) fn everyone(query: &mut QueryReader<'_>) -> ListWindow {
    const MOST: usize = 100_000;
    ListWindow {
        offset: query.offset(),
        ..ListWindow::first(query.limit(MOST, MOST))
    }
}

/// `POST …/search`: those of these addresses that left the group.
pub(crate) async fn search(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    JsonBody(body): JsonBody<Emails>,
) -> Result<Json<Vec<String>>, Rejection> {
    let emails = addresses("recipient_emails", body.recipient_emails.as_deref())?;
    let group = app.group(&caller, &id).await?;
    let found = app.store.suppressed_among(caller.id(), &emails).await?;
    let left = found.into_iter();
    let left = left.filter(|lists| lists.on(SuppressionList::Group(group.id)).is_some());
    let mut left: Vec<String> = left.map(|lists| lists.email).collect();
    left.sort_unstable();
    Ok(Json(left))
}

/// `DELETE …/{email}`: back in the group, whether it had left or not.
pub(crate) async fn remove(
    State(app): State<App>,
    caller: Caller,
    PathParams((id, email)): PathParams<(String, String)>,
) -> Result<StatusCode, Rejection> {
    let list = SuppressionList::Group(number(&id)?);
    let emails = [folded(&email)];
    app.store.unsuppress_all(caller.id(), &emails, list).await?;
    Ok(StatusCode::NO_CONTENT)
}
