//! One attached file: its bytes arrive as base64 and leave as base64, without being decoded.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::BASE64_STANDARD;
use mail_builder::headers::Header;
use mail_builder::headers::content_type::ContentType;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use posthaste_model::{Attachment, Disposition};

use super::BuildError;
use super::body::{wrap, write_type};
use super::header::one_line;
use crate::media_type::MediaType;

/// The default type of a file (RFC 2046, section 4.5.1).
fn unknown<'a>() -> MediaType<'a> {
    MediaType {
        essence: "application/octet-stream",
        params: Vec::new(),
    }
}

/// Longest text of one base64 word of RFC 2047, in octets: 75 characters without `=?utf-8?B?` and
/// `?=` leave 63, so 15 groups of three.
const WORD: usize = 45;

/// Accepts padded and unpadded text, and ignores trailing bits.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Writes the part's header, the empty line and the file. `at` is its place, for the error.
pub(super) fn write(
    at: usize,
    file: &Attachment,
    marker: &str,
    out: &mut Vec<u8>,
) -> Result<(), BuildError> {
    // A type that cannot be read does not prevent sending the file.
    let given = file.mime_type.as_deref().and_then(MediaType::parse);
    let mut kind = given.unwrap_or_else(unknown);
    if !is_base64(file.content.as_bytes()) {
        return Err(BuildError::Base64(at));
    }
    let mut lines = None;
    if kind.under("message") {
        lines = LENIENT
            .decode(&file.content)
            .ok()
            .and_then(|bytes| as_it_is(bytes, marker));
    }
    // Neither may be base64 (RFC 2046, sections 5.1 and 5.2.1), and one that cannot be sent as it
    // is would be unreadable under its own type.
    if kind.under("multipart") || kind.under("message") && lines.is_none() {
        kind = unknown();
    }
    // Without a charset readers assume US-ASCII, or their own default.
    if kind.under("text") && !kind.has("charset") && is_foreign_utf8(&file.content) {
        kind.set("charset", "utf-8".to_owned());
    }
    kind.unset("name");
    let filename = one_line(&file.filename);
    write_named_type(&kind, &filename, out);
    write_disposition(file, &filename, out);
    match lines {
        Some(lines) => {
            out.extend_from_slice(b"Content-Transfer-Encoding: 7bit\r\n\r\n");
            out.extend_from_slice(&lines);
        }
        None => {
            out.extend_from_slice(b"Content-Transfer-Encoding: base64\r\n\r\n");
            wrap(file.content.as_bytes(), out);
        }
    }
    Ok(())
}

/// The type with the file's name. `name` is the older place, where older readers look: they
/// expect words of RFC 2047 there, not RFC 2231.
fn write_named_type(kind: &MediaType<'_>, filename: &str, out: &mut Vec<u8>) {
    if filename.is_empty() {
        return write_type(kind, out);
    }
    if filename.is_ascii() {
        let mut kind = kind.clone();
        kind.params.push(("name", filename.to_owned()));
        return write_type(&kind, out);
    }
    write_type(kind, out);
    // Removes the line end: the name continues.
    out.truncate(out.len() - b"\r\n".len());
    out.extend_from_slice(b";\r\n name=\"");
    for (at, word) in words(filename).into_iter().enumerate() {
        if at > 0 {
            out.extend_from_slice(b"\r\n ");
        }
        out.extend_from_slice(b"=?utf-8?B?");
        out.extend_from_slice(BASE64_STANDARD.encode(word).as_bytes());
        out.extend_from_slice(b"?=");
    }
    out.extend_from_slice(b"\"\r\n");
}

/// Cuts between characters: no encoded word may end inside one (RFC 2047, section 5).
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (word, next) = rest.split_at(rest.floor_char_boundary(WORD));
        words.push(word);
        rest = next;
    }
    words
}

fn write_disposition(file: &Attachment, filename: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"Content-Disposition: ");
    let mut header = ContentType::new(match file.disposition {
        Disposition::Attachment => "attachment",
        Disposition::Inline => "inline",
    });
    if !filename.is_empty() {
        header = header.attribute("filename", filename);
    }
    header.write_header(out, "Content-Disposition: ".len());
    let id = file.content_id.as_deref().map(content_id);
    if let Some(id) = id.filter(|id| !id.is_empty()) {
        out.extend_from_slice(b"Content-ID: <");
        out.extend_from_slice(id.as_bytes());
        out.extend_from_slice(b">\r\n");
    }
}

/// The id without the brackets some callers add (API facts, trap 15). Characters not allowed in an
/// id are written as in the `cid:` URL that points to it (RFC 2392): `%C3%BC`.
fn content_id(id: &str) -> Cow<'_, str> {
    let id = id.trim();
    let id = id.strip_prefix('<').unwrap_or(id);
    let id = id.strip_suffix('>').unwrap_or(id);
    const NOT_IN_AN_ID: &AsciiSet = &CONTROLS.add(b' ').add(b'<').add(b'>');
    let mut safe = Cow::from(utf8_percent_encode(id, NOT_IN_AN_ID));
    if safe.len() > 900 {
        safe.to_mut().truncate(900);
    }
    safe
}

