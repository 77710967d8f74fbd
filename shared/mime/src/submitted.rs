//! A mail submitted whole: its header, the text parts that settings change, and the bytes that are
//! passed on.
//!
//! Every byte stays as it is unless a change is requested, or a line breaks the rules of the header
//! or of SMTP. Parts inside `multipart/signed` and
//! `multipart/encrypted` are never changed, nor are attached messages.

mod boundaries;
mod fields;
mod flaw;
mod head;
mod mailboxes;
mod received;
mod write;

use std::ops::Range;

use posthaste_model::{Content, Mailbox};

use crate::parse::{Entity, MultipartParts, Parameterised, charset, decoded};
use crate::{BuildError, Stamp};
use boundaries::Boundaries;

pub use flaw::Flaw;
pub use head::SubmittedHead;
pub use received::received;

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
    let one = |mime_type: &str, leaf: Option<&Leaf>| {
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

/// The mail without the fields that name one sending of it: its `Message-ID`, its date, and the signatures
/// that cover them.
pub fn unsent(raw: &[u8]) -> Vec<u8> {
    let entity = Entity::read(raw);
    let mut out = Vec::with_capacity(raw.len());
    for (name, field) in fields::fields(entity.header) {
        if !fields::is_one_of(name, &["message-id", "date", "dkim-signature"]) {
            fields::put_field(field, &mut out);
        }
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(entity.body);
    out
}

/// Multiparts inside multiparts.
const DEEPEST: usize = 32;

/// Parts that are read, multiparts included.
const MOST_PARTS: usize = 1_100;

/// The texts of a mail.
#[derive(Debug, Default)]
struct Leaves {
    plain: Option<Leaf>,
    html: Option<Leaf>,
    /// Every part that can be encoded anew.
    all: Vec<Leaf>,
    /// The boundaries of every opened multipart: no text may contain one.
    boundaries: Boundaries,
}

/// A part with its header, as a piece of the mail.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Leaf {
    at: Range<usize>,
}

impl Leaves {
    fn read(raw: &[u8]) -> Self {
        let mut leaves = Self::default();
        let mut stack = Vec::new();
        stack.extend(leaves.entity(raw, 0..raw.len(), true));
        for _ in 0..MOST_PARTS {
            let Some(parts) = stack.last_mut() else { break };
            let Some(part) = parts.next() else {
                stack.pop();
                continue;
            };
            let may_nest = stack.len() < DEEPEST;
            let next = leaves.entity(raw, place(raw, part), may_nest);
            stack.extend(next);
        }
        leaves
    }

    /// Adds a part, or opens it when it is a multipart.
    fn entity<'a>(
        &mut self,
        raw: &'a [u8],
        at: Range<usize>,
        may_nest: bool,
    ) -> Option<MultipartParts<'a>> {
        let entity = Entity::read(raw.get(at.clone())?);
        let fields = entity.fields();
        let [kind, disposition] = fields.pick(["Content-Type", "Content-Disposition"]);
        let kind = Parameterised::read(kind.unwrap_or_default());
        if let Some(subtype) = kind.value.strip_prefix("multipart/") {
            // A change would invalidate the signature.
            if !may_nest || matches!(subtype, "signed" | "encrypted") {
                return None;
            }
            let boundary = kind.raw("boundary")?;
            let parts = MultipartParts::read(entity.body, &boundary)?;
            self.boundaries.add(boundary.trim_ascii_end());
            return Some(parts);
        }
        // RFC 2046, section 5.2.1, fixes the encodings of messages.
        if !kind.value.starts_with("message/") {
            self.all.push(Leaf { at: at.clone() });
        }
        let slot = match kind.value.as_str() {
            // RFC 2045, section 5.2.
            "" | "text" | "text/plain" => &mut self.plain,
            "text/html" => &mut self.html,
            _ => return None,
        };
        let disposition = Parameterised::read(disposition.unwrap_or_default());
        let is_file = disposition.value == "attachment" || disposition.raw("filename").is_some();
        if !is_file && slot.is_none() {
            *slot = Some(Leaf { at });
        }
        None
    }
}

impl Leaf {
    /// Whether the mail has no other part.
    fn is_whole(&self, raw: &[u8]) -> bool {
        self.at == (0..raw.len())
    }

    /// The text, decoded.
    fn text(&self, raw: &[u8]) -> String {
        let entity = Entity::read(raw.get(self.at.clone()).unwrap_or_default());
        let fields = entity.fields();
        let [kind, encoding] = fields.pick(["Content-Type", "Content-Transfer-Encoding"]);
        let kind = Parameterised::read(kind.unwrap_or_default());
        let bytes = decoded(encoding, entity.body);
        let declared = kind.get("charset", "");
        let label = declared
            .as_deref()
            .and_then(|label| label.split_whitespace().next());
        let name = charset::name(label, &bytes);
        charset::decode(&name, &bytes).into_owned()
    }
}

