//! `/v3/user/webhooks/event/…`: event webhooks, the posts to them, and their undelivered events.

mod app;
mod check;
mod fail;
mod posts;
#[cfg(test)]
mod reference;
mod replay;
mod settings;
mod signed;
mod trial;
mod undelivered;
mod wire;

use http::Method;
use posthaste_http::{Access, Authorizer, Routes};

pub use app::{App, MAX_WEBHOOKS};

/// The routes of this function. Those without an id act on the oldest webhook.
pub fn routes(app: App, gate: Authorizer) -> Routes {
    const ALL: &str = "/v3/user/webhooks/event/settings";
    const LIST: &str = "/v3/user/webhooks/event/settings/all";
    const ONE: &str = "/v3/user/webhooks/event/settings/{id}";
    const OLDEST_SIGNED: &str = "/v3/user/webhooks/event/settings/signed";
    const SIGNED: &str = "/v3/user/webhooks/event/settings/signed/{id}";
    const TEST: &str = "/v3/user/webhooks/event/test";
    const UNDELIVERED: &str = "/v3/user/webhooks/event/undelivered";
    const REPLAY: &str = "/v3/user/webhooks/event/undelivered/replay";
    const POSTS: &str = "/v3/user/webhooks/event/posts";
    const POST: &str = "/v3/user/webhooks/event/posts/{post_id}";
    const POST_AGAIN: &str = "/v3/user/webhooks/event/posts/replay";
    const POSTED_AGAIN: &str = "/v3/user/webhooks/event/posts/replay/{replay_id}";
    let read = Access::Scope("user.webhooks.event.settings.read");
    let update = Access::Scope("user.webhooks.event.settings.update");
    let create = Access::Scope("user.webhooks.event.settings.create");
    let delete = Access::Scope("user.webhooks.event.settings.delete");
    let test = Access::Scope("user.webhooks.event.test.create");
    Routes::new(gate)
        .at(Method::POST, ALL, create, settings::create)
        .at(Method::GET, ALL, read, settings::oldest)
        .at(Method::PATCH, ALL, update, settings::update_oldest)
        .at(Method::GET, LIST, read, settings::list)
        .at(Method::GET, OLDEST_SIGNED, read, signed::oldest)
        .at(Method::PATCH, OLDEST_SIGNED, update, signed::switch_oldest)
        .at(Method::GET, SIGNED, read, signed::one)
        .at(Method::PATCH, SIGNED, update, signed::switch)
        .at(Method::GET, ONE, read, settings::one)
        .at(Method::PATCH, ONE, update, settings::update)
        .at(Method::DELETE, ONE, delete, settings::delete)
        .at(Method::POST, TEST, test, trial::post)
        .at(Method::GET, UNDELIVERED, read, undelivered::list)
        .at(Method::POST, REPLAY, update, undelivered::replay)
        .at(Method::GET, POSTS, read, posts::list)
        .at(Method::POST, POST_AGAIN, update, replay::start)
        .at(Method::GET, POSTED_AGAIN, read, replay::state)
        .at(Method::GET, POST, read, posts::one)
        .with_state(app)
}
