//! `/v3/api_keys…` and `/v3/scopes`: an account's keys and their scopes.

mod create;
mod delete;
mod grant;
mod maker;
mod paths;
mod read;
mod update;
mod wire;

use axum::http::Method;
use posthaste_http::{Access, Authorizer, Routes};
use posthaste_model::{Clock, Entropy};
use posthaste_runtime::{ConfigError, Platform};
use posthaste_store::Store;

pub use paths::PATHS;

/// The dependencies of the function.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    pub clock: Clock,
    pub entropy: Entropy,
}

impl App {
    /// Reads `TABLE_NAME`.
    pub fn from_env(platform: &Platform) -> Result<Self, ConfigError> {
        Ok(Self {
            store: platform.store()?,
            clock: platform.clock(),
            entropy: platform.entropy(),
        })
    }
}

const CREATE: &str = "api_keys.create";
const UPDATE: &str = "api_keys.update";

/// The function's routes, each with its scope.
pub fn routes(app: App, gate: Authorizer) -> Routes {
    let desk = AppState {
        app,
        gate: gate.clone(),
    };
    Routes::new(gate)
        .at(
            Method::POST,
            "/v3/api_keys",
            Access::Scope(CREATE),
            create::create,
        )
        .at(
            Method::GET,
            "/v3/api_keys",
            Access::Scope("api_keys.read"),
            read::list,
        )
        .at(
            Method::GET,
            "/v3/api_keys/{api_key_id}",
            Access::Scope("api_keys.read"),
            read::get,
        )
        .at(
            Method::PUT,
            "/v3/api_keys/{api_key_id}",
            Access::Scope(UPDATE),
            update::put,
        )
        .at(
            Method::PATCH,
            "/v3/api_keys/{api_key_id}",
            Access::Scope(UPDATE),
            update::patch,
        )
        .at(
            Method::DELETE,
            "/v3/api_keys/{api_key_id}",
            Access::Scope("api_keys.delete"),
            delete::delete,
        )
        .at(Method::GET, "/v3/scopes", Access::AnyKey, read::scopes)
        .with_state(desk)
}

/// The state that the handlers share.
#[derive(Clone)]
struct AppState {
    app: App,
    /// The authorizer, which applies changes made by this instance at once.
    gate: Authorizer,
}
