//! One setting: read it, change a part of it.

use axum::Json;
use axum::extract::State;
use posthaste_http::{Body, Caller, Rejection};
use posthaste_model::Problems;
use posthaste_store::AccountSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Desk;

/// A setting as its own endpoint shows it. The shapes are those of API facts, appendix A.
pub(crate) trait Setting: Serialize + Send + 'static {
    /// The body of a `PATCH`: what is left out stays.
    type Change: DeserializeOwned + Clone + Send + Sync + 'static;

    const PATH: &'static str;
    const READ: &'static str;
    const UPDATE: &'static str;

    /// The setting out of all of them.
    fn of(all: &AccountSettings) -> Self;

    /// Makes the change and notes everything that is wrong with what comes of it.
    fn change(all: &mut AccountSettings, change: Self::Change, found: &mut Problems);
}

/// `GET`: the setting as it is.
pub(crate) async fn get<S: Setting>(
    State(desk): State<Desk>,
    caller: Caller,
) -> Result<Json<S>, Rejection> {
    let all = desk.store.settings(caller.id()).await?;
    Ok(Json(S::of(&all)))
}

/// `PATCH`: the setting as it is now.
pub(crate) async fn patch<S: Setting>(
    State(desk): State<Desk>,
    caller: Caller,
    Body(change): Body<S::Change>,
) -> Result<Json<S>, Rejection> {
    let changed = desk.store.change_settings(caller.id(), |all| {
        let mut found = Problems::default();
        S::change(all, change.clone(), &mut found);
        found.into_result()
    });
    let all = changed.await??.ok_or_else(Rejection::not_found)?;
    desk.gate.forget_account(caller.id());
    Ok(Json(S::of(&all)))
}
