//! `DELETE /v3/api_keys/{id}`.

use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, PathParams, Rejection};
use posthaste_model::KeyId;

use crate::AppState;

/// Revokes a key: here at once, in other instances within ten seconds.
pub(crate) async fn delete(
    State(desk): State<AppState>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<StatusCode, Rejection> {
    let missing = || {
        let message = "unable to find API Key for deletion";
        Rejection::plain(StatusCode::NOT_FOUND, message)
    };
    let id = KeyId::parse(&id).map_err(|_| missing())?;
    if !desk.app.store.delete_key(caller.id(), &id).await? {
        return Err(missing());
    }
    desk.gate.forget_key(&id);
    tracing::info!(account.id = %caller.id(), "key {id} of account {} revoked", caller.id());
    Ok(StatusCode::NO_CONTENT)
}
