//! `/v3/access_settings/…`: the IP allow list of the account, and access attempts.

mod activity;
mod add;
mod lockout;
mod net;
mod read;
mod remove;
mod wire;

use axum::http::Method;
use posthaste_http::{Access, Authorizer, Routes};
use posthaste_model::Clock;
use posthaste_runtime::{ConfigError, Platform};
use posthaste_store::Store;

/// The dependencies of the function.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    pub clock: Clock,
}

impl App {
    /// Reads `TABLE_NAME`.
    pub fn from_env(platform: &Platform) -> Result<Self, ConfigError> {
        Ok(Self {
            store: platform.store()?,
            clock: platform.clock(),
        })
    }
}

const LIST: &str = "/v3/access_settings/whitelist";
const RULE: &str = "/v3/access_settings/whitelist/{rule_id}";
const ACTIVITY: &str = "/v3/access_settings/activity";

const CREATE: Access = Access::Scope("access_settings.whitelist.create");
const READ: Access = Access::Scope("access_settings.whitelist.read");
const DELETE: Access = Access::Scope("access_settings.whitelist.delete");

/// The function's routes, each with its scope.
pub fn routes(app: App, gate: Authorizer) -> Routes {
    let desk = AppState {
        app,
        gate: gate.clone(),
    };
    let seen = Access::Scope("access_settings.activity.read");
    Routes::new(gate)
        .at(Method::POST, LIST, CREATE, add::add)
        .at(Method::GET, LIST, READ, read::list)
        .at(Method::DELETE, LIST, DELETE, remove::many)
        .at(Method::GET, RULE, READ, read::one)
        .at(Method::DELETE, RULE, DELETE, remove::one)
        .at(Method::GET, ACTIVITY, seen, activity::list)
        .with_state(desk)
}

/// The state that the handlers share.
#[derive(Clone)]
struct AppState {
    app: App,
    /// The authorizer, which applies changes made by this instance at once.
    gate: Authorizer,
}
