//! The sender, recipients and subject of a mail, as text.

use serde_json::{Map, Value};

use crate::parse::charset::UTF8;
use crate::parse::{Entity, LONGEST, WordContext, text};

/// The decoded headers of a form.
pub(super) struct People {
    pub to: String,
    pub cc: Option<String>,
    pub from: String,
    pub subject: String,
}

impl People {
    pub(super) fn read(mail: Entity<'_>, fallback: &str) -> Self {
        let (mut to, mut cc) = (String::new(), String::new());
        let (mut from, mut subject) = (None, None);
        for (name, value) in mail.fields().iter() {
            // A second `To` is invalid (RFC 5322, section 3.6), but its addresses are included.
            if name.eq_ignore_ascii_case(b"to") {
                append(&mut to, value, fallback);
            } else if name.eq_ignore_ascii_case(b"cc") {
                append(&mut cc, value, fallback);
            } else if name.eq_ignore_ascii_case(b"from") {
                from = from.or(Some(value));
            } else if name.eq_ignore_ascii_case(b"subject") {
                subject = subject.or(Some(value));
            }
        }
        Self {
            to,
            cc: (!cc.is_empty()).then_some(cc),
            from: text(from.unwrap_or_default(), WordContext::Addresses, fallback),
            subject: text(subject.unwrap_or_default(), WordContext::Text, fallback),
        }
    }

    pub(super) fn charsets(&self) -> Map<String, Value> {
        let names = ["to", "from", "subject"].into_iter();
        let names = names.chain(self.cc.is_some().then_some("cc"));
        names.map(|name| (name.to_owned(), UTF8.into())).collect()
    }
}

/// Adds the addresses of one field to those of the fields before it.
fn append(list: &mut String, value: &[u8], fallback: &str) {
    if list.len() >= LONGEST {
        return;
    }
    let more = text(value, WordContext::Addresses, fallback);
    if !list.is_empty() && !more.is_empty() {
        list.push_str(", ");
    }
    list.push_str(&more);
}
