//! `GET /v3/access_settings/activity`.

use axum::Json;
use axum::extract::State;
use posthaste_http::{Caller, Query, Rejection};

use crate::AppState;
use crate::wire::{AccessAttemptView, EntryList};

/// Attempts to use the account in the last month, latest first: from addresses that the allow list
/// permitted, and from those that it rejected.
pub(crate) async fn list(
    State(desk): State<AppState>,
    caller: Caller,
    query: Query,
) -> Result<Json<EntryList<AccessAttemptView>>, Rejection> {
    let limit = query.limit(20, 500)?;
    let now = desk.app.clock.now();
    let seen = desk.app.store.attempts(caller.id(), now).await?;
    let result = seen
        .into_iter()
        .take(limit)
        .map(AccessAttemptView::from)
        .collect();
    Ok(Json(EntryList { result }))
}
