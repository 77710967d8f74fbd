//! Decides which parts are displayed, and which are files (after RFC 8621, section 4.1.4).

use super::part::{Disposition, MailPart};

/// A part that is shown as the mail's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    Text,
    Html,
}

/// The state of one multipart while its parts are read.
#[derive(Clone, Debug)]
pub(super) struct Level {
    kind: MultipartKind,
    /// Somewhere above is a multipart/alternative.
    in_alternative: bool,
    needs_text: bool,
    needs_html: bool,
    /// Parts begun so far.
    pub(super) children: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MultipartKind {
    /// No multipart: the mail itself.
    Root,
    Alternative,
    Related,
    Digest,
    Other,
}

impl Level {
    pub(super) fn root() -> Self {
        Self {
            kind: MultipartKind::Root,
            in_alternative: false,
            needs_text: true,
            needs_html: true,
            children: 0,
        }
    }

    /// The level of a multipart in this one.
    pub(super) fn below(&self, media_type: &str) -> Self {
        let kind = match media_type {
            "multipart/alternative" => MultipartKind::Alternative,
            "multipart/related" => MultipartKind::Related,
            "multipart/digest" => MultipartKind::Digest,
            _ => MultipartKind::Other,
        };
        Self {
            kind,
            in_alternative: self.in_alternative || kind == MultipartKind::Alternative,
            needs_text: self.needs_text,
            needs_html: self.needs_html,
            children: 0,
        }
    }

    pub(super) fn is_digest(&self) -> bool {
        self.kind == MultipartKind::Digest
    }

    /// How the current part, already counted, is displayed; `None` for a file.
    pub(super) fn classify(&mut self, part: &MailPart<'_>) -> Option<BodyKind> {
        let kind = match part.media_type.as_str() {
            "text/plain" => BodyKind::Text,
            "text/html" => BodyKind::Html,
            _ => return None,
        };
        if self.kind == MultipartKind::Alternative {
            return Some(kind);
        }
        // After the first part of a related one, and with a name, texts are files.
        let is_first = self.children == 1;
        let is_file = self.kind == MultipartKind::Related || part.is_named;
        if part.disposition == Disposition::Attachment || (is_file && !is_first) {
            return None;
        }
        // An alternative may be a multipart itself: its first part decides its format.
        if self.in_alternative {
            match kind {
                BodyKind::Html => self.needs_text = false,
                BodyKind::Text => self.needs_html = false,
            }
        }
        let needed = match kind {
            BodyKind::Html => self.needs_html,
            BodyKind::Text => self.needs_text,
        };
        needed.then_some(kind)
    }
}
