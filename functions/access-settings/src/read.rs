//! `GET /v3/access_settings/whitelist` and one entry of it.

use axum::Json;
use axum::extract::State;
use posthaste_http::{Caller, PathParams, Rejection};

use crate::AppState;
use crate::wire::{EntryList, Rule};

/// Every entry, by id.
pub(crate) async fn list(
    State(desk): State<AppState>,
    caller: Caller,
) -> Result<Json<EntryList<Rule>>, Rejection> {
    let entries = desk.app.store.allowed_ips(caller.id()).await?;
    let result = entries.iter().map(Rule::from).collect();
    Ok(Json(EntryList { result }))
}

/// One entry, in a list of one (API facts, section 1, "IP access management").
pub(crate) async fn one(
    State(desk): State<AppState>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<Json<EntryList<Rule>>, Rejection> {
    let id: i64 = id.parse().map_err(|_| Rejection::not_found())?;
    let entries = desk.app.store.allowed_ips(caller.id()).await?;
    let entry = entries.iter().find(|entry| entry.id == id);
    let result = vec![Rule::from(entry.ok_or_else(Rejection::not_found)?)];
    Ok(Json(EntryList { result }))
}
