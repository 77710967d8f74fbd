//! Composes the bytes of one outgoing mail.
//!
//! The shape is what mail programs expect, and a level with one child is left out:
//!
//! ```text
//! multipart/mixed
//! ├── multipart/related            with html and inline files that have a content id
//! │   ├── multipart/alternative
//! │   │   ├── text/plain
//! │   │   ├── text/x-amp-html
//! │   │   ├── text/html
//! │   │   └── text/calendar …
//! │   └── inline images
//! └── attachments
//! ```

mod body;
mod file;
mod header;
mod size;

use std::collections::BTreeMap;

use posthaste_model::{Attachment, Content, Disposition, Mailbox, Timestamp};

use crate::media_type::MediaType;

pub use body::is_body_type;
pub(crate) use body::{wrap, write as write_text, write_type};
pub use file::is_base64;
pub use header::{
    HEADER_RULES, HeaderRule, LONGEST_HEADER_NAME, header_rule, is_header_name, message_id,
};
pub(crate) use header::{addresses, breaks_line, unstructured};
pub use size::{LARGEST_MAIL, exceeds};

/// The values that a message would otherwise generate.
#[derive(Clone, Copy, Debug)]
pub struct Stamp<'a> {
    /// Without angle brackets.
    pub message_id: &'a str,
    pub date: Timestamp,
    /// The base of the boundaries: 1 to 60 of `A-Z a-z 0-9 - _ .`.
    pub boundary: &'a str,
}

/// One mail as its readers see it, without blind copies.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    pub from: &'a Mailbox,
    pub to: &'a [Mailbox],
    pub cc: &'a [Mailbox],
    pub reply_to: &'a [Mailbox],
    /// Left out of the header when empty.
    pub subject: &'a str,
    /// Alternatives of one body, the plainest first. Their order is preserved, except that AMP goes
    /// before HTML.
    pub contents: &'a [Content],
    pub attachments: &'a [Attachment],
    /// The caller's headers: those that [`header_rule`] does not leave out, and that are not in
    /// `extra`. Their `Message-ID` is the [`Stamp`]'s to repeat.
    pub headers: &'a BTreeMap<String, String>,
    /// Headers added by the service: `List-Unsubscribe`, ….
    pub extra: &'a [(&'a str, String)],
}

/// Why a mail cannot be composed. All other content is encoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    #[error("the stamp's {0} is not valid")]
    Stamp(&'static str),
    #[error("{0:?} is not a header name")]
    HeaderName(String),
    #[error("{0:?} is not a media type that can be sent")]
    MediaType(String),
    /// Counted from zero.
    #[error("attachment {0} is not base64")]
    Base64(usize),
}

/// Writes the mail: CRLF line ends, no line over 998 octets, 7-bit throughout. Only a non-ASCII
/// local part puts UTF-8 into the header (RFC 6532), and the relay must then speak SMTPUTF8.
///
/// Control characters in names, subjects, file names and header values become spaces, so a caller's
/// value cannot start another header.
pub fn build(mail: &Outgoing<'_>, stamp: &Stamp<'_>) -> Result<Vec<u8>, BuildError> {
    check(stamp)?;
    let size: usize = mail
        .contents
        .iter()
        .map(|content| content.value.len())
        .chain(mail.attachments.iter().map(|file| file.content.len()))
        .sum();
    let mut out = Vec::with_capacity(size + size / 16 + 2048);
    header::write(mail, stamp, &mut out)?;
    let mut parts = BodyBuilder {
        seed: stamp.boundary,
        level: 0,
        out,
    };
    parts.mixed(mail)?;
    let mut out = parts.out;
    // A message consists of lines, so the last one ends too.
    if !out.ends_with(b"\r\n") {
        out.extend_from_slice(b"\r\n");
    }
    Ok(out)
}

fn check(stamp: &Stamp<'_>) -> Result<(), BuildError> {
    if message_id(stamp.message_id) != Some(stamp.message_id) {
        return Err(BuildError::Stamp("message id"));
    }
    let seed = stamp.boundary;
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    // RFC 2046 limits boundaries to 70 characters; these add up to four.
    if !(1..=60).contains(&seed.len()) || !seed.bytes().all(plain) {
        return Err(BuildError::Stamp("boundary"));
    }
    Ok(())
}

/// The body under construction.
struct BodyBuilder<'a> {
    seed: &'a str,
    /// The number of multiparts opened.
    level: usize,
    out: Vec<u8>,
}

