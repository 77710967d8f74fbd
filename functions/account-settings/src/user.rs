//! `/v3/user/…`: the account itself. Clients use these calls to learn whether a key is valid.

mod cost;
mod credits;
mod sending_limits;
#[cfg(test)]
pub(crate) use cost::CostView;
#[cfg(test)]
pub(crate) use credits::CreditsView;
#[cfg(test)]
pub(crate) use sending_limits::SendingLimitsView;

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use posthaste_http::{Access, Caller, JsonBody, Rejection, Routes};
use posthaste_model::{EmailAddress, Problems};
use posthaste_store::{Profile, Renamed, is_username};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::AppState;

pub use cost::{Price, Prices};

/// The routes, each with its scope. A billing key opens what is about billing.
pub(crate) fn routes(routes: Routes<AppState>) -> Routes<AppState> {
    const PROFILE: &str = "/v3/user/profile";
    const EMAIL: &str = "/v3/user/email";
    const USERNAME: &str = "/v3/user/username";
    const TIMEZONE: &str = "/v3/user/timezone";
    const CREDITS: &str = "/v3/user/credits";
    const COST: &str = "/v3/user/cost";
    const TWO_FACTORS: &str = "/v3/user/multifactor_authentication";
    let scope = Access::Scope;
    let billing = |own| Access::Either(own, "billing.read");
    let mut routes = routes
        .at(Method::GET, PROFILE, scope("user.profile.read"), profile)
        .at(
            Method::PATCH,
            PROFILE,
            scope("user.profile.update"),
            change_profile,
        )
        .at(
            Method::GET,
            "/v3/user/account",
            billing("user.account.read"),
            account,
        )
        .at(Method::GET, CREDITS, billing("user.credits.read"), credits::read)
        .at(
            Method::GET,
            "/v3/user/sending_limits",
            billing("user.credits.read"),
            sending_limits::read,
        )
        // All of it is billing, which a Full Access key leaves out (SPEC, "Authentication").
        .at(Method::GET, COST, scope("billing.read"), cost::read)
        .at(Method::GET, EMAIL, scope("user.email.read"), email)
        .at(Method::PUT, EMAIL, scope("user.email.update"), change_email)
        .at(Method::GET, USERNAME, scope("user.username.read"), username)
        .at(
            Method::PUT,
            USERNAME,
            scope("user.username.update"),
            change_username,
        )
        .at(Method::GET, TIMEZONE, scope("user.timezone.read"), timezone)
        .at(
            Method::PUT,
            "/v3/user/password",
            scope("user.password.update"),
            no_password,
        );
    for method in [Method::PUT, Method::PATCH] {
        let update = scope("user.timezone.update");
        routes = routes.at(method, TIMEZONE, update, change_timezone);
    }
    for (method, update) in [
        (Method::GET, "user.multifactor_authentication.read"),
        (Method::POST, "user.multifactor_authentication.create"),
        (Method::PATCH, "user.multifactor_authentication.update"),
        (Method::DELETE, "user.multifactor_authentication.delete"),
    ] {
        routes = routes.at(method, TWO_FACTORS, scope(update), no_password);
    }
    routes
}

/// A text of a profile, by its name in the API.
pub(crate) type ProfileField = (&'static str, fn(&mut Profile) -> &mut String);

pub(crate) const FIELDS: [ProfileField; 11] = [
    ("address", |profile| &mut profile.address),
    ("address2", |profile| &mut profile.address2),
    ("city", |profile| &mut profile.city),
    ("company", |profile| &mut profile.company),
    ("country", |profile| &mut profile.country),
    ("first_name", |profile| &mut profile.first_name),
    ("last_name", |profile| &mut profile.last_name),
    ("phone", |profile| &mut profile.phone),
    ("state", |profile| &mut profile.state),
    ("website", |profile| &mut profile.website),
    ("zip", |profile| &mut profile.zip),
];

/// The longest text of a profile, in bytes; the v3 API states no limit.
pub(crate) const LONGEST: usize = 1_000;

fn shown(mut profile: Profile) -> Json<Value> {
    let field = |(name, text): &ProfileField| {
        let value = std::mem::take(text(&mut profile));
        ((*name).to_owned(), Value::String(value))
    };
    Json(Value::Object(FIELDS.iter().map(field).collect()))
}

async fn profile(State(state): State<AppState>, caller: Caller) -> Result<Json<Value>, Rejection> {
    Ok(shown(state.store.profile(caller.id()).await?))
}

/// Changes the texts that are given.
async fn change_profile(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<Map<String, Value>>,
) -> Result<Json<Value>, Rejection> {
    let mut found = Problems::default();
    let mut given = Vec::new();
    for (name, slot) in FIELDS {
        match body.get(name) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) if text.len() <= LONGEST => given.push((slot, text)),
            Some(Value::String(_)) => found.add(name, format!("{name} exceeds {LONGEST} bytes")),
            Some(_) => found.add(name, format!("{name} must be a string")),
        }
    }
    found.into_result()?;
    let changed = state.store.change_profile(caller.id(), |profile| {
        for (slot, text) in &given {
            slot(profile).clone_from(text);
        }
    });
    Ok(shown(changed.await?))
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct AccountView {
    /// `free` or `paid`; there are no trial accounts here.
    #[serde(rename = "type")]
    kind: &'static str,
    reputation: f64,
}

