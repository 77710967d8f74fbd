//! `PUT /v3/api_keys/{id}` (name and scopes) and `PATCH /v3/api_keys/{id}` (name alone).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, PathParams, Rejection};
use posthaste_model::KeyId;
use posthaste_store::{ApiKey, Regranted};

use crate::grant::Grant;
use crate::wire::{Brief, KeyRequest, Missing, Whole};
use crate::{AppState, UPDATE, maker};

/// Changes a key's name and scopes. Without scopes the current ones are retained.
pub(crate) async fn put(
    State(desk): State<AppState>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    JsonBody(wanted): JsonBody<KeyRequest>,
) -> Result<Json<Whole>, Rejection> {
    let name = wanted.name(Missing::OnUpdate)?;
    let Some(names) = &wanted.scopes else {
        let key = change(&desk, &caller, &id, |key| key.name.clone_from(&name)).await?;
        return Ok(Json(Whole::from(&key)));
    };
    let key_id = KeyId::parse(&id).map_err(|_| missing())?;
    for _ in 0..maker::MAX_ATTEMPTS {
        let maker = maker::read(&desk, &caller, UPDATE).await?;
        let grant = Grant::named(&maker.key, names)?;
        let change = |key: &mut ApiKey| {
            key.name.clone_from(&name);
            key.kind = grant.kind;
            key.scopes.clone_from(&grant.scopes);
        };
        let store = &desk.app.store;
        match store
            .regrant_key(caller.id(), &key_id, &maker, change)
            .await?
        {
            Regranted::Done(key) => return Ok(Json(Whole::from(changed(&desk, &key)))),
            Regranted::Missing => return Err(missing()),
            Regranted::Outdated => {}
        }
    }
    Err(maker::restless())
}

/// Renames a key; other fields of the body are ignored.
pub(crate) async fn patch(
    State(desk): State<AppState>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    JsonBody(wanted): JsonBody<KeyRequest>,
) -> Result<Json<Brief>, Rejection> {
    let name = wanted.name(Missing::OnUpdate)?;
    let key = change(&desk, &caller, &id, |key| key.name.clone_from(&name)).await?;
    Ok(Json(Brief::from(&key)))
}

async fn change(
    desk: &AppState,
    caller: &Caller,
    id: &str,
    change: impl FnMut(&mut ApiKey),
) -> Result<ApiKey, Rejection> {
    let id = KeyId::parse(id).map_err(|_| missing())?;
    let key = desk.app.store.update_key(caller.id(), &id, change).await?;
    let key = key.ok_or_else(missing)?;
    changed(desk, &key);
    Ok(key)
}

/// Applies a change here at once; in other instances it takes effect within ten seconds.
fn changed<'a>(desk: &AppState, key: &'a ApiKey) -> &'a ApiKey {
    desk.gate.forget_key(&key.id);
    tracing::info!(account.id = %key.account, "key {} of account {} changed", key.id, key.account);
    key
}

fn missing() -> Rejection {
    let message = "unable to find API Key to update";
    Rejection::plain(StatusCode::NOT_FOUND, message)
}