/// The position of a piece of the mail in it.
fn place(raw: &[u8], piece: &[u8]) -> Range<usize> {
    let start = piece.as_ptr().addr().wrapping_sub(raw.as_ptr().addr());
    start..start.saturating_add(piece.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(raw: &str, plain: Option<&str>, html: Option<&str>) {
        let leaves = Leaves::read(raw.as_bytes());
        let text = |leaf: &Option<Leaf>| leaf.as_ref().map(|leaf| leaf.text(raw.as_bytes()));
        let got = (text(&leaves.plain), text(&leaves.html));
        let want = (plain.map(str::to_owned), html.map(str::to_owned));
        assert_eq!(got, want, "{raw:?}");
    }

    #[test]
    fn a_mail_without_parts_is_its_text() {
        check("A: b\r\n\r\nhello\r\n", Some("hello\r\n"), None);
        check(
            "Content-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\nPGI+\r\n",
            None,
            Some("<b>"),
        );
        check("Content-Type: image/png\r\n\r\nx", None, None);
        check(
            "Content-Type: text/plain\r\nContent-Disposition: attachment\r\n\r\nx",
            None,
            None,
        );
        check(
            "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nGr=C3=BC=\r\n=C3=9Fe",
            Some("Grüße"),
            None,
        );
        check("", Some(""), None);
    }

    #[test]
    fn the_first_of_each_kind_counts_and_files_do_not() {
        let raw = "Content-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\n\
            Content-Type: multipart/alternative; boundary=\"a\"\r\n\r\n--a\r\n\r\nplain\r\n--a\r\n\
            Content-Type: text/html\r\n\r\n<p>\r\n--a--\r\n--m\r\n\
            Content-Type: text/html\r\n\r\nsecond\r\n--m\r\n\
            Content-Type: text/plain\r\nContent-Disposition: inline; filename=x.txt\r\n\r\nfile\r\n--m--\r\n";
        check(raw, Some("plain"), Some("<p>"));
        let boundaries = Leaves::read(raw.as_bytes()).boundaries;
        assert!(boundaries.delimit(b"x\n--m\n") && boundaries.delimit(b"--a--"));
        assert!(!boundaries.delimit(b"x --m\n-m\n--x\n"));
    }

    #[test]
    fn what_is_signed_or_attached_is_not_touched() {
        let signed =
            "Content-Type: multipart/signed; boundary=s\r\n\r\n--s\r\n\r\nplain\r\n--s--\r\n";
        check(signed, None, None);
        let message = "Content-Type: message/rfc822\r\n\r\nA: b\r\n\r\ninner\r\n";
        check(message, None, None);
        check("Content-Type: multipart/mixed\r\n\r\nx", None, None);
    }

    #[test]
    fn what_names_one_sending_is_taken_out() {
        let raw = b"DKIM-Signature: v=1;\r\n b=x\r\nFrom: a@x.co\r\nMESSAGE-ID: <1@x.co>\r\nDate: today\r\n\
            Subject: Date: no\r\n\r\nMessage-ID: in the text\r\n";
        let want = "From: a@x.co\r\nSubject: Date: no\r\n\r\nMessage-ID: in the text\r\n";
        assert_eq!(String::from_utf8_lossy(&unsent(raw)), want);
        assert_eq!(unsent(&unsent(raw)), want.as_bytes());
        assert_eq!(unsent(b""), b"\r\n");
    }

    #[test]
    fn depth_and_number_are_bounded() {
        let deep: String = (0..100)
            .map(|n| {
                format!("Content-Type: multipart/mixed; boundary=b{n:03}\r\n\r\n--b{n:03}\r\n")
            })
            .collect();
        let boundaries = Leaves::read(deep.as_bytes()).boundaries;
        assert!(boundaries.delimit(b"--b031") && !boundaries.delimit(b"--b040"));
        let wide = format!(
            "Content-Type: multipart/mixed; boundary=b\r\n\r\n{}--b\r\n\r\nlate\r\n--b--",
            "--b\r\nContent-Type: image/png\r\n\r\n\r\n".repeat(2_000)
        );
        check(&wide, None, None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(raw: Vec<u8>, more in "(--b\r\n|Content-Type: multipart/mixed; boundary=b\r\n|Content-Type: text/html\r\n|\r\n|x){0,30}") {
            for raw in [raw.as_slice(), more.as_bytes()] {
                let leaves = Leaves::read(raw);
                for leaf in [leaves.plain, leaves.html].into_iter().flatten() {
                    prop_assert!(raw.get(leaf.at.clone()).is_some());
                    leaf.text(raw);
                }
            }
        }
    }
}
