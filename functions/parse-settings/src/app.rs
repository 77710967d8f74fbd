//! What the function works with.

use posthaste_model::Clock;
use posthaste_queue::Queue;
use posthaste_runtime::{Error, Platform};
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
}

impl App {
    /// Reads `TABLE_NAME` and `INBOUND_QUEUE_URL`.
    pub fn from_env(platform: &Platform) -> Result<Self, Error> {
        Ok(Self {
            store: platform.store()?,
            inbound: platform.queue("INBOUND_QUEUE_URL")?,
            guard: platform.part().unwrap_or_default(),
            clock: platform.clock(),
        })
    }
}
