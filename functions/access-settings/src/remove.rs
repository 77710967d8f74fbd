//! `DELETE /v3/access_settings/whitelist`, of one entry and of many.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use posthaste_http::{Caller, ClientIp, JsonBody, PathParams, Rejection};
use posthaste_model::Problem;
use posthaste_store::Disallow;

use crate::wire::Remove;
use crate::{AppState, lockout};

/// Removes the entries with these ids, all of them or none.
pub(crate) async fn many(
    State(desk): State<AppState>,
    caller: Caller,
    ip: ClientIp,
    JsonBody(body): JsonBody<Remove>,
) -> Result<(StatusCode, HeaderMap), Rejection> {
    let ids = body.ids.unwrap_or_default();
    if ids.is_empty() {
        return Err(Rejection::on("ids", "missing required argument"));
    }
    remove(&desk, &caller, ip, &ids)
        .await
        .map_err(|unknown| match unknown {
            NotRemoved::Failed(rejection) => rejection,
            NotRemoved::Unknown(unknown) => {
                let problem = |i| Problem::on(format!("ids.{i}"), "not found");
                let problems = unknown.into_iter().map(problem).collect();
                Rejection::all(StatusCode::NOT_FOUND, problems)
            }
        })
}

/// Removes one entry.
pub(crate) async fn one(
    State(desk): State<AppState>,
    caller: Caller,
    ip: ClientIp,
    PathParams(id): PathParams<String>,
) -> Result<(StatusCode, HeaderMap), Rejection> {
    let id = id.parse().map_err(|_| Rejection::not_found())?;
    remove(&desk, &caller, ip, &[id])
        .await
        .map_err(|e| match e {
            NotRemoved::Failed(rejection) => rejection,
            NotRemoved::Unknown(_) => Rejection::not_found(),
        })
}

enum NotRemoved {
    /// The ids at these positions are not on the list.
    Unknown(Vec<usize>),
    Failed(Rejection),
}

async fn remove(
    desk: &AppState,
    caller: &Caller,
    ip: ClientIp,
    ids: &[i64],
) -> Result<(StatusCode, HeaderMap), NotRemoved> {
    let removed = desk.app.store.disallow_ips(caller.id(), ids).await;
    match removed.map_err(|e| NotRemoved::Failed(e.into()))? {
        Disallow::Removed => {}
        Disallow::Unknown(unknown) => return Err(NotRemoved::Unknown(unknown)),
    }
    let headers = lockout::changed(desk, caller, ip).await;
    tracing::info!(
        account.id = %caller.id(),
        "{} entries removed from the allow list of account {}", ids.len(), caller.id()
    );
    Ok((StatusCode::NO_CONTENT, headers.map_err(NotRemoved::Failed)?))
}
