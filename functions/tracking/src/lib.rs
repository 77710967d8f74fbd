//! The targets of links in mails: the open pixel, the click redirect, the unsubscribe pages.
//!
//! Public: anyone with the mail has the links. Every link is a signed token; redirects lead only to
//! signed URLs, and a `GET` has no effect except being counted.

mod host;
mod landing;
mod page;
#[cfg(test)]
mod reference;
mod seen;
mod unsubscribe;
mod visit;

use http::Method;
use posthaste_http::{Access, Authorizer, Routes};
use posthaste_model::{Clock, Entropy};
use posthaste_queue::Queue;
use posthaste_render::{CLICK_PATH, KeyRing, OPEN_PATH, PREFERENCES_PATH, UNSUBSCRIBE_PATH};
use posthaste_runtime::{Error, Platform};
use posthaste_store::Store;

pub use host::KnownHosts;

/// The dependencies of the handlers.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    /// The event queue.
    pub events: Queue,
    /// Verifies tokens; those of an older secret are valid while the ring holds it.
    pub keys: KeyRing,
    /// The hosts under which not every link works.
    pub hosts: KnownHosts,
    pub clock: Clock,
    pub entropy: Entropy,
}

impl App {
    /// Reads `TABLE_NAME`, `EVENTS_QUEUE_URL`, `STACK_SECRET`.
    pub fn from_env(platform: &Platform) -> Result<Self, Error> {
        Ok(Self {
            store: platform.store()?,
            events: platform.queue("EVENTS_QUEUE_URL")?,
            keys: platform.env().parsed("STACK_SECRET")?,
            hosts: KnownHosts::default(),
            clock: platform.clock(),
            entropy: platform.entropy(),
        })
    }
}

/// The routes of this function.
pub fn routes(app: App, gate: Authorizer) -> Routes {
    let open = Access::Public;
    Routes::new(gate)
        .at(Method::GET, OPEN_PATH, open, seen::opened)
        .at(Method::HEAD, OPEN_PATH, open, seen::opened)
        .at(Method::GET, CLICK_PATH, open, seen::clicked)
        .at(Method::HEAD, CLICK_PATH, open, seen::clicked)
        .at(Method::GET, UNSUBSCRIBE_PATH, open, unsubscribe::ask)
        .at(Method::HEAD, UNSUBSCRIBE_PATH, open, unsubscribe::ask)
        .at(Method::POST, UNSUBSCRIBE_PATH, open, unsubscribe::leave)
        .at(
            Method::GET,
            PREFERENCES_PATH,
            open,
            unsubscribe::preferences,
        )
        .at(
            Method::HEAD,
            PREFERENCES_PATH,
            open,
            unsubscribe::preferences,
        )
        .at(Method::POST, PREFERENCES_PATH, open, unsubscribe::choose)
        .with_state(app)
}
