//! The JSON of keys.

use posthaste_http::Rejection;
use posthaste_store::ApiKey;
use serde::{Deserialize, Serialize};

/// The body of create, PUT and PATCH. `null` is the same as left out.
#[derive(Debug, Deserialize)]
pub(crate) struct KeyRequest {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    pub(crate) scopes: Option<Vec<String>>,
}

/// What the caller gets to know about a missing name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Missing {
    OnCreate,
    OnUpdate,
}

impl KeyRequest {
    /// The name, which must say something and is at most 255 characters.
    pub(crate) fn name(&self, missing: Missing) -> Result<String, Rejection> {
        const LONGEST: usize = 255;
        let name = self.name.as_deref().map(str::trim).unwrap_or_default();
        if name.is_empty() {
            return Err(match missing {
                Missing::OnCreate => Rejection::on("name", "missing required argument"),
                Missing::OnUpdate => {
                    Rejection::bad("expected JSON request body with 'name' property")
                }
            });
        }
        if name.chars().count() > LONGEST {
            let message = format!("a name is at most {LONGEST} characters");
            return Err(Rejection::on("name", message));
        }
        Ok(name.to_owned())
    }
}

/// A new key: the only answer that ever holds the secret.
#[derive(Serialize)]
pub(crate) struct CreatedKey {
    pub(crate) api_key: String,
    pub(crate) api_key_id: String,
    pub(crate) name: String,
    pub(crate) scopes: Vec<String>,
}

/// A key with what it may do.
#[derive(Serialize)]
pub(crate) struct Whole {
    api_key_id: String,
    name: String,
    scopes: Vec<String>,
}

impl From<&ApiKey> for Whole {
    fn from(key: &ApiKey) -> Self {
        Self {
            api_key_id: key.id.to_string(),
            name: key.name.clone(),
            scopes: key.all_scopes(),
        }
    }
}

/// A key as lists and renames show it.
#[derive(Serialize)]
pub(crate) struct Brief {
    api_key_id: String,
    name: String,
}

impl From<&ApiKey> for Brief {
    fn from(key: &ApiKey) -> Self {
        Self {
            api_key_id: key.id.to_string(),
            name: key.name.clone(),
        }
    }
}

/// The keys of an account.
#[derive(Serialize)]
pub(crate) struct KeyList {
    pub(crate) result: Vec<Brief>,
}

/// What the calling key may do.
#[derive(Serialize)]
pub(crate) struct Scopes {
    pub(crate) scopes: Vec<String>,
}
