//! `/v3/mail_settings…` and `/v3/tracking_settings…`: settings for all mail of an account; and
//! `/v3/user/…`: the account itself, and whether its mail requires TLS; `/v3/teammates…`: its owner; and
//! `/v3/alerts…`: mails with its figures.
//!
//! A request's own setting overrides the account's (`posthaste_render::settings`). Changes take
//! effect within ten seconds.

mod alerts;
mod confirm;
mod endpoints;
mod field;
#[cfg(test)]
mod reference;
mod table;
mod teammates;
mod user;

use std::sync::Arc;

use axum::extract::State;
use axum::http::Method;
use posthaste_cache::Cache;
use posthaste_http::{Access, Authorizer, Caller, GatewayName, JsonBody, Query, Routes};
use posthaste_mailer::{Ses, SesAccount};
use posthaste_notices::Notices;
use posthaste_runtime::{Error, Platform};
use posthaste_store::Store;
use serde_json::{Map, Value};

use table::{ENFORCED_TLS, ENFORCED_TLS_BY_SES, MAIL, Setting, TRACKING};
pub use user::{Price, Prices};

/// The dependencies of the function.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    /// Sends the mails that confirm a forwarding address.
    pub notices: Notices,
    /// What mails cost.
    pub prices: Prices,
    /// SES, where mail leaves by it.
    pub ses: Option<Ses>,
    known_limits: Arc<Cache<(), SesAccount>>,
}

impl App {
    /// Reads `TABLE_NAME`, `SEND_QUEUE_URL`, `BOUNCE_DOMAIN`, `SYSTEM_SENDER` (`no-reply` at the
    /// bounce domain), `PUBLIC_URL` (the gateway's), `SERVICE_PRICE` (0), `RELAY_PRICE` (0),
    /// `DELIVERY` (`ses`, or anything else).
    pub fn from_env(platform: &Platform) -> Result<Self, Error> {
        let price = |name| platform.env().or_default(name, Price::default());
        Ok(Self {
            store: platform.store()?,
            notices: Notices::open(platform)?,
            prices: Prices {
                service: price("SERVICE_PRICE")?,
                relay: price("RELAY_PRICE")?,
            },
            ses: match (platform.part(), platform.env().get("DELIVERY").as_deref()) {
                (Some(ses), _) => Some(ses),
                (None, Some("ses")) => Some(Ses::new(platform.aws("DELIVERY")?, None)),
                (None, Some(_) | None) => None,
            },
            known_limits: Arc::default(),
        })
    }
}

/// The state that the handlers share.
#[derive(Clone)]
struct AppState {
    store: Store,
    notices: Notices,
    prices: Prices,
    ses: Option<Ses>,
    /// As SES answered within ten seconds: it answers such calls once a second.
    known_limits: Arc<Cache<(), SesAccount>>,
    /// The authorizer, which applies changes made by this instance at once.
    gate: Authorizer,
}

/// The function's routes, each with its scope.
pub fn routes(app: App, gate: Authorizer) -> Routes {
    let enforced_tls = if app.ses.is_some() {
        ENFORCED_TLS_BY_SES
    } else {
        ENFORCED_TLS
    };
    let state = AppState {
        store: app.store,
        notices: app.notices,
        prices: app.prices,
        ses: app.ses,
        known_limits: app.known_limits,
        gate: gate.clone(),
    };
    let routes = teammates::routes(alerts::routes(user::routes(Routes::new(gate))));
    let mut routes = with(routes, enforced_tls)
        .at(Method::GET, confirm::PATH, Access::Public, confirm::ask)
        .at(Method::POST, confirm::PATH, Access::Public, confirm::accept);
    for (path, scope, settings) in [
        ("/v3/mail_settings", "mail_settings.read", MAIL),
        ("/v3/tracking_settings", "tracking_settings.read", TRACKING),
    ] {
        let list = move |State(state): State<AppState>, caller: Caller, query: Query| {
            endpoints::list(state, caller, query, settings)
        };
        routes = routes.at(Method::GET, path, Access::Scope(scope), list);
        for setting in settings {
            routes = with(routes, setting);
        }
    }
    routes.with_state(state)
}

/// The two routes of one setting.
fn with(routes: Routes<AppState>, setting: &'static Setting) -> Routes<AppState> {
    let [read, update] = setting.scopes.map(Access::Scope);
    let get = move |State(state): State<AppState>, caller: Caller| {
        endpoints::read(state, caller, setting)
    };
    let patch = move |State(state): State<AppState>,
                      caller: Caller,
                      gateway: GatewayName,
                      JsonBody(body): JsonBody<Map<String, Value>>| {
        endpoints::change(state, (caller, gateway), body, setting)
    };
    routes
        .at(Method::GET, setting.path, read, get)
        .at(Method::PATCH, setting.path, update, patch)
}
