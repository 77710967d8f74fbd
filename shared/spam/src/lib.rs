//! Asks a spam filter of the operator's, `SpamAssassin`'s spamd or rspamd, what it makes of a mail.
//!
//! Nothing is judged here: the filter scores, and whoever asked compares with the threshold. A
//! filter that does not answer is trouble of our own; callers let the mail pass and say so.

mod filter;
mod rspamd;
mod spamd;

pub use filter::{Filter, InvalidFilter, LARGEST, SpamError, SpamScore};
