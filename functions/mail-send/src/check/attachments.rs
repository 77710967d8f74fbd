//! Attachments.

use posthaste_mime::is_base64;
use posthaste_model::{Attachment, Disposition};

use super::content::{ContentFlaw, flaw};
use crate::errors::{JsonPath, ValidationErrors, quote_value};
use crate::wire;

/// Own limit: each costs memory, however small it is.
const FILES: usize = 1_000;

/// Every attachment of the request.
pub(super) fn all(
    given: Option<wire::JsonList<wire::Attachment<'_>, 1_001>>,
    found: &mut ValidationErrors,
) -> Vec<Attachment> {
    let (root, given) = (JsonPath::Root, given.unwrap_or_default());
    let at = &root.key("attachments");
    if given.count > FILES {
        found.push_error(
            at,
            format!("There is a limit of {FILES} attachments per request."),
        );
    }
    let numbered = given.items.into_iter().enumerate();
    numbered
        .map(|(i, given)| one(given, &at.index(i), found))
        .collect()
}

fn one(given: wire::Attachment<'_>, at: &JsonPath<'_>, found: &mut ValidationErrors) -> Attachment {
    Attachment {
        content: content(given.content, &at.key("content"), found),
        mime_type: given
            .mime_type
            .map(|text| mime_type(text, &at.key("type"), found)),
        filename: filename(given.filename, &at.key("filename"), found),
        disposition: disposition(given.disposition, &at.key("disposition"), found),
        content_id: given
            .content_id
            .and_then(|text| content_id(&text, &at.key("content_id"), found)),
    }
}

/// Standard base64; white space in it, as encoders that fold lines leave it, is removed.
fn content(
    given: Option<wire::TextValue<'_>>,
    at: &JsonPath<'_>,
    found: &mut ValidationErrors,
) -> String {
    let mut text = given.map(wire::TextValue::into_string).unwrap_or_default();
    // By bytes: a search by characters takes five times as long as all the rest.
    if text.bytes().any(|b| b.is_ascii_whitespace()) {
        text.retain(|c| !c.is_ascii_whitespace());
    }
    if text.is_empty() {
        found.push_error(
            at,
            "The attachment content must be a string at least one character in length.",
        );
    } else if !is_padded_base64(&text) {
        found.push_error(at, "The attachment content must be base64 encoded.");
    }
    text
}

/// Whether the whole text is base64 with its padding.
fn is_padded_base64(text: &str) -> bool {
    text.len().is_multiple_of(4) && is_base64(text.as_bytes())
}

fn mime_type(
    given: wire::TextValue<'_>,
    at: &JsonPath<'_>,
    found: &mut ValidationErrors,
) -> String {
    match flaw(&given) {
        None => {}
        Some(ContentFlaw::Empty) => found.push_error(
            at,
            "The attachment type must be a string and at least one character in length.",
        ),
        Some(ContentFlaw::Forbidden) => {
            found.push_error(
                at,
                "The attachment type cannot contain ';', or CRLF characters.",
            );
        }
        Some(ContentFlaw::Unprintable) => found.push_error(
            at,
            "The attachment type can only contain printable ASCII characters.",
        ),
    }
    given.into_string()
}

/// Required, but may be empty. Commas and semicolons are the composer's to quote.
fn filename(
    given: Option<wire::TextValue<'_>>,
    at: &JsonPath<'_>,
    found: &mut ValidationErrors,
) -> String {
    let Some(given) = given else {
        found.push_error(at, "filename is required.");
        return String::new();
    };
    if given.contains(['\r', '\n', '\0']) {
        found.push_error(
            at,
            "The filename of your attachment cannot contain CRLF characters.",
        );
    }
    given.into_string()
}

fn disposition(
    given: Option<wire::TextValue<'_>>,
    at: &JsonPath<'_>,
    found: &mut ValidationErrors,
) -> Disposition {
    match given.as_deref() {
        None | Some("attachment") => Disposition::Attachment,
        Some("inline") => Disposition::Inline,
        Some(other) => {
            let other = quote_value(other);
            found.push_error(
                at,
                format!(
                    r#"The disposition of your attachment can be either "inline" or "attachment". You provided {other}."#
                ),
            );
            Disposition::Attachment
        }
    }
}

/// Without the angle brackets that some callers put around it (trap 15): the header has its own.
fn content_id(given: &str, at: &JsonPath<'_>, found: &mut ValidationErrors) -> Option<String> {
    let bare = given.trim_matches(|c: char| c == ' ' || c == '\t');
    let bare = bare
        .strip_prefix('<')
        .and_then(|id| id.strip_suffix('>'))
        .unwrap_or(bare);
    if bare.contains(['\r', '\n', '\0']) {
        found.push_error(
            at,
            "The content ID of your attachment cannot contain CRLF characters.",
        );
    } else if bare.contains(|c: char| matches!(c, '<' | '>') || !(' '..='~').contains(&c)) {
        found.push_error(
            at,
            "The content ID of your attachment can only contain printable ASCII characters other than '<' and '>'.",
        );
    }
    (!bare.is_empty()).then(|| bare.to_owned())
}

#[cfg(test)]
mod tests {
    use super::is_padded_base64;

    #[test]
    fn base64_has_its_padding_at_its_end_only() {
        let chunk = "A".repeat(4094);
        for (text, want) in [
            (format!("{chunk}=="), true),
            (format!("{chunk}==AAAA"), false),
            (format!("{chunk}==AAAAAA=="), false),
            ("====".to_owned(), false),
            ("A===".to_owned(), false),
            ("QQ".to_owned(), false),
            ("QUI".to_owned(), false),
            ("QUI=".to_owned(), true),
            ("data:;base64,QUJD".to_owned(), false),
        ] {
            assert_eq!(is_padded_base64(&text), want, "{text:.40}");
        }
    }
}
