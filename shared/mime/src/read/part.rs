//! One part of a mail: its header and its content.

use std::borrow::Cow;

use crate::media_type::{is_token, is_type};
use crate::parse::{Entity, MultipartParts, Parameterised, charset, decoded};

/// Longest content id or message id that is stored, in bytes.
const LONGEST_ID: usize = 1_000;

/// `Content-Disposition`, as far as readers act on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Disposition {
    Attachment,
    Inline,
    /// Missing, or another word.
    #[default]
    Unset,
}

/// A part that is shown as the mail's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    Text,
    Html,
}

/// A part, or the mail itself.
#[derive(Clone, Debug)]
pub struct MailPart<'a> {
    /// Place in [`ParsedMail::parts`](super::ParsedMail::parts) of the multipart around it.
    pub parent: Option<usize>,
    /// Which child of that multipart it is, from 1.
    pub number: usize,
    /// `type/subtype` in lower case, both tokens of at most 127 characters. `text/plain` when it is
    /// missing, `application/octet-stream` when it cannot be read (RFC 2045, section 5.2).
    pub media_type: String,
    /// The declared charset, if it is a plausible name.
    pub charset: Option<String>,
    pub disposition: Disposition,
    /// Decoded, but not cleaned: it may hold anything.
    pub filename: Option<String>,
    /// Without angle brackets; it may hold anything.
    pub content_id: Option<String>,
    /// How it is displayed; `None` for a file and for a multipart.
    pub body_kind: Option<BodyKind>,
    /// Whether it has parts of its own in the list.
    pub is_multipart: bool,
    /// Whether `Content-Type` names it.
    pub(super) is_named: bool,
    /// Whether `Content-Disposition` names it.
    pub(super) has_filename: bool,
    boundary: Option<Vec<u8>>,
    encoding: Option<&'a [u8]>,
    content: &'a [u8],
}

impl<'a> MailPart<'a> {
    pub(super) fn read(entity: Entity<'a>, in_digest: bool) -> Self {
        let [kind, disposition, content_id, encoding] = entity.fields().pick([
            "Content-Type",
            "Content-Disposition",
            "Content-ID",
            "Content-Transfer-Encoding",
        ]);
        let kind = Parameterised::read(kind.unwrap_or_default());
        let disposition = Parameterised::read(disposition.unwrap_or_default());
        let named = kind.get("name", "");
        let filename = disposition.get("filename", "");
        Self {
            media_type: media_type(&kind.value, in_digest),
            charset: kind
                .get("charset", "")
                .filter(|name| is_token(name) && name.len() <= 127),
            disposition: match disposition.value.as_str() {
                "attachment" => Disposition::Attachment,
                "inline" => Disposition::Inline,
                _ => Disposition::Unset,
            },
            is_named: named.is_some(),
            has_filename: filename.is_some(),
            filename: filename.or(named).filter(|name| !name.is_empty()),
            content_id: content_id.map(id).filter(|id| !id.is_empty()),
            boundary: kind.raw("boundary").map(Cow::into_owned),
            encoding,
            content: entity.body,
            ..Self::unread(b"", None, 0)
        }
    }

    /// Bytes beyond the limits, as a file.
    pub(super) fn unread(content: &'a [u8], parent: Option<usize>, number: usize) -> Self {
        Self {
            parent,
            number,
            media_type: "application/octet-stream".to_owned(),
            charset: None,
            disposition: Disposition::Unset,
            filename: None,
            content_id: None,
            body_kind: None,
            is_multipart: false,
            is_named: false,
            has_filename: false,
            boundary: None,
            encoding: None,
            content,
        }
    }

