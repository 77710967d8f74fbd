//! What a test takes from a mail: codes to type in, and links to follow.
//!
//! The text may be a stranger's, so each step reads it once and keeps a bounded number of findings. Words of many
//! languages say what a number or a link is for; a number that no word calls a code is none.

mod anchors;
mod code_words;
mod codes;
mod lexicon;
mod link_words;
mod links;
mod shape;

pub(crate) use codes::{MailCode, codes};
pub(crate) use links::{MailLink, links};
