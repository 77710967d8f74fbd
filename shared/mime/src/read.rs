//! Parses a whole mail for display: its header, the tree of its parts, and the role of each part.
//!
//! Never fails and never recurses: nesting is limited to 32 levels and reading to 2,000 parts; the
//! rest is one part for each open level. An attached mail is a part like any other file. Of a
//! header the first MiB is read; its values are decoded up to 64 KiB, address lists up to 1,000
//! addresses.

mod address;
mod body;
mod part;

use crate::parse::{Entity, HeaderFields, MultipartParts, WordContext, text, unfolded};

pub use address::MailAddress;
use body::Level;
pub use part::{BodyKind, Disposition, MailPart};

/// Multiparts inside multiparts.
const DEEPEST: usize = 32;

/// Parts that are read, multiparts included.
const MOST_PARTS: usize = 2_000;

/// How much of a header is read, in bytes. More is a mistake or an attack.
const LONGEST_HEADER: usize = 1 << 20;

/// Longest header value that is decoded, and longest list of addresses, in bytes.
const LONGEST: usize = 1 << 16;

/// A parsed mail.
#[derive(Clone, Debug)]
pub struct ParsedMail<'a> {
    header: HeaderFields<'a>,
    parts: Vec<MailPart<'a>>,
}

impl<'a> ParsedMail<'a> {
    /// Parses a mail. Any bytes are valid.
    pub fn read(raw: &'a [u8]) -> Self {
        let mail = read_head(raw);
        let header = mail.fields();
        let mut parts = Vec::new();
        let mut root = Level::root();
        let mut named = Vec::new();
        let mut open = Vec::new();
        let (first, _) = add(&mut parts, mail, None, &mut root, true);
        open.extend(first);
        while let Some((at, siblings, level)) = open.last_mut() {
            if parts.len() >= MOST_PARTS {
                break;
            }
            let Some(piece) = siblings.next() else {
                open.pop();
                continue;
            };
            let parent = Some(*at);
            let entity = read_head(piece);
            // The level is taken out for the call, which may open another above it.
            let mut level = std::mem::replace(level, Level::root());
            let may_nest = open.len() < DEEPEST;
            let at = parts.len();
            let (next, kind) = add(&mut parts, entity, parent, &mut level, may_nest);
            named.extend(kind.map(|kind| (at, kind)));
            if let Some(last) = open.last_mut() {
                last.2 = level;
            }
            open.extend(next);
        }
        for (at, siblings, level) in open.iter().rev() {
            let rest = siblings.rest();
            if !rest.is_empty() {
                parts.push(MailPart::unread(rest, Some(*at), level.children + 1));
            }
        }
        body::promote(&mut parts, &named);
        Self { header, parts }
    }

    /// Name and value of each header field, in their order; the value is still folded.
    pub fn fields(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        self.header.iter()
    }

    /// The first field of this name for display: one line, encoded words decoded.
    pub fn text(&self, name: &str) -> Option<String> {
        let [value] = self.header.pick([name]);
        value.map(|value| text(head(value), WordContext::Text, ""))
    }

    /// Name and text of each header field, in their order, as [`text`](Self::text) shows one.
    pub fn texts(&self) -> impl Iterator<Item = (String, String)> + use<'a> {
        self.fields().map(|(name, value)| {
            let name = String::from_utf8_lossy(name).into_owned();
            (name, text(head(value), WordContext::Text, ""))
        })
    }

    /// The addresses of every field of this name, in their order.
    pub fn addresses(&self, name: &str) -> Vec<MailAddress> {
        let mut found = Vec::new();
        let mut room = LONGEST;
        for (other, value) in self.fields() {
            if room == 0 {
                break;
            }
            if other.eq_ignore_ascii_case(name.as_bytes()) {
                let value = value.get(..room).unwrap_or(value);
                // A million empty fields cost by their bytes, not by their number.
                room -= value.len();
                address::read(&unfolded(value), &mut found);
            }
        }
        found
    }

    /// Without angle brackets.
    pub fn message_id(&self) -> Option<String> {
        let [value] = self.header.pick(["Message-ID"]);
        value.map(part::id).filter(|id| !id.is_empty())
    }

    /// Every part, a parent before its children. The first is the mail itself.
    pub fn parts(&self) -> &[MailPart<'a>] {
        &self.parts
    }
}

