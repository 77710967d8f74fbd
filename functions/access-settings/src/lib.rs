//! `/v3/access_settings/…`: the IP allow list of the account, access attempts, sessions of the console, and the audit log.

mod allow_list;
mod audit;
mod net;
#[cfg(test)]
mod reference;
mod sessions;

use axum::http::Method;
use posthaste_http::{Access, Authorizer, Routes};
use posthaste_model::Clock;
use posthaste_runtime::{ConfigError, Platform};
use posthaste_store::Store;

pub use net::{InvalidNet, parse as parse_net};

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
const SESSIONS: &str = "/v3/access_settings/sessions";
const SESSION: &str = "/v3/access_settings/sessions/{session_id}";
const ACTIVITY: &str = "/v3/access_settings/activity";
const AUDIT_LOG: &str = "/v3/access_settings/audit_log";

const CREATE: Access = Access::Scope("access_settings.whitelist.create");
const READ: Access = Access::Scope("access_settings.whitelist.read");
const DELETE: Access = Access::Scope("access_settings.whitelist.delete");

/// Of attempts, of sessions, and of what callers changed.
const SEEN: Access = Access::Scope("access_settings.activity.read");
/// A session is a credential as a key is.
const REVOKE: Access = Access::Scope("api_keys.delete");

/// The function's routes, each with its scope.
pub fn routes(app: App, gate: Authorizer) -> Routes {
    let state = AppState {
        app,
        gate: gate.clone(),
    };
    Routes::new(gate)
        .at(Method::POST, LIST, CREATE, allow_list::add)
        .at(Method::GET, LIST, READ, allow_list::list)
        .at(Method::DELETE, LIST, DELETE, allow_list::remove_many)
        .at(Method::GET, RULE, READ, allow_list::one)
        .at(Method::DELETE, RULE, DELETE, allow_list::remove_one)
        .at(Method::GET, ACTIVITY, SEEN, allow_list::attempts)
        .at(Method::GET, AUDIT_LOG, SEEN, audit::page)
        .at(Method::GET, SESSIONS, SEEN, sessions::list)
        .at(Method::DELETE, SESSIONS, REVOKE, sessions::end_others)
        .at(Method::DELETE, SESSION, REVOKE, sessions::end_one)
        .with_state(state)
}

/// The state that the handlers share.
#[derive(Clone)]
struct AppState {
    app: App,
    /// The authorizer, which applies changes made by this instance at once.
    gate: Authorizer,
}
