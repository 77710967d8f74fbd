//! `/v3/whitelabel/domains…`, `/v3/verified_senders…` and `/v3/senders…`: the senders an account may use;
//! `/v3/whitelabel/links…`: the hosts of its links.
//!
//! The v3 API has no scopes for verified senders; the scopes of domains apply, since both grant the
//! right to send.

mod app;
mod branded_links;
mod create;
mod domains;
mod lending;
mod links;
mod older_senders;
mod page;
#[cfg(test)]
mod reference;
mod senders;
mod sharing;
mod spf;
mod validate;
mod wire;

use axum::extract::FromRef;
use axum::http::Method;
use posthaste_http::{Access, Authorizer, Dialect, Routes};

pub use app::App;

const CREATE: Access = Access::Scope("whitelabel.create");
const READ: Access = Access::Scope("whitelabel.read");
const UPDATE: Access = Access::Scope("whitelabel.update");
const DELETE: Access = Access::Scope("whitelabel.delete");

/// The routes of this function, each with its scope.
pub fn routes(app: App, gate: Authorizer) -> Routes {
    let state = AppState {
        app,
        gate: gate.clone(),
    };
    let routes = older_senders::routes(branded_links::routes(domains_of(Routes::new(gate))));
    senders_of(routes).with_state(state)
}

/// What the handlers share; most of them want the [`App`] alone.
#[derive(Clone)]
struct AppState {
    app: App,
    gate: Authorizer,
}

impl FromRef<AppState> for App {
    fn from_ref(state: &AppState) -> Self {
        state.app.clone()
    }
}

impl FromRef<AppState> for Authorizer {
    fn from_ref(state: &AppState) -> Self {
        state.gate.clone()
    }
}

fn domains_of(routes: Routes<AppState>) -> Routes<AppState> {
    const ALL: &str = "/v3/whitelabel/domains";
    const DEFAULT: &str = "/v3/whitelabel/domains/default";
    const LENT: &str = "/v3/whitelabel/domains/subuser";
    const ALL_LENT: &str = "/v3/whitelabel/domains/subuser/all";
    const ONE: &str = "/v3/whitelabel/domains/{id}";
    const VALIDATE: &str = "/v3/whitelabel/domains/{id}/validate";
    const IPS: &str = "/v3/whitelabel/domains/{id}/ips";
    const IP: &str = "/v3/whitelabel/domains/{id}/ips/{ip}";
    const LEND: &str = "/v3/whitelabel/domains/{id}/subuser";
    const LEND_MORE: &str = "/v3/whitelabel/domains/{id}/subuser:add";
    const DNS_MAIL: &str = "/v3/whitelabel/dns/email";
    routes
        .at(Method::POST, ALL, CREATE, create::create)
        .at(Method::GET, ALL, READ, domains::list)
        .at(Method::GET, DEFAULT, READ, domains::default)
        .at(Method::GET, LENT, READ, lending::one)
        .at(Method::DELETE, LENT, DELETE, lending::take_all_back)
        .at(Method::GET, ALL_LENT, READ, lending::all)
        .at(Method::GET, ONE, READ, domains::one)
        .at(Method::PATCH, ONE, UPDATE, domains::update)
        .at(Method::DELETE, ONE, DELETE, domains::delete)
        .at(Method::POST, VALIDATE, UPDATE, validate::validate)
        .at(Method::POST, IPS, UPDATE, domains::add_ip)
        .at(Method::DELETE, IP, UPDATE, domains::remove_ip)
        .at(Method::POST, LEND, CREATE, lending::lend)
        .at(Method::POST, LEND_MORE, CREATE, lending::lend_more)
        .at(Method::DELETE, LEND, DELETE, lending::take_back)
        .at(Method::POST, DNS_MAIL, CREATE, sharing::mail_records)
}

fn senders_of(routes: Routes<AppState>) -> Routes<AppState> {
    const ALL: &str = "/v3/verified_senders";
    const DOMAINS: &str = "/v3/verified_senders/domains";
    const STEPS: &str = "/v3/verified_senders/steps_completed";
    const ONE: &str = "/v3/verified_senders/{id}";
    const RESEND: &str = "/v3/verified_senders/resend/{id}";
    const VERIFY: &str = "/v3/verified_senders/verify/{token}";
    routes
        .dialect(Dialect::Senders)
        .at(Method::POST, ALL, CREATE, senders::create)
        .at(Method::GET, ALL, READ, senders::list)
        .at(Method::GET, DOMAINS, READ, senders::domains)
        .at(Method::GET, STEPS, READ, senders::steps_completed)
        .at(Method::PATCH, ONE, UPDATE, senders::update)
        .at(Method::DELETE, ONE, DELETE, senders::delete)
        .at(Method::POST, RESEND, CREATE, links::resend)
        .at(Method::GET, VERIFY, READ, links::verify)
        .at(Method::GET, links::PATH, Access::Public, page::ask)
        .at(Method::POST, links::PATH, Access::Public, page::confirm)
}
