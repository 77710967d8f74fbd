//! The function under Lambda, out of its variables.

use posthaste_runtime::{ConfigError, Platform};

use crate::{App, SendLimits, Senders, Templates};

impl App {
    /// Reads `TABLE_NAME`, `SEND_QUEUE_URL`, `BUCKET_NAME` and `HORIZON_SECONDS`.
    ///
    /// # Errors
    /// When one that must be there is not, or one cannot be read.
    pub fn from_env(boot: &Platform) -> Result<Self, ConfigError> {
        Ok(Self {
            store: boot.store()?,
            queue: boot.queue("SEND_QUEUE_URL")?,
            blob: boot.blob()?,
            clock: boot.clock(),
            entropy: boot.entropy(),
            limits: SendLimits {
                horizon: boot
                    .env()
                    .positive("HORIZON_SECONDS", SendLimits::default().horizon)?,
            },
            senders: Senders::proven(),
            templates: Templates::default(),
        })
    }
}
