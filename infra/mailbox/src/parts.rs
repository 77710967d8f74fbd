//! The leaves of a MIME tree, numbered as Mailpit numbers them, and their original bytes.

use std::borrow::Cow;
use std::collections::HashMap;

use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{Encoding, Message, MessagePart, MimeHeaders, PartType};

/// What a leaf is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A file for the reader to keep.
    Attachment,
    /// A picture or the like that the HTML shows.
    Inline,
    /// A further form of the body (AMP, calendar).
    Alternative,
}

/// A leaf that is not the text or HTML shown as the body.
pub(crate) struct Leaf<'a> {
    /// `0` for a mail of one part, else `1`, `2`, `2.1` …
    pub id: String,
    pub role: Role,
    pub part: &'a MessagePart<'a>,
}

impl Leaf<'_> {
    /// The file name the mail gives, else the content id; may be empty, and may hold anything.
    pub(crate) fn name(&self) -> &str {
        self.part
            .attachment_name()
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| self.content_id())
    }

    /// The content id without angle brackets; empty when there is none.
    pub(crate) fn content_id(&self) -> &str {
        self.part.content_id().unwrap_or_default()
    }

    /// `type/subtype` in lower case, `application/octet-stream` when it is missing or malformed.
    pub(crate) fn media_type(&self) -> String {
        media_type(self.part)
    }
}

/// Every leaf beside the body, in the order of the mail.
pub(crate) fn files<'a>(message: &'a Message<'a>) -> Vec<Leaf<'a>> {
    let places = places(message);
    let leaf = |index: &u32| {
        let part = message.part(*index)?;
        let (id, parent) = places.get(index)?;
        Some(Leaf {
            id: id.clone(),
            role: role(part, *parent),
            part,
        })
    };
    message.attachments.iter().filter_map(leaf).collect()
}

/// The part of this number, whatever its role.
pub(crate) fn find<'a>(message: &'a Message<'a>, id: &str) -> Option<Leaf<'a>> {
    let (index, (_, parent)) = places(message).into_iter().find(|(_, at)| at.0 == id)?;
    let part = message.part(index)?;
    let leaf = !matches!(part.body, PartType::Multipart(_));
    leaf.then(|| Leaf {
        id: id.to_owned(),
        role: role(part, parent),
        part,
    })
}

/// The bytes of a part with only the transfer encoding undone: `mail-parser` turns the charset of
/// every text part into UTF-8, and an attachment must come out as it went in.
pub(crate) fn bytes<'a>(raw: &'a [u8], part: &'a MessagePart<'a>) -> Cow<'a, [u8]> {
    if let PartType::Binary(bytes) | PartType::InlineBinary(bytes) = &part.body {
        return Cow::Borrowed(bytes.as_ref());
    }
    let from = usize::try_from(part.offset_body).unwrap_or(usize::MAX);
    let to = usize::try_from(part.offset_end).unwrap_or(usize::MAX);
    let coded = raw.get(from..to).unwrap_or_default();
    let decoded = match part.encoding {
        Encoding::None => None,
        Encoding::QuotedPrintable => quoted_printable_decode(coded),
        Encoding::Base64 => base64_decode(coded),
    };
    decoded.map_or(Cow::Borrowed(coded), Cow::Owned)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Parent {
    Alternative,
    Related,
    Other,
}

/// Part index → number and kind of parent. Children always follow their parent in the list, so
/// the walk ends.
fn places(message: &Message<'_>) -> HashMap<u32, (String, Parent)> {
    let mut places = HashMap::from([(0, ("0".to_owned(), Parent::Other))]);
    for (index, part) in (0_u32..).zip(&message.parts) {
        let PartType::Multipart(children) = &part.body else {
            continue;
        };
        let Some((id, _)) = places.get(&index).cloned() else {
            continue;
        };
        let kind = if part.is_content_type("multipart", "alternative") {
            Parent::Alternative
        } else if part.is_content_type("multipart", "related") {
            Parent::Related
        } else {
            Parent::Other
        };
        for (number, child) in (1_u32..).zip(children) {
            let own = match id.as_str() {
                "0" => number.to_string(),
                id => format!("{id}.{number}"),
            };
            places.insert(*child, (own, kind));
        }
    }
    places
}

fn role(part: &MessagePart<'_>, parent: Parent) -> Role {
    let disposition = part.content_disposition();
    if disposition.is_some_and(|d| d.ctype().eq_ignore_ascii_case("attachment")) {
        return Role::Attachment;
    }
    if disposition.is_some_and(|d| d.ctype().eq_ignore_ascii_case("inline")) {
        return Role::Inline;
    }
    match parent {
        Parent::Alternative if part.attachment_name().is_none() => Role::Alternative,
        Parent::Related => Role::Inline,
        Parent::Alternative | Parent::Other if part.content_id().is_some() => Role::Inline,
        Parent::Alternative | Parent::Other => Role::Attachment,
    }
}

fn media_type(part: &MessagePart<'_>) -> String {
    let found = part.content_type().and_then(|ct| {
        let subtype = ct.subtype()?;
        let legal = token(ct.ctype()) && token(subtype);
        legal.then(|| format!("{}/{subtype}", ct.ctype()).to_ascii_lowercase())
    });
    let fallback = || match part.body {
        PartType::Text(_) => "text/plain",
        PartType::Message(_) => "message/rfc822",
        PartType::Html(_)
        | PartType::Binary(_)
        | PartType::InlineBinary(_)
        | PartType::Multipart(_) => "application/octet-stream",
    };
    found.unwrap_or_else(|| fallback().to_owned())
}

/// RFC 2045 `token`: what may stand in a type, a subtype or an unquoted parameter.
pub(crate) fn token(text: &str) -> bool {
    let legal = |b: u8| b.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?=".contains(&b);
    (1..=127).contains(&text.len()) && text.bytes().all(legal)
}
