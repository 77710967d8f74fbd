//! The worker between a queue, an embedded table and a relay that records.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test that cannot go on fails, and one that measures prints"
)]

mod breaking_off;
mod credits;
mod erased;
mod lists;
mod message_id;
mod monitor;
mod outage;
mod quota;
mod requeued;
mod ses_account;
mod settings;
mod signing;
mod simulation;
mod spam;
mod standing;
mod templates;
mod unrecordable;
