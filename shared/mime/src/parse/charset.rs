//! Converts bytes to text by the name of a charset, and names the charset of undeclared bytes.

use std::borrow::Cow;

use mail_parser::decoders::charsets::DecoderFnc;
use mail_parser::decoders::charsets::map::charset_decoder;

use super::strict::{is_chinese, is_gb18030, is_sound};
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

/// A text for a receiver that decodes it strictly: the name of its charset, and its bytes. They stay
/// as they are where a name for them exists, and are UTF-8 otherwise.
pub(crate) fn posted<'a>(declared: Option<&str>, bytes: Cow<'a, [u8]>) -> (String, Cow<'a, [u8]>) {
    let name = name(declared, &bytes);
    let sound = match () {
        () if is_utf8(&name) => std::str::from_utf8(&bytes).is_ok(),
        () if is_ascii(&name) => bytes.is_ascii(),
        () => is_sound(&name, &bytes),
    };
    // The other names of UTF-8 are those of single vendors.
    if sound
        && is_utf8(&name)
        && !["utf-8", "utf8"]
            .iter()
            .any(|n| name.eq_ignore_ascii_case(n))
    {
        return (UTF8.to_owned(), bytes);
    }
    if sound {
        return (name, bytes);
    }
    // Chinese programs write GBK under the name of its subset.
    if is_chinese(&name) && is_gb18030(&bytes) {
        return ("gb18030".to_owned(), bytes);
    }
    // No character of several bytes: the text never was UTF-8.
    let is_western = |bytes| is_utf8(&name) && !has_sequence(bytes) && is_sound(WESTERN, bytes);
    if is_western(&bytes) {
        return (WESTERN.to_owned(), bytes);
    }
    let text = decode(&name, &bytes).into_owned();
    (UTF8.to_owned(), Cow::Owned(text.into_bytes()))
}

/// Whether a character of several bytes is valid UTF-8.
fn has_sequence(bytes: &[u8]) -> bool {
    bytes.utf8_chunks().any(|chunk| !chunk.valid().is_ascii())
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

    #[test]
    fn a_receiver_can_decode_what_is_posted() {
        let raw = None;
        for (declared, bytes, name, text) in [
            ("gb2312", &b"\xc4\xe3"[..], "gb2312", raw),
            ("GB2312", b"\x96|", "gb18030", raw),
            ("gbk", b"\x96|", "gbk", raw),
            ("gbk", b"\x80", "UTF-8", Some("\u{20ac}")),
            (
                "windows-1252",
                b"a\x81\x93",
                "UTF-8",
                Some("a\u{fffd}\u{201c}"),
            ),
            ("windows-1252", b"\x93", "windows-1252", raw),
            ("us-ascii", b"\x81", "UTF-8", Some("\u{fffd}")),
            ("utf-8", "ä\u{1f389}".as_bytes(), "utf-8", raw),
            ("utf-8", b"Gr\xfc\xdfe", "windows-1252", raw),
            ("utf-8", b"\xc3\xa4 \xc3", "UTF-8", Some("ä \u{fffd}")),
            ("cp65001", "ä".as_bytes(), "UTF-8", raw),
            ("x-sjis", b"\x93\xfa", "UTF-8", Some("日")),
            ("shift_jis", b"\x93\xfa", "shift_jis", raw),
            ("shift_jis", b"\x87@", "UTF-8", Some("\u{2460}")),
            ("iso-2022-jp", b"\x1b$B-!\x1b(B", "UTF-8", Some("\u{2460}")),
            ("big5", b"\xf9\xd6", "UTF-8", Some("\u{7881}")),
            ("utf-16", b"a\0", "UTF-8", Some("a")),
        ] {
            let (got, posted) = posted(Some(declared), Cow::Borrowed(bytes));
            assert_eq!(got, name, "{declared} {bytes:?}");
            let want = text.map_or(bytes, |text: &str| text.as_bytes());
            assert_eq!(*posted, *want, "{declared} {bytes:?}");
        }
        let (name, posted) = posted(None, Cow::Borrowed(b"\x8d"));
        assert_eq!((name.as_str(), &*posted), ("UTF-8", "\u{fffd}".as_bytes()));
    }
}
