//! `/v3/user/webhooks/parse/…` and `/v3/user/webhooks/security/…`: parse settings, their security
//! policies, statistics of received mail, and undelivered mails.

mod check;
mod exchange;
mod policies;
mod policy_check;
#[cfg(test)]
mod reference;
mod settings;
mod stats;
mod undelivered;

use std::sync::Arc;

use http::Method;
use posthaste_dns::Resolver;
use posthaste_http::{Access, Authorizer, Rejection, Routes};
use posthaste_model::{Clock, Entropy, Hostname};
use posthaste_queue::Queue;
use posthaste_runtime::{Error, Platform};
use posthaste_spam::Filter;
use posthaste_store::Store;
use posthaste_webhook::{Guard, Sealer};

pub use policies::MOST_POLICIES;

/// The dependencies of the handlers.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    /// The queue of `inbound-parse`, which receives replays.
    pub inbound: Queue,
    /// Checks every URL.
    pub guard: Guard,
    /// Seals the secrets of security policies.
    pub sealer: Arc<Sealer>,
    pub clock: Clock,
    pub entropy: Entropy,
    /// Whether received mail gets a spam score: from the operator's filter, or from SES on AWS.
    pub scores_spam: bool,
    /// The host that MX records of hostnames are to name, if the operator says which.
    pub mail_host: Option<Hostname>,
    /// Looks MX records up; none on a host that queries no DNS.
    pub resolver: Option<Resolver>,
}

/// What looks MX records up on the local host.
#[derive(Clone)]
pub struct ReceivingDns(pub Option<Resolver>);

impl App {
    /// Reads `TABLE_NAME`, `INBOUND_QUEUE_URL`, `STACK_SECRET` and `MAIL_HOST`.
    pub fn from_env(platform: &Platform) -> Result<Self, Error> {
        Ok(Self {
            store: platform.store()?,
            inbound: platform.queue("INBOUND_QUEUE_URL")?,
            guard: platform.part().unwrap_or_default(),
            sealer: Arc::new(platform.env().parsed("STACK_SECRET")?),
            clock: platform.clock(),
            entropy: platform.entropy(),
            scores_spam: !platform.process().is_single || platform.part::<Filter>().is_some(),
            mail_host: platform.env().optional("MAIL_HOST")?,
            resolver: match platform.part::<ReceivingDns>() {
                Some(ReceivingDns(resolver)) => resolver,
                None => Some(Resolver::system()?),
            },
        })
    }

    /// Seals one secret of a policy.
    pub(crate) fn seal(&self, place: &str, plain: &[u8]) -> Result<String, Rejection> {
        let sealed = self.sealer.seal(&self.entropy, place, plain);
        sealed.map_err(|e| Rejection::internal(&e))
    }
}

/// The routes of this function.
pub fn routes(app: App, gate: Authorizer) -> Routes {
    const ALL: &str = "/v3/user/webhooks/parse/settings";
    const ONE: &str = "/v3/user/webhooks/parse/settings/{hostname}";
    const STATS: &str = "/v3/user/webhooks/parse/stats";
    const UNDELIVERED: &str = "/v3/user/webhooks/parse/undelivered";
    const REPLAY: &str = "/v3/user/webhooks/parse/undelivered/replay";
    const POLICIES: &str = "/v3/user/webhooks/security/policies";
    const POLICY: &str = "/v3/user/webhooks/security/policies/{id}";
    // Policies have the scopes of the settings that they secure: the published lists name no others.
    let read = Access::Scope("user.webhooks.parse.settings.read");
    let create = Access::Scope("user.webhooks.parse.settings.create");
    let update = Access::Scope("user.webhooks.parse.settings.update");
    let delete = Access::Scope("user.webhooks.parse.settings.delete");
    let count = Access::Scope("user.webhooks.parse.stats.read");
    Routes::new(gate)
        .at(Method::POST, ALL, create, settings::create)
        .at(Method::GET, ALL, read, settings::list)
        .at(Method::GET, ONE, read, settings::one)
        .at(Method::PATCH, ONE, update, settings::update)
        .at(Method::DELETE, ONE, delete, settings::delete)
        .at(Method::GET, STATS, count, stats::read)
        .at(Method::GET, UNDELIVERED, read, undelivered::list)
        .at(Method::POST, REPLAY, update, undelivered::replay)
        .at(Method::POST, POLICIES, create, policies::create)
        .at(Method::GET, POLICIES, read, policies::list)
        .at(Method::GET, POLICY, read, policies::one)
        .at(Method::PATCH, POLICY, update, policies::update)
        .at(Method::DELETE, POLICY, delete, policies::delete)
        .with_state(app)
}
