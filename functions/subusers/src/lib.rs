//! `/v3/subusers…` and `/v3/partners/accounts`: accounts under an account, and how much they may send; and
//! `/v3/partner_settings…`.

mod accounts;
mod credits;
mod monitor;
mod partner_settings;
#[cfg(test)]
mod reference;
mod wire;

use axum::http::{Method, StatusCode};
use posthaste_http::{Access, Authorizer, Caller, Rejection, Routes};
use posthaste_kept::KeptMails;
use posthaste_model::{Clock, Entropy};
use posthaste_runtime::{ConfigError, Platform};
use posthaste_store::{Account, Store};

/// The dependencies of the function.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    /// The composed mails of accounts, which are deleted with them.
    pub kept: KeptMails,
    pub clock: Clock,
    pub entropy: Entropy,
}

impl App {
    /// Reads `TABLE_NAME` and `BUCKET_NAME`.
    pub fn from_env(platform: &Platform) -> Result<Self, ConfigError> {
        let store = platform.store()?;
        Ok(Self {
            kept: KeptMails::new(store.clone(), platform.blob()?),
            store,
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
const MONITOR: &str = "/v3/subusers/{subuser_name}/monitor";
const CUSTOMERS: &str = "/v3/partners/accounts";
const PARTNER_SETTINGS: &str = "/v3/partner_settings";
const NEW_RELIC: &str = "/v3/partner_settings/new_relic";

const CREATE: Access = Access::Scope("subusers.create");
const READ: Access = Access::Scope("subusers.read");
const UPDATE: Access = Access::Scope("subusers.update");
const DELETE: Access = Access::Scope("subusers.delete");
const MONITOR_CREATE: Access = Access::Scope("subusers.monitor.create");
const MONITOR_READ: Access = Access::Scope("subusers.monitor.read");
const MONITOR_UPDATE: Access = Access::Scope("subusers.monitor.update");
const MONITOR_DELETE: Access = Access::Scope("subusers.monitor.delete");

/// The function's routes, each with its scope.
pub fn routes(app: App, gate: Authorizer) -> Routes {
    let state = AppState {
        app,
        gate: gate.clone(),
    };
    let see = Access::Scope("subusers.credits.read");
    let set = Access::Scope("subusers.credits.update");
    let adjust = Access::Scope("subusers.credits.remaining.update");
    let partners = Access::Scope("partner_settings.read");
    let new_relic = Access::Scope("partner_settings.new_relic.read");
    let change = Access::Scope("partner_settings.new_relic.update");
    Routes::new(gate)
        .at(Method::GET, ALL, READ, accounts::list)
        .at(Method::GET, CUSTOMERS, READ, accounts::customers)
        .at(Method::POST, ALL, CREATE, accounts::create)
        .at(Method::GET, ONE, READ, accounts::one)
        .at(Method::PATCH, ONE, UPDATE, accounts::disable)
        .at(Method::DELETE, ONE, DELETE, accounts::delete)
        .at(Method::PATCH, WEBSITE, UPDATE, accounts::website)
        .at(Method::PUT, IPS, UPDATE, accounts::ips)
        .at(Method::GET, CREDITS, see, credits::get)
        .at(Method::PUT, CREDITS, set, credits::put)
        .at(Method::PATCH, REMAINING, adjust, credits::adjust)
        .at(Method::GET, MONITOR, MONITOR_READ, monitor::get)
        .at(Method::POST, MONITOR, MONITOR_CREATE, monitor::create)
        .at(Method::PUT, MONITOR, MONITOR_UPDATE, monitor::change)
        .at(Method::DELETE, MONITOR, MONITOR_DELETE, monitor::delete)
        .at(
            Method::GET,
            PARTNER_SETTINGS,
            partners,
            partner_settings::list,
        )
        .at(
            Method::GET,
            NEW_RELIC,
            new_relic,
            partner_settings::new_relic,
        )
        .at(
            Method::PATCH,
            NEW_RELIC,
            change,
            partner_settings::change_new_relic,
        )
        .with_state(state)
}

/// The state that the handlers share.
#[derive(Clone)]
struct AppState {
    app: App,
    /// The authorizer, which applies changes made by this instance at once.
    gate: Authorizer,
}

impl AppState {
    /// The caller's subuser of this name; `None` if it belongs to another account.
    async fn subuser(&self, caller: &Caller, username: &str) -> Result<Option<Account>, Rejection> {
        check_parent(caller)?;
        let store = &self.app.store;
        let Some(id) = store.subuser_id(caller.id(), username).await? else {
            return Ok(None);
        };
        let account = store.account(&id).await?;
        Ok(account.filter(|account| account.parent.as_ref() == Some(caller.id())))
    }
}

/// Rejects a subuser: it has no subusers.
fn check_parent(caller: &Caller) -> Result<(), Rejection> {
    if caller.account.is_subuser() {
        let message = "you dont have permission to access this resource";
        return Err(Rejection::plain(StatusCode::FORBIDDEN, message));
    }
    Ok(())
}
