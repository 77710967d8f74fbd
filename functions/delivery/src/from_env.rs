//! Configures the Lambda worker from environment variables.

use std::sync::Arc;

use posthaste_mailer::{Mailer, Pools, RelayUrl, Ses, Smtp, SmtpConfig};
use posthaste_model::PublicUrl;
use posthaste_render::KeyRing;
use posthaste_runtime::{ConfigError, Platform};

use crate::{App, Dkim, Identity, Spam};

impl App {
    /// Reads `TABLE_NAME`, `SEND_QUEUE_URL`, `EVENTS_QUEUE_URL`, `BUCKET_NAME`, `DELIVERY` (`ses`
    /// or a relay URL), `CONFIGURATION_SET`, `IP_POOLS`, `STACK_SECRET`, `HOSTNAME_OF_SERVICE`,
    /// `BOUNCE_DOMAIN`, `TRACKING_URL` (or else `PUBLIC_URL`: unsubscribe links require one),
    /// `RETENTION_DAYS`, `SPAM_FILTER`.
    ///
    /// # Errors
    /// If a required variable is missing, or one is invalid.
    pub fn from_env(platform: &Platform) -> Result<Self, ConfigError> {
        let vars = platform.env();
        let delivery = vars.required("DELIVERY")?;
        let mailer = if delivery == "ses" {
            let pools = vars.optional::<Pools>("IP_POOLS")?.unwrap_or_default();
            let set = vars.get("CONFIGURATION_SET");
            Mailer::Ses(Ses::with_pools(platform.aws(), set, pools))
        } else {
            let relay: RelayUrl = vars.parsed("DELIVERY")?;
            Mailer::Smtp(Smtp::new(SmtpConfig::new(relay)))
        };
        let spam = vars.optional("SPAM_FILTER")?.map(Spam::new);
        let days: i64 = vars.positive("RETENTION_DAYS", 30)?;
        let public_url = vars.optional::<PublicUrl>("PUBLIC_URL")?;
        Ok(Self {
            store: platform.store()?,
            send: platform.queue("SEND_QUEUE_URL")?,
            events: platform.queue("EVENTS_QUEUE_URL")?,
            blob: platform.blob()?,
            mailer,
            clock: platform.clock(),
            entropy: platform.entropy(),
            keys: vars.parsed::<KeyRing>("STACK_SECRET")?,
            identity: Identity {
                hostname: vars.parsed("HOSTNAME_OF_SERVICE")?,
                bounce_domain: vars.optional("BOUNCE_DOMAIN")?,
            },
            // SES signs by itself, with the same keys.
            dkim: match delivery.as_str() {
                "ses" => None,
                _ => Some(Dkim::new(Arc::new(vars.parsed("STACK_SECRET")?))),
            },
            spam,
            templates: crate::Templates::default(),
            owner: format!("lambda-{:016x}", platform.entropy().below(u64::MAX)),
            single_process: false,
            concurrency: vars.positive("AT_ONCE", 10)?,
            tracking: vars.optional("TRACKING_URL")?.or(public_url),
            retention: days.saturating_mul(86_400),
            accounts: Arc::default(),
        })
    }
}
