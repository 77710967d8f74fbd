use posthaste_model::{EmailAddress, Mailbox, Timestamp};
use proptest::prelude::*;

use super::*;
use crate::submitted::{pass_on, texts};

const STAMP: Stamp<'_> = Stamp {
    message_id: "ours@example.com",
    date: Timestamp(1_800_000_000),
    boundary: "seed",
};

fn passed(raw: &str, changes: &Changes<'_>) -> String {
    String::from_utf8(pass_on(raw.as_bytes(), changes, &STAMP).unwrap()).unwrap()
}

fn mailbox(email: &str) -> Mailbox {
    Mailbox {
        email: EmailAddress::parse(email).unwrap(),
        name: None,
    }
}

/// The mail after each of its texts was changed.
fn edited(raw: &str, edit: impl Fn(&str) -> String) -> String {
    let before = texts(raw.as_bytes());
    let mut after = before.clone();
    for text in &mut after {
        text.value = edit(&text.value);
    }
    let changes = Changes {
        before: &before,
        after: &after,
        ..Changes::default()
    };
    passed(raw, &changes)
}

const HEAD: &str = "From: a@example.com\r\nDate: then\r\nMessage-ID: <x@y>\r\n";

#[test]
fn an_unchanged_mail_stays_byte_for_byte() {
    let raw = format!(
        "{HEAD}subject:   odd \r\n\tfolding\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\npre\r\n\
         --b\r\n\r\nhello  \r\n--b\r\nContent-Type: text/html\r\n\r\n<p>\r\n--b--\r\nepilogue\r\n\r\n"
    );
    assert_eq!(passed(&raw, &Changes::default()), raw);
    assert_eq!(edited(&raw, str::to_owned), raw);
}

#[test]
fn blind_copies_and_instructions_never_leave() {
    let raw = format!(
        "Bcc: b@example.com,\r\n c@example.com\r\n{HEAD}X-SMTPAPI: {{\"to\":\r\n\t[]}}\r\nbcc: d@example.com\r\nResent-Bcc: e@x.co\r\nX: y\r\n\r\nBcc: in the text\r\n"
    );
    let want = format!("{HEAD}X: y\r\n\r\nBcc: in the text\r\n");
    assert_eq!(passed(&raw, &Changes::default()), want);
}

#[test]
fn date_and_id_are_added_where_they_are_missing() {
    let got = passed("From: a@example.com\r\n\r\nx\r\n", &Changes::default());
    assert_eq!(
        got,
        "From: a@example.com\r\nDate: Fri, 15 Jan 2027 08:00:00 +0000\r\nMessage-ID: <ours@example.com>\r\n\r\nx\r\n"
    );
    let got = passed("From: a@example.com\r\nno field\r\n", &Changes::default());
    assert!(
        got.ends_with("<ours@example.com>\r\n\r\nno field\r\n"),
        "{got}"
    );
}

#[test]
fn an_id_that_names_no_mail_is_replaced() {
    for id in ["<>", "", " \r\n <>", "< >", "<@>", "\"\""] {
        let raw = format!("From: a@b\r\nmessage-id: {id}\r\nDate: x\r\n\r\nx");
        let want = "From: a@b\r\nDate: x\r\nMessage-ID: <ours@example.com>\r\n\r\nx";
        assert_eq!(passed(&raw, &Changes::default()), want, "{id:?}");
    }
    let raw = "Message-ID: <>\r\nDate: x\r\nMessage-ID: <a@b>\r\n\r\nx";
    let want = "Date: x\r\nMessage-ID: <a@b>\r\n\r\nx";
    assert_eq!(passed(raw, &Changes::default()), want);
}

#[test]
fn a_line_that_is_no_field_does_not_leave() {
    let raw = format!("\u{feff}{HEAD}P8Fxcut\r\n\tfolded\r\nSubject : a\r\n\r\nx\r\n");
    let want = format!("{HEAD}Subject: a\r\n\r\nx\r\n");
    assert_eq!(passed(&raw, &Changes::default()), want);
    let part = "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\
        P8Fxcut\r\nContent-Type: text/html\r\nand more\r\nX-A: b\r\n\r\n<p>\r\n--b--\r\n";
    let raw = format!("{HEAD}{part}");
    assert_eq!(
        passed(&raw, &Changes::default()),
        raw,
        "parts stay as they are"
    );
    assert_eq!(texts(raw.as_bytes())[0].mime_type, HTML);
    let changed = edited(&raw, |text| format!("{text}<br>"));
    assert!(
        changed.contains("--b\r\nX-A: b\r\nContent-Type: text/html;"),
        "{changed}"
    );
}

#[test]
fn fields_are_written_anew_where_they_stood_or_at_the_end() {
    let raw = format!(
        "To: all@example.com,\r\n b@example.com\r\n{HEAD}SUBJECT: old\r\nTo: again@x.co\r\n\r\nx\r\n"
    );
    let (to, reply_to) = ([mailbox("one@example.com")], [mailbox("r@example.com")]);
    let changes = Changes {
        to: &to,
        reply_to: &reply_to,
        subject: Some("neü\r\nBcc: z@example.com"),
        ..Changes::default()
    };
    let got = passed(&raw, &changes);
    assert!(got.starts_with("To: <one@example.com>\r\nFrom:"), "{got}");
    assert!(got.contains("\r\nReply-To: <r@example.com>\r\n"), "{got}");
    assert!(
        !got.contains("again") && !got.contains("old") && !got.contains("\r\nBcc"),
        "{got}"
    );
    assert!(got.contains("\r\nSubject: =?utf-8?"), "{got}");
}

