//! The dependencies of the worker.

use std::fmt;
use std::sync::Arc;

use posthaste_model::{Clock, EmailAddress, Entropy, Event, Timestamp};
use posthaste_queue::{Bus, Queue};
use posthaste_runtime::{Error, Platform};
use posthaste_store::{Store, Webhook};
use posthaste_webhook::{
    ClientConfig, Guard, PostOutcome, Schedule, Sealer, Tokens, WebhookClient,
};

use crate::breaker::WebhookBreakers;

/// The dependencies of `webhook-fanout`.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    /// The event queue.
    pub events: Queue,
    /// The webhook retry queue.
    pub retries: Queue,
    /// The event bus that receives notices.
    pub bus: Bus,
    /// Forwards bounces and spam reports by mail; `None` if no sender is configured.
    pub forwarding: Option<Forwarding>,
    pub client: WebhookClient,
    pub tokens: Arc<Tokens>,
    pub sealer: Arc<Sealer>,
    pub breaker: Arc<WebhookBreakers>,
    pub clock: Clock,
    pub entropy: Entropy,
    pub retry_policy: RetryPolicy,
    /// Whether every event is also published on the bus.
    pub publish_events: bool,
    /// Seconds for which mails can be searched; `None` if the search is disabled.
    pub searchable: Option<i64>,
    /// The number of accounts and retries processed concurrently.
    pub concurrency: usize,
    pub watch: Watch,
}

/// Timeouts and retention periods, in seconds unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// A webhook is disabled after all of its posts have failed for this long.
    pub disable_after: i64,
    /// How long a dead letter is stored.
    pub dead_letters: i64,
    /// A webhook that takes this many milliseconds to answer gets its events from the retry queue.
    pub slow_ms: u64,
    /// When a failed post is tried again.
    pub schedule: Schedule,
}

impl Default for RetryPolicy {
    /// Three days, the longest wait anywhere in the service; thirty days; three seconds, which with
    /// the one-second gathering delay leaves one of the five seconds allowed.
    fn default() -> Self {
        Self {
            disable_after: 3 * 86_400,
            dead_letters: 30 * 86_400,
            slow_ms: 3_000,
            schedule: Schedule::Events,
        }
    }
}

/// How notices are sent.
#[derive(Clone, Debug)]
pub struct Forwarding {
    /// The send queue.
    pub send: Queue,
    /// The sender of notices.
    pub from: EmailAddress,
}

/// One post and its result.
#[derive(Debug)]
pub struct Posted<'a> {
    pub webhook: &'a Webhook,
    pub events: &'a [Event],
    /// The number of the attempt; the first is 1.
    pub attempt: u32,
    pub at: Timestamp,
    pub outcome: &'a PostOutcome,
}

/// Called after every post; the local host shows the posts beside the mails.
#[derive(Clone)]
pub struct Watch(Arc<dyn Fn(&Posted<'_>) + Send + Sync>);

impl Watch {
    /// Wraps a function that is called after every post. It must return quickly.
    pub fn new(see: impl Fn(&Posted<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(see))
    }

    /// Observes nothing.
    pub fn none() -> Self {
        Self::new(|_| {})
    }

    pub(crate) fn see(&self, posted: &Posted<'_>) {
        (self.0)(posted);
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch(…)")
    }
}

impl App {
    /// Reads `TABLE_NAME`, `EVENTS_QUEUE_URL`, `RETRIES_QUEUE_URL`, `BUS_NAME`, `STACK_SECRET`, `PUBLISH_EVENTS`
    /// (`true` or `false`), `WEBHOOK_DISABLE_DAYS`, `DEAD_LETTER_DAYS`, `SEARCH_DAYS` (0: no
    /// search), `AT_ONCE`, `SEND_QUEUE_URL`, `BOUNCE_DOMAIN`, `SYSTEM_SENDER` (`no-reply` at the
    /// bounce domain).
    pub fn from_env(platform: &Platform) -> Result<Self, Error> {
        const DAY: i64 = 86_400;
        let vars = platform.env();
        let default = RetryPolicy::default();
        let days = |name, seconds: i64| {
            vars.positive(name, seconds / DAY)
                .map(|n| n.saturating_mul(DAY))
        };
        Ok(Self {
            store: platform.store()?,
            forwarding: Some(Forwarding {
                send: platform.queue("SEND_QUEUE_URL")?,
                from: platform.system_sender()?,
            }),
            events: platform.queue("EVENTS_QUEUE_URL")?,
            retries: platform.queue("RETRIES_QUEUE_URL")?,
            bus: platform.bus()?,
            client: WebhookClient::open(ClientConfig {
                guard: platform.part::<Guard>().unwrap_or_default(),
                ..ClientConfig::default()
            })?,
            tokens: Arc::new(Tokens::new(platform.clock())),
            sealer: Arc::new(vars.parsed("STACK_SECRET")?),
            breaker: Arc::default(),
            clock: platform.clock(),
            entropy: platform.entropy(),
            retry_policy: RetryPolicy {
                disable_after: days("WEBHOOK_DISABLE_DAYS", default.disable_after)?,
                dead_letters: days("DEAD_LETTER_DAYS", default.dead_letters)?,
                slow_ms: default.slow_ms,
                schedule: platform.part().unwrap_or(default.schedule),
            },
            publish_events: vars.or_default("PUBLISH_EVENTS", false)?,
            searchable: Some(vars.or_default("SEARCH_DAYS", 0_u32)?)
                .filter(|days| *days > 0)
                .map(|days| i64::from(days).saturating_mul(DAY)),
            concurrency: vars.positive("AT_ONCE", 64)?,
            watch: platform.part().unwrap_or_else(Watch::none),
        })
    }
}
