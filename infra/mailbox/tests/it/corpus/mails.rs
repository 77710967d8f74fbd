//! Headers, parts and encodings.

use super::{check, filled, message, numbered, on_a_small_stack};
use crate::support::Box;

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    assert_eq!(bytes.len() % 3, 0, "without padding");
    let mut out = String::with_capacity(bytes.len() / 3 * 4);
    for group in bytes.chunks(3) {
        let bits = group
            .iter()
            .fold(0, |bits, byte| bits << 8 | usize::from(*byte));
        out.extend([18, 12, 6, 0].map(|at| char::from(LETTERS[bits >> at & 63])));
    }
    out
}

#[test]
fn mails_in_mails() {
    on_a_small_stack("an attached mail", || async {
        let b = Box::new();
        let deep = "Content-Type: message/rfc822\r\n\r\n".repeat(60_000);
        let inner = format!("{deep}Subject: y\r\n\r\nhi\r\n!");
        let raw = format!(
            "Subject: y\r\nContent-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\n\r\nhello\r\n\
             --m\r\nContent-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\
             Content-Disposition: attachment; filename=a.eml\r\n\r\n{}\r\n--m--\r\n",
            base64(&inner.as_bytes()[..inner.len() / 3 * 3])
        );
        let said = message(&b, "an attached mail", raw.into_bytes()).await;
        assert_eq!(
            (said["Subject"].as_str(), said["Text"].as_str()),
            (Some("y"), Some("hello"))
        );
        let file = &said["Attachments"][0];
        assert_eq!(
            (file["PartID"].as_str(), file["FileName"].as_str()),
            (Some("2"), Some("a.eml"))
        );
        assert_eq!(file["Size"], inner.len() / 3 * 3);
        let id = said["ID"].as_str().unwrap();
        let part = b.get(&format!("/api/v1/message/{id}/part/2")).await;
        assert!(part.body == inner.as_bytes()[..inner.len() / 3 * 3]);
    });
    on_a_small_stack("a million mails", || async {
        let raw = "Content-Type:message/rfc822\n\n"
            .repeat(1_000_000)
            .into_bytes();
        let size = raw.len() - 29;
        let said = message(&Box::new(), "a million mails", raw).await;
        assert_eq!(said["Attachments"][0]["ContentType"], "message/rfc822");
        assert_eq!(said["Attachments"][0]["Size"], size);
    });
}

#[test]
fn multiparts_in_multiparts() {
    check("of their own boundary", || {
        numbered("", |n| {
            format!("Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n")
        })
    });
    check("of one boundary", || {
        filled("", "Content-Type: multipart/mixed; boundary=b\n\n--b\n")
    });
    check("and mails", || {
        numbered("", |n| {
            format!(
                "Content-Type: multipart/alternative; boundary=b{n}\n\n--b{n}\n\
                 Content-Type: message/rfc822\n\n"
            )
        })
    });
}

#[test]
fn boundaries() {
    let head = "Subject: y\nContent-Type: multipart/mixed; boundary=x\n\n";
    check("that never come", move || {
        filled(
            head,
            "--x\nContent-Type: multipart/mixed; boundary=never\n\n\n",
        )
    });
    check("that fill the body", move || filled(head, "--x\n"));
    check("that fill a line", move || filled(head, "--x"));
    check("that close repeatedly", move || filled(head, "--x--"));
    check("of dashes", || {
        filled("Content-Type: multipart/mixed; boundary=\"-\"\n\n", "-")
    });
    check("that begin like each other", || {
        let deep: String = (1..33)
            .map(|n| {
                let b = "b".repeat(n);
                format!("Content-Type: multipart/mixed; boundary={b}\n\n--{b}\n")
            })
            .collect();
        numbered(&deep, |n| format!("--{}\n\n", "b".repeat(n % 40 + 1)))
    });
}

#[test]
fn headers() {
    check("folds", || filled("Subject: y", "\r\n y"));
    check("folds of nothing", || filled("To: y", "\n \n\t"));
    check("fields", || filled("Subject: y\n", "a:\n"));
    check("addressed fields", || filled("Subject: y\n", "To:a@b\n"));
    check("no fields", || filled("", " \n"));
    check("one line", || filled("Subject: ", "y"));
    check("links to unsubscribe", || {
        filled("List-Unsubscribe: ", "<a>,b,")
    });
    check("a name", || filled("", "y"));
    check("a name with its colon", || {
        let mut raw = filled("", "y");
        raw.extend(b": x\n\ny");
        raw
    });
}

#[test]
fn encoded_words() {
    check("of a subject", || filled("Subject: ", "=?utf-8?Q?=C3?= "));
    check("of names", || filled("To: ", "=?utf-8?B?w6Q=?= <a@b>,\n "));
    check("without end", || filled("From: ", "=?a?Q?"));
    check("hardly begun", || filled("Subject: ", "=?"));
    check("of files", || {
        filled(
            "Content-Type: multipart/mixed; boundary=b\n\n",
            "--b\nContent-Type: a/b; name=\"=?utf-8?Q?=C3?= =?utf-8?Q?=A4?=\"\n\n\n",
        )
    });
}

#[test]
fn parameters() {
    check("in pieces", || {
        numbered("Content-Type: text/plain", |n| {
            format!(";\n name*{n}*=utf-8''%C3")
        })
    });
    check("of one piece", || {
        filled("Content-Disposition: a", ";filename*0=x")
    });
    check("of nothing", || filled("Content-Type: a/b", ";"));
    check("in quotes", || filled("Content-Type: a/b; name=\"", "\\\""));
    check("in parts", || {
        numbered("Content-Type: multipart/mixed; boundary=b\n\n", |n| {
            format!("--b\nContent-Type: a/b; name*0*=''{n}; name*1=%20\nContent-ID: <{n}>\n\n\n")
        })
    });
}

#[test]
fn lists_of_addresses() {
    check("a million", || filled("To: ", "a@b.example, "));
    check("names", || filled("Cc: ", "\"a, b\" (c) <a@b>, "));
    check("comments in comments", || filled("From: ", "("));
    check("quotes", || filled("From: ", "\"\\"));
    check("brackets", || filled("Bcc: ", "<"));
    check("groups", || filled("Reply-To: ", "a:;"));
    check("words", || filled("From: ", "a "));
}

#[test]
fn encodings() {
    let head = "Subject: y\nContent-Transfer-Encoding:";
    check("base64 junk", move || {
        filled(&format!("{head} base64\n\n"), "=!\n")
    });
    check("base64 letters", move || {
        filled(&format!("{head} base64\n\n"), "YWI8")
    });
    check("quoted junk", move || {
        filled(&format!("{head} quoted-printable\n\n"), "=ZZ=\n=")
    });
    check("quoted blanks", move || {
        filled(&format!("{head} quoted-printable\n\n"), "  \t")
    });
    check("wide letters", move || {
        filled("Content-Type: text/html; charset=utf-16\n\n", "\u{1}<")
    });
    check("blanks", move || filled("Subject: y\n\n", "\u{2003} \n"));
}
