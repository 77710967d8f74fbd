//! What the function works with.

use posthaste_model::{Clock, Entropy, HORIZON};
use posthaste_queue::Queue;
use posthaste_runtime::{Error, Platform};
use posthaste_store::Store;

/// The dependencies of the handlers.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    /// The send queue, which receives messages released from a batch.
    pub send: Queue,
    pub clock: Clock,
    pub entropy: Entropy,
    /// How far ahead a send may be scheduled, in seconds.
    pub horizon: i64,
}

impl App {
    /// Reads `TABLE_NAME`, `SEND_QUEUE_URL` and `HORIZON_SECONDS`.
    pub fn from_env(platform: &Platform) -> Result<Self, Error> {
        Ok(Self {
            store: platform.store()?,
            send: platform.queue("SEND_QUEUE_URL")?,
            clock: platform.clock(),
            entropy: platform.entropy(),
            horizon: platform.env().positive("HORIZON_SECONDS", HORIZON)?,
        })
    }
}
