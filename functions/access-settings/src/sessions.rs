//! The sessions of the console that can use the account: listed, and ended one by one or all others at once.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, PathParams, Rejection};
use posthaste_model::KeyId;
use posthaste_store::ConsoleSession;
use serde::Serialize;

use crate::AppState;
use crate::allow_list::EntryList;

/// What a session was opened with.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
enum WayIn {
    /// A link that opens one session.
    Link,
    /// A key, named by `api_key_id`.
    ApiKey,
}

/// A session, without its secret.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SessionView {
    session_id: String,
    opened_with: WayIn,
    /// The key whose scopes the session has; only of a session that a key opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key_id: Option<String>,
    created_at: i64,
    /// Not older than a quarter of an hour.
    last_used_at: i64,
    /// When it ends unless it is used before.
    ends_at: i64,
    /// The address at `last_used_at`; empty where the service does not know it.
    ip: String,
    /// What the browser calls itself.
    user_agent: String,
    /// Whether it is the session that asks.
    current: bool,
}

impl SessionView {
    fn of(session: ConsoleSession, current: Option<&KeyId>) -> Self {
        Self {
            current: current == Some(&session.id),
            session_id: session.id.to_string(),
            opened_with: match session.key {
                None => WayIn::Link,
                Some(_) => WayIn::ApiKey,
            },
            created_at: session.created_at.0,
            last_used_at: session.seen_at.0,
            ends_at: session.ends_at().0,
            ip: session.ip.map(|ip| ip.to_string()).unwrap_or_default(),
            api_key_id: session.key.map(|key| key.to_string()),
            user_agent: session.agent,
        }
    }
}

/// The session that calls.
fn current(caller: &Caller) -> Option<&KeyId> {
    caller.session.as_deref().map(|session| &session.id)
}

/// Those that have not ended, the one that was used last first.
pub(crate) async fn list(
    State(state): State<AppState>,
    caller: Caller,
) -> Result<Json<EntryList<SessionView>>, Rejection> {
    let now = state.app.clock.now();
    let sessions = state.app.store.sessions(caller.id(), now).await?;
    let view = |session| SessionView::of(session, current(&caller));
    let result = sessions.into_iter().map(view).collect();
    Ok(Json(EntryList { result }))
}

/// Ends one: here at once, in other instances within ten seconds.
pub(crate) async fn end_one(
    State(state): State<AppState>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<StatusCode, Rejection> {
    let id = KeyId::parse(&id).map_err(|_| Rejection::not_found())?;
    if !state.app.store.end_session(caller.id(), &id).await? {
        return Err(Rejection::not_found());
    }
    ended(&state, &caller, &[id]);
    Ok(StatusCode::NO_CONTENT)
}

/// Ends all but the one that calls: with a key, all.
pub(crate) async fn end_others(
    State(state): State<AppState>,
    caller: Caller,
) -> Result<StatusCode, Rejection> {
    let store = &state.app.store;
    let ids = store.end_sessions(caller.id(), current(&caller)).await?;
    ended(&state, &caller, &ids);
    Ok(StatusCode::NO_CONTENT)
}

fn ended(state: &AppState, caller: &Caller, ids: &[KeyId]) {
    for id in ids {
        state.gate.forget_session(id);
        tracing::info!(account.id = %caller.id(), "session {id} of account {} ended", caller.id());
    }
}
