//! What the function works with.

use posthaste_model::{Clock, Entropy, HORIZON};
use posthaste_queue::Queue;
use posthaste_runtime::{Error, Platform};
use posthaste_store::Store;

/// Everything the handlers need.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    /// The send queue: what a batch held back leaves through it.
    pub send: Queue,
    pub clock: Clock,
    pub entropy: Entropy,
    /// How far ahead a send may be scheduled, in seconds.
    pub horizon: i64,
}

impl App {
    /// Reads `TABLE_NAME`, `SEND_QUEUE_URL` and `HORIZON_SECONDS`.
    ///
    /// # Errors
    /// When one that must be there is not, or one cannot be read.
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
