//! `/v3/user/webhooks/security/policies`: how posts of received mail are signed and authorized.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, JsonBody, PathParams, Query, QueryReader, Rejection};
use posthaste_model::PolicyId;
use posthaste_store::{PolicyDeletion, SecurityPolicy};
use serde::Serialize;

use crate::App;
use crate::policy_check::{PolicyRequest, apply};

/// How many policies an account may hold; one of ours.
pub const MOST_POLICIES: u32 = 100;

/// How many hostnames the answer names that refuses the deletion of a policy in use.
const NAMED: usize = 5;

/// A policy as callers see it. No secret has a place here.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PolicyView {
    id: String,
    name: String,
    /// Only where posts carry a token.
    #[serde(skip_serializing_if = "Option::is_none")]
    oauth: Option<PolicyOauthView>,
    /// Only where posts are signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<PolicySignature>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PolicyOauthView {
    client_id: String,
    token_url: String,
    scopes: Vec<String>,
}

/// What receivers verify with.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PolicySignature {
    public_key: String,
}

impl From<SecurityPolicy> for PolicyView {
    fn from(policy: SecurityPolicy) -> Self {
        Self {
            id: policy.id.to_string(),
            name: policy.name,
            oauth: policy.oauth.map(|oauth| PolicyOauthView {
                client_id: oauth.client_id,
                token_url: oauth.token_url,
                scopes: oauth.scopes,
            }),
            signature: policy.signing.map(|pair| PolicySignature {
                public_key: pair.public_key,
            }),
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct OnePolicy {
    policy: PolicyView,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PolicyList {
    policies: Vec<PolicyView>,
}

/// What is left of a policy: nothing.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct DeletedPolicy {
    policy: Option<String>,
}

/// The id in a path; one of another form is unknown.
fn id_of(text: &str) -> Result<PolicyId, Rejection> {
    PolicyId::parse(text).map_err(|_| Rejection::not_found())
}

/// `POST /v3/user/webhooks/security/policies`.
pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    JsonBody(body): JsonBody<PolicyRequest>,
) -> Result<(StatusCode, Json<OnePolicy>), Rejection> {
    let policy = SecurityPolicy {
        id: app.entropy.policy_id(),
        account: caller.id().clone(),
        name: String::new(),
        created_at: app.clock.now(),
        oauth: None,
        signing: None,
    };
    let policy = apply(&app, &body, policy)?;
    let limit = i64::from(MOST_POLICIES);
    if !app.store.create_security_policy(&policy, limit).await? {
        let message = format!("an account has at most {MOST_POLICIES} security policies");
        return Err(Rejection::bad(message));
    }
    tracing::info!(account.id = %caller.id(), "created security policy {}", policy.id);
    let policy = policy.into();
    Ok((StatusCode::CREATED, Json(OnePolicy { policy })))
}

/// `GET /v3/user/webhooks/security/policies`.
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
) -> Result<Json<PolicyList>, Rejection> {
    let policies = app.store.security_policies(caller.id()).await?;
    let policies = policies.into_iter().map(Into::into).collect();
    Ok(Json(PolicyList { policies }))
}

/// `GET …/policies/{id}`.
pub(crate) async fn one(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<Json<OnePolicy>, Rejection> {
    let policy = app.store.security_policy(caller.id(), &id_of(&id)?).await?;
    let policy = policy.ok_or_else(Rejection::not_found)?.into();
    Ok(Json(OnePolicy { policy }))
}

/// `PATCH …/policies/{id}`: what is left out stays. The answer has no signature, as the v3 API's:
/// the public key is shown by a GET.
pub(crate) async fn update(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    JsonBody(body): JsonBody<PolicyRequest>,
) -> Result<Json<OnePolicy>, Rejection> {
    let id = id_of(&id)?;
    let change = |old| apply(&app, &body, old);
    let changed = app
        .store
        .change_security_policy(caller.id(), &id, change)
        .await?;
    let policy = changed.ok_or_else(Rejection::not_found)?;
    let policy = PolicyView {
        signature: None,
        ..policy.into()
    };
    Ok(Json(OnePolicy { policy }))
}

/// `DELETE …/policies/{id}?force`: a policy in use stays, unless `force` is true, which detaches it
/// from the parse settings.
pub(crate) async fn delete(
    State(app): State<App>,
    caller: Caller,
    PathParams(id): PathParams<String>,
    query: Query,
) -> Result<Json<DeletedPolicy>, Rejection> {
    let id = id_of(&id)?;
    let force = query.checked(|query: &mut QueryReader<'_>| query.flag("force"))?;
    let deleted = app.store.delete_security_policy(caller.id(), &id, force);
    match deleted.await? {
        PolicyDeletion::Done => {}
        PolicyDeletion::Missing => return Err(Rejection::not_found()),
        PolicyDeletion::Used(hostnames) => return Err(in_use(&hostnames)),
    }
    tracing::info!(account.id = %caller.id(), "deleted security policy {id}");
    Ok(Json(DeletedPolicy { policy: None }))
}

fn in_use(hostnames: &[String]) -> Rejection {
    let mut users: Vec<_> = hostnames.iter().take(NAMED).map(String::as_str).collect();
    let more = format!("{} more", hostnames.len().saturating_sub(NAMED));
    if hostnames.len() > NAMED {
        users.push(&more);
    }
    let users = users.join(", ");
    Rejection::bad(format!(
        "the security policy is used by the parse settings of {users}: detach it there, or delete it with force=true"
    ))
}