/// `GET /v3/user/account`.
async fn account(
    State(state): State<AppState>,
    caller: Caller,
) -> Result<Json<AccountView>, Rejection> {
    let now = state.notices.clock.now();
    Ok(Json(AccountView {
        kind: "paid",
        reputation: state.store.reputation(caller.id(), now).await?,
    }))
}

/// The text of a field that the body must have.
fn required<'a>(body: &'a Map<String, Value>, field: &str) -> Result<&'a str, Rejection> {
    match body.get(field) {
        None | Some(Value::Null) => Err(Rejection::on(field, "missing required argument")),
        Some(Value::String(text)) => Ok(text.trim()),
        Some(_) => Err(Rejection::on(field, format!("{field} must be a string"))),
    }
}

async fn email(caller: Caller) -> Json<Value> {
    Json(json!({"email": caller.account.email}))
}

/// `PUT /v3/user/email`: the address under which the operator reaches the account's owner.
async fn change_email(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<Map<String, Value>>,
) -> Result<Json<Value>, Rejection> {
    let email = EmailAddress::parse(required(&body, "email")?);
    let email = email.map_err(|_| Rejection::on("email", "invalid email"))?;
    let changed = state.store.update_account(caller.id(), |account| {
        account.email = email.as_str().to_owned();
    });
    changed.await?.ok_or_else(Rejection::not_found)?;
    state.gate.forget_account(caller.id());
    Ok(Json(json!({"email": email.as_str()})))
}

async fn username(caller: Caller) -> Json<Value> {
    let account = &caller.account;
    Json(json!({"username": account.username, "user_id": account.user_id}))
}

/// `PUT /v3/user/username`: the name by which a parent acts for its subuser changes with it, here at
/// once and in other instances within ten seconds. The same request again completes one that failed
/// on the way.
async fn change_username(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<Map<String, Value>>,
) -> Result<Json<Value>, Rejection> {
    let wanted = required(&body, "username")?;
    if !is_username(wanted) {
        return Err(Rejection::on("username", "invalid username"));
    }
    match state.store.rename_account(caller.id(), wanted).await? {
        Renamed::Done(_) => {}
        Renamed::Missing => return Err(Rejection::not_found()),
        Renamed::Taken => return Err(Rejection::on("username", "username exists")),
    }
    state.gate.forget_account(caller.id());
    // Domains that the account borrowed name it.
    for domain in state.store.borrowed_domains(caller.id()).await? {
        let renamed = state
            .store
            .update_domain(&domain.account, domain.id, |domain| {
                let mut borrowers = domain.subusers.iter_mut();
                if let Some(own) = borrowers.find(|borrower| borrower.account == *caller.id()) {
                    wanted.clone_into(&mut own.username);
                }
            });
        renamed.await?;
    }
    tracing::info!(account.id = %caller.id(), "account {} has another user name", caller.id());
    Ok(Json(json!({"username": wanted})))
}

/// `GET /v3/user/timezone`. Statistics and dates are in UTC whatever it is.
async fn timezone(State(state): State<AppState>, caller: Caller) -> Result<Json<Value>, Rejection> {
    let profile = state.store.profile(caller.id()).await?;
    let timezone = Some(profile.timezone).filter(|name| !name.is_empty());
    Ok(Json(
        json!({"timezone": timezone.as_deref().unwrap_or("UTC")}),
    ))
}

/// `PUT` and `PATCH /v3/user/timezone`: stored for clients that show times.
async fn change_timezone(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<Map<String, Value>>,
) -> Result<Json<Value>, Rejection> {
    let wanted = required(&body, "timezone")?;
    if !is_timezone(wanted) {
        let message = "timezone must be the name of a time zone, such as Europe/Berlin";
        return Err(Rejection::on("timezone", message));
    }
    let changed = state.store.change_profile(caller.id(), |profile| {
        wanted.clone_into(&mut profile.timezone);
    });
    changed.await?;
    Ok(Json(json!({"timezone": wanted})))
}

/// The form of the names in the time zone database; which of them exist changes every year.
fn is_timezone(name: &str) -> bool {
    const LONGEST: usize = 64;
    let is_part = |part: &str| {
        let mut bytes = part.bytes();
        bytes.next().is_some_and(|b| b.is_ascii_alphabetic())
            && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+'))
    };
    name.len() <= LONGEST && name.split('/').count() <= 3 && name.split('/').all(is_part)
}

/// The answer of endpoints about the log-in to a web application.
async fn no_password() -> Rejection {
    let message = "accounts have no password and no second factor here: API keys are the only \
         credentials; create, change and delete them at /v3/api_keys";
    Rejection::plain(StatusCode::FORBIDDEN, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_zone_has_the_form_of_a_name() {
        for good in [
            "UTC",
            "Europe/Berlin",
            "America/Argentina/Buenos_Aires",
            "Etc/GMT+5",
        ] {
            assert!(is_timezone(good), "{good}");
        }
        for bad in [
            "",
            "/",
            "Europe/",
            "+01:00",
            "a b",
            "a/b/c/d",
            "<b>",
            &"x".repeat(65),
        ] {
            assert!(!is_timezone(bad), "{bad}");
        }
    }
}