impl BodyBuilder<'_> {
    fn mixed(&mut self, mail: &Outgoing<'_>) -> Result<(), BuildError> {
        let html = |content: &Content| {
            MediaType::parse(&content.mime_type).is_some_and(|kind| kind.is("text/html"))
        };
        let has_html = mail.contents.iter().any(html);
        let (related, attached): (Vec<_>, Vec<_>) = mail
            .attachments
            .iter()
            .enumerate()
            .partition(|(_, file)| has_html && is_embedded(file));
        let body = !mail.contents.is_empty() || attached.is_empty();
        if !body && attached.len() == 1 || attached.is_empty() {
            for (at, file) in attached {
                self.file(at, file)?;
            }
            return if body {
                self.related(mail.contents, &related)
            } else {
                Ok(())
            };
        }
        let boundary = self.open("mixed", None);
        if body {
            self.next(&boundary);
            self.related(mail.contents, &related)?;
        }
        for (at, file) in attached {
            self.next(&boundary);
            self.file(at, file)?;
        }
        self.close(&boundary);
        Ok(())
    }

    fn related(
        &mut self,
        contents: &[Content],
        files: &[(usize, &Attachment)],
    ) -> Result<(), BuildError> {
        if files.is_empty() {
            return self.alternative(contents);
        }
        // RFC 2387 requires the type of the root part.
        let root = if contents.len() > 1 {
            "multipart/alternative"
        } else {
            "text/html"
        };
        let boundary = self.open("related", Some(root));
        self.next(&boundary);
        self.alternative(contents)?;
        for (at, file) in files {
            self.next(&boundary);
            self.file(*at, file)?;
        }
        self.close(&boundary);
        Ok(())
    }

    fn alternative(&mut self, contents: &[Content]) -> Result<(), BuildError> {
        let contents = amp_before_html(contents);
        match contents.as_slice() {
            [] => body::write("text/plain", "", &self.marker(), &mut self.out),
            [only] => self.content(only),
            several => {
                let boundary = self.open("alternative", None);
                for content in several {
                    self.next(&boundary);
                    self.content(content)?;
                }
                self.close(&boundary);
                Ok(())
            }
        }
    }

    fn content(&mut self, content: &Content) -> Result<(), BuildError> {
        let marker = self.marker();
        body::write(&content.mime_type, &content.value, &marker, &mut self.out)
    }

    fn file(&mut self, at: usize, file: &Attachment) -> Result<(), BuildError> {
        let marker = self.marker();
        file::write(at, file, &marker, &mut self.out)
    }

    /// The prefix of every boundary. `=_` never occurs in base64 or quoted-printable text (RFC
    /// 2045, section 6.7), so only text sent as it is must be searched for it.
    fn marker(&self) -> String {
        format!("=_{}", self.seed)
    }

    fn open(&mut self, subtype: &str, root: Option<&str>) -> String {
        self.level += 1;
        let boundary = format!("{}_{}", self.marker(), self.level);
        self.put("Content-Type: multipart/");
        self.put(subtype);
        self.put(";\r\n boundary=\"");
        self.put(&boundary);
        self.put("\"");
        if let Some(root) = root {
            self.put(";\r\n type=\"");
            self.put(root);
            self.put("\"");
        }
        self.put("\r\n");
        boundary
    }

    fn next(&mut self, boundary: &str) {
        self.put("\r\n--");
        self.put(boundary);
        self.put("\r\n");
    }

    fn close(&mut self, boundary: &str) {
        self.put("\r\n--");
        self.put(boundary);
        self.put("--\r\n");
    }

    fn put(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }
}

/// Whether the HTML can show the file: it is inline and has a name to refer to.
fn is_embedded(file: &Attachment) -> bool {
    let named = file
        .content_id
        .as_deref()
        .is_some_and(|id| !id.trim().is_empty());
    named && file.disposition == Disposition::Inline
}

/// The caller's order, with AMP parts moved before the first HTML part: the AMP for Email
/// specification requires that, because many readers show the last alternative they support and
/// some support none after HTML.
fn amp_before_html(contents: &[Content]) -> Vec<&Content> {
    let is = |content: &Content, essence: &str| {
        MediaType::parse(&content.mime_type).is_some_and(|kind| kind.is(essence))
    };
    let mut order: Vec<&Content> = contents.iter().collect();
    let Some(html) = order.iter().position(|c| is(c, "text/html")) else {
        return order;
    };
    if let Some(tail) = order.get_mut(html..) {
        // Stable: all other parts keep their order.
        tail.sort_by_key(|content| !is(content, "text/x-amp-html"));
    }
    order
}
