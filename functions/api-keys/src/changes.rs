//! Creates and changes keys: `POST /v3/api_keys`, `PUT /v3/api_keys/{id}` (name and scopes), `PATCH
//! /v3/api_keys/{id}` (name alone).
//!
//! The caller's key is read again before it is used to grant anything: a cached key may be some
//! seconds old, and a key that has been revoked or narrowed must not create another.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, PathParams, Rejection};
use posthaste_model::{KeyId, Problem};
use posthaste_store::{ApiKey, Granted, Maker, Regranted, Secret};

use crate::grant::Grant;
use crate::keys::{Brief, CreatedKey, KeyRequest, Missing, Whole};
use crate::{AppState, CREATE, UPDATE};

/// Keys of one account (SPEC, "Limits").
const MOST: i64 = 100;

/// Creates a key. Only this response contains its secret.
pub(crate) async fn create(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(wanted): JsonBody<KeyRequest>,
) -> Result<(StatusCode, Json<CreatedKey>), Rejection> {
    let name = wanted.check(Missing::OnCreate)?;
    let mut attempts = state.app.store.conflict_attempts();
    while attempts.next().await {
        let maker = current_maker(&state, &caller, CREATE).await?;
        let grant = match &wanted.scopes {
            None => Grant::of_maker(&maker.key),
            Some(names) => Grant::named(&maker.key, names)?,
        };
        let secret = Secret::generate(&state.app.entropy);
        let key = ApiKey {
            id: secret.id().clone(),
            account: caller.id().clone(),
            name: name.clone(),
            kind: grant.kind,
            scopes: grant.scopes,
            hash: secret.hash(),
            created_at: state.app.clock.now(),
            // What a test key makes must not let mail out either.
            is_test: maker.key.is_test || wanted.test == Some(true),
            used_at: None,
        };
        match state.app.store.grant_key(&key, MOST, &maker).await? {
            Granted::Done => return Ok((StatusCode::CREATED, Json(created(key, &secret)))),
            Granted::Full => return Err(full()),
            Granted::Outdated => {}
        }
    }
    Err(restless())
}

fn full() -> Rejection {
    let message = format!("Cannot create more than {MOST} API Keys");
    Rejection::plain(StatusCode::FORBIDDEN, message)
}

fn created(key: ApiKey, secret: &Secret) -> CreatedKey {
    tracing::info!(account.id = %key.account, "key {} of account {} created", key.id, key.account);
    CreatedKey {
        api_key: secret.expose().to_owned(),
        api_key_id: key.id.to_string(),
        scopes: key.all_scopes(),
        test: key.is_test,
        name: key.name,
    }
}

/// Changes a key's name and scopes. Without scopes the current ones are retained.
pub(crate) async fn put(
    State(state): State<AppState>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    JsonBody(wanted): JsonBody<KeyRequest>,
) -> Result<Json<Whole>, Rejection> {
    let name = wanted.check(Missing::OnUpdate)?;
    let Some(names) = &wanted.scopes else {
        let key = change(&state, &caller, &id, |key| key.name.clone_from(&name)).await?;
        return Ok(Json(Whole::from(&key)));
    };
    let key_id = KeyId::parse(&id).map_err(|_| missing())?;
    let mut attempts = state.app.store.conflict_attempts();
    while attempts.next().await {
        let maker = current_maker(&state, &caller, UPDATE).await?;
        let grant = Grant::named(&maker.key, names)?;
        let change = |key: &mut ApiKey| {
            key.name.clone_from(&name);
            key.kind = grant.kind;
            key.scopes.clone_from(&grant.scopes);
        };
        let store = &state.app.store;
        match store
            .regrant_key(caller.id(), &key_id, &maker, change)
            .await?
        {
            Regranted::Done(key) => return Ok(Json(Whole::from(changed(&state, &key)))),
            Regranted::Missing => return Err(missing()),
            Regranted::Outdated => {}
        }
    }
    Err(restless())
}

/// Renames a key; other fields of the body are ignored.
pub(crate) async fn patch(
    State(state): State<AppState>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    JsonBody(wanted): JsonBody<KeyRequest>,
) -> Result<Json<Brief>, Rejection> {
    let name = wanted.name(Missing::OnUpdate)?;
    let key = change(&state, &caller, &id, |key| key.name.clone_from(&name)).await?;
    Ok(Json(Brief::from(&key)))
}

async fn change(
    state: &AppState,
    caller: &Caller,
    id: &str,
    change: impl FnMut(&mut ApiKey),
) -> Result<ApiKey, Rejection> {
    let id = KeyId::parse(id).map_err(|_| missing())?;
    let key = state.app.store.update_key(caller.id(), &id, change).await?;
    let key = key.ok_or_else(missing)?;
    changed(state, &key);
    Ok(key)
}

/// Applies a change here at once; in other instances it takes effect within ten seconds.
fn changed<'a>(state: &AppState, key: &'a ApiKey) -> &'a ApiKey {
    state.gate.forget_key(&key.id);
    tracing::info!(account.id = %key.account, "key {} of account {} changed", key.id, key.account);
    key
}

fn missing() -> Rejection {
    Rejection::unknown_id([Problem::plain("unable to find API Key to update")])
}

/// The caller's key as it is now, or the session that stands for one.
///
/// # Errors
/// 401 when it was revoked or ended, 403 when it lost the scope of the endpoint.
async fn current_maker(state: &AppState, caller: &Caller, scope: &str) -> Result<Maker, Rejection> {
    let held = &caller.key;
    let store = &state.app.store;
    let maker = match &caller.session {
        Some(session) if session.key.is_none() => {
            store.session_maker(&session.account, &session.id).await?
        }
        Some(_) | None => store.maker(&held.account, &held.id).await?,
    };
    // Drops what this instance has cached of it in any case.
    state.gate.forget_key(&held.id);
    state.gate.forget_session(&held.id);
    let maker = maker.ok_or_else(Rejection::unauthorized)?;
    if maker.key.holds(scope) {
        Ok(maker)
    } else {
        Err(Rejection::forbidden())
    }
}

/// The response when the caller's key changed during every attempt.
fn restless() -> Rejection {
    Rejection::unavailable(&"the caller's key keeps changing")
}
