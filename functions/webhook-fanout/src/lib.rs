//! Posts events to the webhooks that subscribe to them.
//!
//! The worker reads two queues. New events (`posthaste_queue::EventBatch`) are grouped by account
//! and webhook and posted at once. Events that a webhook did not accept
//! (`posthaste_queue::WebhookRetry`) go to the retry queue, are retried for 24 hours after the
//! event, and then become a dead letter that the owner can replay. While a webhook fails or answers
//! slowly, its new events go to the retry queue too, so that an unavailable or slow receiver never
//! delays other events.
//!
//! An event may be posted twice, under the same event id.

mod app;
mod breaker;
mod count;
mod dispatch;
mod failure;
mod forward;
mod guard;
mod health;
mod mailbox_hosts;
mod post;
mod post_log;
mod record;
mod severity;
mod visits;
mod work;

pub use app::{App, EventObserver, Forwarding, RecipientDns, RetryPolicy};
pub use breaker::WebhookBreakers;
pub use mailbox_hosts::MailboxHosts;
pub use severity::{InvalidGuard, ReputationGuard};
pub use work::handle;
