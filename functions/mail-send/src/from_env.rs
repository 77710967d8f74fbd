//! Opens the function.

use posthaste_runtime::{ConfigError, Platform};

use crate::{App, SendLimits, Senders, Templates};

impl App {
    /// Reads `TABLE_NAME`, `SEND_QUEUE_URL`, `BUCKET_NAME`, `HORIZON_SECONDS` and `SEARCH_DAYS`.
    pub fn from_env(platform: &Platform) -> Result<Self, ConfigError> {
        Ok(Self {
            store: platform.store()?,
            queue: platform.queue("SEND_QUEUE_URL")?,
            blob: platform.blob()?,
            clock: platform.clock(),
            entropy: platform.entropy(),
            limits: SendLimits {
                horizon: platform
                    .env()
                    .positive("HORIZON_SECONDS", SendLimits::default().horizon)?,
            },
            senders: match platform.any_sender() {
                true => Senders::Any,
                false => Senders::proven(),
            },
            templates: Templates::default(),
            searches: platform.env().or_default("SEARCH_DAYS", 0_u32)? > 0,
        })
    }
}
