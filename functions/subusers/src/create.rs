//! `POST /v3/subusers`.

use axum::Json;
use axum::extract::State;
use posthaste_http::{Caller, JsonBody, Rejection};
use posthaste_model::{EmailAddress, Problems};
use posthaste_store::{Account, is_username};

use crate::wire::{Allocation, CreateSubuser, CreatedSubuser, CreditKind};
use crate::{AppState, settings, under};

/// Creates a subuser. Its parent creates its keys by acting on its behalf.
pub(crate) async fn create(
    State(desk): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<CreateSubuser>,
) -> Result<Json<CreatedSubuser>, Rejection> {
    under::check_parent(&caller)?;
    check(&body).into_result()?;
    let username = body.username.unwrap_or_default();
    let id = desk.app.entropy.account_id();
    let account = Account {
        email: body.email.unwrap_or_default(),
        parent: Some(caller.id().clone()),
        region: body.region.unwrap_or(caller.account.region),
        ips: body.ips.unwrap_or_default(),
        ..Account::new(id, &username, desk.app.clock.now())
    };
    if !desk.app.store.create_account(&account).await? {
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
    settings::check_ips(body.ips.as_deref().unwrap_or_default(), "ips.", &mut found);
    found
}
