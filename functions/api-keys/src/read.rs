//! `GET /v3/api_keys`, `GET /v3/api_keys/{id}`, `GET /v3/scopes`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, Path, Query, Rejection};
use posthaste_model::KeyId;

use crate::Desk;
use crate::wire::{Brief, Listed, Scopes, Whole};

/// The keys of the account, oldest first.
pub(crate) async fn list(
    State(desk): State<Desk>,
    caller: Caller,
    query: Query,
) -> Result<Json<Listed>, Rejection> {
    // An account holds no more than a hundred.
    let limit = query.limit(100, 100)?;
    let keys = desk.app.store.keys(caller.id()).await?;
    let result = keys.iter().take(limit).map(Brief::from).collect();
    Ok(Json(Listed { result }))
}

/// One key with its scopes.
pub(crate) async fn get(
    State(desk): State<Desk>,
    caller: Caller,
    Path(id): Path<String>,
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
