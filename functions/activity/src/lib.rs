//! `/v3/messages/{msg_id}`, `/v3/stats`, `/v3/categories…`: what became of mails, one by one and
//! counted.

mod categories;
mod days;
mod message;
mod stats;

use axum::http::Method;
use posthaste_http::{Access, Gate, Routes};
use posthaste_model::Clock;
use posthaste_runtime::{Boot, ConfigError};
use posthaste_store::Store;

/// What the function works with.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    pub clock: Clock,
}

impl App {
    /// Reads `TABLE_NAME`.
    ///
    /// # Errors
    /// When it is not set.
    pub fn open(boot: &Boot) -> Result<Self, ConfigError> {
        Ok(Self {
            store: boot.store()?,
            clock: boot.clock(),
        })
    }
}

/// The function's routes, each with its scope.
pub fn routes(app: App, gate: Gate) -> Routes {
    let activity = Access::Scope("email_activity.read");
    let all = Access::Scope("stats.read");
    let named = Access::Scope("categories.stats.read");
    let names = Access::Scope("categories.read");
    Routes::new(gate)
        .at(Method::GET, "/v3/messages/{msg_id}", activity, message::one)
        .at(Method::GET, "/v3/stats", all, stats::global)
        .at(Method::GET, "/v3/categories", names, categories::list)
        .at(
            Method::GET,
            "/v3/categories/stats",
            named,
            stats::by_category,
        )
        .with_state(app)
}
