//! The dependencies of the worker.

use std::time::Duration;

use posthaste_model::Clock;
use posthaste_queue::Queue;
use posthaste_runtime::{Error, Platform};
use posthaste_store::{NEAR, Store};

/// How far a sweep looks ahead, in seconds: two calls may fail or be missed before anything is
/// late. Less than [`NEAR`], so that a minute is complete when it is first read.
pub const AHEAD: i64 = 180;
const _: () = assert!(AHEAD < NEAR);

/// The dependencies of the sweep.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    /// The send queue.
    pub send: Queue,
    /// The webhook retry queue.
    pub retries: Queue,
    /// The inbound queue.
    pub inbound: Queue,
    pub clock: Clock,
    /// The time after which a sweep starts no new turn and leaves the rest to the next.
    pub budget: Duration,
    /// How many partitions are read at once.
    pub at_once: usize,
}

impl App {
    /// Reads `TABLE_NAME`, `SEND_QUEUE_URL`, `RETRIES_QUEUE_URL`, `INBOUND_QUEUE_URL`,
    /// `SWEEP_SECONDS` (of work per call, 45) and `SWEEP_AT_ONCE` (16).
    pub fn from_env(platform: &Platform) -> Result<Self, Error> {
        let vars = platform.env();
        Ok(Self {
            store: platform.store()?,
            send: platform.queue("SEND_QUEUE_URL")?,
            retries: platform.queue("RETRIES_QUEUE_URL")?,
            inbound: platform.queue("INBOUND_QUEUE_URL")?,
            clock: platform.clock(),
            // The rule fires every minute: a sweep that ends before the next one begins does not
            // read the same rows at the same time.
            budget: Duration::from_secs(vars.positive("SWEEP_SECONDS", 45)?),
            at_once: vars.positive("SWEEP_AT_ONCE", 16)?,
        })
    }
}
