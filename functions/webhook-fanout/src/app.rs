//! The dependencies of the worker.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use posthaste_dns::Resolver;
use posthaste_model::{Clock, EmailAddress, Entropy, Event};
use posthaste_queue::{Bus, Queue};
use posthaste_runtime::{Error, Platform};
use posthaste_store::Store;
use posthaste_webhook::{ClientConfig, Guard, Schedule, Sealer, Tokens, WebhookClient};

use crate::breaker::WebhookBreakers;
use crate::mailbox_hosts::MailboxHosts;
use crate::severity::ReputationGuard;

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
    /// What is done about accounts whose mail bounces or is reported as spam too often.
    pub guard: ReputationGuard,
    /// The mailbox providers of recipients, for statistics.
    pub mailbox_hosts: Arc<MailboxHosts>,
    /// Seconds for which mails can be searched; `None` if the search is disabled.
    pub searchable: Option<i64>,
    /// The number of accounts and retries processed concurrently.
    pub concurrency: usize,
    /// Whether posts are stored for their owner to look at.
    pub stores_posts: bool,
    /// None on AWS.
    pub observer: Option<Arc<dyn EventObserver>>,
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

/// What looks up the MX records of recipients on the local host; none where it asks no DNS.
#[derive(Clone)]
pub struct RecipientDns(pub Option<Resolver>);

/// How notices are sent.
#[derive(Clone, Debug)]
pub struct Forwarding {
    /// The send queue.
    pub send: Queue,
    /// The sender of notices.
    pub from: EmailAddress,
}

/// Sees events when they are recorded, each at least once; the local host shows them beside the mails.
pub trait EventObserver: Send + Sync {
    /// The rest of the observation, which the worker waits for.
    fn happened(&self, events: &[Event]) -> BoxFuture<'static, ()>;
}

impl App {
    /// Reads `TABLE_NAME`, `EVENTS_QUEUE_URL`, `RETRIES_QUEUE_URL`, `BUS_NAME`, `STACK_SECRET`, `PUBLISH_EVENTS`
    /// (`true` or `false`), `WEBHOOK_DISABLE_DAYS`, `DEAD_LETTER_DAYS`, `WEBHOOK_POSTS` (`true` or `false`), `SEARCH_DAYS` (0: no
    /// search), `AT_ONCE`, `SEND_QUEUE_URL`, `BOUNCE_DOMAIN`, `SYSTEM_SENDER` (`no-reply` at the
    /// bounce domain), `REPUTATION_GUARD` (`off`, `warn`, `suspend`).
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
            guard: vars.or_default("REPUTATION_GUARD", ReputationGuard::default())?,
            mailbox_hosts: Arc::new(MailboxHosts::new(match platform.part::<RecipientDns>() {
                Some(RecipientDns(resolver)) => resolver,
                None => Some(Resolver::system()?),
            })),
            searchable: Some(vars.or_default("SEARCH_DAYS", 0_u32)?)
                .filter(|days| *days > 0)
                .map(|days| i64::from(days).saturating_mul(DAY)),
            concurrency: vars.positive("AT_ONCE", 64)?,
            stores_posts: vars.or_default("WEBHOOK_POSTS", false)?,
            observer: platform.part(),
        })
    }
}
