//! Decides which parts are displayed, and which are files (after RFC 8621, section 4.1.4).

use std::collections::HashMap;

use super::part::{BodyKind, Disposition, MailPart};

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

    /// How the current part, already counted, is displayed; `None` for a file. The second value is
    /// how a text that only `Content-Type` names is displayed if its level has no other.
    pub(super) fn classify(&mut self, part: &MailPart<'_>) -> (Option<BodyKind>, Option<BodyKind>) {
        let kind = match part.media_type.as_str() {
            "text/plain" => BodyKind::Text,
            "text/html" => BodyKind::Html,
            _ => return (None, None),
        };
        if self.kind == MultipartKind::Alternative {
            return (Some(kind), None);
        }
        // After the first part of a related one, and with a name, texts are files.
        let is_first = self.children == 1;
        let is_shown = self.kind == MultipartKind::Related && !is_first;
        if part.disposition == Disposition::Attachment || is_shown {
            return (None, None);
        }
        let needed = match kind {
            BodyKind::Html => self.needs_html,
            BodyKind::Text => self.needs_text,
        };
        if part.is_named && !is_first {
            return (None, Some(kind).filter(|_| needed && !part.has_filename));
        }
        // An alternative may be a multipart itself: its first part decides its format.
        if self.in_alternative {
            match kind {
                BodyKind::Html => self.needs_text = false,
                BodyKind::Text => self.needs_html = false,
            }
        }
        (needed.then_some(kind), None)
    }
}

/// Shows the named texts of the levels that have no body, neither of their own nor below: the first
/// of each kind. `named` holds their places, in the order of the mail.
pub(super) fn promote(parts: &mut [MailPart<'_>], named: &[(usize, BodyKind)]) {
    let mut has_body = vec![false; parts.len()];
    let mark = |has_body: &mut Vec<bool>, level: Option<usize>| {
        if let Some(level) = level.and_then(|level| has_body.get_mut(level)) {
            *level = true;
        }
    };
    let mut by_level = named.iter().rev().peekable();
    // A parent comes before its children: seen from the end, each level is complete when it comes.
    let mut candidates: HashMap<usize, Vec<(usize, BodyKind)>> = HashMap::new();
    for at in (0..parts.len()).rev() {
        if let Some(&(place, kind)) = by_level.next_if(|(place, _)| *place == at)
            && let Some(parent) = parts.get(place).and_then(|part| part.parent)
        {
            candidates.entry(parent).or_default().push((place, kind));
        }
        let own = candidates.remove(&at).unwrap_or_default();
        if has_body.get(at) == Some(&false) {
            for wanted in [BodyKind::Text, BodyKind::Html] {
                let first = own.iter().rev().find(|(_, kind)| *kind == wanted);
                if let Some(part) = first.and_then(|(place, _)| parts.get_mut(*place)) {
                    part.body_kind = Some(wanted);
                    mark(&mut has_body, Some(at));
                }
            }
        }
        let part = parts.get(at);
        if part.is_some_and(|part| part.body_kind.is_some()) || has_body.get(at) == Some(&true) {
            mark(&mut has_body, part.and_then(|part| part.parent));
        }
    }
}
