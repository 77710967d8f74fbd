//! Converts bytes to text by the name of a charset, and names the charset of undeclared bytes.

use std::borrow::Cow;

use mail_parser::decoders::charsets::DecoderFnc;
use mail_parser::decoders::charsets::map::charset_decoder;

use crate::media_type::is_token;

pub(crate) const UTF8: &str = "UTF-8";
const ASCII: &str = "us-ascii";
/// The charset that readers assume for undeclared 8-bit text that is not UTF-8: every byte is
/// valid.
const WESTERN: &str = "windows-1252";

/// Text of `label`'s bytes. Without a usable name it is UTF-8 if valid, else Windows-1252.
pub(crate) fn decode<'a>(label: &str, bytes: &'a [u8]) -> Cow<'a, str> {
    if is_utf8(label) {
        return String::from_utf8_lossy(bytes);
    }
    match (
        charset_decoder(label.as_bytes()),
        std::str::from_utf8(bytes),
    ) {
        (Some(decoder), _) if !is_ascii(label) => Cow::Owned(decoder(bytes)),
        (_, Ok(text)) => Cow::Borrowed(text),
        (_, Err(_)) => Cow::Owned(western(bytes)),
    }
}

fn western(bytes: &[u8]) -> String {
    match decoder(WESTERN) {
        Some(decode) => decode(bytes),
        None => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// The library compares only 45 characters, so a longer name could hide anything.
fn decoder(label: &str) -> Option<DecoderFnc> {
    let legal = label.len() <= 45 && is_token(label);
    legal.then(|| charset_decoder(label.as_bytes())).flatten()
}

/// The name under which a receiver can decode these bytes: the declared one, unless it is unknown
/// or the bytes contradict it.
pub(crate) fn name(declared: Option<&str>, bytes: &[u8]) -> String {
    let declared = declared.map(str::trim).filter(|label| {
        let known = is_utf8(label) || decoder(label).is_some();
        let false_ascii = is_ascii(label) && !bytes.is_ascii();
        known && !false_ascii
    });
    match declared {
        Some(label) => label.to_owned(),
        None if bytes.is_ascii() => ASCII.to_owned(),
        None if std::str::from_utf8(bytes).is_ok() => UTF8.to_owned(),
        None => WESTERN.to_owned(),
    }
}

/// Whether ASCII letters and line ends represent themselves, so that two texts can be joined.
pub(crate) fn can_be_joined(label: &str) -> bool {
    let label = label.to_ascii_lowercase();
    let wide = [
        "utf-16",
        "utf16",
        "utf-32",
        "utf32",
        "ucs",
        "iso-10646",
        "unicode",
        "csunicode",
    ];
    !wide.iter().any(|start| label.starts_with(start))
}

fn is_utf8(label: &str) -> bool {
    [
        "utf-8",
        "utf8",
        "utf_8",
        "unicode-1-1-utf-8",
        "cp65001",
        "x-unknown-utf-8",
    ]
    .iter()
    .any(|name| label.eq_ignore_ascii_case(name))
}

fn is_ascii(label: &str) -> bool {
    ["us-ascii", "ascii", "us_ascii", "ansi_x3.4-1968", "646"]
        .iter()
        .any(|name| label.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_text_by_their_charset() {
        for (label, bytes, want) in [
            ("utf-8", "ä".as_bytes(), "ä"),
            ("UTF8", "ä\u{1f389}".as_bytes(), "ä🎉"),
            ("utf-8", b"a\xff", "a\u{fffd}"),
            ("iso-8859-1", b"\xe4", "ä"),
            ("ISO-8859-15", b"\xa4", "€"),
            ("koi8-r", b"\xf0\xd2\xc9", "При"),
            ("shift_jis", b"\x93\xfa\x96{", "日本"),
            ("gb2312", b"\xc4\xe3\xba\xc3", "你好"),
            ("big5", b"\xa7A\xa6n", "你好"),
            ("euc-kr", b"\xbe\xc8\xb3\xe7", "안녕"),
            ("iso-2022-jp", b"\x1b$BF|K\\\x1b(B", "日本"),
            ("utf-7", b"+AOQ-x", "äx"),
            ("us-ascii", "ä".as_bytes(), "ä"),
            ("us-ascii", b"\xe4", "ä"),
            ("nonsense", b"\xe4\x80", "ä€"),
            ("", b"plain", "plain"),
        ] {
            assert_eq!(decode(label, bytes), want, "{label} {bytes:?}");
        }
    }

    #[test]
    fn the_name_is_one_a_receiver_can_use() {
        for (declared, bytes, want) in [
            (Some("ISO-8859-1"), &b"\xe4"[..], "ISO-8859-1"),
            (Some("utf8"), b"a", "utf8"),
            (Some("us-ascii"), b"a", "us-ascii"),
            (Some("us-ascii"), "ä".as_bytes(), "UTF-8"),
            (Some("us-ascii"), b"\xe4", "windows-1252"),
            (Some("x-unknown"), b"a", "us-ascii"),
            (Some("\r\nBcc: x"), b"a", "us-ascii"),
            (
                Some("extended_unix_code_packed_format_for_japanese\r\nX: y"),
                b"a",
                "us-ascii",
            ),
            (None, "ä".as_bytes(), "UTF-8"),
            (None, b"\xe4", "windows-1252"),
            (None, b"", "us-ascii"),
        ] {
            assert_eq!(name(declared, bytes), want, "{declared:?} {bytes:?}");
        }
    }
}
