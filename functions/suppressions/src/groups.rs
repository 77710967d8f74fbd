//! `/v3/asm/groups`: make, list, show, change, delete.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, PathParams, Query, Rejection, Takeover};
use posthaste_model::{Problems, Timestamp};
use posthaste_store::{GroupChange, GroupSaved};

use crate::App;
use crate::app::number;
use crate::wire::{GroupRequest, GroupView};

/// Characters of a name and of a description (API facts 1, asm group).
const NAME: usize = 30;
const DESCRIPTION: usize = 100;

/// The largest id that a key of the table holds.
const LARGEST_ID: i64 = 9_999_999_999;

/// Seconds after a mail to a group in which it is not deleted.
const ACTIVE: i64 = 60 * 86_400;

/// `POST /v3/asm/groups`.
pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    takeover: Takeover,
    JsonBody(body): JsonBody<GroupRequest>,
) -> Result<(StatusCode, Json<GroupView>), Rejection> {
    let mut found = check(&body);
    found.unless(body.name.is_some(), "name", "name is required");
    found.into_result()?;
    let name = body.name.as_deref().unwrap_or_default().trim();
    let about = body.description.as_deref().unwrap_or_default();
    let default = body.is_default.unwrap_or(false);
    let (store, account, texts) = (&app.store, caller.id(), (name, about));
    let saved = match takeover.id.as_deref() {
        None => store.create_group(account, texts, default).await?,
        Some(id) => {
            let id = id.parse().ok().filter(|id| (1..=LARGEST_ID).contains(id));
            let id = id.ok_or_else(|| Rejection::on("id", "id must be 1 to 9999999999"))?;
            store.place_group(account, id, texts, default).await?
        }
    };
    Ok((StatusCode::CREATED, Json(GroupView::new(done(saved)?))))
}

/// `GET /v3/asm/groups`: all of them, or those named by `id`.
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Json<Vec<GroupView>>, Rejection> {
    let ids: Result<Vec<i64>, _> = query.all("id").map(str::parse).collect();
    let ids = ids.map_err(|_| Rejection::on("id", "id must be a number"))?;
    let groups = if ids.is_empty() {
        app.store.groups(caller.id()).await?
    } else {
        app.store.groups_among(caller.id(), &ids).await?
    };
    Ok(Json(groups.into_iter().map(GroupView::of).collect()))
}

/// `GET /v3/asm/groups/{group_id}`.
pub(crate) async fn one(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<Json<GroupView>, Rejection> {
    Ok(Json(GroupView::of(app.group(&caller, &id).await?)))
}

/// `PATCH /v3/asm/groups/{group_id}`; answers 201, as clients know it (API facts 1).
pub(crate) async fn update(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    JsonBody(body): JsonBody<GroupRequest>,
) -> Result<(StatusCode, Json<GroupView>), Rejection> {
    let id = number(&id)?;
    check(&body).into_result()?;
    let change = GroupChange {
        name: body.name.map(|name| name.trim().to_owned()),
        description: body.description,
        is_default: body.is_default,
    };
    let saved = app.store.change_group(caller.id(), id, &change).await?;
    Ok((StatusCode::CREATED, Json(GroupView::of(done(saved)?))))
}

/// `DELETE /v3/asm/groups/{group_id}`, unless mails of it are still in people's mailboxes.
pub(crate) async fn delete(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<StatusCode, Rejection> {
    let group = app.group(&caller, &id).await?;
    let now = app.clock.now();
    let is_active = |at: Timestamp| now.since(at) < ACTIVE;
    if group.mailed_at.is_some_and(is_active) {
        return Err(Rejection::bad(
            "refusing to delete active group: group has been sent to within the past 60 days",
        ));
    }
    if app.store.delete_group(caller.id(), group.id).await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Rejection::not_found())
    }
}

fn done(saved: GroupSaved) -> Result<posthaste_store::Group, Rejection> {
    match saved {
        GroupSaved::Done(group) => Ok(*group),
        GroupSaved::Missing => Err(Rejection::not_found()),
        GroupSaved::NameTaken => Err(Rejection::on("name", "a group with this name exists")),
        GroupSaved::IdTaken => Err(Rejection::on("id", "a group with this id exists")),
        GroupSaved::Full => Err(Rejection::bad("the account holds as many groups as it may")),
    }
}

fn check(body: &GroupRequest) -> Problems {
    let mut found = Problems::default();
    let length = |text: &str| text.trim().chars().count();
    if let Some(name) = &body.name {
        let fits = (1..=NAME).contains(&length(name));
        found.unless(fits, "name", "name must have 1 to 30 characters");
    }
    let about = body.description.as_deref().unwrap_or_default();
    let fits = length(about) <= DESCRIPTION;
    found.unless(
        fits,
        "description",
        "description must have at most 100 characters",
    );
    found
}
