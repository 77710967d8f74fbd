//! A submitted mail as it was received: with one more `Received`, only fields in its header, and lines
//! that SMTP carries. A part with lines that are too long is encoded anew.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use encodify::qp;

use super::Flaw;
use super::fields::{LONGEST_LINE, OURS, WRITTEN, fields, is_one_of, put_field};
use super::{Leaf, Leaves};
use crate::outgoing::wrap;
use crate::parse::{Entity, Parameterised, decoded};

/// The mail with one more `Received` on top, as RFC 5321, section 4.4, requires of a receiving
/// server.
///
/// Lines of the header that are no field are removed, with the separators of mailbox files: other
/// readers would end the header there. Lines that are too long are folded, or their part encoded.
///
/// # Errors
/// [`Flaw::LongLine`] when a line can be neither folded nor encoded.
pub fn received(raw: &[u8], line: &str) -> Result<Vec<u8>, Flaw> {
    let entity = Entity::read(raw);
    let line: String = line.chars().filter(|c| !c.is_control()).collect();
    let mut mail = Vec::with_capacity(line.len() + 16 + raw.len());
    mail.extend_from_slice(b"Received: ");
    mail.extend_from_slice(line.replace("; ", ";\r\n\t").as_bytes());
    mail.extend_from_slice(b"\r\n");
    for (name, field) in fields(entity.header) {
        let start = mail.len();
        put_field(field, &mut mail);
        let written = mail.get(start..).unwrap_or_default();
        // What is not passed on has no limit.
        if has_long_line(written) && !is_one_of(name, &OURS) {
            return Err(Flaw::LongLine);
        }
    }
    mail.extend_from_slice(b"\r\n");
    let header = mail.len();
    mail.extend_from_slice(entity.body);
    if has_long_line(entity.body) {
        shortened(&mail, header)
    } else {
        Ok(mail)
    }
}

