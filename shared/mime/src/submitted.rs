//! A mail that came whole: what its header says, which of its parts are the text that settings
//! change, and the bytes that are passed on.
//!
//! Every byte that nobody asked to change stays as it is. Parts inside `multipart/signed` and
//! `multipart/encrypted` are never touched, nor are attached messages.

mod boundaries;
mod flaw;
mod head;
mod leaves;
mod mailboxes;
mod write;

use posthaste_model::{Content, Mailbox};

use crate::{BuildError, Stamp};
use leaves::Leaves;

pub use flaw::Flaw;
pub use head::{SubmittedHead, received};

const PLAIN: &str = "text/plain";
const HTML: &str = "text/html";

/// What one recipient's copy has that the mail has not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Changes<'a> {
    /// The texts as [`texts`] gave them, and as they are to be. A text that the mail did not have
    /// comes as an alternative to the one it had.
    pub before: &'a [Content],
    pub after: &'a [Content],
    /// Whom the mail is to; as it was when empty.
    pub to: &'a [Mailbox],
    /// Who gets the answers; as it was when empty.
    pub reply_to: &'a [Mailbox],
    /// As it was when absent.
    pub subject: Option<&'a str>,
    /// What the service adds, unless the mail has it.
    pub extra: &'a [(String, String)],
}

/// The first plain text and the first HTML of a mail, the plain one first: what a reader shows.
pub fn texts(raw: &[u8]) -> Vec<Content> {
    let leaves = Leaves::read(raw);
    let one = |mime_type: &str, leaf: Option<&leaves::Leaf>| {
        Some(Content {
            mime_type: mime_type.to_owned(),
            value: leaf?.text(raw),
        })
    };
    let plain = one(PLAIN, leaves.plain.as_ref());
    let html = one(HTML, leaves.html.as_ref());
    plain.into_iter().chain(html).collect()
}

/// Writes the mail as it leaves: without `Bcc` and `X-SMTPAPI`, with a `Date` and a `Message-ID`,
/// and with the changes.
///
/// # Errors
/// See [`BuildError`].
pub fn pass_on(
    raw: &[u8],
    changes: &Changes<'_>,
    stamp: &Stamp<'_>,
) -> Result<Vec<u8>, BuildError> {
    write::write(raw, changes, stamp)
}
