//! `/v3/subusers/{name}/credits`: how much a subuser may send.

use axum::Json;
use axum::extract::State;
use posthaste_http::{Caller, JsonBody, PathParams, Rejection, UNKNOWN_ID};
use posthaste_model::Problems;
use posthaste_store::Account;

use crate::AppState;
use crate::wire::{Adjust, Allot, Allowance, CreditKind};

/// The current allowance.
pub(crate) async fn get(
    State(state): State<AppState>,
    caller: Caller,
    PathParams(name): PathParams<String>,
) -> Result<Json<Allowance>, Rejection> {
    let account = named(&state, &caller, &name).await?;
    let now = state.app.clock.now();
    let credits = state.app.store.credits(&account.id, now).await?;
    Ok(Json(credits.into()))
}

/// Sets a new allowance, or removes it.
pub(crate) async fn put(
    State(state): State<AppState>,
    caller: Caller,
    PathParams(name): PathParams<String>,
    JsonBody(body): JsonBody<Allot>,
) -> Result<Json<Allowance>, Rejection> {
    let allowance = check(&body)?;
    let account = named(&state, &caller, &name).await?;
    let (store, now) = (&state.app.store, state.app.clock.now());
    if !store.set_credits(&account.id, allowance, now).await? {
        return Err(unknown());
    }
    state.gate.forget_account(&account.id);
    let credits = store.credits(&account.id, now).await?;
    Ok(Json(credits.into()))
}

/// Increases or decreases the remaining credits.
pub(crate) async fn adjust(
    State(state): State<AppState>,
    caller: Caller,
    PathParams(name): PathParams<String>,
    JsonBody(body): JsonBody<Adjust>,
) -> Result<Json<Allowance>, Rejection> {
    const FIELD: &str = "allocation_update";
    let by = body.allocation_update;
    let by = by.ok_or_else(|| Rejection::on(FIELD, "missing required argument"))?;
    let account = named(&state, &caller, &name).await?;
    let now = state.app.clock.now();
    let changed = state.app.store.adjust_credits(&account.id, by, now).await?;
    let unlimited = || Rejection::on(FIELD, "the subuser has unlimited credits");
    let credits = changed.ok_or_else(unlimited)?;
    Ok(Json(Some(credits).into()))
}

async fn named(state: &AppState, caller: &Caller, name: &str) -> Result<Account, Rejection> {
    let account = state.subuser(caller, name).await?;
    account.ok_or_else(unknown)
}

fn unknown() -> Rejection {
    Rejection::bad("No user found").with_help(UNKNOWN_ID)
}

/// The allowance that the body requests; `None` for an unlimited one.
fn check(body: &Allot) -> Result<Option<posthaste_store::Allowance>, Rejection> {
    const MISSING: &str = "missing required argument";
    let mut found = Problems::default();
    let total = body.total.unwrap_or(0);
    let limited = body.kind != Some(CreditKind::Unlimited);
    found.unless(body.kind.is_some(), "type", MISSING);
    if body.kind.is_some() && limited {
        found.unless(total >= 1, "total", "total must be 1 or more");
    }
    let frequency = match body.kind {
        Some(CreditKind::Recurring) => {
            let given = body.reset_frequency.is_some();
            found.unless(given, "reset_frequency", MISSING);
            body.reset_frequency
        }
        Some(CreditKind::Unlimited | CreditKind::Nonrecurring) | None => None,
    };
    found.into_result()?;
    Ok(limited.then_some(posthaste_store::Allowance { frequency, total }))
}