#[test]
fn what_the_service_adds_does_not_contradict_the_mail() {
    let extra = [
        (
            "List-Unsubscribe".to_owned(),
            "<https://x.example/u>".to_owned(),
        ),
        (
            "List-Unsubscribe-Post".to_owned(),
            "List-Unsubscribe=One-Click".to_owned(),
        ),
    ];
    let changes = Changes {
        extra: &extra,
        ..Changes::default()
    };
    let got = passed(&format!("{HEAD}\r\nx\r\n"), &changes);
    assert!(
        got.contains("List-Unsubscribe: <https://x.example/u>\r\nList-Unsubscribe-Post: "),
        "{got}"
    );
    let own = format!("{HEAD}list-unsubscribe: <mailto:x@y>\r\n\r\nx\r\n");
    assert_eq!(passed(&own, &changes), own);
}

#[test]
fn a_changed_text_is_written_anew_and_nothing_else() {
    let raw = format!(
        "{HEAD}MIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nX-Part: one\r\n\
         Content-Type: text/plain; charset=iso-8859-1; format=flowed\r\n\
         Content-Transfer-Encoding: quoted-printable\r\n\r\nGr=FC=DFe\r\n--b\r\n\
         Content-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA\r\n--b--\r\nend\r\n"
    );
    let got = edited(&raw, |text| format!("{text} mehr"));
    let (before, rest) = raw.split_once("Content-Type: text/plain").unwrap();
    let (_, after) = rest.split_once("Gr=FC=DFe").unwrap();
    assert!(got.starts_with(before) && got.ends_with(after), "{got}");
    assert_eq!(texts(got.as_bytes())[0].value.trim_end(), "Grüße mehr");
    assert!(
        got.contains("text/plain; format=flowed; charset=utf-8"),
        "{got}"
    );
}

#[test]
fn a_mail_of_one_part_gets_its_header_anew() {
    let raw = format!(
        "{HEAD}Content-Type: text/html; charset=us-ascii\r\nContent-MD5: x\r\n\r\n<p>hi</p>\r\n"
    );
    let got = edited(&raw, |text| text.replace("hi", "grüß dich"));
    assert_eq!(
        texts(got.as_bytes())[0].value.trim_end(),
        "<p>grüß dich</p>"
    );
    assert_eq!(got.matches("Content-Type:").count(), 1);
    assert!(
        got.contains("MIME-Version: 1.0\r\n") && !got.contains("Content-MD5"),
        "{got}"
    );
}

#[test]
fn a_text_with_a_boundary_in_it_stays_one_part() {
    let raw = format!(
        "{HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nhello\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>\r\n--b--\r\n"
    );
    let got = edited(&raw, |text| format!("{text}\r\n--b--\r\nsmuggled"));
    let found = texts(got.as_bytes());
    assert_eq!(found[0].value, "hello\r\n--b--\r\nsmuggled");
    assert_eq!(found[1].value, "<p>\r\n--b--\r\nsmuggled");
}

#[test]
fn a_text_the_mail_did_not_have_comes_as_an_alternative() {
    let html = |value: &str| Content {
        mime_type: HTML.to_owned(),
        value: value.to_owned(),
    };
    for raw in [
        format!("{HEAD}\r\nplain\r\n"),
        format!(
            "{HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nplain\r\n--b\r\nContent-Type: image/png\r\n\r\nx\r\n--b--\r\n"
        ),
    ] {
        let before = texts(raw.as_bytes());
        let mut after = before.clone();
        after.push(html("<b>rich</b>"));
        let changes = Changes {
            before: &before,
            after: &after,
            ..Changes::default()
        };
        let got = passed(&raw, &changes);
        let found = texts(got.as_bytes());
        let found: Vec<&str> = found.iter().map(|text| text.value.trim_end()).collect();
        assert_eq!(found, ["plain", "<b>rich</b>"], "{got}");
        assert_eq!(got.contains("image/png"), raw.contains("image/png"));
    }
}

proptest! {
    #[test]
    fn any_bytes_pass_and_only_gain_a_header(raw: Vec<u8>, text in "[ -~\r\n]{0,80}") {
        for raw in [raw.as_slice(), text.as_bytes()] {
            let entity = Entity::read(raw);
            let got = pass_on(raw, &Changes::default(), &STAMP).unwrap();
            prop_assert!(got.ends_with(entity.body));
            let before = texts(raw);
            let mut after = before.clone();
            for text in &mut after {
                text.value.push_str("more");
            }
            let changes = Changes { before: &before, after: &after, ..Changes::default() };
            prop_assert!(pass_on(raw, &changes, &STAMP).is_ok());
        }
    }
}
