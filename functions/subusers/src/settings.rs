//! A parent's settings for a subuser: whether it may send, its addresses, its deletion.

use std::net::IpAddr;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, PathParams, Rejection};
use posthaste_model::Problems;
use posthaste_store::Account;

use crate::wire::{Disable, Ips};
use crate::{AppState, under};

/// `PATCH /v3/subusers/{name}`: disables a subuser, which then cannot send and whose keys are
/// rejected, or enables it. A subuser that the operator suspended stays suspended; the parent's
/// setting applies when the suspension ends.
pub(crate) async fn disable(
    State(desk): State<AppState>,
    caller: Caller,
    PathParams(name): PathParams<String>,
    JsonBody(body): JsonBody<Disable>,
) -> Result<StatusCode, Rejection> {
    let disabled = wanted(&body)?;
    change(&desk, &caller, &name, |account| {
        account.status = account.status.disabled(disabled);
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `PATCH /v3/subusers/{name}/website_access`: stored without effect, as there is no website.
pub(crate) async fn website(
    State(desk): State<AppState>,
    caller: Caller,
    PathParams(name): PathParams<String>,
    JsonBody(body): JsonBody<Disable>,
) -> Result<StatusCode, Rejection> {
    let disabled = wanted(&body)?;
    change(&desk, &caller, &name, |account| {
        account.website_disabled = disabled;
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

fn wanted(body: &Disable) -> Result<bool, Rejection> {
    body.disabled
        .ok_or_else(|| Rejection::bad("no fields provided"))
}

/// `PUT /v3/subusers/{name}/ips`: the body is the bare list.
pub(crate) async fn ips(
    State(desk): State<AppState>,
    caller: Caller,
    PathParams(name): PathParams<String>,
    JsonBody(ips): JsonBody<Vec<String>>,
) -> Result<Json<Ips>, Rejection> {
    let mut found = Problems::default();
    check_ips(&ips, "", &mut found);
    found.into_result()?;
    change(&desk, &caller, &name, |account| {
        account.ips.clone_from(&ips);
    })
    .await?;
    Ok(Json(Ips { ips }))
}

/// Every entry must be an address. The relay chooses the address that mail is sent from.
pub(crate) fn check_ips(ips: &[String], before: &str, found: &mut Problems) {
    const MOST: usize = 1_000;
    const INVALID: &str = "unable to validate IPs at this time";
    if ips.len() > MOST {
        return found.add("ips", INVALID);
    }
    for (i, ip) in ips.iter().enumerate() {
        let field = format!("{before}{i}");
        found.unless(ip.parse::<IpAddr>().is_ok(), &field, INVALID);
    }
}

/// `DELETE /v3/subusers/{name}`: its keys stop working first, here at once, in other instances
/// within ten seconds; then all of its data is deleted.
pub(crate) async fn delete(
    State(desk): State<AppState>,
    caller: Caller,
    PathParams(name): PathParams<String>,
) -> Result<StatusCode, Rejection> {
    let account = under::named(&desk, &caller, &name).await?;
    let account = account.ok_or_else(unknown)?;
    desk.app.store.delete_account(&account).await?;
    desk.gate.forget_account(&account.id);
    tracing::info!(account.id = %account.id, "subuser {} of account {} deleted", account.id, caller.id());
    Ok(StatusCode::NO_CONTENT)
}

async fn change(
    desk: &AppState,
    caller: &Caller,
    name: &str,
    change: impl FnMut(&mut Account),
) -> Result<(), Rejection> {
    let account = under::named(desk, caller, name).await?;
    let id = account.ok_or_else(unknown)?.id;
    let changed = desk.app.store.update_account(&id, change).await?;
    changed.ok_or_else(unknown)?;
    desk.gate.forget_account(&id);
    Ok(())
}

fn unknown() -> Rejection {
    Rejection::bad("invalid username")
}
