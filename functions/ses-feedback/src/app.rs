//! The dependencies of the worker.

use std::sync::Arc;

use posthaste_blob::Blob;
use posthaste_mailer::Ses;
use posthaste_model::{Clock, Hostname, Verp};
use posthaste_queue::Queue;
use posthaste_render::KeyRing;
use posthaste_runtime::{ConfigError, Platform};
use posthaste_store::Store;
use tokio::sync::Mutex;

/// The dependencies of `ses-feedback`.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    /// The feedback queue, for mails that the local host accepts.
    pub feedback: Queue,
    /// The event queue.
    pub events: Queue,
    /// Stores mails for the bounce domain until they are read.
    pub blob: Blob,
    /// Verifies the marks of envelope senders.
    pub keys: KeyRing,
    /// The domain that receives bounces by mail; `None` if there is none.
    pub bounce_domain: Option<Hostname>,
    /// Answers questions about copies without news; `None` where the owner does not pay for that.
    pub ses: Option<Ses>,
    pub clock: Clock,
    /// The number of messages processed concurrently.
    pub concurrency: usize,
    /// Held while a mail is in memory: SES takes mails of up to 40 MB, and a function has 256 MB.
    pub mail_in_memory: Arc<Mutex<()>>,
}

impl App {
    /// Reads `TABLE_NAME`, `FEEDBACK_QUEUE_URL`, `EVENTS_QUEUE_URL`, `BUCKET_NAME`,
    /// `STACK_SECRET`, `BOUNCE_DOMAIN`, `AT_ONCE`, `MESSAGE_INSIGHTS` (`false`).
    pub fn from_env(platform: &Platform) -> Result<Self, ConfigError> {
        let vars = platform.env();
        Ok(Self {
            store: platform.store()?,
            feedback: platform.queue("FEEDBACK_QUEUE_URL")?,
            events: platform.queue("EVENTS_QUEUE_URL")?,
            blob: platform.blob()?,
            keys: vars.parsed("STACK_SECRET")?,
            bounce_domain: vars.optional("BOUNCE_DOMAIN")?,
            ses: match platform.part() {
                Some(ses) => Some(ses),
                None if vars.or_default("MESSAGE_INSIGHTS", false)? => {
                    Some(Ses::new(platform.aws("MESSAGE_INSIGHTS")?, None))
                }
                None => None,
            },
            clock: platform.clock(),
            concurrency: vars.positive("AT_ONCE", 10)?,
            mail_in_memory: Arc::default(),
        })
    }

    /// The local part of an address of the bounce domain.
    pub(crate) fn local<'a>(&self, address: &'a str) -> Option<&'a str> {
        let (local, domain) = address.rsplit_once('@')?;
        let ours = self.bounce_domain.as_ref()?;
        domain.eq_ignore_ascii_case(ours.as_str()).then_some(local)
    }

    /// The copy that an envelope sender names; `None` if the mark is not ours.
    pub(crate) fn copy(&self, address: &str) -> Option<Verp> {
        let (verp, mark) = Verp::parse(self.local(address)?).ok()?;
        self.keys.has_marked(&verp.claim(), mark).then_some(verp)
    }
}
