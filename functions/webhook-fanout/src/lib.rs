//! Turns events into posts to the webhooks that ask for them.
//!
//! Two queues come in. News (`posthaste_queue::EventBatch`) is grouped by account and webhook and
//! posted at once. What a webhook did not take (`posthaste_queue::WebhookRetry`) waits on the other
//! queue, is tried again for 24 hours after the event, and then becomes a dead letter that its
//! owner can replay. While a webhook fails or answers slowly, its news takes that road too, so that
//! a dead or slow receiver never stands before anybody else's events.
//!
//! Every event may be posted twice; its id says so.

mod app;
mod breaker;
mod count;
mod dispatch;
mod failure;
mod forward;
mod health;
mod post;
mod record;
mod retry;
mod visits;
mod work;

pub use app::{App, RetryPolicy, Watch};
pub use breaker::Breaker;
pub use forward::Forwarding;
pub use post::Posted;
pub use work::handle;
