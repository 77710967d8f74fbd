//! Mails written to hurt: no panic on any bytes, and no work that grows faster than the mail.

use posthaste_mime::inbound::{Mode, ParseForm, form};
use posthaste_mime::report;
use proptest::prelude::*;

use crate::corpus::{facts, signed};

fn read(raw: &[u8]) -> ParseForm<'_> {
    report::read(raw);
    report::bounce(raw);
    report::attached(raw);
    report::is_auto_reply(raw, "ann@example.com");
    form(raw, &facts(&signed()), Mode::Parsed)
}

/// Every file a form announces is there, once, under its name.
fn check(raw: &[u8]) {
    let form = read(raw);
    let files: Vec<_> = form.entries.iter().filter(|e| e.file.is_some()).collect();
    let count = files.len().to_string();
    assert_eq!(form.get("attachments"), Some(count.as_bytes()));
    for (n, file) in files.iter().enumerate() {
        assert_eq!(file.name, format!("attachment{}", n + 1));
        let facts = file.file.as_ref().unwrap();
        assert!(!facts.filename.is_empty() && !facts.filename.contains(char::is_control));
        assert!(!facts.content_type.contains(char::is_control));
    }
    for name in ["to", "from", "subject", "cc"] {
        let text = std::str::from_utf8(form.get(name).unwrap_or_default()).unwrap();
        assert!(!text.contains(char::is_control), "{name}: {text:?}");
    }
    for name in ["charsets", "envelope"] {
        assert!(serde_json::from_slice::<serde_json::Value>(form.get(name).unwrap()).is_ok());
    }
    let (content_type, body) = form.encode();
    let boundary = content_type.split('=').next_back().unwrap();
    let delimiter = format!("\r\n--{boundary}");
    let found = memchr::memmem::find_iter(&body, delimiter.as_bytes()).count();
    assert_eq!(
        found,
        form.entries.len(),
        "each delimiter but the first, which begins the body"
    );
}

// Each of these took minutes or the whole stack before it was thought of: in a debug build they
// still end at once.

#[test]
fn mails_inside_mails_cost_no_stack() {
    check(
        "Content-Type: message/rfc822\n\n"
            .repeat(200_000)
            .as_bytes(),
    );
}

#[test]
fn multiparts_inside_multiparts_cost_no_stack() {
    let levels: String = (0..20_000)
        .map(|n| format!("Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n"))
        .collect();
    check(levels.as_bytes());
}

#[test]
fn boundaries_that_never_come_cost_no_time() {
    let mut mail = String::from("Content-Type: multipart/mixed; boundary=a\n\n");
    for n in 0..40_000 {
        mail.push_str(&format!(
            "--a\nContent-Type: multipart/mixed; boundary=n{n}\n\n\n"
        ));
    }
    check(mail.as_bytes());
}

#[test]
fn lines_full_of_boundaries_cost_no_time() {
    let head = "Content-Type: multipart/mixed; boundary=\"-\"\n\n";
    check(format!("{head}{}", "-".repeat(30 << 20)).as_bytes());
    check(format!("{head}---\n{}", "-".repeat(30 << 20)).as_bytes());
}

#[test]
fn words_that_never_end_cost_no_time() {
    check(format!("Subject: {}\n\n", "=?a?Q?".repeat(200_000)).as_bytes());
    check(format!("Subject: {}\n\n", "=?".repeat(500_000)).as_bytes());
    check(format!("From: {}\n\n", "=?utf-8?Q?=C3?= ".repeat(60_000)).as_bytes());
}

#[test]
fn parameters_without_end_cost_no_time() {
    check(format!("Content-Type: a/b{}\n\n", "; name*0=x".repeat(100_000)).as_bytes());
    check(format!("Content-Type: a/b; name=\"{}\n\n", "\\\"".repeat(500_000)).as_bytes());
    check(format!("Content-Disposition: a{}\n\n", ";".repeat(1_000_000)).as_bytes());
}

#[test]
fn a_form_full_of_boundaries_finds_another_in_one_pass() {
    let taken: String = (0..100_000).map(|n| format!("--xYzZY{n:08}\n")).collect();
    let mail = format!("Subject: x\n\n{taken}");
    check(mail.as_bytes());
    let signed = signed();
    let form = form(mail.as_bytes(), &facts(&signed), Mode::Parsed);
    assert_eq!(
        form.encode().0,
        "multipart/form-data; boundary=xYzZY00100000"
    );
}

#[test]
fn fields_without_number_cost_no_time() {
    check("a:\n".repeat(100_000).as_bytes());
    check("To: a@b\n".repeat(20_000).as_bytes());
    check(" \n".repeat(100_000).as_bytes());
}

#[test]
fn lines_that_are_no_fields_cost_no_time() {
    check("broken\n".repeat(300_000).as_bytes());
    check("broken\nA: b\n".repeat(100_000).as_bytes());
    check(format!("{}\nx", "A: b\nbroken\n".repeat(100_000)).as_bytes());
    check(format!("Content-Type: a/b;\n{}\nx", "c=d;\n".repeat(100_000)).as_bytes());
    check(format!("Content-Type: a/b;\n{}\nx", "cut\n c=d;\n".repeat(100_000)).as_bytes());
    let part = "--b\nbroken\nContent-Type: text/plain; name=a\nbroken\n\nx\n";
    let head = "Content-Type: multipart/mixed; boundary=b\n\n";
    check(format!("{head}{}", part.repeat(50_000)).as_bytes());
}

/// Pieces that mails are made of, so that random mails go deep.
fn mail() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"Content-Type: multipart/mixed; boundary=b\r\n".to_vec()),
        Just(b"Content-Type: multipart/alternative; boundary=\"c\"\r\n".to_vec()),
        Just(b"Content-Type: multipart/related; boundary=b".to_vec()),
        Just(b"Content-Type: multipart/report; boundary=b\n".to_vec()),
        Just(b"Content-Type: message/rfc822\r\n".to_vec()),
        Just(b"Content-Type: message/delivery-status\r\n".to_vec()),
        Just(b"Content-Type: message/feedback-report\r\n".to_vec()),
        Just(b"Content-Type: text/html; charset=".to_vec()),
        Just(b"Content-Transfer-Encoding: base64\r\n".to_vec()),
        Just(b"Content-Transfer-Encoding: quoted-printable\n".to_vec()),
        Just(b"Content-Disposition: attachment; filename*=utf-8''".to_vec()),
        Just(b"Content-ID: <".to_vec()),
        Just(b"Final-Recipient: rfc822; a@b\r\nAction: failed\r\n".to_vec()),
        Just(b"Subject: =?utf-8?Q?=C3".to_vec()),
        Just(b"?= =?koi8-r?B?".to_vec()),
        Just(b"To: \"".to_vec()),
        Just(b"\r\n--b\r\n".to_vec()),
        Just(b"\n--b--\n".to_vec()),
        Just(b"\r\n--c\r\n".to_vec()),
        Just(b"\r\n\r\n".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"--xYzZY".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..20),
        "[ -~]{0,20}".prop_map(String::into_bytes),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_bytes_become_a_form(raw: Vec<u8>) {
        check(&raw);
    }

    #[test]
    fn any_pieces_of_mails_become_a_form(raw in mail()) {
        check(&raw);
    }
}
