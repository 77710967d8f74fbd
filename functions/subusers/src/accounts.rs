//! The accounts below an account: subusers (list, create, disable, delete, their addresses), and the
//! ids of customer accounts.

use std::net::IpAddr;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, PathParams, Query, QueryReader, Rejection, UNKNOWN_ID};
use posthaste_model::{AccountId, EmailAddress, Problems};
use posthaste_store::{Account, Region, is_username};

use crate::wire::{
    Allocation, CreateSubuser, CreatedSubuser, CreditKind, CustomerList, Disable, Ips, Subuser,
};
use crate::{AppState, check_parent};

/// Creates a subuser. Its parent creates its keys by acting on its behalf.
pub(crate) async fn create(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<CreateSubuser>,
) -> Result<Json<CreatedSubuser>, Rejection> {
    check_parent(&caller)?;
    check(&body).into_result()?;
    let username = body.username.unwrap_or_default();
    let id = state.app.entropy.account_id();
    let account = Account {
        email: body.email.unwrap_or_default(),
        parent: Some(caller.id().clone()),
        region: body.region.unwrap_or(caller.account.region),
        ips: body.ips.unwrap_or_default(),
        ..Account::new(id, &username, state.app.clock.now())
    };
    if !state.app.store.create_account(&account).await? {
        return Err(Rejection::on("username", "username exists"));
    }
    tracing::info!(account.id = %account.id, "subuser {} of account {} created", account.id, caller.id());
    let region = body.include_region.unwrap_or(false);
    Ok(Json(CreatedSubuser {
        user_id: account.user_id,
        email: account.email,
        credit_allocation: Allocation {
            kind: CreditKind::Unlimited,
        },
        region: region.then_some(account.region),
        username,
    }))
}

fn check(body: &CreateSubuser) -> Problems {
    const MISSING: &str = "missing required argument";
    let mut found = Problems::default();
    match body.username.as_deref().unwrap_or_default() {
        "" => found.add("username", MISSING),
        name => found.unless(is_username(name), "username", "invalid username"),
    }
    match body.email.as_deref().unwrap_or_default() {
        "" => found.add("email", MISSING),
        email => found.unless(EmailAddress::parse(email).is_ok(), "email", "invalid email"),
    }
    let password = body.password.as_deref().unwrap_or_default();
    found.unless(!password.is_empty(), "password", MISSING);
    check_ips(body.ips.as_deref().unwrap_or_default(), "ips.", &mut found);
    found
}

/// The subusers of the account, oldest first.
pub(crate) async fn list(
    State(state): State<AppState>,
    caller: Caller,
    query: Query,
) -> Result<Json<Vec<Subuser>>, Rejection> {
    check_parent(&caller)?;
    let (limit, offset, include_region, region) = query.checked(|query| {
        let (limit, offset) = (query.limit(500, 500), query.offset());
        (limit, offset, query.flag("include_region"), region(query))
    })?;
    let found = match query.text("username") {
        Some(name) => Vec::from_iter(state.subuser(&caller, name).await?),
        None => state.app.store.subusers(caller.id()).await?,
    };
    let found = found
        .iter()
        .filter(|account| region.is_none_or(|region| account.region == region));
    let page = found.skip(offset).take(limit);
    Ok(Json(
        page.map(|account| Subuser::of(account, include_region))
            .collect(),
    ))
}

/// `GET /v3/partners/accounts?limit&offset`: the customer accounts of the account, by id, from the
/// one that follows `offset`. The ids are what `on-behalf-of: account-id …` takes.
pub(crate) async fn customers(
    State(state): State<AppState>,
    caller: Caller,
    query: Query,
) -> Result<Json<CustomerList>, Rejection> {
    check_parent(&caller)?;
    let (limit, after) = query.checked(|query| {
        let id = |text: &str| match text {
            "" => Some(None),
            text => AccountId::parse(text).ok().map(Some),
        };
        let after = query.parsed("offset", id, "offset must be an account id");
        (query.limit(10, 100), after.flatten())
    })?;
    let store = &state.app.store;
    let found = store.customers(caller.id(), after.as_ref(), limit);
    Ok(Json(CustomerList::of(&found.await?)))
}

