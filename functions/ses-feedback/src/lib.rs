//! What comes back after a mail has left: events of SES, delivery reports and complaints by mail.
//!
//! Three kinds of messages come in on one queue: events that SES publishes through EventBridge,
//! SES's notices of mail it received for the bounce domain, and mails that the local host took for
//! it. Each says something about one copy, which it names by the message tags or by the envelope
//! sender (`posthaste_model::Verp`). What it says becomes an event of the contract and an entry in
//! the suppression lists.
//!
//! Everything may come twice: what is told about a copy is written into its row once, and only
//! whoever wrote it queues the event. Nothing here ever sends a mail, so no report is answered.

mod app;
mod door;
mod judge;
mod leave;
mod mail;
mod ses;
mod tell;
mod word;
mod work;

pub use app::App;
pub use door::{Unaccepted, accept, wants};
pub use work::handle;
