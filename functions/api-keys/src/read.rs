//! `GET /v3/api_keys`, `GET /v3/api_keys/{id}`, `GET /v3/scopes`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, PathParams, Query, Rejection};
use posthaste_model::KeyId;

use crate::AppState;
use crate::wire::{Brief, KeyList, Scopes, Whole};

/// The keys of the account, oldest first.
pub(crate) async fn list(
    State(desk): State<AppState>,
    caller: Caller,
    query: Query,
) -> Result<Json<KeyList>, Rejection> {
    // An account holds no more than a hundred.
    let limit = query.limit(100, 100)?;
    let keys = desk.app.store.keys(caller.id()).await?;
    let result = keys.iter().take(limit).map(Brief::from).collect();
    Ok(Json(KeyList { result }))
}

/// One key with its scopes.
pub(crate) async fn get(
    State(desk): State<AppState>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<Json<Whole>, Rejection> {
    let missing = || Rejection::plain(StatusCode::NOT_FOUND, "unable to find API Key");
    let id = KeyId::parse(&id).map_err(|_| missing())?;
    let key = desk.app.store.key(caller.id(), &id).await?;
    Ok(Json(Whole::from(&key.ok_or_else(missing)?)))
}

/// What the calling key may do.
pub(crate) async fn scopes(caller: Caller) -> Json<Scopes> {
    Json(Scopes {
        scopes: caller.key.all_scopes(),
    })
}
