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
    pub fn from_env(platform: &Platform) -> Result<Self, ConfigError> {
        let vars = platform.env();
        let mailer = match platform.part() {
            Some(mailer) => mailer,
            None => mailer(platform)?,
        };
        let spam = match platform.part::<Spam>() {
            Some(spam) => Some(spam),
            None => vars.optional("SPAM_FILTER")?.map(Spam::new),
        };
        let process = platform.process();
        let days: i64 = vars.positive("RETENTION_DAYS", 30)?;
        let public_url = vars.optional::<PublicUrl>("PUBLIC_URL")?;
        Ok(Self {
            store: platform.store()?,
            send: platform.queue("SEND_QUEUE_URL")?,
            events: platform.queue("EVENTS_QUEUE_URL")?,
            blob: platform.blob()?,
            // SES signs by itself, with the same keys.
            dkim: match mailer {
                Mailer::Ses(_) => None,
                Mailer::Smtp(_) => Some(Dkim::new(Arc::new(vars.parsed("STACK_SECRET")?))),
            },
            mailer,
            clock: platform.clock(),
            entropy: platform.entropy(),
            keys: vars.parsed::<KeyRing>("STACK_SECRET")?,
            identity: match platform.part() {
                Some(identity) => identity,
                None => Identity {
                    hostname: vars.parsed("HOSTNAME_OF_SERVICE")?,
                    bounce_domain: vars.optional("BOUNCE_DOMAIN")?,
                },
            },
            spam,
            templates: crate::Templates::default(),
            owner: process.name,
            single_process: process.is_single,
            concurrency: vars.positive("AT_ONCE", 10)?,
            tracking: vars.optional("TRACKING_URL")?.or(public_url),
            retention: days.saturating_mul(86_400),
            memory: crate::CopyMemory::default(),
            accounts: Arc::default(),
        })
    }
}

fn mailer(platform: &Platform) -> Result<Mailer, ConfigError> {
    let vars = platform.env();
    if vars.required("DELIVERY")? != "ses" {
        let relay: RelayUrl = vars.parsed("DELIVERY")?;
        return Ok(Mailer::Smtp(Smtp::new(SmtpConfig::new(relay))));
    }
    let pools = vars.optional::<Pools>("IP_POOLS")?.unwrap_or_default();
    let set = vars.get("CONFIGURATION_SET");
    let aws = platform.aws("DELIVERY")?;
    Ok(Mailer::Ses(Ses::with_pools(aws, set, pools)))
}
