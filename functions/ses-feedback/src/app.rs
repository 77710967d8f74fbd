//! What the worker needs.

use posthaste_blob::Blob;
use posthaste_model::{Clock, Hostname, Verp};
use posthaste_queue::Queue;
use posthaste_render::KeyRing;
use posthaste_runtime::{ConfigError, Platform};
use posthaste_store::Store;

/// Everything `ses-feedback` works with.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    /// Its own queue, for mails that come in at the door.
    pub feedback: Queue,
    /// The event queue.
    pub events: Queue,
    /// Where mails for the bounce domain lie until they are read.
    pub blob: Blob,
    /// Tells envelope senders of ours from invented ones.
    pub keys: KeyRing,
    /// Where bounces come back to by mail; nowhere without one.
    pub bounce_domain: Option<Hostname>,
    pub clock: Clock,
    /// How many messages are in the works at once.
    pub at_once: usize,
}

impl App {
    /// Reads `TABLE_NAME`, `FEEDBACK_QUEUE_URL`, `EVENTS_QUEUE_URL`, `BUCKET_NAME`,
    /// `STACK_SECRET`, `BOUNCE_DOMAIN`, `AT_ONCE`.
    ///
    /// # Errors
    /// When one that must be there is not, or one cannot be read.
    pub fn from_env(platform: &Platform) -> Result<Self, ConfigError> {
        let vars = platform.env();
        Ok(Self {
            store: platform.store()?,
            feedback: platform.queue("FEEDBACK_QUEUE_URL")?,
            events: platform.queue("EVENTS_QUEUE_URL")?,
            blob: platform.blob()?,
            keys: vars.parsed("STACK_SECRET")?,
            bounce_domain: vars.optional("BOUNCE_DOMAIN")?,
            clock: platform.clock(),
            at_once: vars.positive("AT_ONCE", 10)?,
        })
    }

    /// The local part of an address of the bounce domain.
    pub(crate) fn local<'a>(&self, address: &'a str) -> Option<&'a str> {
        let (local, domain) = address.rsplit_once('@')?;
        let ours = self.bounce_domain.as_ref()?;
        domain.eq_ignore_ascii_case(ours.as_str()).then_some(local)
    }

    /// The copy that an envelope sender of ours names. One whose mark is not ours names none.
    pub(crate) fn copy(&self, address: &str) -> Option<Verp> {
        let (verp, mark) = Verp::parse(self.local(address)?).ok()?;
        self.keys.has_marked(&verp.claim(), mark).then_some(verp)
    }
}