fn read_head(raw: &[u8]) -> Entity<'_> {
    let entity = Entity::read(raw);
    let header = entity.header.get(..LONGEST_HEADER);
    Entity {
        header: header.unwrap_or(entity.header),
        ..entity
    }
}

fn head(value: &[u8]) -> &[u8] {
    value.get(..LONGEST).unwrap_or(value)
}

/// A multipart that is being read: its place in the list, its parts and their roles.
type OpenMultipart<'a> = (usize, MultipartParts<'a>, Level);

/// Adds a part; one that has parts of its own is opened. The second value is the role of a text if
/// its level has no other.
fn add<'a>(
    parts: &mut Vec<MailPart<'a>>,
    entity: Entity<'a>,
    parent: Option<usize>,
    level: &mut Level,
    may_nest: bool,
) -> (Option<OpenMultipart<'a>>, Option<BodyKind>) {
    level.children += 1;
    let mut part = MailPart::read(entity, level.is_digest());
    (part.parent, part.number) = (parent, level.children);
    let at = parts.len();
    let opened = part.open(entity, may_nest).map(|siblings| {
        let level = level.below(&part.media_type);
        (at, siblings, level)
    });
    let mut named = None;
    if opened.is_none() {
        (part.body_kind, named) = level.classify(&part);
    }
    parts.push(part);
    (opened, named)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Place, type and role of each part.
    fn tree(raw: &str) -> Vec<String> {
        let mail = ParsedMail::read(raw.as_bytes());
        let line = |part: &MailPart<'_>| {
            let parent = part.parent.map_or("-".to_owned(), |at| at.to_string());
            let kind = match part.body_kind {
                Some(BodyKind::Text) => " text",
                Some(BodyKind::Html) => " html",
                None => "",
            };
            format!("{parent}.{} {}{kind}", part.number, part.media_type)
        };
        mail.parts().iter().map(line).collect()
    }

    #[test]
    fn a_mail_without_parts_is_one_part() {
        for (raw, want) in [
            ("", "-.1 text/plain text"),
            ("no header", "-.1 text/plain text"),
            ("Content-Type: text/html\r\n\r\n<p>", "-.1 text/html html"),
            ("Content-Type: text\r\n\r\nx", "-.1 text/plain text"),
            ("Content-Type: pdf\r\n\r\nx", "-.1 application/octet-stream"),
            (
                "Content-Type: message/rfc822\r\n\r\nA: b",
                "-.1 message/rfc822",
            ),
            (
                "Content-Type: text/plain\r\nContent-Disposition: attachment\r\n\r\nx",
                "-.1 text/plain",
            ),
            (
                "Content-Type: multipart/mixed; boundary=b\r\n\r\nno delimiter",
                "-.1 text/plain text",
            ),
        ] {
            assert_eq!(tree(raw), [want], "{raw:?}");
        }
    }

    #[test]
    fn bodies_are_told_from_files() {
        let raw = "Content-Type: multipart/mixed; boundary=m\n\n\
            --m\nContent-Type: multipart/related; boundary=r\n\n\
            --r\nContent-Type: multipart/alternative; boundary=a\n\n\
            --a\n\nplain\n--a\nContent-Type: text/html\n\n<p>\n--a\nContent-Type: text/calendar\n\nx\n--a--\n\
            --r\nContent-Type: text/html\n\nshown in a frame\n--r--\n\
            --m\n\na footer\n\
            --m\nContent-Type: text/plain; name=a.txt\n\na file\n\
            --m\nContent-Type: message/rfc822\n\nSubject: x\n\ny\n--m--\n";
        assert_eq!(
            tree(raw),
            [
                "-.1 multipart/mixed",
                "0.1 multipart/related",
                "1.1 multipart/alternative",
                "2.1 text/plain text",
                "2.2 text/html html",
                "2.3 text/calendar",
                "1.2 text/html",
                "0.2 text/plain text",
                "0.3 text/plain",
                "0.4 message/rfc822",
            ]
        );
    }

    #[test]
    fn a_named_text_is_the_body_where_nothing_else_is() {
        let mail = |parts: &[&str]| {
            let parts: String = parts.iter().map(|p| format!("--m\n{p}\n")).collect();
            format!("Content-Type: multipart/mixed; boundary=m\n\n{parts}--m--\n")
        };
        let pdf = "Content-Type: application/pdf\n\nx";
        let text = "Content-Type: text/plain; name=a.txt\n\nx";
        let html = "Content-Type: text/html; name=\"a.html\"\nContent-Disposition: inline\n\nx";
        let file = "Content-Type: text/plain; name=a.txt\nContent-Disposition: inline; filename=a.txt\n\nx";
        let inner = "Content-Type: multipart/related; boundary=r\n\n--r\nContent-Type: text/html\n\nx\n--r--";
        for (parts, want) in [
            (&[pdf, text][..], &["pdf", "plain text"][..]),
            (
                &[pdf, text, html, text],
                &["pdf", "plain text", "html html", "plain"],
            ),
            (&[pdf, text, "\nunnamed"], &["pdf", "plain", "plain text"]),
            (&[pdf, file], &["pdf", "plain"]),
            (&[inner, text], &["related", "html html", "plain"]),
        ] {
            let tree = tree(&mail(parts));
            let tree: Vec<_> = tree
                .iter()
                .skip(1)
                .filter_map(|t| t.split_once('/'))
                .collect();
            let got: Vec<_> = tree.into_iter().map(|(_, kind)| kind).collect();
            assert_eq!(got, want, "{parts:?}");
        }
    }

    #[test]
    fn a_broken_line_hides_no_part() {
        let raw = "Subject: a\nP8Fxcut\nContent-Type: multipart/mixed; boundary=m\n\n\
            --m\nnot indented\nContent-Type: text/html\n\n<p>\n--m--";
        assert_eq!(tree(raw), ["-.1 multipart/mixed", "0.1 text/html html"]);
        let mail = ParsedMail::read(raw.as_bytes());
        assert_eq!(mail.text("Subject").as_deref(), Some("a"));
    }

    #[test]
    fn a_digest_holds_mails() {
        let raw = "Content-Type: multipart/digest; boundary=d\n\n--d\n\nSubject: a\n\nb\n--d--";
        assert_eq!(tree(raw), ["-.1 multipart/digest", "0.1 message/rfc822"]);
    }

    #[test]
    fn depth_and_number_are_bounded_and_nothing_is_lost() {
        let deep: String = (0..100)
            .map(|n| format!("Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n"))
            .collect();
        let mail = ParsedMail::read(deep.as_bytes());
        assert_eq!(mail.parts().len(), DEEPEST + 1);
        let last = mail.parts().last().unwrap();
        assert_eq!(last.media_type, "application/octet-stream");
        assert!(last.bytes().starts_with(b"--b32\n"));

        let wide = format!(
            "Content-Type: multipart/mixed; boundary=b\n\n{}--b--",
            "--b\nContent-Type: image/png\n\n\n".repeat(MOST_PARTS + 5)
        );
        let mail = ParsedMail::read(wide.as_bytes());
        assert_eq!(mail.parts().len(), MOST_PARTS + 1);
        let last = mail.parts().last().unwrap();
        assert_eq!((last.parent, last.number), (Some(0), MOST_PARTS));
        let rest = memchr::memmem::find_iter(&last.bytes(), b"image/png").count();
        assert_eq!(rest, 6);
    }

    #[test]
    fn the_header_is_read_once_for_every_use() {
        let raw = b"To: a@b, C <c@d>\nto: e@f\nSubject: =?utf-8?q?=C3=A4?=\n b\n\
            Message-ID: <x@y> (z)\nX-List: <http://a>,\n\t<mailto:b>\n\n";
        let mail = ParsedMail::read(raw);
        let to: Vec<_> = mail
            .addresses("TO")
            .into_iter()
            .map(|a| a.address)
            .collect();
        assert_eq!(to, ["a@b", "c@d", "e@f"]);
        assert_eq!(mail.text("subject").as_deref(), Some("ä b"));
        assert_eq!(mail.message_id().as_deref(), Some("x@y"));
        assert_eq!(mail.text("none"), None);
        assert_eq!(mail.fields().count(), 5);
    }
}
