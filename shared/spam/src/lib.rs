//! Scores a mail with the operator's spam filter, `SpamAssassin`'s spamd or rspamd.
//!
//! Nothing is decided here: the filter scores, and the caller compares with the threshold. A filter
//! that does not answer is a local failure; callers let the mail pass and log it.

mod filter;
mod rspamd;
mod spamd;

pub use filter::{Filter, InvalidFilter, LARGEST, SpamError, SpamScore};