fn region(query: &mut QueryReader<'_>) -> Option<Region> {
    let named = |text: &str| match text {
        "all" => Some(None),
        "global" => Some(Some(Region::Global)),
        "eu" => Some(Some(Region::Eu)),
        _ => None,
    };
    let region = query.parsed("region", named, "region must be all, global or eu");
    region.flatten()
}

/// One subuser, by its name.
pub(crate) async fn one(
    State(state): State<AppState>,
    caller: Caller,
    PathParams(name): PathParams<String>,
    query: Query,
) -> Result<Json<Subuser>, Rejection> {
    let include_region = query.checked(|query| query.flag("include_region"))?;
    let account = state.subuser(&caller, &name).await?;
    let account = account.ok_or_else(Rejection::not_found)?;
    Ok(Json(Subuser::of(&account, include_region)))
}

/// `PATCH /v3/subusers/{name}`: disables a subuser, which then cannot send and whose keys are
/// rejected, or enables it. A subuser that the operator suspended stays suspended; the parent's
/// setting applies when the suspension ends.
pub(crate) async fn disable(
    State(state): State<AppState>,
    caller: Caller,
    PathParams(name): PathParams<String>,
    JsonBody(body): JsonBody<Disable>,
) -> Result<StatusCode, Rejection> {
    let disabled = wanted(&body)?;
    change(&state, &caller, &name, |account| {
        account.status = account.status.disabled(disabled);
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `PATCH /v3/subusers/{name}/website_access`: stored without effect, as there is no website.
pub(crate) async fn website(
    State(state): State<AppState>,
    caller: Caller,
    PathParams(name): PathParams<String>,
    JsonBody(body): JsonBody<Disable>,
) -> Result<StatusCode, Rejection> {
    let disabled = wanted(&body)?;
    change(&state, &caller, &name, |account| {
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
    State(state): State<AppState>,
    caller: Caller,
    PathParams(name): PathParams<String>,
    JsonBody(ips): JsonBody<Vec<String>>,
) -> Result<Json<Ips>, Rejection> {
    let mut found = Problems::default();
    check_ips(&ips, "", &mut found);
    found.into_result()?;
    change(&state, &caller, &name, |account| {
        account.ips.clone_from(&ips);
    })
    .await?;
    Ok(Json(Ips { ips }))
}

/// Every entry must be an address. The relay chooses the address that mail is sent from.
fn check_ips(ips: &[String], before: &str, found: &mut Problems) {
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
    State(state): State<AppState>,
    caller: Caller,
    PathParams(name): PathParams<String>,
) -> Result<StatusCode, Rejection> {
    let account = state.subuser(&caller, &name).await?;
    let account = account.ok_or_else(unknown)?;
    // First: a repeat finds the account until all of it is deleted.
    let kept = state.app.kept.forget_account(&account.id).await;
    kept.map_err(|error| Rejection::unavailable(&error))?;
    state.app.store.delete_account(&account).await?;
    state.gate.forget_account(&account.id);
    tracing::info!(account.id = %account.id, "subuser {} of account {} deleted", account.id, caller.id());
    Ok(StatusCode::NO_CONTENT)
}

async fn change(
    state: &AppState,
    caller: &Caller,
    name: &str,
    change: impl FnMut(&mut Account),
) -> Result<(), Rejection> {
    let account = state.subuser(caller, name).await?;
    let id = account.ok_or_else(unknown)?.id;
    let changed = state.app.store.update_account(&id, change).await?;
    changed.ok_or_else(unknown)?;
    state.gate.forget_account(&id);
    Ok(())
}

pub(crate) fn unknown() -> Rejection {
    Rejection::bad("invalid username").with_help(UNKNOWN_ID)
}
