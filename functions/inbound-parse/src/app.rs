//! The dependencies of the worker.

use std::sync::Arc;
use std::time::Duration;

use posthaste_blob::Blob;
use posthaste_dns::Resolver;
use posthaste_model::{Clock, Entropy, Hostname};
use posthaste_queue::Queue;
use posthaste_runtime::{Error, Platform};
use posthaste_spam::Filter;
use posthaste_store::Store;
use posthaste_webhook::{ClientConfig, Guard, Sealer, Tokens, WebhookClient};

/// The dependencies of `inbound-parse`.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    pub blob: Blob,
    /// The inbound queue: for each recipient of a mail, and for retries.
    pub inbound: Queue,
    pub client: WebhookClient,
    /// Tokens of the OAuth servers that security policies name.
    pub tokens: Arc<Tokens>,
    /// Opens the secrets of security policies.
    pub sealer: Arc<Sealer>,
    /// Resolves SPF and DKIM; without one both are `none`.
    pub resolver: Option<Resolver>,
    /// Scores mail where a setting enables the spam check.
    pub filter: Option<Filter>,
    pub clock: Clock,
    pub entropy: Entropy,
    /// The hostname that receives mail.
    pub hostname: Hostname,
    /// Concurrent posts; each may hold a mail and its form in memory.
    pub concurrency: usize,
    /// Seconds for which raw mails and their results are stored.
    pub retention: i64,
    /// Identifies this process where no other can post from this table (the local host), so that a
    /// mail whose process died is posted again at once.
    pub single_process: Option<String>,
}

/// Which DNS a local process asks about senders of received mail: none, the system's or a test's.
#[derive(Clone)]
pub struct SenderChecks(pub Option<Resolver>);

impl App {
    /// Limits of the posts: a mail of 30 MB takes longer.
    pub fn bounds(guard: Guard) -> ClientConfig {
        ClientConfig {
            guard,
            total: Duration::from_secs(60),
            ..ClientConfig::default()
        }
    }

    /// Reads `TABLE_NAME`, `BUCKET_NAME`, `INBOUND_QUEUE_URL`, `STACK_SECRET`, `SPAM_FILTER`,
    /// `MAIL_HOSTNAME`, `RETENTION_DAYS`, `AT_ONCE`.
    pub fn from_env(platform: &Platform) -> Result<Self, Error> {
        let vars = platform.env();
        let process = platform.process();
        Ok(Self {
            store: platform.store()?,
            blob: platform.blob()?,
            inbound: platform.queue("INBOUND_QUEUE_URL")?,
            client: WebhookClient::open(Self::bounds(platform.part().unwrap_or_default()))?,
            tokens: Arc::new(Tokens::new(platform.clock())),
            sealer: Arc::new(vars.parsed("STACK_SECRET")?),
            resolver: match platform.part() {
                Some(SenderChecks(resolver)) => resolver,
                None => Some(Resolver::system()?),
            },
            filter: match platform.part() {
                Some(filter) => Some(filter),
                None => vars.optional("SPAM_FILTER")?,
            },
            clock: platform.clock(),
            entropy: platform.entropy(),
            hostname: vars.parsed("MAIL_HOSTNAME")?,
            concurrency: vars.positive("AT_ONCE", 2)?,
            retention: vars
                .positive("RETENTION_DAYS", 30_i64)?
                .saturating_mul(86_400),
            single_process: Some(process.name).filter(|_| process.is_single),
        })
    }
}
