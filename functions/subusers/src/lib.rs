//! `/v3/subusers…`: accounts under an account, and how much they may send.

mod create;
mod credits;
mod read;
mod settings;
mod under;
mod wire;

use axum::http::Method;
use posthaste_http::{Access, Authorizer, Routes};
use posthaste_model::{Clock, Entropy};
use posthaste_runtime::{ConfigError, Platform};
use posthaste_store::Store;

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

const ALL: &str = "/v3/subusers";
const ONE: &str = "/v3/subusers/{subuser_name}";
const WEBSITE: &str = "/v3/subusers/{subuser_name}/website_access";
const IPS: &str = "/v3/subusers/{subuser_name}/ips";
const CREDITS: &str = "/v3/subusers/{subuser_name}/credits";
const REMAINING: &str = "/v3/subusers/{subuser_name}/credits/remaining";

const CREATE: Access = Access::Scope("subusers.create");
const READ: Access = Access::Scope("subusers.read");
const UPDATE: Access = Access::Scope("subusers.update");
const DELETE: Access = Access::Scope("subusers.delete");

/// The function's routes, each with its scope.
pub fn routes(app: App, gate: Authorizer) -> Routes {
    let desk = AppState {
        app,
        gate: gate.clone(),
    };
    let see = Access::Scope("subusers.credits.read");
    let set = Access::Scope("subusers.credits.update");
    let adjust = Access::Scope("subusers.credits.remaining.update");
    Routes::new(gate)
        .at(Method::GET, ALL, READ, read::list)
        .at(Method::POST, ALL, CREATE, create::create)
        .at(Method::GET, ONE, READ, read::one)
        .at(Method::PATCH, ONE, UPDATE, settings::disable)
        .at(Method::DELETE, ONE, DELETE, settings::delete)
        .at(Method::PATCH, WEBSITE, UPDATE, settings::website)
        .at(Method::PUT, IPS, UPDATE, settings::ips)
        .at(Method::GET, CREDITS, see, credits::get)
        .at(Method::PUT, CREDITS, set, credits::put)
        .at(Method::PATCH, REMAINING, adjust, credits::adjust)
        .with_state(desk)
}

/// The state that the handlers share.
#[derive(Clone)]
struct AppState {
    app: App,
    /// The authorizer, which applies changes made by this instance at once.
    gate: Authorizer,
}
