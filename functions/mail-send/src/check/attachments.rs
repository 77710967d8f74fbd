//! Attachments.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use posthaste_model::{Attachment, Disposition};

use super::content::{ContentFlaw, flaw};
use super::errors::quote_value;
use super::{JsonPath, ValidationErrors};
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

/// Standard base64; white space in it, as encoders that fold lines leave it, is taken out.
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
    } else if !is_base64(&text) {
        found.push_error(at, "The attachment content must be base64 encoded.");
    }
    text
}

/// Whether the whole text decodes, without holding the decoded bytes.
fn is_base64(text: &str) -> bool {
    const STEP: usize = 4096;
    let mut decoded = [0; STEP / 4 * 3];
    // The decoder takes padding at the end of each chunk; only the last may have it.
    text.find('=').is_none_or(|first| text.len() - first <= 2)
        && text
            .as_bytes()
            .chunks(STEP)
            .all(|chunk| STANDARD.decode_slice(chunk, &mut decoded).is_ok())
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
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;

    use super::is_base64;

    #[test]
    fn padding_stands_at_the_end_only_even_where_a_chunk_ends() {
        let chunk = "A".repeat(4094);
        assert!(is_base64(&format!("{chunk}==")));
        assert!(!is_base64(&format!("{chunk}==AAAA")));
        assert!(!is_base64(&format!("{chunk}==AAAAAA==")));
        assert!(!is_base64("===="));
        assert!(!is_base64("A==="));
    }

    proptest! {
        #[test]
        fn a_text_is_base64_when_the_decoder_takes_it(text in "[A-Za-z0-9+/=_:-]{0,12}") {
            prop_assert_eq!(is_base64(&text), STANDARD.decode(&text).is_ok());
        }

        #[test]
        fn whatever_was_encoded_is_base64(bytes in prop::collection::vec(any::<u8>(), 0..9000)) {
            prop_assert!(is_base64(&STANDARD.encode(bytes)));
        }
    }
}
