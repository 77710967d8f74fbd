//! Writes the outgoing bytes.

use std::ops::Range;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use posthaste_model::Content;

use super::fields::{OURS, WRITTEN, fields, is_one_of, put_field};
use super::{Changes, HTML, PLAIN};
use super::{Leaf, Leaves};
use crate::media_type::MediaType;
use crate::outgoing::{addresses, unstructured, wrap, write_text, write_type};
use crate::parse::{Entity, unfolded};
use crate::{BuildError, Stamp};

/// A piece of the mail and its replacement.
type Edit = (Range<usize>, Vec<u8>);

pub(super) fn write(
    raw: &[u8],
    changes: &Changes<'_>,
    stamp: &Stamp<'_>,
) -> Result<Vec<u8>, BuildError> {
    let edits = edits(raw, changes, stamp)?;
    let entity = Entity::read(raw);
    let more: usize = edits.iter().map(|(_, new)| new.len()).sum();
    let mut out = Vec::with_capacity(raw.len() + more + 1024);
    let whole = match edits.as_slice() {
        [(at, new)] if *at == (0..raw.len()) => Some(new),
        _ => None,
    };
    header(entity.header, changes, stamp, &edits, &mut out);
    if let Some(new) = whole {
        out.extend_from_slice(new);
        return Ok(out);
    }
    out.extend_from_slice(b"\r\n");
    let mut from = raw.len() - entity.body.len();
    for (at, new) in &edits {
        out.extend_from_slice(raw.get(from..at.start).unwrap_or_default());
        out.extend_from_slice(new);
        from = at.end;
    }
    out.extend_from_slice(raw.get(from..).unwrap_or_default());
    Ok(out)
}

/// Applies the changes to the parts, in the order of the mail. When the mail is its only part, the
/// new one comes without the header that the mail has anyway.
fn edits(raw: &[u8], changes: &Changes<'_>, stamp: &Stamp<'_>) -> Result<Vec<Edit>, BuildError> {
    let of = |parts: &'_ [Content], kind: &str| {
        let mut parts = parts.iter();
        parts.position(|part| essence(&part.mime_type).eq_ignore_ascii_case(kind))
    };
    let same = |kind: &str| {
        let (before, after) = (of(changes.before, kind), of(changes.after, kind));
        let before = before.and_then(|i| changes.before.get(i));
        let after = after.and_then(|i| changes.after.get(i));
        (before, after)
    };
    let (plain, html) = (same(PLAIN), same(HTML));
    let changed = |pair: (Option<&Content>, Option<&Content>)| {
        pair.1.is_some() && pair.0.map(|c| &c.value) != pair.1.map(|c| &c.value)
    };
    if !changed(plain) && !changed(html) {
        return Ok(Vec::new());
    }
    let leaves = Leaves::read(raw);
    let grown = plain.0.is_none() && plain.1.is_some() || html.0.is_none() && html.1.is_some();
    let mut edits = Vec::new();
    if grown {
        // The template added a text of a type that the mail did not have.
        let leaf = leaves.plain.as_ref().or(leaves.html.as_ref());
        let texts: Vec<&Content> = [plain.1, html.1].into_iter().flatten().collect();
        if let Some(leaf) = leaf {
            edits.push(edit(raw, leaf, &texts, &leaves, stamp)?);
        }
        return Ok(edits);
    }
    for (leaf, pair) in [(&leaves.plain, plain), (&leaves.html, html)] {
        if let (Some(leaf), Some(text), true) = (leaf, pair.1, changed(pair)) {
            edits.push(edit(raw, leaf, &[text], &leaves, stamp)?);
        }
    }
    edits.sort_by_key(|(at, _)| at.start);
    Ok(edits)
}

fn essence(mime_type: &str) -> &str {
    mime_type.split(';').next().unwrap_or_default().trim()
}

fn edit(
    raw: &[u8],
    leaf: &Leaf,
    texts: &[&Content],
    leaves: &Leaves,
    stamp: &Stamp<'_>,
) -> Result<Edit, BuildError> {
    let entity = Entity::read(raw.get(leaf.at.clone()).unwrap_or_default());
    let mut out = Vec::new();
    if !leaf.is_whole(raw) {
        for (name, field) in fields(entity.header) {
            if !is_one_of(name, &WRITTEN) {
                put_field(field, &mut out);
            }
        }
    }
    let [own] = entity.fields().pick(["Content-Type"]);
    let own = own.map(|kind| String::from_utf8_lossy(&unfolded(kind)).into_owned());
    let own = own.filter(|kind| MediaType::parse(kind).is_some());
    let kind_of = |text: &Content| {
        let own = own.as_deref();
        let same = |kind: &&str| essence(kind).eq_ignore_ascii_case(essence(&text.mime_type));
        own.filter(same).unwrap_or(&text.mime_type).to_owned()
    };
    if let [text] = texts {
        part(&kind_of(text), &text.value, leaves, stamp, &mut out)?;
        return Ok((leaf.at.clone(), out));
    }
    let boundary = format!("=_{}_0", stamp.boundary);
    out.extend_from_slice(b"Content-Type: multipart/alternative;\r\n boundary=\"");
    out.extend_from_slice(boundary.as_bytes());
    out.extend_from_slice(b"\"\r\n");
    for text in texts {
        out.extend_from_slice(format!("\r\n--{boundary}\r\n").as_bytes());
        part(&kind_of(text), &text.value, leaves, stamp, &mut out)?;
    }
    out.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    Ok((leaf.at.clone(), out))
}

