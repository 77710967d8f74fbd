//! `GET /v3/access_settings/activity`.

use axum::Json;
use axum::extract::State;
use posthaste_http::{Caller, Query, Rejection};

use crate::Desk;
use crate::wire::{Access, Listed};

/// Who tried to use the account in the last month, latest first: addresses that the allow list
/// let in, and those that it did not.
pub(crate) async fn list(
    State(desk): State<Desk>,
    caller: Caller,
    query: Query,
) -> Result<Json<Listed<Access>>, Rejection> {
    let limit = query.limit(20, 500)?;
    let now = desk.app.clock.now();
    let seen = desk.app.store.attempts(caller.id(), now).await?;
    let result = seen.into_iter().take(limit).map(Access::from).collect();
    Ok(Json(Listed { result }))
}
