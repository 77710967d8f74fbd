//! Event webhooks, the posts to them, and the events that they did not accept in time.

mod dead_letters;
mod posts;
mod webhook;

pub use dead_letters::{DeadLetter, DeadLetterFilter};
pub use posts::{LISTED_POSTS, POST_LIFE, WebhookPost};
pub use webhook::{CreateOutcome, Saved, Signing, Webhook};
