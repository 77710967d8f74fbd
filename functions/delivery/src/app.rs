//! The dependencies of the worker.

use std::sync::Arc;

use posthaste_blob::Blob;
use posthaste_mailer::Mailer;
use posthaste_model::{
    AccountId, Clock, Entropy, Hostname, LEAVE_MAILBOX, MessageId, PublicUrl, Verp,
};
use posthaste_queue::Queue;
use posthaste_render::KeyRing;
use posthaste_store::Store;

use crate::{AccountCache, CopyMemory, Dkim, Spam, Templates};

/// The dependencies of `delivery`.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    /// The send queue: for ranges of large jobs, and for retries.
    pub send: Queue,
    /// The event queue.
    pub events: Queue,
    pub blob: Blob,
    pub mailer: Mailer,
    pub clock: Clock,
    pub entropy: Entropy,
    pub keys: KeyRing,
    pub identity: Identity,
    /// Signs for the sender's domain; `None` when the relay signs.
    pub dkim: Option<Dkim>,
    /// Scores mails before they are sent.
    pub spam: Option<Spam>,
    pub templates: Templates,
    /// Identifies this process in claims.
    pub owner: String,
    /// Whether no other process can deliver from this table (the local host), so that claims of an
    /// earlier process expire at once.
    pub single_process: bool,
    /// The number of copies processed concurrently.
    pub concurrency: usize,
    /// Base address of the tracking host; without one nothing is tracked.
    pub tracking: Option<PublicUrl>,
    /// Seconds the table keeps a copy's row.
    pub retention: i64,
    /// Bounds the memory of copies that are made and handed over.
    pub memory: CopyMemory,
    /// Caches accounts, their settings, and whether they have an allowance.
    pub accounts: Arc<AccountCache>,
}

/// The domain names of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The right side of every Message-ID.
    pub hostname: Hostname,
    /// The domain that receives bounces. Without one the sender's own address is the envelope
    /// sender.
    pub bounce_domain: Option<Hostname>,
}

impl Identity {
    /// The address that receives unsubscribe mails; `None` without a bounce domain.
    pub(crate) fn leave_mailbox(&self) -> Option<String> {
        let domain = self.bounce_domain.as_ref()?;
        Some(format!("{LEAVE_MAILBOX}@{domain}"))
    }
}

impl App {
    /// The Message-ID of a copy, without angle brackets.
    pub(crate) fn message_id(&self, message: &MessageId, recipient: u32) -> String {
        format!("{message}.{recipient}@{}", self.identity.hostname)
    }

    /// The envelope sender of a copy: one per recipient, so that a bounce identifies its copy.
    pub(crate) fn envelope_sender(
        &self,
        (account, message, recipient): (&AccountId, &MessageId, u32),
        from: &str,
    ) -> String {
        let Some(domain) = &self.identity.bounce_domain else {
            return from.to_owned();
        };
        let verp = Verp {
            account: account.clone(),
            message: message.clone(),
            recipient,
        };
        let mark = self.keys.mark(&verp.claim());
        format!("{}@{domain}", verp.local(mark))
    }
}
