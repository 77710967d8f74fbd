//! Event webhooks, and the events that they did not accept in time.

mod dead_letters;
mod webhook;

pub use dead_letters::{DeadLetter, DeadLetterFilter};
pub use webhook::{CreateOutcome, Saved, Signing, Webhook};