/// Whether the text is the standard alphabet of base64 (RFC 4648, section 4), with its padding or
/// without. White space is not part of it.
pub fn is_base64(text: &[u8]) -> bool {
    let end = text.iter().rposition(|b| *b != b'=').map_or(0, |at| at + 1);
    let (data, padding) = text.split_at(end);
    let alphabet = |b: &u8| b.is_ascii_alphanumeric() || *b == b'+' || *b == b'/';
    let whole = match data.len() % 4 {
        0 => padding.is_empty(),
        1 => false,
        rest => padding.is_empty() || padding.len() == 4 - rest,
    };
    whole && data.iter().all(alphabet)
}

/// The bytes as lines that need no encoding, or `None`. Lone line feeds become CRLF, as required on
/// the wire.
fn as_it_is(bytes: Vec<u8>, marker: &str) -> Option<Vec<u8>> {
    let text = String::from_utf8(bytes).ok()?.replace("\r\n", "\n");
    let plain = |b: u8| matches!(b, b'\t' | b'\n' | b' '..=b'~');
    let fits = text.split('\n').all(|line| line.len() <= 998);
    let fine = fits && text.bytes().all(plain) && !text.contains(marker);
    fine.then(|| text.replace('\n', "\r\n").into_bytes())
}

/// Whether the file is UTF-8 with anything beyond ASCII in it.
fn is_foreign_utf8(content: &str) -> bool {
    LENIENT
        .decode(content)
        .is_ok_and(|bytes| !bytes.is_ascii() && std::str::from_utf8(&bytes).is_ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_base64_passes() {
        for text in ["", "QQ==", "QQ", "QUI=", "QUI", "QUJD", "+/+/"] {
            assert!(is_base64(text.as_bytes()), "{text:?}");
        }
        for text in [
            "Q",
            "QUJDQ",
            "Q=",
            "=",
            "====",
            "QQ=",
            "QUJD=",
            "QQ==QQ==",
            "QU\r\nJD",
            "QU JD",
            "Q-_D",
            "data:image/png;base64,QUJD",
            "QUJÄ",
        ] {
            assert!(!is_base64(text.as_bytes()), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_text_is_base64_if_the_decoder_reads_it(text in "[A-Za-z0-9+/=_:-]{0,12}") {
            // The decoder also reads a part of the padding.
            let is_padded = !text.contains('=') || text.len().is_multiple_of(4);
            let is_read = LENIENT.decode(&text).is_ok();
            prop_assert_eq!(is_base64(text.as_bytes()), is_read && is_padded);
        }

        #[test]
        fn encoded_bytes_are_base64(bytes in prop::collection::vec(any::<u8>(), 0..9000)) {
            prop_assert!(is_base64(BASE64_STANDARD.encode(bytes).as_bytes()));
        }
    }

    #[test]
    fn lines_are_76_wide_and_padded() {
        let mut out = Vec::new();
        wrap(&"QUJD".repeat(40).as_bytes()[..158], &mut out);
        let out = String::from_utf8(out).unwrap();
        let widths: Vec<_> = out.split_terminator("\r\n").map(str::len).collect();
        assert_eq!(widths, [76, 76, 8]);
        assert!(out.ends_with("QUJDQU==\r\n"), "{out}");
    }

    #[test]
    fn ids_lose_brackets_and_keep_what_a_url_can_say() {
        for (id, want) in [
            ("logo", "logo"),
            ("<logo@example.com>", "logo@example.com"),
            (" logo ", "logo"),
            ("a b", "a%20b"),
            ("a\r\nBcc: x", "a%0D%0ABcc:%20x"),
            ("größe", "gr%C3%B6%C3%9Fe"),
            ("<<a>>", "%3Ca%3E"),
            ("<>", ""),
        ] {
            assert_eq!(content_id(id), want, "{id:?}");
        }
        assert_eq!(content_id(&"ä".repeat(400)).len(), 900);
    }

    #[test]
    fn words_end_between_characters() {
        for text in [
            "ä".repeat(100),
            "𝕏".repeat(33),
            format!("a{}", "日".repeat(40)),
        ] {
            let words = words(&text);
            assert_eq!(words.concat(), text);
            assert!(words.iter().all(|word| word.len() <= WORD), "{words:?}");
        }
    }

    #[test]
    fn only_clean_lines_go_as_they_are() {
        let check = |text: &str| as_it_is(text.as_bytes().to_vec(), "=_seed");
        assert_eq!(check("A: b\n\nc\r\n").unwrap(), b"A: b\r\n\r\nc\r\n");
        let long = "x".repeat(999);
        for text in ["a\rb", "nul\0", "ä", "--=_seed_1", long.as_str()] {
            assert_eq!(check(text), None, "{text:?}");
        }
    }
}
