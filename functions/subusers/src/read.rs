//! `GET /v3/subusers`, and one of them.

use axum::Json;
use axum::extract::State;
use posthaste_http::{Caller, PathParams, Query, Rejection};
use posthaste_store::Region;

use crate::wire::Subuser;
use crate::{AppState, under};

/// The subusers of the account, oldest first.
pub(crate) async fn list(
    State(desk): State<AppState>,
    caller: Caller,
    query: Query,
) -> Result<Json<Vec<Subuser>>, Rejection> {
    under::check_parent(&caller)?;
    let (limit, offset) = (query.limit(500, 500)?, query.offset()?);
    let include_region = query.flag("include_region")?;
    let region = region(query.text("region"))?;
    let found = match query.text("username") {
        Some(name) => Vec::from_iter(under::named(&desk, &caller, name).await?),
        None => desk.app.store.subusers(caller.id()).await?,
    };
    let found = found
        .iter()
        .filter(|account| region.is_none_or(|region| account.region == region));
    let page = found.skip(offset).take(limit);
    Ok(Json(
        page.map(|account| Subuser::of(account, include_region))
            .collect(),
    ))
}

fn region(text: Option<&str>) -> Result<Option<Region>, Rejection> {
    match text {
        None | Some("all") => Ok(None),
        Some("global") => Ok(Some(Region::Global)),
        Some("eu") => Ok(Some(Region::Eu)),
        Some(_) => Err(Rejection::on("region", "region must be all, global or eu")),
    }
}

/// One subuser, by its name.
pub(crate) async fn one(
    State(desk): State<AppState>,
    caller: Caller,
    PathParams(name): PathParams<String>,
    query: Query,
) -> Result<Json<Subuser>, Rejection> {
    let include_region = query.flag("include_region")?;
    let account = under::named(&desk, &caller, &name).await?;
    let account = account.ok_or_else(Rejection::not_found)?;
    Ok(Json(Subuser::of(&account, include_region)))
}
