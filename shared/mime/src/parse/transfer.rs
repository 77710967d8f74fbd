//! Decodes transfer encodings (RFC 2045, section 6) as far as possible: a broken piece loses only
//! itself.

use std::borrow::Cow;

use encodify::qp;

use super::lines;

/// The decoded body. Unknown encodings, and those that change nothing, leave it unchanged.
pub(crate) fn decoded<'a>(encoding: Option<&[u8]>, body: &'a [u8]) -> Cow<'a, [u8]> {
    let encoding = encoding.unwrap_or_default();
    // Some writers add a comment or a semicolon.
    let end = encoding.iter().position(|b| b" \t;(\r\n".contains(b));
    let name = encoding
        .get(..end.unwrap_or(encoding.len()))
        .unwrap_or_default();
    if name.eq_ignore_ascii_case(b"base64") {
        return Cow::Owned(base64(body));
    }
    if name.eq_ignore_ascii_case(b"quoted-printable") {
        return qp::BODY.decode(body).unwrap_or(Cow::Borrowed(body));
    }
    Cow::Borrowed(body)
}

/// The value of a character of the alphabet.
fn value(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

/// Decodes, skipping foreign characters. Padding ends a piece, and another may follow, as some
/// writers encode piece by piece; but a line that cannot be base64 ends the data, because mailing
/// lists append their footer.
pub(crate) fn base64(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len() / 4 * 3 + 3);
    let mut padded = false;
    let (mut bits, mut count) = (0_u32, 0_u32);
    for line in lines(body) {
        if padded && !is_base64_line(line) {
            break;
        }
        for &byte in line {
            if let Some(value) = value(byte) {
                bits = bits << 6 | u32::from(value);
                count += 1;
            } else if byte == b'=' {
                flush(&mut bits, &mut count, &mut out);
                padded = true;
            }
            if count == 4 {
                out.extend_from_slice(&bits.to_be_bytes()[1..]);
                (bits, count) = (0, 0);
            }
        }
    }
    flush(&mut bits, &mut count, &mut out);
    out
}

/// Writes the whole bytes of an unfinished group.
fn flush(bits: &mut u32, count: &mut u32, out: &mut Vec<u8>) {
    let group = (*bits << (6 * (4 - *count)) as u8).to_be_bytes();
    match count {
        2 => out.extend_from_slice(&group[1..2]),
        3 => out.extend_from_slice(&group[1..3]),
        _ => {}
    }
    (*bits, *count) = (0, 0);
}

fn is_base64_line(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.len().is_multiple_of(4) && line.iter().all(|b| value(*b).is_some() || *b == b'=')
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;
    use proptest::prelude::*;

    #[track_caller]
    fn check(encoding: &str, body: &[u8], want: &[u8]) {
        let got = decoded(Some(encoding.as_bytes()), body);
        assert_eq!(got.as_ref(), want, "{encoding}: {body:?}");
    }

    #[test]
    fn encodings_are_undone() {
        check("base64", b"aGVs\r\nbG8=\r\n", b"hello");
        check("BASE64", b"aGVsbG8", b"hello");
        check("base64", b"aGk=\naGk=\n", b"hihi");
        check("base64", b"aGk=\n\n___\nThis is the footer\n", b"hi");
        check("base64", b"a*G-V s bG8=", b"hello");
        check("base64", b"A", b"");
        check("base64", b"====", b"");
        check("base64 (as always)", b"aGk=", b"hi");
        check(
            "Quoted-Printable",
            b"a=C3=A4=\r\nb =\r\nc \r\n=3d",
            b"a\xc3\xa4b c\r\n=",
        );
        check("quoted-printable", b"=ZZ =4", b"=ZZ =4");
        check("8bit", b"\xe4=41", b"\xe4=41");
        check("x-unknown", b"=41", b"=41");
        check("", b"=41", b"=41");
    }

    proptest! {
        #[test]
        fn base64_survives_any_line_length(bytes: Vec<u8>, width in 1_usize..90) {
            let text = BASE64_STANDARD.encode(&bytes);
            let lines: Vec<_> = text.as_bytes().chunks(width).map(<[u8]>::to_vec).collect();
            prop_assert_eq!(base64(&lines.join(&b"\r\n"[..])), bytes);
        }

        #[test]
        fn any_bytes_decode_to_no_more_than_they_were(bytes: Vec<u8>) {
            for encoding in ["base64", "quoted-printable", "7bit"] {
                prop_assert!(decoded(Some(encoding.as_bytes()), &bytes).len() <= bytes.len());
            }
        }
    }
}
