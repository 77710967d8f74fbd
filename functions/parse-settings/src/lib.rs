//! `/v3/user/webhooks/parse/…`: parse settings, statistics of received mail, and undelivered mails.

mod check;

#[cfg(test)]
mod reference;
mod settings;
mod stats;
mod undelivered;

use http::Method;
use posthaste_http::{Access, Authorizer, Routes};
use posthaste_model::Clock;
use posthaste_queue::Queue;
use posthaste_runtime::{Error, Platform};
use posthaste_spam::Filter;
use posthaste_store::Store;
use posthaste_webhook::Guard;

/// The dependencies of the handlers.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    /// The queue of `inbound-parse`, which receives replays.
    pub inbound: Queue,
    /// Checks every URL.
    pub guard: Guard,
    pub clock: Clock,
    /// Whether received mail gets a spam score: from the operator's filter, or from SES on AWS.
    pub scores_spam: bool,
}

impl App {
    /// Reads `TABLE_NAME` and `INBOUND_QUEUE_URL`.
    pub fn from_env(platform: &Platform) -> Result<Self, Error> {
        Ok(Self {
            store: platform.store()?,
            inbound: platform.queue("INBOUND_QUEUE_URL")?,
            guard: platform.part().unwrap_or_default(),
            clock: platform.clock(),
            scores_spam: !platform.process().is_single || platform.part::<Filter>().is_some(),
        })
    }
}

/// The routes of this function.
pub fn routes(app: App, gate: Authorizer) -> Routes {
    const ALL: &str = "/v3/user/webhooks/parse/settings";
    const ONE: &str = "/v3/user/webhooks/parse/settings/{hostname}";
    const STATS: &str = "/v3/user/webhooks/parse/stats";
    const UNDELIVERED: &str = "/v3/user/webhooks/parse/undelivered";
    const REPLAY: &str = "/v3/user/webhooks/parse/undelivered/replay";
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
        .with_state(app)
}
