//! JSON as services write it: a text that was cut in the middle of a character ends with half of it, and one that a mail
//! server wrote may be in another encoding.

use serde_json::Value;

/// What bytes mean.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JsonText {
    pub(crate) value: Value,
    /// Whether U+FFFD stands for something in them that is no text.
    pub(crate) is_mended: bool,
}

/// What the bytes mean, where U+FFFD stands for half a character (a surrogate without its other half, RFC 8259, section
/// 8.2) and for bytes that are not UTF-8; nothing of what is not JSON.
pub(crate) fn parse(bytes: &[u8]) -> Option<JsonText> {
    // The mark before a text that an editor saved (RFC 8259, section 8.1).
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if let Ok(value) = serde_json::from_slice(bytes) {
        let is_mended = false;
        return Some(JsonText { value, is_mended });
    }
    let text = String::from_utf8_lossy(bytes);
    let is_mended = true;
    let value = serde_json::from_slice(&without_halves(text.as_bytes())).ok()?;
    Some(JsonText { value, is_mended })
}

/// The same bytes without halves.
fn without_halves(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        if bytes.get(at) != Some(&b'\\') {
            at += 1;
            continue;
        }
        let Some(unit) = unit_at(bytes, at) else {
            // Another escape, such as that of a backslash.
            at += 2;
            continue;
        };
        let next = unit_at(bytes, at + 6);
        let is_low = |unit: u16| (0xdc00..0xe000).contains(&unit);
        let is_pair = (0xd800..0xdc00).contains(&unit) && next.is_some_and(is_low);
        let is_half = !is_pair && (0xd800..0xe000).contains(&unit);
        if let Some(escape) = out.get_mut(at..at + 6).filter(|_| is_half) {
            escape.copy_from_slice(b"\\ufffd");
        }
        at += if is_pair { 12 } else { 6 };
    }
    out
}

/// The number of the escape `\uXXXX` at this place.
fn unit_at(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok()?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u16::from_str_radix(digits, 16).ok().filter(|_| is_hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_character_stands_for_one_that_cannot_be_shown() {
        for (text, want) in [
            (r#""cut \ud83d""#, "cut \u{fffd}"),
            (r#""cut \ud83d and on""#, "cut \u{fffd} and on"),
            (r#""\ude00\ud83d\ud83d\ude00""#, "\u{fffd}\u{fffd}\u{1f600}"),
            (r#""\\ud83d \ud83d""#, "\\ud83d \u{fffd}"),
            (r#""whole \ud83d\ude00""#, "whole \u{1f600}"),
            ("\u{feff}\"marked\"", "marked"),
        ] {
            let (value, is_mended) = (want.into(), want.contains('\u{fffd}'));
            let want = Some(JsonText { value, is_mended });
            assert_eq!(parse(text.as_bytes()), want, "{text}");
        }
        for text in [r#""\ud83d"#, r#""\u+83d""#, r#""\q \ud83d""#, "\\", "\"\\u"] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn bytes_that_are_not_utf_8_stand_for_what_cannot_be_shown() {
        for (bytes, want) in [
            (&b"\"caf\xe9 \\ud83d\""[..], "caf\u{fffd} \u{fffd}"),
            (b"\"\xff\xfe\"", "\u{fffd}\u{fffd}"),
            (b"\"cut \xf0\x9f\x98\"", "cut \u{fffd}"),
        ] {
            let (value, is_mended) = (want.into(), true);
            assert_eq!(parse(bytes), Some(JsonText { value, is_mended }));
        }
        assert_eq!(parse(b"caf\xe9"), None);
    }
}
