//! What the function works with.

use std::collections::BTreeSet;
use std::sync::Arc;

use posthaste_http::{Caller, Rejection};
use posthaste_model::{Clock, Entropy, WebhookId};
use posthaste_queue::Queue;
use posthaste_runtime::{Error, Platform};
use posthaste_store::{CreateOutcome, Store, Webhook};
use posthaste_webhook::{ClientConfig, Guard, Sealer, WebhookClient};

use crate::fail;

/// How many webhooks an account may hold (API facts, section 1).
pub const MAX_WEBHOOKS: u32 = 5;

/// The dependencies of the handlers.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    /// The webhook retry queue, which receives replays.
    pub retries: Queue,
    /// Posts the test events; its guard checks every URL.
    pub client: WebhookClient,
    pub sealer: Arc<Sealer>,
    pub clock: Clock,
    pub entropy: Entropy,
    pub max_webhooks: u32,
    /// Whether mails can be searched, and so the events of a span of time found.
    pub searches: bool,
}

impl App {
    /// Reads `TABLE_NAME`, `RETRIES_QUEUE_URL`, `STACK_SECRET`, `MAX_WEBHOOKS`, `SEARCH_DAYS` (0: no search).
    pub fn from_env(platform: &Platform) -> Result<Self, Error> {
        let vars = platform.env();
        Ok(Self {
            store: platform.store()?,
            retries: platform.queue("RETRIES_QUEUE_URL")?,
            client: WebhookClient::open(ClientConfig {
                guard: platform.part::<Guard>().unwrap_or_default(),
                ..ClientConfig::default()
            })?,
            sealer: Arc::new(vars.parsed("STACK_SECRET")?),
            clock: platform.clock(),
            entropy: platform.entropy(),
            max_webhooks: vars.positive("MAX_WEBHOOKS", MAX_WEBHOOKS)?,
            searches: vars.or_default("SEARCH_DAYS", 0_u32)? > 0,
        })
    }

    /// The webhook with this id.
    pub(crate) async fn webhook(&self, caller: &Caller, id: &str) -> Result<Webhook, Rejection> {
        let id = WebhookId::parse(id).map_err(|_| fail::unknown_id())?;
        let found = self.store.webhook(caller.id(), &id).await?;
        found.ok_or_else(fail::unknown_id)
    }

    /// The webhook that is meant when no id is given; `None` on a fresh account.
    pub(crate) async fn oldest(&self, caller: &Caller) -> Result<Option<Webhook>, Rejection> {
        let all = self.store.webhooks(caller.id()).await?;
        Ok(all.into_iter().next())
    }

    /// A new webhook of the caller: off, without a URL.
    pub(crate) fn new_webhook(&self, caller: &Caller) -> Webhook {
        let now = self.clock.now_ms();
        Webhook {
            id: self.entropy.webhook_id(),
            account: caller.id().clone(),
            enabled: false,
            url: String::new(),
            target: String::new(),
            friendly_name: None,
            created_at: Some(now),
            updated_at: now.seconds(),
            kinds: BTreeSet::new(),
            oauth_client_id: None,
            oauth_token_url: None,
            oauth_client_secret: None,
            signing: None,
            failing_since: None,
            slow_since: None,
            unreported: None,
        }
    }

    /// For a change without an id: the oldest webhook, or, on an account that has none, the one that
    /// `first` makes, which is then created. The change has been made in the second case.
    ///
    /// # Errors
    /// What `first` refuses with; 503 when other requests keep creating and deleting webhooks.
    pub(crate) async fn oldest_or_created(
        &self,
        caller: &Caller,
        first: impl Fn() -> Result<Webhook, Rejection>,
    ) -> Result<OldestWebhook, Rejection> {
        let mut attempts = self.store.conflict_attempts();
        while attempts.next().await {
            if let Some(webhook) = self.oldest(caller).await? {
                return Ok(OldestWebhook::Existing(webhook.id));
            }
            let webhook = first()?;
            // A webhook that another request creates meanwhile is then the oldest.
            if self.store.create_webhook(&webhook, 1).await? == CreateOutcome::Done {
                tracing::info!(account.id = %caller.id(), webhook.id = %webhook.id, "created webhook {}", webhook.id);
                return Ok(OldestWebhook::Created(Box::new(webhook)));
            }
        }
        Err(Rejection::unavailable(
            &"the account's webhooks keep changing",
        ))
    }

    /// Seals one secret of a webhook.
    pub(crate) fn seal(&self, place: &str, plain: &[u8]) -> Result<String, Rejection> {
        let sealed = self.sealer.seal(&self.entropy, place, plain);
        sealed.map_err(|e| Rejection::internal(&e))
    }
}

/// The webhook that a change without an id is about.
pub(crate) enum OldestWebhook {
    Existing(WebhookId),
    Created(Box<Webhook>),
}
