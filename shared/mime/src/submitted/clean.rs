//! The header of a submitted mail as it is passed on: only fields, in lines that SMTP carries.

use super::Flaw;
use super::fields::{OURS, fields, is_one_of, put_field};
use super::long::{has_long_line, shortened};
use crate::parse::Entity;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::submitted::SubmittedHead;

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
}
