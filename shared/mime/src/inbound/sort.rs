//! Sorts the parts of a mail into its text, its HTML and its files.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::named::NamedText;
use super::part::PartHeader;
use crate::parse::{Entity, MultipartParts, charset, decoded};

/// Multiparts inside multiparts.
const DEEPEST: usize = 32;

/// Parts that are read, multiparts included.
const MOST_PARTS: usize = 1_100;

/// The mail's content in the three kinds a form has.
#[derive(Debug, Default)]
pub(super) struct Sorted<'a> {
    pub text: Option<TextBody<'a>>,
    pub html: Option<TextBody<'a>>,
    pub files: Vec<File<'a>>,
    /// The places in `files` of texts that turned out to be bodies.
    pub(super) moved: Vec<usize>,
}

/// A text in its original bytes.
#[derive(Debug)]
pub(super) struct TextBody<'a> {
    /// Joined only once: there may be a thousand.
    pieces: Vec<Cow<'a, [u8]>>,
    pub charset: String,
}

/// An attachment.
#[derive(Debug)]
pub(super) struct File<'a> {
    /// Empty until all files are known, when it has none of its own.
    pub filename: String,
    /// `image/png`.
    pub media_type: String,
    /// With its charset for text.
    pub content_type: String,
    pub content_id: Option<String>,
    pub bytes: Cow<'a, [u8]>,
}

/// A multipart that is being read.
pub(super) struct Level<'a> {
    parts: MultipartParts<'a>,
    pub(super) kind: PartKind,
    /// Parts begun so far.
    read: usize,
    /// The texts found at this level.
    pub(super) has_text: bool,
    pub(super) has_html: bool,
    /// Whether the levels below have texts.
    pub(super) has_more: bool,
    /// The first text of each kind that `Content-Type` alone names: a file, unless nothing else is
    /// the body.
    pub(super) named: [Option<NamedText<'a>>; 2],
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PartKind {
    Alternative,
    Related,
    Digest,
    Other,
}

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
        mut level: Option<&mut Level<'a>>,
        may_nest: bool,
    ) -> Option<Level<'a>> {
        let in_digest = level.as_ref().is_some_and(|l| l.kind == PartKind::Digest);
        if let Some(level) = &mut level {
            level.read += 1;
        }
        let part = PartHeader::read(&entity.fields(), in_digest, self.fallback_charset());
        if let Some(subtype) = part.media_type.strip_prefix("multipart/") {
            return match part.parts(entity.body) {
                Some(parts) if may_nest => Some(Level::new(parts, subtype)),
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

    fn leaf(&mut self, body: &'a [u8], part: PartHeader<'a>, level: Option<&mut Level<'a>>) {
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

    /// Adds a text to the body of its kind; false when it cannot be joined.
    pub(super) fn text(&mut self, is_html: bool, charset: String, bytes: Cow<'a, [u8]>) -> bool {
        let slot = if is_html {
            &mut self.html
        } else {
            &mut self.text
        };
        match slot {
            None => {
                let pieces = vec![bytes];
                *slot = Some(TextBody { pieces, charset });
            }
            Some(first) if first.takes(&charset, &bytes) => first.pieces.push(bytes),
            Some(_) => return false,
        }
        true
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
    fn give_up(&mut self, stack: &[Level<'a>]) {
        for level in stack.iter().rev() {
            let rest = level.parts.rest();
            if !rest.is_empty() {
                let mut part = PartHeader::plain();
                part.media_type = "application/octet-stream".to_owned();
                self.file(rest, part);
            }
        }
    }

    /// The probable charset of undeclared bytes of this mail; empty if unknown.
    pub(super) fn fallback_charset(&self) -> &str {
        let body = self.text.as_ref().or(self.html.as_ref());
        let charset = body.map_or("", |body| body.charset.as_str());
        // Bytes that are UTF-8 need no fallback.
        if charset.eq_ignore_ascii_case("utf-8") {
            ""
        } else {
            charset
        }
    }

    /// `{"cid": "attachment1"}`.
    pub(super) fn content_ids(&self) -> Map<String, Value> {
        let numbered = self.files.iter().zip(1_usize..);
        numbered
            .filter_map(|(file, n)| {
                Some((file.content_id.clone()?, format!("attachment{n}").into()))
            })
            .collect()
    }

    /// `{"attachment1": {"filename": …, "name": …, "type": …, "content-id": …}}`.
    pub(super) fn info(&self) -> Map<String, Value> {
        let numbered = self.files.iter().zip(1_usize..);
        numbered
            .map(|(file, n)| {
                let mut info = json!({
                    "filename": file.filename,
                    "name": file.filename,
                    "type": file.media_type,
                });
                if let (Some(id), Some(info)) = (&file.content_id, info.as_object_mut()) {
                    info.insert("content-id".to_owned(), id.as_str().into());
                }
                (format!("attachment{n}"), info)
            })
            .collect()
    }
}

impl<'a> TextBody<'a> {
    /// Whether another text can be joined to this one.
    fn takes(&self, charset: &str, more: &[u8]) -> bool {
        let same = self.charset.eq_ignore_ascii_case(charset);
        // Pure ASCII fits anything that begins like ASCII.
        (same || more.is_ascii()) && charset::can_be_joined(&self.charset)
    }

    /// The pieces, each on lines of its own.
    pub(super) fn into_bytes(self) -> Cow<'a, [u8]> {
        let mut pieces = self.pieces.into_iter();
        let first = pieces.next().unwrap_or_default();
        if pieces.len() == 0 {
            return first;
        }
        let size: usize = pieces.as_slice().iter().map(|piece| piece.len() + 2).sum();
        let mut bytes = Vec::with_capacity(first.len() + size);
        bytes.extend_from_slice(&first);
        for piece in pieces {
            if !bytes.is_empty() && !bytes.ends_with(b"\n") {
                bytes.extend_from_slice(b"\r\n");
            }
            bytes.extend_from_slice(&piece);
        }
        Cow::Owned(bytes)
    }
}

impl<'a> Level<'a> {
    fn new(parts: MultipartParts<'a>, subtype: &str) -> Self {
        Self {
            parts,
            kind: match subtype {
                "alternative" => PartKind::Alternative,
                "related" => PartKind::Related,
                "digest" => PartKind::Digest,
                _ => PartKind::Other,
            },
            read: 0,
            has_text: false,
            has_html: false,
            has_more: false,
            named: [None, None],
        }
    }
}
