//! One setting: read it, change a part of it.

use axum::Json;
use axum::extract::State;
use posthaste_http::{Caller, GatewayName, JsonBody, Rejection};
use posthaste_model::Problems;
use posthaste_store::{AccountSettings, Forward};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::AppState;
use crate::confirm::ConfirmationMail;

/// A setting as its own endpoint shows it. The shapes are those of API facts, appendix A.
pub(crate) trait Setting: Serialize + Send + 'static {
    /// The body of a `PATCH`: omitted fields are unchanged.
    type Patch: DeserializeOwned + Clone + Send + Sync + 'static;

    const PATH: &'static str;
    const READ: &'static str;
    const UPDATE: &'static str;

    /// The setting out of all of them.
    fn of(all: &AccountSettings) -> Self;

    /// Applies the change and reports every problem with the result.
    fn change(all: &mut AccountSettings, change: Self::Patch, found: &mut Problems);

    /// For a setting that makes the service write to an address: the address, and what the change
    /// states about it.
    fn forwards<'a>(
        _all: &'a AccountSettings,
        _change: &'a Self::Patch,
    ) -> Option<(&'a Forward, bool)> {
        None
    }
}

/// `GET`: the setting as it is.
pub(crate) async fn get<S: Setting>(
    State(desk): State<AppState>,
    caller: Caller,
) -> Result<Json<S>, Rejection> {
    let all = desk.store.settings(caller.id()).await?;
    Ok(Json(S::of(&all)))
}

/// `PATCH`: the setting as it is now.
pub(crate) async fn patch<S: Setting>(
    State(desk): State<AppState>,
    caller: Caller,
    gateway: GatewayName,
    JsonBody(change): JsonBody<S::Patch>,
) -> Result<Json<S>, Rejection> {
    let letter = letter::<S>(&desk, (&caller, &gateway), &change).await?;
    let changed = desk.store.change_settings(caller.id(), |all| {
        let mut found = Problems::default();
        S::change(all, change.clone(), &mut found);
        found.into_result()
    });
    let all = match changed.await? {
        Ok(Some(all)) => all,
        refused => {
            if let Some(letter) = letter {
                letter.discard(&desk).await;
            }
            return Err(refused.map_or_else(Rejection::from, |_| Rejection::not_found()));
        }
    };
    desk.gate.forget_account(caller.id());
    if let Some(letter) = letter {
        letter.post(&desk).await?;
    }
    Ok(Json(S::of(&all)))
}

/// The confirmation mail that the changed setting requires before it forwards anything.
async fn letter<S: Setting>(
    desk: &AppState,
    who: (&Caller, &GatewayName),
    change: &S::Patch,
) -> Result<Option<ConfirmationMail>, Rejection> {
    let mut all = AccountSettings::default();
    if S::forwards(&all, change).is_none() {
        return Ok(None);
    }
    all = desk.store.settings(who.0.id()).await?;
    let before = S::forwards(&all, change).map(|(forward, _)| forward.clone());
    let mut found = Problems::default();
    S::change(&mut all, change.clone(), &mut found);
    found.into_result()?;
    match (before, S::forwards(&all, change)) {
        (Some(before), Some((after, named))) => {
            ConfirmationMail::write(desk, who, (&before, after), named).await
        }
        _ => Ok(None),
    }
}
