//! Event webhooks, the posts to them, the events that they did not accept in time, and jobs that post events again.

mod dead_letters;
mod event_replays;
mod post_pages;
mod posts;
mod webhook;

pub use dead_letters::{DeadLetter, DeadLetterFilter};
pub use event_replays::{EventReplay, ReplaySpan, ReplayStart};
pub use post_pages::{PostFilter, PostId, PostPage};
pub use posts::{LISTED_POSTS, POST_LIFE, WebhookPost};
pub use webhook::{CreateOutcome, Saved, Signing, Webhook};
