//! Parses the header of one part.

use crate::media_type::is_type;
use crate::parse::{HeaderFields, MultipartParts, Parameterised, charset};

/// Longest name of a file, in bytes: several times the limit of file systems.
const LONGEST_NAME: usize = 1_000;

/// The header of a part.
pub(super) struct PartHeader<'a> {
    pub kind: Parameterised,
    pub media_type: String,
    pub is_attachment: bool,
    pub filename: Option<String>,
    /// Whether only `Content-Type` names it.
    pub is_only_named: bool,
    pub content_id: Option<String>,
    pub encoding: Option<&'a [u8]>,
}

impl<'a> PartHeader<'a> {
    pub(super) fn read(fields: &HeaderFields<'a>, in_digest: bool, fallback: &str) -> Self {
        let [kind, disposition, id, encoding] = fields.pick([
            "Content-Type",
            "Content-Disposition",
            "Content-ID",
            "Content-Transfer-Encoding",
        ]);
        let kind = Parameterised::read(kind.unwrap_or_default());
        let disposition = Parameterised::read(disposition.unwrap_or_default());
        let media_type = if is_type(&kind.value) {
            kind.value.clone()
        } else if in_digest && kind.value.is_empty() {
            "message/rfc822".to_owned()
        } else {
            // RFC 2045, section 5.2: also for a type that cannot be read.
            "text/plain".to_owned()
        };
        let filename = disposition.get("filename", fallback);
        let is_only_named = filename.is_none();
        let filename = filename.or_else(|| kind.get("name", fallback));
        Self {
            media_type,
            is_attachment: disposition.value == "attachment",
            is_only_named,
            filename: filename
                .map(|name| clean(&name))
                .filter(|name| !name.is_empty()),
            content_id: id.map(content_id).filter(|id| !id.is_empty()),
            encoding,
            kind,
        }
    }

    /// The parts of a multipart.
    pub(super) fn parts(&self, body: &'a [u8]) -> Option<MultipartParts<'a>> {
        MultipartParts::leniently(body, &self.kind.raw("boundary")?)
    }

    /// The charset of a file, whose bytes stay.
    pub(super) fn charset(&self, bytes: &[u8]) -> String {
        charset::name(self.declared().as_deref(), bytes)
    }

    pub(super) fn declared(&self) -> Option<String> {
        let declared = self.kind.get("charset", "")?;
        declared.split_whitespace().next().map(str::to_owned)
    }

    /// Text without a header.
    pub(super) fn plain() -> Self {
        Self {
            kind: Parameterised::default(),
            media_type: "text/plain".to_owned(),
            is_attachment: false,
            is_only_named: false,
            filename: None,
            content_id: None,
            encoding: None,
        }
    }
}

fn clean(name: &str) -> String {
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    let mut name: String = name.trim().chars().map(visible).collect();
    name.truncate(name.floor_char_boundary(LONGEST_NAME));
    name
}

fn content_id(value: &[u8]) -> String {
    let value = value.get(..LONGEST_NAME).unwrap_or(value);
    let id = clean(&String::from_utf8_lossy(value));
    let id = id.strip_prefix('<').unwrap_or(&id);
    id.strip_suffix('>').unwrap_or(id).to_owned()
}

/// Receivers distinguish files from fields by their name, so a file always has one.
pub(super) fn invented(n: usize, media_type: &str) -> String {
    let ending = match media_type {
        "message/rfc822" | "message/global" => "eml",
        "text/calendar" => "ics",
        "text/html" => "html",
        "text/csv" => "csv",
        "application/pdf" => "pdf",
        "image/jpeg" => "jpg",
        "image/png" => "png",
        "image/gif" => "gif",
        other if other.starts_with("text/") || other.starts_with("message/") => "txt",
        _ => "bin",
    };
    format!("attachment{n}.{ending}")
}