    /// The parts of a multipart, if it may be opened. One that is too deep becomes a file, and one
    /// without its boundary a text.
    pub(super) fn open(
        &mut self,
        entity: Entity<'a>,
        may_nest: bool,
    ) -> Option<MultipartParts<'a>> {
        if !self.media_type.starts_with("multipart/") {
            return None;
        }
        let boundary = self.boundary.take();
        let parts = boundary.and_then(|boundary| MultipartParts::leniently(entity.body, &boundary));
        // The header of each part says how that part is encoded.
        self.encoding = None;
        self.is_multipart = may_nest && parts.is_some();
        if !self.is_multipart {
            self.media_type = match parts {
                Some(_) => "application/octet-stream",
                None => "text/plain",
            }
            .to_owned();
        }
        parts.filter(|_| may_nest)
    }

    /// The content with its transfer encoding decoded, otherwise unchanged.
    pub fn bytes(&self) -> Cow<'a, [u8]> {
        decoded(self.encoding, self.content)
    }

    /// The content as text, by its declared or detected charset.
    pub fn text(&self) -> String {
        let bytes = self.bytes();
        let name = charset::name(self.charset.as_deref(), &bytes);
        charset::decode(&name, &bytes).into_owned()
    }
}

fn media_type(value: &str, in_digest: bool) -> String {
    match value {
        "" if in_digest => "message/rfc822".to_owned(),
        "" | "text" => "text/plain".to_owned(),
        legible if is_type(legible) => legible.to_owned(),
        broken if broken.starts_with("text/") => "text/plain".to_owned(),
        _ => "application/octet-stream".to_owned(),
    }
}

/// The text within the angle brackets of a message id or a content id, or all of it without any.
pub(super) fn id(value: &[u8]) -> String {
    let value = value.get(..LONGEST_ID).unwrap_or(value);
    let value = crate::parse::unfolded(value);
    let text = String::from_utf8_lossy(&value);
    let inner = text.split_once('<').map_or(text.as_ref(), |(_, id)| id);
    let inner = inner.split_once('>').map_or(inner, |(id, _)| id);
    inner.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(header: &str) -> MailPart<'_> {
        MailPart::read(Entity::read(header.as_bytes()), false)
    }

    #[test]
    fn a_type_is_legible_or_replaced() {
        for (value, want) in [
            ("Image/PNG; name=a", "image/png"),
            ("", "text/plain"),
            ("text", "text/plain"),
            ("text/\"x\"", "text/plain"),
            ("x\u{7}y/z", "application/octet-stream"),
            ("a/b/c", "application/octet-stream"),
            ("pdf", "application/octet-stream"),
        ] {
            let header = format!("Content-Type: {value}\n\n");
            assert_eq!(part(&header).media_type, want, "{value:?}");
        }
        let long = format!("Content-Type: a/{}\n\n", "b".repeat(128));
        assert_eq!(part(&long).media_type, "application/octet-stream");
    }

    #[test]
    fn names_ids_and_charsets_are_decoded() {
        let read = part(
            "Content-Type: text/csv; charset=iso-8859-1; name=other.csv\n\
             Content-Disposition: ATTACHMENT; filename*=utf-8''gr%C3%B6%C3%9Fe%0A.csv\n\
             Content-ID: <pic@x>\n\
             Content-Transfer-Encoding: quoted-printable\n\n=E4=\n",
        );
        assert_eq!(read.filename.as_deref(), Some("größe\n.csv"));
        assert_eq!(read.content_id.as_deref(), Some("pic@x"));
        assert_eq!(read.charset.as_deref(), Some("iso-8859-1"));
        assert_eq!(read.disposition, Disposition::Attachment);
        assert_eq!((read.text().as_str(), &*read.bytes()), ("ä", &b"\xe4"[..]));
        let named = part("Content-Type: a/b; name=\"=?utf-8?q?=C3=A4?=\"; charset=\"a b\"\n\n");
        assert_eq!(named.filename.as_deref(), Some("ä"));
        assert_eq!(named.charset, None);
        for (value, want) in [
            (&b"<a@b>"[..], "a@b"),
            (b" a@b ", "a@b"),
            (b"x <a@b> <c@d>", "a@b"),
            (b"<a\r\n b", "a b"),
            (b"<>", ""),
        ] {
            assert_eq!(id(value), want);
        }
    }
}
