//! `PUT /v3/api_keys/{id}` (name and scopes) and `PATCH /v3/api_keys/{id}` (name alone).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Body, Caller, Path, Rejection};
use posthaste_model::KeyId;
use posthaste_store::ApiKey;

use crate::Desk;
use crate::grant::Grant;
use crate::wire::{Brief, Missing, Wanted, Whole};

/// Gives a key another name and other scopes. Without scopes it keeps the ones it has.
pub(crate) async fn put(
    State(desk): State<Desk>,
    caller: Caller,
    Path(id): Path<String>,
    Body(wanted): Body<Wanted>,
) -> Result<Json<Whole>, Rejection> {
    let name = wanted.name(Missing::OnUpdate)?;
    let grant = match &wanted.scopes {
        None => None,
        Some(names) => Some(Grant::named(&caller.key, names)?),
    };
    let key = change(&desk, &caller, &id, |key| {
        key.name.clone_from(&name);
        if let Some(grant) = &grant {
            key.kind = grant.kind;
            key.scopes.clone_from(&grant.scopes);
        }
    })
    .await?;
    Ok(Json(Whole::from(&key)))
}

/// Gives a key another name; whatever else the body holds changes nothing.
pub(crate) async fn patch(
    State(desk): State<Desk>,
    caller: Caller,
    Path(id): Path<String>,
    Body(wanted): Body<Wanted>,
) -> Result<Json<Brief>, Rejection> {
    let name = wanted.name(Missing::OnUpdate)?;
    let key = change(&desk, &caller, &id, |key| key.name.clone_from(&name)).await?;
    Ok(Json(Brief::from(&key)))
}

async fn change(
    desk: &Desk,
    caller: &Caller,
    id: &str,
    change: impl FnMut(&mut ApiKey),
) -> Result<ApiKey, Rejection> {
    let missing = || {
        let message = "unable to find API Key to update";
        Rejection::plain(StatusCode::NOT_FOUND, message)
    };
    let id = KeyId::parse(id).map_err(|_| missing())?;
    let key = desk.app.store.update_key(caller.id(), &id, change).await?;
    let key = key.ok_or_else(missing)?;
    desk.gate.forget_key(&id);
    tracing::info!(account.id = %key.account, "key {id} of account {} changed", key.account);
    Ok(key)
}
