//! Character references of HTML, as browsers read them (HTML Living Standard, 13.2.5.72 on).

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

/// The longest name with its `&` and `;`: `&CounterClockwiseContourIntegral;`.
const LONGEST: usize = 33;

/// The longest name that may go without its `;`: `&yacute`, `&curren`, `&brvbar`….
const LONGEST_BARE: usize = 7;

/// The meaning of numbers 0x80 to 0x9F: Windows-1252, from mails older than UTF-8.
const C1: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The context of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntityContext {
    Text,
    /// Here `&copy=1` is no copyright sign but a parameter.
    Attribute,
}

/// The text with its references replaced.
pub fn decode(text: &str, place: EntityContext) -> Cow<'_, str> {
    let Some(first) = text.find('&') else {
        return Cow::Borrowed(text);
    };
    let (before, mut rest) = text.split_at(first);
    let mut out = String::with_capacity(text.len());
    out.push_str(before);
    while let Some(at) = rest.find('&') {
        let (before, reference) = rest.split_at(at);
        out.push_str(before);
        let length = match reference.as_bytes().get(1) {
            Some(b'#') => numeric(reference, &mut out),
            Some(_) => named(reference, place, &mut out),
            None => None,
        };
        if length.is_none() {
            out.push('&');
        }
        rest = reference.get(length.unwrap_or(1)..).unwrap_or_default();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// `&#38;`, `&#x26;`; the semicolon may be missing. Answers the bytes read.
fn numeric(text: &str, out: &mut String) -> Option<usize> {
    let digits = text.get(2..)?;
    let (radix, prefix) = match digits.as_bytes().first() {
        Some(b'x' | b'X') => (16, 3),
        _ => (10, 2),
    };
    let digits = text.get(prefix..)?;
    let count = digits
        .bytes()
        .take_while(|b| char::from(*b).is_digit(radix))
        .count();
    if count == 0 {
        return None;
    }
    let number = u32::from_str_radix(digits.get(..count)?, radix).unwrap_or(u32::MAX);
    out.push(match number {
        0 => char::REPLACEMENT_CHARACTER,
        0x80..=0x9f => usize::try_from(number - 0x80)
            .ok()
            .and_then(|i| C1.get(i).copied())
            .unwrap_or(char::REPLACEMENT_CHARACTER),
        _ => char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER),
    });
    let semicolon = digits.as_bytes().get(count) == Some(&b';');
    Some(prefix + count + usize::from(semicolon))
}

/// `&amp;`, `&amp`. Answers the bytes read.
fn named(text: &str, place: EntityContext, out: &mut String) -> Option<usize> {
    let name = 1 + text
        .bytes()
        .skip(1)
        .take(LONGEST)
        .take_while(u8::is_ascii_alphanumeric)
        .count();
    if text.as_bytes().get(name) == Some(&b';')
        && let Some(characters) = table().get(text.get(..=name)?)
    {
        out.push_str(characters);
        return Some(name + 1);
    }
    let (length, characters) = (2..=name.min(LONGEST_BARE))
        .rev()
        .find_map(|length| Some((length, table().get(text.get(..length)?)?)))?;
    let next = text.as_bytes().get(length);
    if place == EntityContext::Attribute
        && next.is_some_and(|b| *b == b'=' || b.is_ascii_alphanumeric())
    {
        return None;
    }
    out.push_str(characters);
    Some(length)
}

fn table() -> &'static HashMap<&'static str, &'static str> {
    static TABLE: OnceLock<HashMap<&'static str, &'static str>> = OnceLock::new();
    TABLE.get_or_init(|| {
        entities::ENTITIES
            .iter()
            .map(|entity| (entity.entity, entity.characters))
            .collect()
    })
}

/// The text in pieces, each character of `markup` as its reference. `&apos;` is not used: not every
/// mail program reads it.
pub(crate) fn escaped<'a>(text: &'a str, markup: &'a [char]) -> impl Iterator<Item = &'a str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let at = rest.find(markup).unwrap_or(rest.len());
        let (piece, after) = match rest.chars().next()? {
            special if at == 0 => (reference(special), special.len_utf8()),
            _ => (rest.get(..at)?, at),
        };
        rest = rest.get(after..)?;
        Some(piece)
    })
}

fn reference(special: char) -> &'static str {
    match special {
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        '"' => "&quot;",
        _ => "&#x27;",
    }
}

/// `text` escaped for an attribute with this quote.
pub(crate) fn encode_attribute(text: String, quote: char) -> String {
    let markup = ['&', '<', quote];
    // Most rewritten values are signed links, which need no encoding.
    if !text.contains(markup) {
        return text;
    }
    escaped(&text, &markup).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, in_text: &str, in_attribute: &str) {
        assert_eq!(decode(text, EntityContext::Text), in_text, "text: {text:?}");
        assert_eq!(
            decode(text, EntityContext::Attribute),
            in_attribute,
            "attribute: {text:?}"
        );
    }

    #[test]
    fn references_are_read_as_browsers_read_them() {
        for (text, want) in [
            ("", ""),
            ("a", "a"),
            ("&", "&"),
            ("a & b", "a & b"),
            ("&;", "&;"),
            ("&amp;", "&"),
            ("&amp;amp;", "&amp;"),
            ("&AMP;", "&"),
            ("&#38;&#038;&#x26;&#X26;", "&&&&"),
            ("&#38", "&"),
            ("&#;&#x;&#xg;", "&#;&#x;&#xg;"),
            (
                "&#0;&#xD800;&#x110000;&#99999999999;",
                "\u{fffd}\u{fffd}\u{fffd}\u{fffd}",
            ),
            ("&#146;", "’"),
            ("&nbsp;&eacute;&NotEqualTilde;", "\u{a0}é≂\u{338}"),
            ("&CounterClockwiseContourIntegral;", "∳"),
            ("&nosuch;&nosuch", "&nosuch;&nosuch"),
            ("&eacute", "é"),
            ("&é;", "&é;"),
        ] {
            check(text, want, want);
        }
    }

    #[test]
    fn a_parameter_is_no_reference() {
        check("?a=1&copy=2", "?a=1©=2", "?a=1&copy=2");
        check("?a=1&section=2", "?a=1§ion=2", "?a=1&section=2");
        check("?a=1&lt", "?a=1<", "?a=1<");
        check("?a&copy&b", "?a©&b", "?a©&b");
    }

    proptest! {
        #[test]
        fn what_is_encoded_decodes(text in "\\PC*") {
            for quote in ['"', '\''] {
                let encoded = encode_attribute(text.clone(), quote);
                prop_assert!(!encoded.contains(quote));
                prop_assert_eq!(decode(&encoded, EntityContext::Attribute), text.as_str());
            }
        }

        #[test]
        fn no_text_makes_the_decoder_panic(text in "(&|#|x|;|amp|copy|[a-z0-9é])*") {
            decode(&text, EntityContext::Text);
            decode(&text, EntityContext::Attribute);
        }
    }
}
