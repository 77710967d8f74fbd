//! One alternative of the body: its type and its text, in the encoding that fits.

use std::borrow::Cow;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use encodify::qp;
use mail_builder::headers::content_type::ContentType;
use mail_builder::headers::raw::Raw;
use mail_builder::headers::{Header, HeaderType};
use mail_builder::mime::{BodyPart, MimePart};

use super::BuildError;
use crate::media_type::{MediaType, is_token};

/// Writes the part's own header, the empty line and the text.
///
/// Text goes as `7bit` if it is short ASCII lines, else as quoted-printable or base64, whichever
/// is shorter. `marker` begins every boundary of the mail.
pub(crate) fn write(
    mime_type: &str,
    text: &str,
    marker: &str,
    out: &mut Vec<u8>,
) -> Result<(), BuildError> {
    let refuse = || BuildError::MediaType(mime_type.to_owned());
    let mut kind = MediaType::parse(mime_type)
        .filter(can_be_body)
        .ok_or_else(refuse)?;
    if !kind.is_text() {
        write_type(&kind, out);
        out.extend_from_slice(b"Content-Transfer-Encoding: base64\r\n\r\n");
        wrap(BASE64_STANDARD.encode(text).as_bytes(), out);
        return Ok(());
    }
    kind.set("charset", "utf-8".to_owned());
    let text = canonical(text);
    // The library would send both unchanged.
    if text.bytes().any(is_control) || text.contains(marker) {
        write_type(&kind, out);
        out.extend_from_slice(b"Content-Transfer-Encoding: quoted-printable\r\n\r\n");
        qp::BODY.encode_append(text.as_bytes(), out);
        return Ok(());
    }
    let part = MimePart {
        headers: vec![("Content-Type".into(), type_header(&kind))],
        contents: BodyPart::Text(text),
    };
    part.write_part(out);
    Ok(())
}

/// Lines of 76 characters (RFC 2045, section 6.8), the missing padding added.
pub(crate) fn wrap(text: &[u8], out: &mut Vec<u8>) {
    for line in text.chunks(76) {
        out.extend_from_slice(line);
        if line.len() % 4 != 0 {
            out.resize(out.len() + 4 - line.len() % 4, b'=');
        }
        out.extend_from_slice(b"\r\n");
    }
}

/// Whether a text of this type can be (an alternative of) the body of a mail.
pub fn is_body_type(mime_type: &str) -> bool {
    MediaType::parse(mime_type).is_some_and(|kind| can_be_body(&kind))
}

/// RFC 2046 fixes the encodings of the others, and their text would have to be a whole message.
fn can_be_body(kind: &MediaType<'_>) -> bool {
    !kind.under("multipart") && !kind.under("message")
}

/// Line ends of text are CRLF (RFC 2046, section 4.1.1), whatever the caller's.
fn canonical(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let lone = |(at, byte): (usize, &u8)| match byte {
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        b'\n' => at == 0 || bytes.get(at - 1) != Some(&b'\r'),
        _ => false,
    };
    if !bytes.iter().enumerate().any(lone) {
        return Cow::Borrowed(text);
    }
    let mut lines = String::with_capacity(text.len() + text.len() / 32);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => {
                chars.next_if_eq(&'\n');
                lines.push_str("\r\n");
            }
            '\n' => lines.push_str("\r\n"),
            c => lines.push(c),
        }
    }
    Cow::Owned(lines)
}

fn is_control(byte: u8) -> bool {
    byte < b' ' && !b"\t\r\n".contains(&byte) || byte == 0x7f
}

/// Writes a `Content-Type`.
pub(crate) fn write_type(kind: &MediaType<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"Content-Type: ");
    type_header(kind).write_header(out, "Content-Type: ".len());
}

/// Tokens go unquoted, as the oldest calendar readers want them; other values are quoted, or
/// encoded by RFC 2231.
fn type_header<'a>(kind: &MediaType<'a>) -> HeaderType<'a> {
    let simple = |(name, value): &(&str, String)| is_token(value) && name.len() + value.len() < 70;
    if kind.params.iter().all(simple) {
        let mut line = kind.essence.to_owned();
        for (name, value) in &kind.params {
            line.push_str("; ");
            line.push_str(name);
            line.push('=');
            line.push_str(value);
        }
        return Raw::new(line).into();
    }
    let mut header = ContentType::new(kind.essence);
    for (name, value) in &kind.params {
        header = header.attribute(*name, value.clone());
    }
    header.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_end_becomes_crlf() {
        for (text, want) in [
            ("", ""),
            ("a\r\nb", "a\r\nb"),
            ("a\nb\rc\r\nd\n", "a\r\nb\r\nc\r\nd\r\n"),
            ("\r\r\n\n", "\r\n\r\n\r\n"),
            ("\n", "\r\n"),
        ] {
            assert_eq!(canonical(text), want, "{text:?}");
        }
    }

    #[track_caller]
    fn check(mime_type: &str, text: &str, want: &str) {
        let mut out = Vec::new();
        write(mime_type, text, "=_seed", &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            want,
            "{mime_type} {text:?}"
        );
    }

    #[test]
    fn the_encoding_fits_the_text() {
        let head = "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: ";
        let seven = format!("{head}7bit\r\n\r\n");
        let quoted = format!("{head}quoted-printable\r\n\r\n");
        check(
            "text/plain",
            "Hi\n.\n..\n",
            &format!("{seven}Hi\r\n.\r\n..\r\n"),
        );
        check("text/plain", "", &seven);
        check("text/plain", "nul\0", &format!("{quoted}nul=00"));
        check("text/plain", "bell\x07 ", &format!("{quoted}bell=07=20"));
        check("text/plain", "--=_seed_1", &format!("{quoted}--=3D_seed_1"));
        check(
            "text/plain",
            "Grüße und mehr",
            &format!("{quoted}Gr=C3=BC=C3=9Fe und mehr"),
        );
        check(
            "text/plain",
            "日本",
            &format!("{head}base64\r\n\r\n5pel5pys\r\n"),
        );
    }

    #[test]
    fn the_charset_is_what_we_write() {
        for (mime_type, want) in [
            ("text/html; charset=iso-8859-1", "text/html; charset=utf-8"),
            (
                "text/calendar; method=REQUEST",
                "text/calendar; method=REQUEST; charset=utf-8",
            ),
            ("html", "html; charset=utf-8"),
            (
                "text/x-a; note=\"two words\"",
                "text/x-a; note=\"two words\"; charset=\"utf-8\"",
            ),
        ] {
            let mut out = Vec::new();
            write(mime_type, "x", "=_seed", &mut out).unwrap();
            let out = String::from_utf8(out).unwrap();
            assert!(
                out.starts_with(&format!("Content-Type: {want}\r\n")),
                "{out}"
            );
        }
        check(
            "application/json",
            "{}\n",
            "Content-Type: application/json\r\nContent-Transfer-Encoding: base64\r\n\r\ne30K\r\n",
        );
    }

    #[test]
    fn a_message_is_no_alternative() {
        for mime_type in ["multipart/mixed", "message/rfc822", "text/pl\r\nain", ""] {
            let refused = write(mime_type, "x", "=_seed", &mut Vec::new());
            assert_eq!(refused, Err(BuildError::MediaType(mime_type.to_owned())));
        }
    }
}
