//! JSON as services write it: a text that was cut in the middle of a character ends with half of it.

use serde_json::Value;

/// What the bytes mean, where half a character (a surrogate without its other half, RFC 8259, section 8.2) stands for
/// U+FFFD; nothing of what is not JSON.
pub(crate) fn parse(bytes: &[u8]) -> Option<Value> {
    match serde_json::from_slice(bytes) {
        Ok(value) => Some(value),
        Err(_) => serde_json::from_slice(&mended(bytes)?).ok(),
    }
}

/// The same bytes without halves; `None` if they have none.
fn mended(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = bytes.to_vec();
    let (mut at, mut is_changed) = (0, false);
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
        if !is_pair && (0xd800..0xe000).contains(&unit) {
            if let Some(escape) = out.get_mut(at..at + 6) {
                escape.copy_from_slice(b"\\ufffd");
            }
            is_changed = true;
        }
        at += if is_pair { 12 } else { 6 };
    }
    is_changed.then_some(out)
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
        ] {
            assert_eq!(parse(text.as_bytes()), Some(want.into()), "{text}");
        }
        for text in [r#""\ud83d"#, r#""\u+83d""#, r#""\q \ud83d""#, "\\", "\"\\u"] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}
