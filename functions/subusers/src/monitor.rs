//! `/v3/subusers/{subuser_name}/monitor`: samples of a subuser's mail, which go to an address of its parent. `delivery`
//! sends them. The v3 API documents it no more; its client libraries still have it.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, PathParams, Rejection};
use posthaste_model::{EmailAddress, Problems};
use posthaste_store::{Account, Monitor};
use serde::{Deserialize, Serialize};

use crate::AppState;
use crate::accounts::unknown;

/// The greatest distance of two samples.
const LARGEST_FREQUENCY: u32 = 1_000_000;

/// Where samples go, and to how many mails there is one.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct MonitorView {
    email: String,
    frequency: u32,
}

impl From<Monitor> for MonitorView {
    fn from(Monitor { email, frequency }: Monitor) -> Self {
        Self { email, frequency }
    }
}

#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct MonitorFields {
    #[serde(default)]
    email: Option<String>,
    #[serde(default)]
    frequency: Option<i64>,
}

impl MonitorFields {
    fn checked(&self) -> Result<Monitor, Rejection> {
        let mut found = Problems::default();
        let email = self.email.as_deref().map(EmailAddress::parse);
        if !matches!(email, Some(Ok(_))) {
            found.add("email", "email must be an email address");
        }
        let frequency = self.frequency.and_then(|n| u32::try_from(n).ok());
        let frequency = frequency.filter(|n| (1..=LARGEST_FREQUENCY).contains(n));
        if frequency.is_none() {
            let message = format!("frequency must be a number from 1 to {LARGEST_FREQUENCY}");
            found.add("frequency", message);
        }
        found.into_result()?;
        Ok(Monitor {
            email: self.email.clone().unwrap_or_default(),
            frequency: frequency.unwrap_or(LARGEST_FREQUENCY),
        })
    }
}

/// `GET`: the monitor of the subuser.
pub(crate) async fn get(
    State(state): State<AppState>,
    caller: Caller,
    PathParams(name): PathParams<String>,
) -> Result<Json<MonitorView>, Rejection> {
    let account = state.subuser(&caller, &name).await?;
    let monitor = account.ok_or_else(unknown)?.monitor;
    Ok(Json(monitor.ok_or_else(Rejection::not_found)?.into()))
}

/// `POST`: a monitor for a subuser without one.
pub(crate) async fn create(
    State(state): State<AppState>,
    caller: Caller,
    PathParams(name): PathParams<String>,
    JsonBody(fields): JsonBody<MonitorFields>,
) -> Result<Json<MonitorView>, Rejection> {
    let account = state.subuser(&caller, &name).await?.ok_or_else(unknown)?;
    let monitor = fields.checked()?;
    let had = set(&state, &account, Some(&monitor), |had| had.is_none()).await?;
    // The same request again is a repeat, and not a conflict.
    if had.is_some_and(|had| had != monitor) {
        let message = "the subuser has a monitor already: change it with PUT";
        return Err(Rejection::bad(message));
    }
    Ok(Json(monitor.into()))
}

/// `PUT`: another address or frequency.
pub(crate) async fn change(
    State(state): State<AppState>,
    caller: Caller,
    PathParams(name): PathParams<String>,
    JsonBody(fields): JsonBody<MonitorFields>,
) -> Result<Json<MonitorView>, Rejection> {
    let account = state.subuser(&caller, &name).await?.ok_or_else(unknown)?;
    if account.monitor.is_none() {
        return Err(Rejection::not_found());
    }
    let monitor = fields.checked()?;
    let had = set(&state, &account, Some(&monitor), |had| had.is_some()).await?;
    had.ok_or_else(Rejection::not_found)?;
    Ok(Json(monitor.into()))
}

/// `DELETE`: no more samples, in every process within ten seconds.
pub(crate) async fn delete(
    State(state): State<AppState>,
    caller: Caller,
    PathParams(name): PathParams<String>,
) -> Result<StatusCode, Rejection> {
    let account = state.subuser(&caller, &name).await?.ok_or_else(unknown)?;
    let had = set(&state, &account, None, |had| had.is_some()).await?;
    had.ok_or_else(Rejection::not_found)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Stores a monitor, or that there is none, where the one before allows that. The monitor before.
async fn set(
    state: &AppState,
    account: &Account,
    monitor: Option<&Monitor>,
    allows: impl Fn(&Option<Monitor>) -> bool,
) -> Result<Option<Monitor>, Rejection> {
    let mut had = None;
    let changed = state.app.store.update_account(&account.id, |row| {
        had.clone_from(&row.monitor);
        if allows(&had) {
            row.monitor = monitor.cloned();
        }
    });
    changed.await?.ok_or_else(unknown)?;
    state.gate.forget_account(&account.id);
    Ok(had)
}
