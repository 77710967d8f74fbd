//! `/v3/teammates…`: the people of an account. There is one, its owner: each person and program that works with an account
//! has an API key, with scopes of its own.

use axum::Json;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use posthaste_http::{Access, Caller, PathParams, Query, Rejection, Routes};
use posthaste_model::scope;
use posthaste_store::{Account, Profile};
use serde::Serialize;

use crate::AppState;

/// The routes, each with its scope.
pub(crate) fn routes(routes: Routes<AppState>) -> Routes<AppState> {
    const ALL: &str = "/v3/teammates";
    const ONE: &str = "/v3/teammates/{username}";
    const SUBUSERS: &str = "/v3/teammates/{username}/subuser_access";
    const PENDING: &str = "/v3/teammates/pending";
    const INVITATION: &str = "/v3/teammates/pending/{token}";
    const RESEND: &str = "/v3/teammates/pending/{token}/resend";
    let read = Access::Scope("teammates.read");
    let create = Access::Scope("teammates.create");
    let update = Access::Scope("teammates.update");
    let delete = Access::Scope("teammates.delete");
    routes
        .at(Method::GET, ALL, read, list)
        .at(Method::POST, ALL, create, invite)
        .at(Method::GET, PENDING, read, pending)
        .at(Method::DELETE, INVITATION, delete, no_invitation)
        .at(Method::POST, RESEND, create, no_invitation)
        .at(Method::GET, ONE, read, one)
        .at(Method::PATCH, ONE, update, change)
        .at(Method::DELETE, ONE, delete, change)
        .at(Method::GET, SUBUSERS, read, subusers)
}

/// A list of people, or of invitations.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TeammateList {
    result: Vec<Teammate>,
}

/// The owner of the account.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Teammate {
    username: String,
    email: String,
    first_name: String,
    last_name: String,
    /// `owner`.
    user_type: &'static str,
    is_admin: bool,
    phone: String,
    website: String,
    company: String,
    address: String,
    address2: String,
    city: String,
    state: String,
    country: String,
    zip: String,
}

impl Teammate {
    fn owner(account: &Account, profile: Profile) -> Self {
        Self {
            username: account.username.clone(),
            email: account.email.clone(),
            first_name: profile.first_name,
            last_name: profile.last_name,
            user_type: "owner",
            is_admin: true,
            phone: profile.phone,
            website: profile.website,
            company: profile.company,
            address: profile.address,
            address2: profile.address2,
            city: profile.city,
            state: profile.state,
            country: profile.country,
            zip: profile.zip,
        }
    }
}

/// The owner and what a key of the owner may hold.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TeammateDetail {
    #[serde(flatten)]
    teammate: Teammate,
    scopes: Vec<&'static str>,
}

/// The subusers that a person is restricted to.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SubuserAccess {
    has_restricted_subuser_access: bool,
    /// Empty: the owner is not restricted.
    subuser_access: [String; 0],
}

async fn owner(state: &AppState, caller: &Caller) -> Result<Teammate, Rejection> {
    let profile = state.store.profile(caller.id()).await?;
    Ok(Teammate::owner(&caller.account, profile))
}

async fn list(
    State(state): State<AppState>,
    caller: Caller,
    query: Query,
) -> Result<Json<TeammateList>, Rejection> {
    let (limit, offset) = query.checked(|query| (query.limit(500, 500), query.offset()))?;
    let all = std::iter::once(owner(&state, &caller).await?);
    Ok(Json(TeammateList {
        result: all.skip(offset).take(limit).collect(),
    }))
}

/// `GET /v3/teammates/pending`: an account has no invitations.
async fn pending() -> Json<TeammateList> {
    Json(TeammateList { result: Vec::new() })
}

/// Rejects a name that is not the owner's.
fn check_owner(caller: &Caller, username: &str) -> Result<(), Rejection> {
    let is_owner = caller.account.username.eq_ignore_ascii_case(username);
    is_owner.then_some(()).ok_or_else(Rejection::not_found)
}

async fn one(
    State(state): State<AppState>,
    caller: Caller,
    PathParams(username): PathParams<String>,
) -> Result<Json<TeammateDetail>, Rejection> {
    check_owner(&caller, &username)?;
    Ok(Json(TeammateDetail {
        teammate: owner(&state, &caller).await?,
        scopes: scope::full_access(),
    }))
}

async fn subusers(
    caller: Caller,
    PathParams(username): PathParams<String>,
) -> Result<Json<SubuserAccess>, Rejection> {
    check_owner(&caller, &username)?;
    Ok(Json(SubuserAccess {
        has_restricted_subuser_access: false,
        subuser_access: [],
    }))
}

async fn invite() -> Rejection {
    let message = "people cannot be invited: give each person a key with the scopes that they need \
         (POST /v3/api_keys)";
    Rejection::plain(StatusCode::FORBIDDEN, message)
}

/// The owner stays.
async fn change(caller: Caller, PathParams(username): PathParams<String>) -> Rejection {
    match check_owner(&caller, &username) {
        Ok(()) => {
            let message = "the owner of an account cannot be changed or removed: the profile is at \
                 /v3/user/profile";
            Rejection::plain(StatusCode::FORBIDDEN, message)
        }
        Err(unknown) => unknown,
    }
}

async fn no_invitation() -> Rejection {
    Rejection::not_found()
}