/// Whether a line of the text is too long.
fn has_long_line(text: &[u8]) -> bool {
    let mut rest = text;
    while rest.len() > LONGEST_LINE {
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest.get(..end).unwrap_or_default();
        if line.strip_suffix(b"\r").unwrap_or(line).len() > LONGEST_LINE {
            return true;
        }
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    false
}

/// The mail with every part that has such lines encoded anew: texts as quoted-printable or base64,
/// whichever is shorter, all else as base64. `header` is where the mail's own header ends.
///
/// # Errors
/// [`Flaw::LongLine`] for a line outside these parts, and in parts that may not be changed.
fn shortened(raw: &[u8], header: usize) -> Result<Vec<u8>, Flaw> {
    let leaves = Leaves::read(raw);
    let mut out = Vec::with_capacity(raw.len() + raw.len() / 2);
    let mut from = 0;
    let mut text = header;
    for leaf in &leaves.all {
        let entity = Entity::read(raw.get(leaf.at.clone()).unwrap_or_default());
        if !has_long_line(entity.body) {
            continue;
        }
        out.extend_from_slice(raw.get(from..leaf.at.start).unwrap_or_default());
        let body = encode(leaf, raw, &leaves, &mut out)?;
        if leaf.is_whole(raw) {
            text = body;
        }
        from = leaf.at.end;
    }
    out.extend_from_slice(raw.get(from..).unwrap_or_default());
    if has_long_line(out.get(text..).unwrap_or_default()) {
        Err(Flaw::LongLine)
    } else {
        Ok(out)
    }
}

/// Writes a part with its body encoded anew; returns where the body begins.
fn encode(leaf: &Leaf, raw: &[u8], leaves: &Leaves, out: &mut Vec<u8>) -> Result<usize, Flaw> {
    let entity = Entity::read(raw.get(leaf.at.clone()).unwrap_or_default());
    let names = ["Content-Type", "Content-Transfer-Encoding", "MIME-Version"];
    let [kind, encoding, version] = entity.fields().pick(names);
    let kind = Parameterised::read(kind.unwrap_or_default()).value;
    let encoding = encoding.map(Parameterised::read).unwrap_or_default().value;
    let encoding = encoding.split([' ', '\t', '(']).next().unwrap_or_default();
    // What an unknown encoding holds may not be a text of lines.
    if !["", "7bit", "8bit", "binary", "quoted-printable", "base64"].contains(&encoding) {
        return Err(Flaw::LongLine);
    }
    for (name, field) in fields(entity.header) {
        let is_type = name.eq_ignore_ascii_case(b"content-type");
        if is_type || !is_one_of(name, &WRITTEN) {
            put_field(field, out);
        }
    }
    if leaf.is_whole(raw) && version.is_none() {
        out.extend_from_slice(b"MIME-Version: 1.0\r\n");
    }
    let bytes = decoded(Some(encoding.as_bytes()), entity.body);
    let is_text = kind.is_empty() || kind == "text" || kind.starts_with("text/");
    let text = quoted(&bytes).filter(|text| is_text && !leaves.boundaries.delimit(text));
    let name = if text.is_some() {
        "quoted-printable"
    } else {
        "base64"
    };
    out.extend_from_slice(format!("Content-Transfer-Encoding: {name}\r\n\r\n").as_bytes());
    let body = out.len();
    match text {
        Some(text) => out.extend_from_slice(&text),
        None => wrap(BASE64_STANDARD.encode(&bytes).as_bytes(), out),
    }
    Ok(body)
}

/// The bytes as quoted-printable, unless base64 is shorter, or lines that do not end with
/// CRLF would be lost.
fn quoted(bytes: &[u8]) -> Option<Vec<u8>> {
    let lone = |at: usize| match bytes.get(at) {
        Some(b'\r') => bytes.get(at + 1) != Some(&b'\n'),
        _ => at == 0 || bytes.get(at - 1) != Some(&b'\r'),
    };
    if memchr::memchr2_iter(b'\r', b'\n', bytes).any(lone) || memchr::memchr(0, bytes).is_some() {
        return None;
    }
    let limit = bytes.len().div_ceil(3).saturating_mul(4);
    qp::BODY.encoded_len_within(bytes, limit)?;
    Some(qp::BODY.encode(bytes).into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::submitted::{SubmittedHead, texts};

    #[track_caller]
    fn check(raw: &str, want: &str) {
        let got = received(raw.as_bytes(), "from a; date\r\n").map(String::from_utf8);
        let want = format!("Received: from a;\r\n\tdate\r\n{want}");
        assert_eq!(got, Ok(Ok(want)), "{raw:?}");
    }

    #[test]
    fn the_trace_goes_on_top_and_mailbox_separators_go() {
        check("From ann Mon\r\nA: b\r\n\r\nc\r\n", "A: b\r\n\r\nc\r\n");
        check("\u{feff}>From a Mon\r\nA: b\r\n\r\nc", "A: b\r\n\r\nc");
        check("A: b", "A: b\r\n\r\n");
        check("", "\r\n");
    }

    #[test]
    fn what_is_no_field_is_not_passed_on() {
        for broken in [
            "P8Fxcut\r\n",
            "and so on\r\n\tuntil here\r\n",
            ": x\r\n",
            "X y: z\r\n",
            "From ann@example.com Mon 10:11:12\r\n",
            "B cc: hidden@example.com\r\n",
        ] {
            check(
                &format!("A: b\r\n\tc\r\n{broken}Subject: d\r\n\r\nx"),
                "A: b\r\n\tc\r\nSubject: d\r\n\r\nx",
            );
            check(
                &format!("{broken}Subject: d\r\n\r\nx"),
                "Subject: d\r\n\r\nx",
            );
        }
        check("\u{feff}Subject: d\r\n\r\nx", "Subject: d\r\n\r\nx");
        check("Subject \t: d\r\n\r\nx", "Subject: d\r\n\r\nx");
        check("A: b\r\ntext\r\n\r\nx", "A: b\r\n\r\ntext\r\n\r\nx");
    }

    #[test]
    fn a_field_that_was_cut_is_mended() {
        let kind = "Content-Type: multipart/mixed;\r\n";
        let want = format!("{kind}\tboundary=b\r\nA: b\r\n\r\nx");
        check(&format!("{kind}boundary=b\r\nA: b\r\n\r\nx"), &want);
        check(
            &format!("{kind}P8Fxcut\r\n\tboundary=b\r\nA: b\r\n\r\nx"),
            &want,
        );
    }

    #[test]
    fn long_fields_are_folded_at_their_blanks() {
        let raw = format!(
            "To: {}a@b\r\nSubject: {}\r\n\r\nx",
            "someone@example.com, ".repeat(500),
            format!("{}  {} ", "x".repeat(900), "y".repeat(950)).repeat(3)
        );
        let got = received(raw.as_bytes(), "x").unwrap();
        assert!(!has_long_line(&got));
        let (was, is) = (
            SubmittedHead::read(raw.as_bytes()),
            SubmittedHead::read(&got),
        );
        assert_eq!(was.subject, is.subject);
        let text = String::from_utf8(got).unwrap();
        assert!(
            text.lines()
                .all(|line| line.is_empty() || !line.trim().is_empty())
        );
        assert_eq!(text.replace("\r\n ", " ").matches("com, ").count(), 500);
    }

    #[test]
    fn blanks_without_number_cost_no_time() {
        let blanks = " ".repeat(1 << 20);
        let words = "a ".repeat(1 << 19);
        for field in [format!("{words}{blanks}"), format!("a{blanks}b"), blanks] {
            let raw = format!("X: {field}\r\n\r\n");
            let got = received(raw.as_bytes(), "x");
            assert_eq!(got.is_err(), field.ends_with('b'));
        }
    }

    #[test]
    fn a_field_without_blanks_is_refused_unless_it_stays_here() {
        let long = |name: &str, value: &str| {
            let raw = format!("{name}: {}\r\n\r\nx", value.repeat(1000));
            received(raw.as_bytes(), "x").err()
        };
        assert_eq!(long("X-Long", "x"), Some(Flaw::LongLine));
        assert_eq!(long("X-Long", " "), None);
        assert_eq!(long("X-Long", "a \t "), None);
        assert_eq!(long("X-SMTPAPI", "x"), None);
        assert_eq!(long("Bcc", "a@example.com,"), None);
    }

    const HEAD: &str = "From: a@example.com\r\n";

    fn passed(raw: &str) -> Result<String, Flaw> {
        received(raw.as_bytes(), "x").map(|mail| String::from_utf8(mail).unwrap())
    }

    #[test]
    fn a_line_has_998_octets() {
        let line = |n: usize| format!("{HEAD}\r\n{}\r\nend\r\n", "x".repeat(n));
        for (n, encoded) in [(998, false), (999, true), (5000, true)] {
            let mail = passed(&line(n)).unwrap();
            assert_eq!(mail.contains("quoted-printable"), encoded, "{n}");
            assert_eq!(mail.contains("MIME-Version: 1.0"), encoded, "{n}");
            let want = format!("{}\r\nend\r\n", "x".repeat(n));
            assert_eq!(texts(mail.as_bytes())[0].value, want);
        }
        assert!(!has_long_line(&b"x\r\n".repeat(1000)));
        assert!(has_long_line(&[b'x'; 999]) && !has_long_line(&[b'x'; 998]));
    }

    #[test]
    fn only_parts_with_long_lines_are_encoded() {
        let raw = format!(
            "{HEAD}MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n\
             --b\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\
             Content-MD5: x\r\n\r\n{}\r\n--b\r\n\r\nshort\r\n--b\r\n\
             Content-Type: application/json\r\n\r\n{}\r\n--b\r\n\
             Content-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n{}\r\n--b--\r\n",
            "Many words and one Gruß ".repeat(100),
            "[1],".repeat(500),
            "QUJD".repeat(300),
        );
        let mail = passed(&raw).unwrap();
        assert!(!has_long_line(mail.as_bytes()));
        assert!(mail.contains("\r\n--b\r\n\r\nshort\r\n--b\r\n"), "{mail}");
        let encodings: Vec<_> = mail
            .lines()
            .filter_map(|line| line.strip_prefix("Content-Transfer-Encoding: "))
            .collect();
        assert_eq!(encodings, ["quoted-printable", "base64", "base64"]);
        assert!(!mail.contains("Content-MD5"));
        let found = texts(mail.as_bytes());
        assert_eq!(found[0].value, "Many words and one Gruß ".repeat(100));
    }

    #[test]
    fn an_encoding_keeps_every_byte() {
        let long = "x".repeat(1200);
        for (header, body, want) in [
            (
                "Content-Transfer-Encoding: quoted-printable",
                format!("=3D{long}"),
                format!("={long}"),
            ),
            (
                "Content-Type: text/html",
                format!("<p> {long} \r\n\t"),
                format!("<p> {long} \r\n\t"),
            ),
            (
                "Content-Transfer-Encoding: BASE64 (x)",
                BASE64_STANDARD.encode(format!("a\n{long}")),
                format!("a\n{long}"),
            ),
            ("A: b", format!("--b{long}"), format!("--b{long}")),
        ] {
            let mail = passed(&format!("{HEAD}{header}\r\n\r\n{body}")).unwrap();
            assert_eq!(texts(mail.as_bytes())[0].value, want, "{mail}");
        }
    }

    #[test]
    fn a_soft_break_makes_no_boundary() {
        // The piece after the first soft break begins like a boundary.
        let line = format!("{}--b--{}", "x".repeat(75), "y".repeat(1000));
        let raw = format!(
            "{HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n{line}\r\n--b--\r\n"
        );
        let mail = passed(&raw).unwrap();
        assert_eq!(texts(mail.as_bytes())[0].value, line, "{mail}");
    }

    #[test]
    fn what_may_not_be_changed_is_refused() {
        let long = "x".repeat(1200);
        let multipart = |kind: &str, part: &str| {
            format!("{HEAD}Content-Type: multipart/{kind}; boundary=b\r\n\r\n{part}\r\n--b--\r\n")
        };
        for raw in [
            multipart("signed", &format!("--b\r\n\r\n{long}")),
            multipart("mixed", &format!("{long}\r\n--b\r\n\r\nx")),
            multipart("mixed", &format!("--b\r\nX: {long}\r\n\r\nx")),
            multipart(
                "mixed",
                &format!("--b\r\nContent-Type: message/rfc822\r\n\r\nA: b\r\n\r\n{long}"),
            ),
            format!("{HEAD}Content-Transfer-Encoding: x-uuencode\r\n\r\n{long}"),
            format!("{HEAD}Content-Type: message/rfc822\r\n\r\nA: b\r\n\r\n{long}"),
        ] {
            assert_eq!(passed(&raw), Err(Flaw::LongLine), "{raw}");
        }
    }

    #[test]
    fn instructions_may_be_as_long_as_they_are() {
        let raw = format!(
            "{HEAD}X-SMTPAPI: {{\"a\":\"{0}\"}}\r\n\r\n{0}\r\n",
            "x".repeat(5000)
        );
        let mail = passed(&raw).unwrap();
        assert!(mail.contains(&format!("\"{}\"", "x".repeat(5000))));
        assert!(mail.contains("quoted-printable"));
    }
}