/// A text with the header of its encoding. One whose lines, once written, would begin with a
/// boundary of the mail is written as base64, where no line begins with a hyphen.
fn part(
    kind: &str,
    text: &str,
    leaves: &Leaves,
    stamp: &Stamp<'_>,
    out: &mut Vec<u8>,
) -> Result<(), BuildError> {
    let start = out.len();
    write_text(kind, text, &format!("=_{}", stamp.boundary), out)?;
    let written = out.get(start..).unwrap_or_default();
    if !leaves.boundaries.delimit(written) {
        return Ok(());
    }
    out.truncate(start);
    let mut media = MediaType::parse(kind).ok_or_else(|| BuildError::MediaType(kind.to_owned()))?;
    media.set("charset", "utf-8".to_owned());
    write_type(&media, out);
    out.extend_from_slice(b"Content-Transfer-Encoding: base64\r\n\r\n");
    wrap(BASE64_STANDARD.encode(text).as_bytes(), out);
    Ok(())
}

fn header(
    header: &[u8],
    changes: &Changes<'_>,
    stamp: &Stamp<'_>,
    edits: &[Edit],
    out: &mut Vec<u8>,
) {
    let has = Present::read(header, changes.extra);
    let whole = edits.iter().any(|(at, _)| at.start == 0);
    let mut todo = Todo::new(changes);
    for (name, field) in fields(header) {
        let no_id = is_one_of(name, &["message-id"]) && is_empty_id(field);
        if no_id || is_one_of(name, &OURS) || whole && is_one_of(name, &WRITTEN) {
            continue;
        }
        if !todo.replace(name, changes, out) {
            put_field(field, out);
        }
    }
    todo.rest(changes, out);
    if !has.date {
        unstructured("Date", &stamp.date.rfc5322(), out);
    }
    if !has.message_id {
        unstructured("Message-ID", &format!("<{}>", stamp.message_id), out);
    }
    for ((name, value), present) in changes.extra.iter().zip(&has.extra) {
        // The mail's own unsubscribe headers take precedence.
        let list = name.to_ascii_lowercase().starts_with(LIST);
        if !(*present || list && has.list) {
            unstructured(name, value, out);
        }
    }
    if !edits.is_empty() && !has.mime_version {
        out.extend_from_slice(b"MIME-Version: 1.0\r\n");
    }
}

/// The name prefix of the fields for leaving a list.
const LIST: &str = "list-unsubscribe";

/// The fields present in a header, found in one pass.
#[derive(Default)]
struct Present {
    date: bool,
    message_id: bool,
    mime_version: bool,
    list: bool,
    /// For each field that the service adds, in its order.
    extra: Vec<bool>,
}

impl Present {
    fn read(header: &[u8], extra: &[(String, String)]) -> Self {
        let mut has = Self {
            extra: vec![false; extra.len()],
            ..Self::default()
        };
        for (name, field) in fields(header) {
            let is = |wanted: &str| name.eq_ignore_ascii_case(wanted.as_bytes());
            has.date |= is("date");
            has.message_id |= is("message-id") && !is_empty_id(field);
            has.mime_version |= is("mime-version");
            let start = name.get(..LIST.len());
            has.list |= start.is_some_and(|start| start.eq_ignore_ascii_case(LIST.as_bytes()));
            for ((wanted, _), present) in extra.iter().zip(&mut has.extra) {
                *present |= is(wanted);
            }
        }
        has
    }
}

/// Whether a `Message-ID` names no mail: it is empty, or `<>`.
fn is_empty_id(field: &[u8]) -> bool {
    let colon = memchr::memchr(b':', field).unwrap_or_default();
    let value = field.get(colon..).unwrap_or_default();
    !value.iter().any(u8::is_ascii_alphanumeric)
}

/// The fields that are replaced, and whether each has been written: in place of the old one, or at
/// the end.
struct Todo(Vec<(&'static str, bool)>);

impl Todo {
    fn new(changes: &Changes<'_>) -> Self {
        let all = [
            ("To", !changes.to.is_empty()),
            ("Reply-To", !changes.reply_to.is_empty()),
            ("Subject", changes.subject.is_some()),
        ];
        let wanted = all.into_iter().filter(|(_, on)| *on);
        Self(wanted.map(|(name, _)| (name, false)).collect())
    }

    /// Whether the field is one of these; writes the new one the first time.
    fn replace(&mut self, name: &[u8], changes: &Changes<'_>, out: &mut Vec<u8>) -> bool {
        let mut all = self.0.iter_mut();
        let Some((ours, written)) = all.find(|(ours, _)| is_one_of(name, &[ours])) else {
            return false;
        };
        if !std::mem::replace(written, true) {
            put(ours, changes, out);
        }
        true
    }

    fn rest(self, changes: &Changes<'_>, out: &mut Vec<u8>) {
        for (name, written) in self.0 {
            if !written {
                put(name, changes, out);
            }
        }
    }
}

fn put(name: &str, changes: &Changes<'_>, out: &mut Vec<u8>) {
    match name {
        "To" => addresses(name, changes.to, out),
        "Reply-To" => addresses(name, changes.reply_to, out),
        _ => unstructured(name, changes.subject.unwrap_or_default(), out),
    }
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
