//! The JSON of keys, and what grants nothing: reading keys and deleting them.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use posthaste_http::{Caller, PathParams, Query, QueryReader, Rejection};
use posthaste_model::{KeyId, Problem, Problems};
use posthaste_store::{ApiKey, KeyKind};
use serde::{Deserialize, Serialize};

use crate::AppState;
use crate::grant::check_names;

/// The body of create, PUT and PATCH. `null` is the same as left out.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct KeyRequest {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    pub(crate) scopes: Option<Vec<String>>,
    /// An extension of the v3 API: whether mail of the key is recorded and never leaves.
    #[serde(default)]
    pub(crate) test: Option<bool>,
}

/// The message about a missing name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Missing {
    OnCreate,
    OnUpdate,
}

impl KeyRequest {
    /// Name and scopes, with every problem of both: the name must not be empty and has at most 255
    /// characters.
    pub(crate) fn check(&self, missing: Missing) -> Result<String, Rejection> {
        let mut found = Problems::default();
        let name = self.check_name(missing, &mut found);
        if let Some(names) = &self.scopes {
            check_names(names, &mut found);
        }
        if matches!(missing, Missing::OnUpdate) && self.test.is_some() {
            let message = "a key is a test key or none from its creation on";
            found.add("test", message);
        }
        found.into_result()?;
        Ok(name.to_owned())
    }

    /// The name alone; other fields are ignored.
    pub(crate) fn name(&self, missing: Missing) -> Result<String, Rejection> {
        let mut found = Problems::default();
        let name = self.check_name(missing, &mut found);
        found.into_result()?;
        Ok(name.to_owned())
    }

    fn check_name(&self, missing: Missing, found: &mut Problems) -> &str {
        const LONGEST: usize = 255;
        let name = self.name.as_deref().map(str::trim).unwrap_or_default();
        if name.is_empty() {
            found.push(match missing {
                Missing::OnCreate => Problem::on("name", "missing required argument"),
                Missing::OnUpdate => {
                    Problem::plain("expected JSON request body with 'name' property")
                }
            });
        }
        let message = format!("a name is at most {LONGEST} characters");
        found.unless(name.chars().count() <= LONGEST, "name", &message);
        name
    }
}

/// A new key: the only answer that ever holds the secret.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CreatedKey {
    pub(crate) api_key: String,
    pub(crate) api_key_id: String,
    pub(crate) name: String,
    pub(crate) scopes: Vec<String>,
    /// In the answers about test keys only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) test: bool,
}

/// A key with what it may do.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Whole {
    api_key_id: String,
    name: String,
    scopes: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    test: bool,
}

impl From<&ApiKey> for Whole {
    fn from(key: &ApiKey) -> Self {
        Self {
            api_key_id: key.id.to_string(),
            name: key.name.clone(),
            scopes: key.all_scopes(),
            test: key.is_test,
        }
    }
}

/// A key as lists and renames show it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Brief {
    api_key_id: String,
    name: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    test: bool,
}

impl From<&ApiKey> for Brief {
    fn from(key: &ApiKey) -> Self {
        Self {
            api_key_id: key.id.to_string(),
            name: key.name.clone(),
            test: key.is_test,
        }
    }
}

/// What lists show of a key besides, on request.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Details {
    /// `full`, `restricted` or `billing`.
    kind: &'static str,
    scopes: Vec<String>,
    created_at: i64,
    /// Not older than an hour; missing of a key that was never used.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used_at: Option<i64>,
}

impl From<&ApiKey> for Details {
    fn from(key: &ApiKey) -> Self {
        Self {
            kind: match key.kind {
                KeyKind::Full => "full",
                KeyKind::Restricted => "restricted",
                KeyKind::Billing => "billing",
            },
            scopes: key.all_scopes(),
            created_at: key.created_at.0,
            last_used_at: key.used_at.map(|at| at.0),
        }
    }
}

/// A key of a list.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ListedKey {
    #[serde(flatten)]
    key: Brief,
    /// An extension of the v3 API: with `details=true`.
    #[serde(flatten)]
    details: Option<Details>,
}

/// The keys of an account.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct KeyList {
    pub(crate) result: Vec<ListedKey>,
}

/// What the calling key may do.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Scopes {
    pub(crate) scopes: Vec<String>,
}

/// The keys of the account, oldest first.
pub(crate) async fn list(
    State(state): State<AppState>,
    caller: Caller,
    query: Query,
) -> Result<Json<KeyList>, Rejection> {
    // An account holds no more than a hundred.
    let read = |query: &mut QueryReader<'_>| (query.limit(100, 100), query.flag("details"));
    let (limit, wants_details) = query.checked(read)?;
    let store = &state.app.store;
    let keys = if wants_details {
        store.keys_with_use(caller.id()).await?
    } else {
        store.keys(caller.id()).await?
    };
    let listed = |key: &ApiKey| ListedKey {
        key: Brief::from(key),
        details: wants_details.then(|| Details::from(key)),
    };
    let result = keys.iter().take(limit).map(listed).collect();
    Ok(Json(KeyList { result }))
}

/// One key with its scopes.
pub(crate) async fn get(
    State(state): State<AppState>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<Json<Whole>, Rejection> {
    let missing = || Rejection::unknown_id([Problem::plain("unable to find API Key")]);
    let id = KeyId::parse(&id).map_err(|_| missing())?;
    let key = state.app.store.key(caller.id(), &id).await?;
    Ok(Json(Whole::from(&key.ok_or_else(missing)?)))
}

/// What the calling key may do.
pub(crate) async fn scopes(caller: Caller) -> Json<Scopes> {
    Json(Scopes {
        scopes: caller.key.all_scopes(),
    })
}

/// Revokes a key: here at once, in other instances within ten seconds.
pub(crate) async fn delete(
    State(state): State<AppState>,
    caller: Caller,
    PathParams(id): PathParams<String>,
) -> Result<StatusCode, Rejection> {
    let missing = || Rejection::unknown_id([Problem::plain("unable to find API Key for deletion")]);
    let id = KeyId::parse(&id).map_err(|_| missing())?;
    if !state.app.store.delete_key(caller.id(), &id).await? {
        return Err(missing());
    }
    state.gate.forget_key(&id);
    tracing::info!(account.id = %caller.id(), "key {id} of account {} revoked", caller.id());
    Ok(StatusCode::NO_CONTENT)
}
