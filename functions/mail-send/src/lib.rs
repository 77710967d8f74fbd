//! `POST /v3/mail/send`: validates a mail and queues it durably.

mod accept;
mod account;
mod body;
mod check;
mod decode;
mod from_env;
mod idempotency;
mod jobs;
mod senders;
mod size;
mod template;
mod waiting;
mod wire;

use axum::http::Method;
use posthaste_blob::Blob;
use posthaste_http::{Access, Authorizer, Dialect, Routes};
use posthaste_model::{Clock, Entropy};
use posthaste_queue::Queue;
use posthaste_store::Store;

pub use accept::submit;
pub use check::{CheckedMail, SendLimits, decode_and_check};
pub use senders::Senders;
pub use template::{TemplateFields, Templates};

/// The dependencies of the function.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    /// The send queue.
    pub queue: Queue,
    /// For mails too large for the queue.
    pub blob: Blob,
    pub clock: Clock,
    pub entropy: Entropy,
    pub limits: SendLimits,
    pub senders: Senders,
    pub templates: Templates,
    /// Whether mails can be searched: then scheduled mail is listed until it leaves.
    pub searches: bool,
}

/// The routes of this function.
pub fn routes(app: App, gate: Authorizer) -> Routes {
    let send = Access::Scope("mail.send");
    Routes::new(gate)
        .dialect(Dialect::Mail)
        .at(Method::POST, "/v3/mail/send", send, accept::accept)
        .with_state(app)
}
