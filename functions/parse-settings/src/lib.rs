//! `/v3/user/webhooks/parse/…`: parse settings, statistics of received mail, and undelivered mails.

mod app;
mod check;
mod lost;
mod settings;
mod stats;

use http::Method;
use posthaste_http::{Access, Authorizer, Routes};

pub use app::App;

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
        .at(Method::GET, UNDELIVERED, read, lost::list)
        .at(Method::POST, REPLAY, update, lost::replay)
        .with_state(app)
}
