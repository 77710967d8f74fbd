//! Converts envelopes to RFC 5322 bytes and back.
//!
//! Pure: no input or output, no clock, no randomness. Values that a message would otherwise
//! generate come in as a [`Stamp`], so the same mail gives the same bytes.

pub mod inbound;
mod media_type;
mod outgoing;
mod parse;
pub mod read;
pub mod report;
pub mod submitted;

pub use outgoing::{
    BuildError, LARGEST_MAIL, LONGEST_HEADER_NAME, Outgoing, Stamp, build, exceeds, is_body_type,
    is_header_name, is_reserved,
};
