//! A mail submitted whole: its header, the text parts that settings change, and the bytes that are
//! passed on.
//!
//! Every byte stays as it is unless a change is requested, or a line breaks the rules of the header
//! or of SMTP. Parts inside `multipart/signed` and
//! `multipart/encrypted` are never changed, nor are attached messages.

mod boundaries;
mod clean;
mod flaw;
mod head;
mod leaves;
mod long;
mod mailboxes;
mod write;

use posthaste_model::{Content, Mailbox};

use crate::{BuildError, Stamp};
use leaves::Leaves;

pub use clean::received;
pub use flaw::Flaw;
pub use head::SubmittedHead;

const PLAIN: &str = "text/plain";
const HTML: &str = "text/html";

/// The differences of one recipient's copy from the mail.
#[derive(Clone, Copy, Debug, Default)]
pub struct Changes<'a> {
    /// The texts from [`texts`], as changed. A text that the mail did not have is added as an
    /// alternative to the one it had.
    pub before: &'a [Content],
    pub after: &'a [Content],
    /// The new recipients; unchanged when empty.
    pub to: &'a [Mailbox],
    /// The new reply addresses; unchanged when empty.
    pub reply_to: &'a [Mailbox],
    /// Unchanged when absent.
    pub subject: Option<&'a str>,
    /// Headers that the service adds, unless the mail has them.
    pub extra: &'a [(String, String)],
}

/// The first plain text and the first HTML of a mail, the plain one first: the parts that readers
/// show.
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

/// Writes the outgoing mail: without `Bcc` and `X-SMTPAPI`, with a `Date` and a `Message-ID`, and
/// with the changes.
pub fn pass_on(
    raw: &[u8],
    changes: &Changes<'_>,
    stamp: &Stamp<'_>,
) -> Result<Vec<u8>, BuildError> {
    write::write(raw, changes, stamp)
}
