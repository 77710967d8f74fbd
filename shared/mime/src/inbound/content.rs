//! The content of a mail in the three kinds that a form has.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::parse::{MultipartParts, can_be_joined};

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
pub(super) struct PartLevel<'a> {
    pub(super) parts: MultipartParts<'a>,
    pub(super) kind: PartKind,
    /// Parts begun so far.
    pub(super) read: usize,
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

/// A text that is listed as a file.
pub(super) struct NamedText<'a> {
    pub place: usize,
    pub charset: Option<String>,
    pub encoding: Option<&'a [u8]>,
    pub body: &'a [u8],
}

impl<'a> Sorted<'a> {
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
        (same || more.is_ascii()) && can_be_joined(&self.charset)
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

impl<'a> PartLevel<'a> {
    pub(super) fn new(parts: MultipartParts<'a>, subtype: &str) -> Self {
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
