//! What holds for any mail: nothing becomes a header by accident, every line is legal, and a
//! parser gets back what went in.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use mail_parser::{Address, Message, MessageParser, MimeHeaders, PartType};
use posthaste_mime::{HEADER_RULES, HeaderRule, build};
use posthaste_model::{Disposition, Mailbox};
use proptest::prelude::*;

use crate::samples::{STAMP, Sample, all, mailbox};

/// RFC 5322, section 2.1.1, and nothing that could end a line early.
fn check_lines(mail: &[u8]) {
    let text = std::str::from_utf8(mail).unwrap();
    assert!(text.ends_with("\r\n"));
    for line in text.split("\r\n") {
        assert!(line.len() <= 998, "{} octets: {line}", line.len());
        assert!(!line.contains(['\r', '\n', '\0']), "{line:?}");
    }
}

/// The names of the header's fields, in order.
fn header_names(mail: &[u8]) -> Vec<String> {
    let text = std::str::from_utf8(mail).unwrap();
    let (header, _) = text.split_once("\r\n\r\n").unwrap();
    header
        .split("\r\n")
        .filter(|line| !line.starts_with([' ', '\t']))
        .map(|line| line.split_once(':').expect("a field").0.to_owned())
        .collect()
}

fn parse(mail: &[u8]) -> Message<'_> {
    MessageParser::default().parse(mail).expect("a message")
}

fn shape(message: &Message<'_>, part: usize) -> String {
    let part = &message.parts[part];
    let kind = part.content_type().unwrap();
    match &part.body {
        PartType::Multipart(children) => {
            let children: Vec<_> = children
                .iter()
                .map(|id| shape(message, *id as usize))
                .collect();
            format!("{}({})", kind.subtype().unwrap(), children.join(" "))
        }
        _ => match kind.subtype() {
            Some(subtype) => format!("{}/{subtype}", kind.ctype()),
            None => kind.ctype().to_owned(),
        },
    }
}

fn mailboxes(address: Option<&Address<'_>>) -> Vec<(Option<String>, String)> {
    let list = address.map(|a| a.clone().into_list()).unwrap_or_default();
    list.into_iter()
        .map(|a| (a.name.map(Into::into), a.address.unwrap().into()))
        .collect()
}

fn wanted(list: &[Mailbox]) -> Vec<(Option<String>, String)> {
    let name = |m: &Mailbox| m.name.as_deref().map(str::trim).map(str::to_owned);
    list.iter()
        .map(|m| (name(m).filter(|n| !n.is_empty()), m.email.wire()))
        .collect()
}

#[test]
fn samples_parse_back_to_their_shape_and_people() {
    for sample in all() {
        let mail = build(&sample.outgoing(), &STAMP).unwrap();
        check_lines(&mail);
        let message = parse(&mail);
        assert_eq!(shape(&message, 0), sample.shape, "{}", sample.name);
        assert_eq!(
            mailboxes(message.to()),
            wanted(&sample.to),
            "{}",
            sample.name
        );
        assert_eq!(
            mailboxes(message.cc()),
            wanted(&sample.cc),
            "{}",
            sample.name
        );
        assert_eq!(
            message.subject(),
            Some(sample.subject.trim()),
            "{}",
            sample.name
        );
        assert_eq!(message.message_id(), Some(STAMP.message_id));
        assert_eq!(message.date().unwrap().to_timestamp(), STAMP.date.0);
    }
}

#[test]
fn only_a_foreign_local_part_puts_utf8_into_the_mail() {
    for sample in all() {
        let mail = build(&sample.outgoing(), &STAMP).unwrap();
        let foreign = sample.to.iter().any(|m| m.email.needs_smtputf8());
        assert_eq!(mail.is_ascii(), !foreign, "{}", sample.name);
    }
}

