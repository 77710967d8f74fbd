//! Reads jobs from the send queue and gives each recipient one copy, one claim, one attempt at the
//! relay and one stream of events.
//!
//! Every job may run twice. The claim keeps the second run from sending (see
//! `posthaste_store::Store::claim`); the order keeps the first from losing anything: claim, hand
//! over, queue the retry if one is due, record the outcome, publish the events, and only then
//! delete the job.
//!
//! Copies are admitted to the relay before they are claimed (see `relay.rs`): while it takes no mail,
//! or SES's quota is used up, they wait on the queue without an attempt.

mod account;
mod again;
mod app;
mod breakers;
mod charges;
mod context;
mod copy;
mod cost;
mod count;
mod delayed;
mod dkim;
mod handed;
mod jobs;
mod kept;
mod links;
mod lists;
mod monitor;
mod outcome;
mod pace;
mod rate_pause;
mod record;
mod relay;
mod rendered;
mod spam;
mod submitted;
mod template;
mod test_mail;
mod turns;
mod wait;
mod work;

pub use account::SenderAccounts;
pub use app::{App, Identity, TestRelay};
pub use cost::CopyMemory;
pub use dkim::Dkim;
pub use outcome::{RetryReason, pause};
pub use relay::RelayGate;
pub use spam::SpamFilter;
pub use template::Templates;
pub use work::handle;
