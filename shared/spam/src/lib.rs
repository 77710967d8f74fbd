//! Scores a mail with the operator's spam filter, `SpamAssassin`'s spamd or rspamd.
//!
//! Nothing is decided here: the filter scores, and the caller compares with the threshold. A filter
//! that does not answer is a local failure; callers let the mail pass and log it.
//!
//! ```no_run
//! use posthaste_spam::{Filter, SpamError};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let filter: Filter = "spamd://127.0.0.1:783?threshold=6&timeout=5".parse()?;
//! match filter.score(b"Subject: You have won\r\n\r\nClaim it now\r\n").await {
//!     Ok(found) if found.is_spam() => println!("{} points:\n{}", found.score, found.report),
//!     Ok(_) => println!("no spam"),
//!     Err(SpamError::Timeout) => println!("not scored: the filter is slow"),
//!     Err(other) => println!("not scored: {other}"),
//! }
//! # Ok(())
//! # }
//! ```

mod filter;
mod rspamd;
mod score;
mod spamd;

pub use filter::{Filter, InvalidFilter, LARGEST};
pub use score::{SpamError, SpamRule, SpamScore};
