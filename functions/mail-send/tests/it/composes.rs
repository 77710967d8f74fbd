//! Every accepted request can be composed: a mail that was answered with `202` is never dropped for
//! what the request itself contains.

use posthaste_mime::{Outgoing, Stamp, build};
use posthaste_model::{Mail, Timestamp};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::{good, read};

/// The mail of every envelope, as `delivery` composes it when nothing is rendered.
fn compose(mail: &Mail) {
    for envelope in &mail.personalizations {
        let subject = envelope.subject.as_ref().or(mail.subject.as_ref());
        let outgoing = Outgoing {
            from: mail.from_of(envelope),
            to: &envelope.to,
            cc: &envelope.cc,
            reply_to: &mail.reply_to,
            subject: subject.map_or("", String::as_str),
            contents: &mail.content,
            attachments: &mail.attachments,
            headers: &mail.merged_headers(envelope),
            extra: &[],
        };
        let stamp = Stamp {
            message_id: "1@example.com",
            date: Timestamp(1_800_000_000),
            boundary: "b",
        };
        let built = build(&outgoing, &stamp).unwrap_or_else(|why| panic!("{why}: {mail:?}"));
        let long = built
            .split(|byte| *byte == b'\n')
            .find(|line| line.len() > 999);
        assert!(
            long.is_none(),
            "a line of {} bytes",
            long.map_or(0, <[u8]>::len)
        );
    }
}

/// Texts at and around what the rules allow.
fn text() -> impl Strategy<Value = String> {
    let chosen = select(vec![
        "",
        " ",
        "gif",
        "a b",
        "text/",
        "image/png, image/jpeg",
        "multipart/mixed",
        "message/rfc822",
        "text/calendar; method=REQUEST",
        "<logo>",
        "=?utf-8?q?a?=",
    ]);
    prop_oneof![
        chosen.prop_map(str::to_owned),
        "[ -~]{0,12}",
        "\\PC{0,12}",
        (
            select(vec!["a", "\u{e9}", "\u{65e5}", "\u{1d54f}", "x y "]),
            0_usize..320
        )
            .prop_map(|(letter, count)| letter.repeat(count)),
    ]
}

fn address() -> impl Strategy<Value = String> {
    let domain = select(vec!["example.com", "m\u{fc}ller.example", "a"]);
    (text(), domain).prop_map(|(local, domain)| format!("{local}@{domain}"))
}

/// A good request with one place replaced.
fn request() -> impl Strategy<Value = Value> {
    let place = select(vec![
        "/subject",
        "/from/email",
        "/from/name",
        "/reply_to/email",
        "/personalizations/0/to/0/email",
        "/personalizations/0/to/0/name",
        "/personalizations/0/cc/0/email",
        "/content/0/type",
        "/content/0/value",
        "/attachments/0/type",
        "/attachments/0/filename",
        "/attachments/0/content_id",
    ]);
    let placed = (place, prop_oneof![text(), address()]).prop_map(|(place, text)| {
        let mut body = whole();
        *body.pointer_mut(place).unwrap() = json!(text);
        body
    });
    let named = (text(), text()).prop_map(|(name, value)| {
        let mut body = whole();
        body["headers"] = json!({name: value});
        body
    });
    prop_oneof![3 => placed, 1 => named]
}

fn whole() -> Value {
    let mut body = good();
    body["from"]["name"] = json!("Shop");
    body["personalizations"][0]["to"][0]["name"] = json!("Ann");
    body["reply_to"] = json!({"email": "desk@example.com"});
    body["personalizations"][0]["cc"] = json!([{"email": "bob@example.org"}]);
    body["attachments"] = json!([{"content": "QQ==", "filename": "a", "type": "a/b",
        "content_id": "a", "disposition": "inline"}]);
    body
}

proptest! {
    #[test]
    fn an_accepted_request_can_be_composed(body in request()) {
        if let Ok(mail) = read(body.to_string().as_bytes()) {
            compose(&mail);
        }
    }
}

#[test]
fn the_longest_that_passes_can_be_composed() {
    let name = "a".repeat(76);
    let wide = format!("{}@example.com", "\u{1d54f}".repeat(16));
    for (place, value) in [
        ("/headers", json!({name: "\u{e9}".repeat(40_000)})),
        (
            "/from",
            json!({"email": wide, "name": "\u{e9}".repeat(40_000)}),
        ),
        ("/subject", json!("x".repeat(100_000))),
        ("/attachments/0/filename", json!("\u{e9}".repeat(40_000))),
        ("/attachments/0/content_id", json!("x".repeat(40_000))),
        ("/content/0/value", json!("x".repeat(100_000))),
    ] {
        let mut body = whole();
        body["headers"] = json!({});
        *body.pointer_mut(place).unwrap() = value;
        compose(&read(body.to_string().as_bytes()).unwrap());
    }
}
