//! The function under Lambda, out of its variables.

use posthaste_runtime::{Boot, ConfigError};

use crate::{App, Limits, Senders, Templates};

impl App {
    /// Reads `TABLE_NAME`, `SEND_QUEUE_URL`, `BUCKET_NAME` and `HORIZON_SECONDS`.
    ///
    /// # Errors
    /// When one that must be there is not, or one cannot be read.
    pub fn open(boot: &Boot) -> Result<Self, ConfigError> {
        Ok(Self {
            store: boot.store()?,
            queue: boot.queue("SEND_QUEUE_URL")?,
            blob: boot.blob()?,
            clock: boot.clock(),
            entropy: boot.entropy(),
            limits: Limits {
                horizon: boot
                    .vars()
                    .positive("HORIZON_SECONDS", Limits::default().horizon)?,
            },
            senders: Senders::proven(),
            templates: Templates::default(),
        })
    }
}
