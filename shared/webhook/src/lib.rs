//! One safe outgoing POST, and its content.
//!
//! The address guard checks the address of the connection, on every attempt; bodies are signed as
//! they are sent; retries are decided here and carried out by the workers. No clock and no
//! randomness of its own: both come in as arguments.
//!
//! ```no_run
//! use posthaste_model::Timestamp;
//! use posthaste_webhook::{
//!     Attempted, ClientConfig, Guard, WebhookKeyPair, Next, Post, RetryFate, Schedule, WebhookClient, batch,
//!     check_url,
//! };
//!
//! # async fn example(pair: WebhookKeyPair, now: Timestamp) -> Result<(), Box<dyn std::error::Error>> {
//! let client = WebhookClient::open(ClientConfig::default())?;
//! let url = check_url("https://hooks.example.com/events", &Guard::default())?;
//! for packed in batch::pack(&[r#"{"event":"open"}"#, r#"{"event":"click"}"#]) {
//!     let headers = batch::headers(Some(&pair), now, &packed.body);
//!     let post = Post {
//!         url: url.clone(),
//!         headers,
//!         body: packed.body,
//!     };
//!     let outcome = client.post(post).await;
//!     if Schedule::Events.fate(&outcome) == RetryFate::Retry {
//!         let failed = Attempted {
//!             started: now,
//!             now,
//!             attempt: 1,
//!             retry_after: outcome.retry_after(),
//!             roll: 7,
//!         };
//!         match Schedule::Events.next(failed) {
//!             Next::At(time) => println!("{outcome}; the next attempt is at {time}"),
//!             Next::GiveUp => println!("{outcome}; given up"),
//!         }
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Written here because no crate joins the parts: `reqwest` resolves and connects, but checks no
//! address; a guard before the request (as in `url` validators) misses a name that changes its
//! address in between.

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
mod security;
mod sign;
mod wire;

pub use client::{ClientConfig, ClientError, PageHead, Post, WebhookClient};
pub use guard::{Guard, Refusal, Why};
pub use link::{LONGEST_URL, UrlProblem, check_link, check_url};
pub use oauth::{OauthCredentials, Tokens};
pub use outcome::{HttpAnswer, PostOutcome, RequestStage, RetryAfter, TokenProblem};
pub use resolve::Names;
pub use retry::{Attempted, Next, RetryFate, Schedule};
pub use seal::{InvalidSecret, Sealer, Unopened, oauth_place, signing_place};
pub use security::{PostSecurity, SealedOauth, SealedSecurity, UnusableSecurity};
pub use sign::{SIGNATURE, TIMESTAMP, UnusableKey, WebhookKeyPair};
pub use wire::event_json;