#[test]
fn header_lines_stay_under_78_where_they_can_be_folded() {
    for sample in all().iter().filter(|s| s.name != "callers_headers") {
        let mail = build(&sample.outgoing(), &STAMP).unwrap();
        let text = String::from_utf8(mail).unwrap();
        for line in text.split("\r\n\r\n").next().unwrap().split("\r\n") {
            assert!(line.len() <= 78, "{}: {line}", sample.name);
        }
    }
}

#[test]
fn the_service_decides_its_own_headers() {
    let reserved = all()
        .into_iter()
        .find(|s| s.name == "callers_reserved_headers")
        .unwrap();
    let mail = build(&reserved.outgoing(), &STAMP).unwrap();
    let want = [
        "From",
        "To",
        "Subject",
        "Date",
        "Message-ID",
        "MIME-Version",
        "Content-Type",
        "Content-Transfer-Encoding",
    ];
    assert_eq!(header_names(&mail), want);
    assert_eq!(parse(&mail).subject(), Some("Hello"));
}

#[test]
fn a_valid_date_of_the_caller_stays_and_what_would_break_the_mail_is_left_out() {
    let date = "Sat, 28 Nov 2026 00:01:22 +0100";
    let sample = Sample::new("own_date", "text/plain")
        .header("date", date)
        .header("Message-ID", "<the.stamp@has.it>")
        .header("X-Original-To", "ann@example.com")
        .header("Content-Description", "a note");
    let left_out = HEADER_RULES.iter();
    let left_out = left_out.filter(|(_, rule)| *rule == HeaderRule::LeftOut);
    let sample = left_out.fold(sample, |sample, (name, _)| sample.header(name, "x"));
    let mail = build(&sample.outgoing(), &STAMP).unwrap();
    let names = header_names(&mail);
    let own = ["Content-Description", "X-Original-To"];
    assert!(own.iter().all(|name| names.iter().any(|n| n == name)));
    let before = Sample::new("none", "text/plain");
    let before = build(&before.outgoing(), &STAMP).unwrap();
    assert_eq!(names.len(), header_names(&before).len() + own.len());
    let text = String::from_utf8(mail).unwrap();
    assert!(text.contains(&format!("\r\nDate: {date}\r\n")));
    assert!(text.contains(&format!("\r\nMessage-ID: <{}>\r\n", STAMP.message_id)));
}

#[test]
fn filenames_survive_in_both_places() {
    let sample = all().into_iter().find(|s| s.name == "filenames").unwrap();
    let mail = build(&sample.outgoing(), &STAMP).unwrap();
    let message = parse(&mail);
    for (part, file) in message.attachments().zip(&sample.attachments) {
        let given = Some(file.filename.as_str()).filter(|name| !name.is_empty());
        let disposition = part.content_disposition().unwrap();
        assert_eq!(disposition.attribute("filename"), given);
        let fallback = part.content_type().unwrap().attribute("name");
        assert_eq!(fallback.map(decoded).as_deref(), given);
    }
}

/// The words of RFC 2047 in a `name` parameter, as a reader would decode them.
fn decoded(text: &str) -> String {
    let header = format!("Subject: {text}\r\n\r\n");
    let message = MessageParser::default().parse(header.as_bytes()).unwrap();
    message.subject().unwrap().to_owned()
}

/// Anything, with the dangerous made likely.
fn text() -> impl Strategy<Value = String> {
    let hostile = prop_oneof![
        Just("\r\nBcc: evil@example.com".to_owned()),
        Just("\r\n\r\n<html>".to_owned()),
        Just("\n.\n".to_owned()),
        Just("\r\n.\r\n".to_owned()),
        Just("\r".to_owned()),
        Just("\0".to_owned()),
        Just("--=_0123456789abcdef_1--".to_owned()),
        Just("=?utf-8?Q?x".to_owned()),
        Just("\"".to_owned()),
        Just("\\".to_owned()),
        Just("\u{2028}\u{85}".to_owned()),
        Just(" ".repeat(1100)),
        Just("y".repeat(1100)),
        "\\PC{0,40}",
        "[ -~]{0,90}",
        any::<String>(),
    ];
    proptest::collection::vec(hostile, 0..6).prop_map(|pieces| pieces.concat())
}

