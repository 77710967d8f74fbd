//! What the endpoints of every setting do: read it, change a part of it, list all of them.

use axum::Json;
use posthaste_http::{Caller, GatewayName, Query, Rejection};
use posthaste_store::AccountSettings;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::AppState;
use crate::confirm::ConfirmationMail;
use crate::table::Setting;

/// A list of settings.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SettingList {
    result: Vec<SettingItem>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SettingItem {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    enabled: bool,
}

/// `GET /v3/mail_settings` and `GET /v3/tracking_settings`: each setting with its switch.
pub(crate) async fn list(
    state: AppState,
    caller: Caller,
    query: Query,
    settings: &'static [Setting],
) -> Result<Json<SettingList>, Rejection> {
    let all = settings.len();
    let (limit, offset) = query.checked(|query| (query.limit(all, all), query.offset()))?;
    let all = state.store.settings(caller.id()).await?;
    let item = |setting: &Setting| {
        let [title, description] = setting.listed?;
        Some(SettingItem {
            name: setting.name,
            title,
            description,
            enabled: setting.is_on(&all),
        })
    };
    let page = settings.iter().filter_map(item).skip(offset).take(limit);
    let result = page.collect();
    Ok(Json(SettingList { result }))
}

/// `GET`: the setting as it is.
pub(crate) async fn read(
    state: AppState,
    caller: Caller,
    setting: &'static Setting,
) -> Result<Json<Value>, Rejection> {
    let all = state.store.settings(caller.id()).await?;
    Ok(Json(setting.shown(all)))
}

/// `PATCH`: the setting as it is now.
pub(crate) async fn change(
    state: AppState,
    (caller, gateway): (Caller, GatewayName),
    body: Map<String, Value>,
    setting: &'static Setting,
) -> Result<Json<Value>, Rejection> {
    let mail = confirmation(&state, &caller, &gateway, &body, setting).await?;
    let changed = state.store.change_settings(caller.id(), |all| {
        setting.change(all, &body).map_err(Rejection::from)
    });
    let all = match changed.await {
        Ok(Some(all)) => all,
        refused => {
            if let Some(mail) = mail {
                mail.discard(&state).await;
            }
            return Err(refused.err().unwrap_or_else(Rejection::not_found));
        }
    };
    state.gate.forget_account(caller.id());
    if let Some(mail) = mail {
        mail.post(&state).await?;
    }
    Ok(Json(setting.shown(all)))
}

/// The confirmation mail that the changed setting requires before it forwards anything.
async fn confirmation(
    state: &AppState,
    caller: &Caller,
    gateway: &GatewayName,
    body: &Map<String, Value>,
    setting: &Setting,
) -> Result<Option<ConfirmationMail>, Rejection> {
    let Some(forward) = setting.forward else {
        return Ok(None);
    };
    let mut all: AccountSettings = state.store.settings(caller.id()).await?;
    let before = forward(&all).clone();
    setting.change(&mut all, body)?;
    let is_named = body.contains_key("email");
    ConfirmationMail::write_first(state, caller, gateway, (&before, forward(&all)), is_named).await
}
