//! What the function works with.

use std::sync::Arc;

use posthaste_http::{Caller, Rejection};
use posthaste_model::{Clock, Entropy, WebhookId};
use posthaste_queue::Queue;
use posthaste_runtime::{Error, Platform};
use posthaste_store::{Store, Webhook};
use posthaste_webhook::{Config, Guard, Sealer, WebhookClient};

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
}

impl App {
    /// Reads `TABLE_NAME`, `RETRIES_QUEUE_URL`, `STACK_SECRET`, `MAX_WEBHOOKS`.
    pub fn from_env(platform: &Platform) -> Result<Self, Error> {
        let vars = platform.env();
        Ok(Self {
            store: platform.store()?,
            retries: platform.queue("RETRIES_QUEUE_URL")?,
            client: WebhookClient::open(Config {
                guard: platform.part::<Guard>().unwrap_or_default(),
                ..Config::default()
            })?,
            sealer: Arc::new(vars.parsed("STACK_SECRET")?),
            clock: platform.clock(),
            entropy: platform.entropy(),
            max_webhooks: vars.positive("MAX_WEBHOOKS", MAX_WEBHOOKS)?,
        })
    }

    /// The webhook with this id.
    pub(crate) async fn webhook(&self, caller: &Caller, id: &str) -> Result<Webhook, Rejection> {
        let id = WebhookId::parse(id).map_err(|_| fail::unknown_id())?;
        let found = self.store.webhook(caller.id(), &id).await?;
        found.ok_or_else(fail::unknown_id)
    }

    /// The webhook that is meant when no id is given.
    pub(crate) async fn oldest(&self, caller: &Caller) -> Result<Webhook, Rejection> {
        let all = self.store.webhooks(caller.id()).await?;
        all.into_iter().next().ok_or_else(fail::none_yet)
    }

    /// Seals one secret of a webhook.
    pub(crate) fn seal(&self, place: &str, plain: &[u8]) -> Result<String, Rejection> {
        let sealed = self.sealer.seal(&self.entropy, place, plain);
        sealed.map_err(|e| Rejection::internal(&e))
    }
}