fn sample() -> impl Strategy<Value = Sample> {
    let texts = proptest::collection::vec(text(), 8);
    let bytes = proptest::collection::vec(any::<u8>(), 0..300);
    (texts, bytes, any::<bool>()).prop_map(|(texts, bytes, inline)| {
        let mut sample = Sample::new("any", "")
            .body("text/plain", &texts[0])
            .body("text/html", &texts[1])
            .file("text/csv", &texts[2], &bytes)
            .header("X-Any", &texts[3]);
        sample.subject = texts[4].clone();
        sample.from = mailbox("a@example.com", &texts[5]);
        sample.to.push(mailbox("b@example.com", &texts[6]));
        let file = &mut sample.attachments[0];
        file.content_id = Some(texts[7].clone());
        if inline {
            file.disposition = Disposition::Inline;
        }
        sample
    })
}

/// What a reader sees of a text that was put on one line.
fn squeezed(text: &str) -> String {
    let spaced: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

proptest! {
    #[test]
    fn no_text_of_a_caller_becomes_a_header(sample in sample()) {
        let mail = build(&sample.outgoing(), &STAMP).unwrap();
        check_lines(&mail);
        prop_assert!(mail.is_ascii());
        let known = ["From", "To", "Subject", "Date", "Message-ID", "X-Any", "MIME-Version", "Content-Type"];
        for name in header_names(&mail) {
            prop_assert!(known.contains(&name.as_str()), "{}", name);
        }
        let message = parse(&mail);
        prop_assert_eq!(message.parts.iter().filter(|p| matches!(p.body, PartType::Multipart(_))).count(), 2);
        prop_assert_eq!(message.parts.len(), 5);
        prop_assert_eq!(mailboxes(message.to()).len(), 2);
        prop_assert!(message.bcc().is_none());
    }

    #[test]
    fn bodies_and_files_keep_their_bytes(sample in sample()) {
        let mail = build(&sample.outgoing(), &STAMP).unwrap();
        let message = parse(&mail);
        let lines = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\r\n");
        let text = message.text_bodies().next().unwrap().contents();
        prop_assert_eq!(std::str::from_utf8(text).unwrap(), lines(&sample.contents[0].value));
        let html = message.html_bodies().next().unwrap().contents();
        prop_assert_eq!(std::str::from_utf8(html).unwrap(), lines(&sample.contents[1].value));
        let (_, raw) = String::from_utf8(mail.clone()).unwrap().rsplit_once("base64\r\n\r\n").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
        let body: String = raw.split("\r\n--").next().unwrap().split("\r\n").collect();
        prop_assert_eq!(body, sample.attachments[0].content.clone());
        prop_assert!(BASE64_STANDARD.decode(&sample.attachments[0].content).is_ok());
    }

    #[test]
    fn subjects_names_and_filenames_read_as_they_were_written(text in "[ -~äß日🎉ש]{1,200}") {
        // A caller's own encoded words are decoded by every reader: that is their purpose.
        prop_assume!(!text.contains("=?"));
        let mut sample = Sample::new("any", "").body("text/plain", "").file("a/b", &text, b"x");
        sample.subject = text.clone();
        sample.from = mailbox("a@example.com", &text);
        let mail = build(&sample.outgoing(), &STAMP).unwrap();
        let message = parse(&mail);
        let want = squeezed(&text);
        prop_assert_eq!(squeezed(message.subject().unwrap_or_default()), want.clone());
        let from = mailboxes(message.from());
        prop_assert_eq!(squeezed(from[0].0.as_deref().unwrap_or_default()), want.clone());
        let name = message.attachment(0).unwrap().attachment_name().unwrap_or_default().to_owned();
        prop_assert_eq!(name, text.trim());
    }
}
