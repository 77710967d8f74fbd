//! Sorts the parts of a mail into its text, its HTML and its files.

use std::borrow::Cow;

use super::content::{File, NamedText, PartKind, PartLevel, Sorted};
use super::part::PartHeader;
use crate::parse::{Entity, charset, decoded};

/// Multiparts inside multiparts.
const DEEPEST: usize = 32;

/// Parts that are read, multiparts included.
const MOST_PARTS: usize = 1_100;

impl<'a> Sorted<'a> {
    pub(super) fn read(mail: Entity<'a>) -> Self {
        let mut sorted = Self::default();
        let mut stack = Vec::new();
        stack.extend(sorted.entity(mail, None, true));
        let mut read = 1;
        while let Some(level) = stack.last_mut() {
            if read == MOST_PARTS {
                sorted.give_up(&stack);
                break;
            }
            let Some(part) = level.parts.next() else {
                sorted.close(&mut stack);
                continue;
            };
            read += 1;
            let may_nest = stack.len() < DEEPEST;
            let level = stack.last_mut();
            let next = sorted.entity(Entity::read(part), level, may_nest);
            stack.extend(next);
        }
        while !stack.is_empty() {
            sorted.close(&mut stack);
        }
        sorted.finish();
        sorted
    }

    /// Adds a part, or opens it when it is a multipart.
    fn entity(
        &mut self,
        entity: Entity<'a>,
        mut level: Option<&mut PartLevel<'a>>,
        may_nest: bool,
    ) -> Option<PartLevel<'a>> {
        let in_digest = level.as_ref().is_some_and(|l| l.kind == PartKind::Digest);
        if let Some(level) = &mut level {
            level.read += 1;
        }
        let part = PartHeader::read(&entity.fields(), in_digest, self.fallback_charset());
        if let Some(subtype) = part.media_type.strip_prefix("multipart/") {
            return match part.parts(entity.body) {
                Some(parts) if may_nest => Some(PartLevel::new(parts, subtype)),
                Some(_) => {
                    self.file(entity.body, part);
                    None
                }
                // Without a boundary it is treated as text.
                None => {
                    self.leaf(entity.body, PartHeader::plain(), level);
                    None
                }
            };
        }
        self.leaf(entity.body, part, level);
        None
    }

    fn leaf(&mut self, body: &'a [u8], part: PartHeader<'a>, level: Option<&mut PartLevel<'a>>) {
        let is_html = match part.media_type.as_str() {
            "text/plain" => false,
            "text/html" => true,
            _ => return self.file(body, part),
        };
        let is_root = level.is_none();
        let mut is_body = is_root || part.filename.is_none();
        if let Some(level) = level {
            // A part shown by a related part has an id; the texts are in the first part.
            let is_shown = level.kind == PartKind::Related && level.read > 1;
            let mut may_be = !(is_shown && part.content_id.is_some());
            let [plain, html] = &mut level.named;
            let (given, named) = if is_html {
                (&mut level.has_html, html)
            } else {
                (&mut level.has_text, plain)
            };
            may_be &= !(level.kind == PartKind::Alternative && *given);
            if may_be && !is_body && part.is_only_named && !part.is_attachment && named.is_none() {
                *named = Some(NamedText {
                    place: self.files.len(),
                    charset: part.declared(),
                    encoding: part.encoding,
                    body,
                });
            }
            is_body &= may_be;
            *given |= is_body;
        }
        if part.is_attachment || !is_body {
            return self.file(body, part);
        }
        let bytes = decoded(part.encoding, body);
        let (charset, text) = charset::posted(part.declared().as_deref(), bytes);
        if !self.text(is_html, charset, text) {
            self.file(body, part);
        }
    }

    fn file(&mut self, body: &'a [u8], part: PartHeader<'a>) {
        let bytes = if part.media_type.starts_with("multipart/") {
            // Its own header says how its parts are encoded.
            Cow::Borrowed(body)
        } else {
            decoded(part.encoding, body)
        };
        let mut media_type = part.media_type.clone();
        if media_type.starts_with("multipart/") {
            media_type = "application/octet-stream".to_owned();
        }
        let content_type = if media_type.starts_with("text/") {
            format!("{media_type}; charset={}", part.charset(&bytes))
        } else {
            media_type.clone()
        };
        self.files.push(File {
            filename: part.filename.unwrap_or_default(),
            media_type,
            content_type,
            content_id: part.content_id,
            bytes,
        });
    }

    /// There are too many parts: the rest of each open level becomes one file.
    fn give_up(&mut self, stack: &[PartLevel<'a>]) {
        for level in stack.iter().rev() {
            let rest = level.parts.rest();
            if !rest.is_empty() {
                let mut part = PartHeader::plain();
                part.media_type = "application/octet-stream".to_owned();
                self.file(rest, part);
            }
        }
    }
}
