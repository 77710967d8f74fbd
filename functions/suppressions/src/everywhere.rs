//! `/v3/asm/suppressions`: unsubscribes from groups and from everything.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use posthaste_http::{Caller, JsonBody, PathParams, Query, Rejection, RequestUrl};
use posthaste_store::{ListWindow, Mark, SuppressionList};

use crate::App;
use crate::app::{addresses, folded};
use crate::lists::{AHEAD, cut, with_rows_behind};
use crate::members::everyone;
use crate::wire::{Emails, Global, GroupMembership, Left, MembershipEntry};

/// `GET /v3/asm/suppressions`: every address that left a group, group by group.
pub(crate) async fn all(
    State(app): State<App>,
    caller: Caller,
    query: Query,
    address: RequestUrl,
) -> Result<(HeaderMap, Json<Vec<Left>>), Rejection> {
    let window = query.checked(everyone)?;
    let ListWindow { offset, limit, .. } = with_rows_behind(&window, AHEAD);
    let mut all = Vec::new();
    let wanted = offset.saturating_add(limit);
    for group in app.store.groups(caller.id()).await? {
        let window = ListWindow::first(wanted - all.len());
        let list = SuppressionList::Group(group.id);
        let page = app
            .store
            .list_page(caller.id(), list, &window, |_| true)
            .await?;
        all.extend(page.into_iter().map(|listed| Left {
            email: listed.email,
            group_id: group.id,
            group_name: group.name.clone(),
            created_at: listed.mark.at.0,
        }));
    }
    let mut rows: Vec<_> = all.into_iter().skip(offset).collect();
    let slice = cut(&mut rows, &window, AHEAD);
    Ok((slice.links(&address, &query), Json(rows)))
}

/// `GET /v3/asm/suppressions/{email}`: every group, and whether the address left it.
pub(crate) async fn of_one(
    State(app): State<App>,
    caller: Caller,
    PathParams(email): PathParams<String>,
) -> Result<Json<GroupMembership>, Rejection> {
    let groups = app.store.groups(caller.id()).await?;
    let lists = app.store.suppressed(caller.id(), &folded(&email)).await?;
    let stands = |group: posthaste_store::Group| MembershipEntry {
        suppressed: lists.on(SuppressionList::Group(group.id)).is_some(),
        description: group.description,
        id: group.id,
        is_default: group.is_default,
        name: group.name,
    };
    Ok(Json(GroupMembership {
        suppressions: groups.into_iter().map(stands).collect(),
    }))
}

/// `POST /v3/asm/suppressions/global`: these addresses leave everything.
pub(crate) async fn add(
    State(app): State<App>,
    caller: Caller,
    JsonBody(body): JsonBody<Emails>,
) -> Result<(StatusCode, Json<Emails>), Rejection> {
    let emails = addresses("recipient_emails", body.recipient_emails.as_deref())?;
    let mark = Mark::at(app.clock.now());
    app.store
        .suppress_all(caller.id(), &emails, SuppressionList::Unsubscribes, &mark)
        .await?;
    Ok((StatusCode::CREATED, Json(body)))
}

/// `GET /v3/asm/suppressions/global/{email}`: the address, or `{}` when it left nothing.
pub(crate) async fn one(
    State(app): State<App>,
    caller: Caller,
    PathParams(email): PathParams<String>,
) -> Result<Json<Global>, Rejection> {
    let lists = app.store.suppressed(caller.id(), &folded(&email)).await?;
    let left = lists.on(SuppressionList::Unsubscribes).is_some();
    Ok(Json(Global {
        recipient_email: left.then_some(lists.email),
    }))
}

/// `DELETE /v3/asm/suppressions/global/{email}`: back, whether it had left or not.
pub(crate) async fn remove(
    State(app): State<App>,
    caller: Caller,
    PathParams(email): PathParams<String>,
) -> Result<StatusCode, Rejection> {
    let emails = [folded(&email)];
    app.store
        .unsuppress_all(caller.id(), &emails, SuppressionList::Unsubscribes)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
