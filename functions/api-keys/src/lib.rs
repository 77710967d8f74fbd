//! `/v3/api_keys…` and `/v3/scopes`: an account's keys and their scopes. And the documentation that the service
//! carries: the API reference, the catalogue of errors, and where things are.

mod changes;
mod docs;
mod grant;

mod keys;
mod paths;
#[cfg(test)]
mod reference;

use axum::http::Method;
use posthaste_http::{Access, Authorizer, Routes};
use posthaste_model::{Clock, Entropy};
use posthaste_runtime::{ConfigError, Platform};
use posthaste_store::Store;

pub use docs::OtherPlaces;
pub use paths::PATHS;

/// The dependencies of the function.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    pub clock: Clock,
    pub entropy: Entropy,
    /// What `/` names beside the documentation.
    pub places: OtherPlaces,
}

impl App {
    /// Reads `TABLE_NAME`.
    pub fn from_env(platform: &Platform) -> Result<Self, ConfigError> {
        Ok(Self {
            store: platform.store()?,
            clock: platform.clock(),
            entropy: platform.entropy(),
            places: platform.part().unwrap_or_default(),
        })
    }
}

const CREATE: &str = "api_keys.create";
const UPDATE: &str = "api_keys.update";

/// The function's routes, each with its scope.
pub fn routes(app: App, gate: Authorizer) -> Routes {
    let state = AppState {
        app,
        gate: gate.clone(),
    };
    Routes::new(gate)
        .at(
            Method::POST,
            "/v3/api_keys",
            Access::Scope(CREATE),
            changes::create,
        )
        .at(
            Method::GET,
            "/v3/api_keys",
            Access::Scope("api_keys.read"),
            keys::list,
        )
        .at(
            Method::GET,
            "/v3/api_keys/{api_key_id}",
            Access::Scope("api_keys.read"),
            keys::get,
        )
        .at(
            Method::PUT,
            "/v3/api_keys/{api_key_id}",
            Access::Scope(UPDATE),
            changes::put,
        )
        .at(
            Method::PATCH,
            "/v3/api_keys/{api_key_id}",
            Access::Scope(UPDATE),
            changes::patch,
        )
        .at(
            Method::DELETE,
            "/v3/api_keys/{api_key_id}",
            Access::Scope("api_keys.delete"),
            keys::delete,
        )
        .at(Method::GET, "/v3/scopes", Access::AnyKey, keys::scopes)
        .at(Method::GET, "/", Access::Public, docs::places)
        .at(Method::GET, "/docs", Access::Public, docs::reference)
        .at(Method::GET, "/docs/errors", Access::Public, docs::errors)
        .at(Method::GET, "/openapi.json", Access::Public, docs::openapi)
        .with_state(state)
}

/// The state that the handlers share.
#[derive(Clone)]
struct AppState {
    app: App,
    /// The authorizer, which applies changes made by this instance at once.
    gate: Authorizer,
}
