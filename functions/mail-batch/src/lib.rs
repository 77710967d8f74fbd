//! `/v3/mail/batch…` and `/v3/user/scheduled_sends…`: batches of scheduled mail, and
//! their status.
//!
//! The v3 API has only whole batches. Extensions, documented in this function's README: listing what
//! waits of the account and of a batch, and cancelling or rescheduling one mail by its `X-Message-Id`.

mod batch;
mod fail;
mod message;
#[cfg(test)]
mod reference;
mod scheduled;
mod waiting;
mod wire;

use http::Method;
use posthaste_http::{Access, Authorizer, Routes};
use posthaste_model::{Clock, Entropy, HORIZON};
use posthaste_queue::Queue;
use posthaste_runtime::{Error, Platform};
use posthaste_store::Store;

pub use message::{cancel_message, reschedule, sends_of};
pub use scheduled::{hold, lift};
pub use wire::{MessageState, Send};

/// The dependencies of the handlers.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    /// The send queue, which receives messages released from a batch.
    pub send: Queue,
    pub clock: Clock,
    pub entropy: Entropy,
    /// How far ahead a send may be scheduled, in seconds.
    pub horizon: i64,
    /// Whether the deployment lists mails that wait, as the search does.
    pub searches: bool,
}

impl App {
    /// Reads `TABLE_NAME`, `SEND_QUEUE_URL`, `HORIZON_SECONDS` and `SEARCH_DAYS`.
    pub fn from_env(platform: &Platform) -> Result<Self, Error> {
        Ok(Self {
            store: platform.store()?,
            send: platform.queue("SEND_QUEUE_URL")?,
            clock: platform.clock(),
            entropy: platform.entropy(),
            horizon: platform.env().positive("HORIZON_SECONDS", HORIZON)?,
            searches: platform.env().or_default("SEARCH_DAYS", 0_u32)? > 0,
        })
    }
}

/// The routes of this function.
pub fn routes(app: App, gate: Authorizer) -> Routes {
    const BATCHES: &str = "/v3/mail/batch";
    const BATCH: &str = "/v3/mail/batch/{batch_id}";
    const HOLDS: &str = "/v3/user/scheduled_sends";
    const HOLD: &str = "/v3/user/scheduled_sends/{batch_id}";
    const HELD: &str = "/v3/user/scheduled_sends/{batch_id}/messages";
    const WAITING: &str = "/v3/user/scheduled_sends/messages";
    const MESSAGE: &str = "/v3/user/scheduled_sends/messages/{message_id}";
    let read = Access::Scope("user.scheduled_sends.read");
    let create = Access::Scope("user.scheduled_sends.create");
    let update = Access::Scope("user.scheduled_sends.update");
    let delete = Access::Scope("user.scheduled_sends.delete");
    Routes::new(gate)
        .at(
            Method::POST,
            BATCHES,
            Access::Scope("mail.batch.create"),
            batch::create,
        )
        .at(
            Method::GET,
            BATCH,
            Access::Scope("mail.batch.read"),
            batch::validate,
        )
        .at(Method::POST, HOLDS, create, scheduled::create)
        .at(Method::GET, HOLDS, read, scheduled::list)
        .at(Method::GET, HOLD, read, scheduled::one)
        .at(Method::PATCH, HOLD, update, scheduled::update)
        .at(Method::DELETE, HOLD, delete, scheduled::delete)
        .at(Method::GET, HELD, read, batch::list)
        .at(Method::GET, WAITING, read, waiting::list)
        .at(Method::GET, MESSAGE, read, message::one)
        .at(Method::PATCH, MESSAGE, update, message::shift)
        .at(Method::DELETE, MESSAGE, delete, message::cancel)
        .with_state(app)
}
