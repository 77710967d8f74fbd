//! The corpus of bounces: what is read of each mail of `tests/corpus/bounces`, by its table.

use std::fs;
use std::path::PathBuf;

use posthaste_mime::report::{
    self, Complaint, Delivery, MailReport, QuotedReply, ReportAction, reply,
};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/bounces")
}

/// Kind, recipient, status, and the words of the server or the type of the complaint.
type Row = [String; 4];

fn row(parts: [Option<&str>; 4]) -> Row {
    parts.map(|part| {
        let text = part.filter(|text| !text.is_empty()).unwrap_or("-");
        text.replace('|', "/")
    })
}

fn of_delivery(delivery: &Delivery) -> Row {
    let kinds = [
        (ReportAction::Failed, "failed"),
        (ReportAction::Delayed, "delayed"),
        (ReportAction::Delivered, "delivered"),
    ];
    for (action, kind) in kinds {
        let mut all = delivery.recipients.iter();
        if let Some(one) = all.find(|one| one.action == action) {
            let (status, said) = (one.status.as_deref(), one.diagnostic.as_deref());
            // Folds keep their white space.
            let said = said.map(|said| said.split_whitespace().collect::<Vec<_>>().join(" "));
            return row([Some(kind), Some(&one.address), status, said.as_deref()]);
        }
    }
    row([Some("none"), None, None, None])
}

fn of_complaint(complaint: &Complaint) -> Row {
    let who = complaint.recipients.first().map(String::as_str);
    row([Some("complaint"), who, None, Some(&complaint.feedback_type)])
}

#[test]
fn every_bounce_of_the_corpus_is_read_as_its_table_says() {
    let table = fs::read_to_string(folder().join("table.txt")).unwrap();
    let mut wrong = Vec::new();
    let mut mails = 0;
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split(" | ").collect();
        let [name, kind, who, status, _, said, _] = columns.as_slice() else {
            panic!("not a row: {line}");
        };
        let raw = fs::read(folder().join(format!("{name}.eml"))).unwrap();
        let got = match report::bounce(&raw) {
            Some(MailReport::Delivery(delivery)) => of_delivery(&delivery),
            Some(MailReport::Complaint(complaint)) => of_complaint(&complaint),
            None => row([Some("none"), None, None, None]),
        };
        mails += 1;
        if got != [*kind, *who, *status, *said] {
            wrong.push(format!("{name}: {got:?}\n    want {:?}", &columns[1..6]));
        }
        // The same with the line ends of SMTP.
        let unix = raw.split(|byte| *byte == b'\n').collect::<Vec<_>>();
        let smtp = report::bounce(&unix.join(&b"\r\n"[..]));
        assert_eq!(smtp.is_some(), report::bounce(&raw).is_some(), "{name}");
    }
    let files = fs::read_dir(folder()).unwrap().count();
    assert_eq!(files, mails + 1, "a mail is missing from the table");
    assert!(mails >= 90, "only {mails} mails");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Only the mail itself is read, not what it returns: a forwarded bounce is about another mail.
#[test]
fn a_bounce_inside_a_mail_is_none() {
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "eml") {
            continue;
        }
        let raw = fs::read(&path).unwrap();
        let forwarded = [
            &b"From: ann@example.com\nContent-Type: message/rfc822\n\n"[..],
            &raw,
        ]
        .concat();
        assert_eq!(report::bounce(&forwarded), None, "{}", path.display());
    }
}

#[test]
fn replies_are_told_from_other_numbers() {
    for (text, words, code, status) in [
        (
            "550 5.1.1 unknown",
            "550 5.1.1 unknown",
            Some(550),
            Some("5.1.1"),
        ),
        (
            "550-5.7.1 x 550 5.7.1 y",
            "550-5.7.1 x 550 5.7.1 y",
            Some(550),
            Some("5.7.1"),
        ),
        (
            "host a[192.0.2.1] said: 554 no (#5.7.1)",
            "554 no (#5.7.1)",
            Some(554),
            Some("5.7.1"),
        ),
        (
            "Sorry, no mailbox here. (#5.1.1)",
            "Sorry, no mailbox here. (#5.1.1)",
            None,
            Some("5.1.1"),
        ),
        ("451 try [505]", "451 try [505]", Some(451), None),
        (
            "501: 5.1.8 Sender address rejected",
            "501: 5.1.8 Sender address rejected",
            Some(501),
            Some("5.1.8"),
        ),
        (
            "[Status: Error, ResponseCode 421, , x]",
            "421, , x]",
            Some(421),
            None,
        ),
        (
            "qmail 5.2.1 at 192.0.2.5",
            "qmail 5.2.1 at 192.0.2.5",
            None,
            None,
        ),
        ("550 is 512 bytes", "550 is 512 bytes", Some(550), None),
        (
            "in 555 days, room 404, 5.1.1.1",
            "in 555 days, room 404, 5.1.1.1",
            None,
            None,
        ),
        ("550 from 5.1.1.1", "550 from 5.1.1.1", Some(550), None),
        (
            "port 587 x550 550x 5501",
            "port 587 x550 550x 5501",
            None,
            None,
        ),
        ("", "", None, None),
        ("ü550", "550", Some(550), None),
    ] {
        let want = QuotedReply {
            words,
            code,
            status,
        };
        assert_eq!(reply(text), want, "{text}");
    }
}
