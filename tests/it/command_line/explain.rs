//! `posthaste explain`: refusals, and files with bounces.

use super::{folder, posthaste};

/// A bounce as Postfix writes it.
const BOUNCE: &str = "\
From: Mail Delivery System <MAILER-DAEMON@mx.example.com>\r\n\
To: bounce@post.example\r\n\
Subject: Undelivered Mail Returned to Sender\r\n\
MIME-Version: 1.0\r\n\
Content-Type: multipart/report; report-type=delivery-status; boundary=\"b\"\r\n\
\r\n\
--b\r\n\
Content-Type: text/plain\r\n\
\r\n\
Your mail could not be delivered.\r\n\
--b\r\n\
Content-Type: message/delivery-status\r\n\
\r\n\
Reporting-MTA: dns; mx.example.com\r\n\
\r\n\
Final-Recipient: rfc822; ann@example.com\r\n\
Action: failed\r\n\
Status: STATUS\r\n\
Diagnostic-Code: smtp; DIAGNOSTIC\r\n\
--b--\r\n";

/// What the command answers, as JSON.
fn explained(args: &[&str]) -> serde_json::Value {
    let out = posthaste(&[&["explain", "--json"], args].concat());
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{args:?}: {said}");
    serde_json::from_slice(&out.stdout).expect("JSON")
}

#[test]
fn a_refusal_is_explained_with_its_row() {
    let rate = "550 5.2.1 The user you are trying to contact is receiving mail at a rate that \
                prevents additional messages from being delivered";
    for (args, kind, class, suppressed, row) in [
        (
            &["550 5.1.1 <ann@example.com>: User unknown"][..],
            "bounce",
            "Invalid Address",
            true,
            "recipient-unknown",
        ),
        (
            &[rate],
            "blocked",
            "Frequency or Volume Too High",
            false,
            "rate",
        ),
        (
            &["550", "5.1.1", "sorry"],
            "bounce",
            "Invalid Address",
            true,
            "status-bad-mailbox",
        ),
        (
            &["--at", "data", "554 5.7.1 spam"],
            "blocked",
            "Content",
            false,
            "content",
        ),
        (
            &["--at", "mail", "550 no such user"],
            "deferred",
            "Invalid Address",
            false,
            "recipient-unknown",
        ),
    ] {
        let told = explained(args);
        assert_eq!(told["type"], kind, "{told}");
        assert_eq!(told["classification"], class, "{told}");
        assert_eq!(told["suppressed"], suppressed, "{told}");
        assert_eq!(told["row"], row, "{told}");
    }
    let out = posthaste(&["explain", "550 5.1.1 User unknown"]);
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    for line in [
        "type        bounce",
        "class       Invalid Address",
        "suppressed  yes",
        "list        bounces",
        "row         recipient-unknown: \"user unknown\"",
    ] {
        assert!(said.lines().any(|one| one == line), "{line}: {said}");
    }
}

#[test]
fn a_bounce_in_a_file_is_explained() {
    let dir = folder();
    let file = dir.path().join("bounce.eml");
    let name = file.to_str().expect("a text");
    for (status, diagnostic, kind, suppressed, row) in [
        (
            "5.1.1",
            "550 5.1.1 <ann@example.com>: User unknown",
            "bounce",
            true,
            "recipient-unknown",
        ),
        (
            "5.7.1",
            "554 5.7.1 blocked using zen.spamhaus.org",
            "blocked",
            false,
            "blocklist",
        ),
    ] {
        let mail = BOUNCE.replace("STATUS", status);
        std::fs::write(&file, mail.replace("DIAGNOSTIC", diagnostic)).expect("written");
        let told = explained(&[name]);
        assert_eq!(
            (&told["type"], &told["suppressed"], &told["row"]),
            (&kind.into(), &suppressed.into(), &row.into()),
            "{told}"
        );
        assert_eq!(told["recipient"], "ann@example.com", "{told}");
    }
}

#[test]
fn what_cannot_be_explained_has_its_exit_code() {
    let dir = folder();
    let file = dir.path().join("letter.eml");
    std::fs::write(&file, "Subject: Hello\r\n\r\nHi\r\n").expect("written");
    let name = file.to_str().expect("a text");
    for (args, code, word) in [
        (vec!["explain", name], 4, "is no bounce"),
        (vec!["explain", "User unknown"], 3, "no file"),
        (vec!["explain"], 2, "REPLY|FILE"),
    ] {
        let out = posthaste(&args);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(word), "{args:?}: {said}");
    }
}
