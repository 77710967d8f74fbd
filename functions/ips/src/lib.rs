//! `/v3/ips…` and `/v3/whitelabel/ips…`: the addresses that mail leaves from, their pools, and their names in the DNS.
//!
//! SES has the dedicated addresses of the operator; a relay does not say which it has, so there is none to show.

mod addresses;
mod pools;
#[cfg(test)]
mod reference;
mod reverse_dns;

use std::sync::Arc;

use axum::http::Method;
use posthaste_cache::Cache;
use posthaste_dns::Resolver;
use posthaste_http::{Access, Authorizer, Caller, Rejection, Routes};
use posthaste_mailer::{DedicatedIp, Ses};
use posthaste_model::Clock;
use posthaste_runtime::{Error, Platform};
use posthaste_store::Store;

/// The dependencies of the function.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    pub clock: Clock,
    /// SES, where mail leaves by it.
    pub ses: Option<Ses>,
    /// Looks up the names of addresses; none on a host that asks no DNS.
    pub resolver: Option<Resolver>,
    known_ips: Arc<Cache<(), Vec<DedicatedIp>>>,
}

/// What looks up the names of addresses on the local host.
#[derive(Clone)]
pub struct NameDns(pub Option<Resolver>);

impl App {
    /// Reads `TABLE_NAME`, `DELIVERY` (`ses`, or anything else).
    pub fn from_env(platform: &Platform) -> Result<Self, Error> {
        Ok(Self {
            store: platform.store()?,
            clock: platform.clock(),
            ses: match (platform.part(), platform.env().get("DELIVERY").as_deref()) {
                (Some(ses), _) => Some(ses),
                (None, Some("ses")) => Some(Ses::new(platform.aws("DELIVERY")?, None)),
                (None, Some(_) | None) => None,
            },
            resolver: match platform.part::<NameDns>() {
                Some(NameDns(resolver)) => resolver,
                None => Some(Resolver::system()?),
            },
            known_ips: Arc::default(),
        })
    }

    /// The dedicated addresses that an account's mail may leave from: those assigned to a subuser, and for any other
    /// account all of the deployment.
    pub(crate) async fn dedicated_of(
        &self,
        caller: &Caller,
    ) -> Result<Vec<DedicatedIp>, Rejection> {
        let mut all = self.dedicated().await?;
        let account = &caller.account;
        if account.parent.is_some() {
            all.retain(|known| account.ips.contains(&known.ip));
        }
        Ok(all)
    }

    /// The dedicated addresses of the deployment, as they were within ten seconds: SES answers such calls once a
    /// second.
    async fn dedicated(&self) -> Result<Vec<DedicatedIp>, Rejection> {
        let Some(ses) = &self.ses else {
            return Ok(Vec::new());
        };
        let now = self.clock.now().millis();
        if let Some(known) = self.known_ips.get(&(), now) {
            return Ok(known);
        }
        let found = ses.dedicated_ips().await;
        let found = found.map_err(|error| Rejection::unavailable(&error))?;
        self.known_ips.put((), found.clone(), now);
        Ok(found)
    }

    /// One of the caller's dedicated addresses; 404 for any other.
    pub(crate) async fn dedicated_ip(
        &self,
        caller: &Caller,
        ip: &str,
    ) -> Result<DedicatedIp, Rejection> {
        let all = self.dedicated_of(caller).await?;
        let found = all.into_iter().find(|known| known.ip == ip);
        found.ok_or_else(Rejection::not_found)
    }

    /// The subusers of the caller that an address is assigned to, by name.
    pub(crate) async fn subusers_with(
        &self,
        caller: &Caller,
    ) -> Result<Vec<(String, Vec<String>)>, Rejection> {
        let subusers = self.store.subusers(caller.id()).await?;
        let with = subusers
            .into_iter()
            .map(|account| (account.username, account.ips));
        Ok(with.collect())
    }
}

/// The function's routes, each with its scope.
pub fn routes(app: App, gate: Authorizer) -> Routes {
    let scope = Access::Scope;
    let routes = Routes::new(gate)
        .at(Method::GET, "/v3/ips", scope("ips.read"), addresses::list)
        .at(Method::POST, "/v3/ips", scope("ips.create"), addresses::add)
        .at(
            Method::GET,
            "/v3/ips/assigned",
            scope("ips.assigned.read"),
            addresses::assigned,
        )
        .at(
            Method::GET,
            "/v3/ips/remaining",
            scope("ips.read"),
            addresses::remaining,
        )
        .at(
            Method::GET,
            "/v3/ips/{ip_address}",
            scope("ips.read"),
            addresses::one,
        );
    reverse_dns::routes(pools::routes(warm_up(routes))).with_state(app)
}

fn warm_up(routes: Routes<App>) -> Routes<App> {
    const ALL: &str = "/v3/ips/warmup";
    const ONE: &str = "/v3/ips/warmup/{ip_address}";
    let scope = Access::Scope;
    let (create, read) = (scope("ips.warmup.create"), scope("ips.warmup.read"));
    routes
        .at(Method::POST, ALL, create, addresses::warm_up)
        .at(Method::GET, ALL, read, addresses::warming)
        .at(Method::GET, ONE, read, addresses::warming_one)
        .at(
            Method::DELETE,
            ONE,
            scope("ips.warmup.delete"),
            addresses::stop_warming,
        )
}
