//! `POST /v3/mail/send`: validates a mail and queues it durably; and `POST /v3/messages/{msg_id}/send_again`: the same
//! for a composed mail that its account keeps.
//!
//! The body of a request passes six files on its way to the queue, and none twice. Each uses only
//! files below it:
//!
//! 1. `receive`: reads and decompresses the body, and checks it to be text
//! 2. `idempotency`: answers a request that was accepted before
//! 3. `accept`: takes the mail through the steps that follow, and answers `202`
//! 4. `check`: decodes the JSON (by the types of `wire`) and applies every rule of the request
//! 5. `account`: applies the rules of the account; `template` those of the mail's template
//! 6. `enqueue`: makes the jobs and stores them
//!
//! `errors` names what is wrong and where; `size` measures the mail; `waiting` lists scheduled mail for
//! look-ups.

mod accept;
mod account;
mod check;
mod enqueue;
mod errors;
mod idempotency;
mod receive;
#[cfg(test)]
mod reference;
mod size;
mod template;
mod waiting;
mod wire;

use std::sync::Arc;

use axum::http::Method;
use posthaste_blob::Blob;
use posthaste_http::{Access, Authorizer, Dialect, Routes};
use posthaste_kept::KeptMails;
use posthaste_model::{Clock, ConfigurationSets, Entropy};
use posthaste_queue::Queue;
use posthaste_runtime::{ConfigError, Platform};
use posthaste_store::Store;

pub use accept::{AcceptanceObserver, AcceptedSend, Observing, submit};
pub use account::Senders;
pub use check::{CheckedMail, SendLimits, decode_and_check};
pub use template::{TemplateFields, TemplateFieldsCache};

/// The dependencies of the function.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    /// The send queue.
    pub queue: Queue,
    /// For mails too large for the queue.
    pub blob: Blob,
    /// The composed mails of accounts that keep them.
    pub kept: KeptMails,
    pub clock: Clock,
    pub entropy: Entropy,
    pub limits: SendLimits,
    pub senders: Senders,
    /// The pools of the operator, which every account may name.
    pub pools: Arc<ConfigurationSets>,
    pub templates: TemplateFieldsCache,
    /// Whether mails can be searched: then scheduled mail is listed until it leaves.
    pub searches: bool,
    /// Sees what is accepted; none on AWS.
    pub observer: Option<Arc<dyn AcceptanceObserver>>,
}

impl App {
    /// Reads `TABLE_NAME`, `SEND_QUEUE_URL`, `BUCKET_NAME`, `HORIZON_SECONDS`, `SEARCH_DAYS` and `IP_POOLS`.
    pub fn from_env(platform: &Platform) -> Result<Self, ConfigError> {
        let (store, blob) = (platform.store()?, platform.blob()?);
        Ok(Self {
            kept: KeptMails::new(store.clone(), blob.clone()),
            store,
            queue: platform.queue("SEND_QUEUE_URL")?,
            blob,
            clock: platform.clock(),
            entropy: platform.entropy(),
            limits: SendLimits {
                horizon: platform
                    .env()
                    .positive("HORIZON_SECONDS", SendLimits::default().horizon)?,
            },
            senders: if platform.any_sender() {
                Senders::Any
            } else {
                Senders::verified()
            },
            templates: TemplateFieldsCache::default(),
            pools: Arc::new(platform.env().optional("IP_POOLS")?.unwrap_or_default()),
            searches: platform.env().or_default("SEARCH_DAYS", 0_u32)? > 0,
            observer: platform.part(),
        })
    }
}

/// The routes of this function.
pub fn routes(app: App, gate: Authorizer) -> Routes {
    let send = Access::Scope("mail.send");
    Routes::new(gate)
        .dialect(Dialect::Mail)
        .at(Method::POST, "/v3/mail/send", send, receive::receive)
        .at(
            Method::POST,
            "/v3/messages/{msg_id}/send_again",
            send,
            receive::receive_again,
        )
        .with_state(app)
}
