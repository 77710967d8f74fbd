//! One safe outgoing POST, and its content.
//!
//! The address guard checks the address of the connection, on every attempt; bodies are signed as
//! they are sent; retries are decided here and carried out by the workers. No clock and no
//! randomness of its own: both come in as arguments.

pub mod batch;
mod client;
mod guard;
mod link;
mod oauth;
mod outcome;
mod resolve;
mod retry;
pub mod samples;
mod seal;
mod sign;
mod wire;

pub use client::{ClientError, Config, Post, WebhookClient};
pub use guard::{Guard, Refusal, Why};
pub use link::{LONGEST_URL, UrlProblem, check_url};
pub use oauth::{Credentials, TokenProblem, Tokens};
pub use outcome::{HttpAnswer, PostOutcome, RequestStage, RetryAfter};
pub use resolve::Names;
pub use retry::{Attempted, Next, RetryFate, Schedule};
pub use seal::{InvalidSecret, Sealer, Unopened, oauth_place, signing_place};
pub use sign::{KeyPair, UnusableKey};
pub use wire::event_json;
