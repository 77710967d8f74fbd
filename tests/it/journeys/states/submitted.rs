//! The largest mails by SMTP, and the largest headers of options.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{End, LARGEST_MAIL, Ledger, filled, groups, mailboxes, wide};
use crate::smtp::Smtp;

const TO: [&str; 1] = ["ann@example.com"];

/// Bytes of `X-SMTPAPI`.
const LONGEST_HEADER: usize = 2 * 1024 * 1024;

/// What becomes of a mail whose options break a rule.
const INVALID: End = End::Dropped("Invalid SMTPAPI header");

async fn connected(ledger: &Ledger) -> Smtp {
    let port = ledger.service.host().submission;
    Smtp::logged_in(port, ledger.service.key()).await
}

/// A mail in text and HTML, each with a tag, and with these options.
fn letter(options: &Value) -> Vec<u8> {
    let options = options.to_string().replace('\u{10348}', "\\ud800\\udf48");
    format!(
        "From: app@example.com\r\nTo: ann@example.com\r\nSubject: Hello\r\nX-SMTPAPI: {options}\r\n\
        MIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\n\r\nHi -a-\r\n--b\r\n\
        Content-Type: text/html; charset=utf-8\r\n\r\n<p>-a- <a href=\"https://example.com/\">see</a></p>\r\n--b--\r\n"
    )
    .into_bytes()
}

/// A mail of so many bytes.
fn body(bytes: usize) -> Vec<u8> {
    let head = "From: app@example.com\r\nTo: ann@example.com\r\nSubject: Hello\r\n\r\n";
    let line = format!("{}\r\n", "x".repeat(76));
    let rest = bytes - head.len() - "\r\n".len();
    let lines = line.repeat(rest / line.len());
    format!("{head}{lines}{}\r\n", "x".repeat(rest % line.len())).into_bytes()
}

/// A section that makes the header longer than the longest by so many bytes.
fn long_section(more: usize) -> Value {
    let header =
        |length: usize| json!({"sub": {"-a-": ["-s-"]}, "section": {"-s-": "s".repeat(length)}});
    header(LONGEST_HEADER - header(0).to_string().len() + more)
}

/// So many sections whose names have eight bytes.
fn many_sections(count: usize) -> Value {
    let sections: BTreeMap<String, &str> = (0..count).map(|n| (format!(":{n:07}"), "s")).collect();
    json!({"sub": {"-a-": [":0000000"]}, "section": sections})
}

/// So many tags of ten bytes with their values.
fn many_tags(count: usize) -> Value {
    let tags: BTreeMap<String, [&str; 1]> = (0..count)
        .map(|n| (format!("-{n:04}-"), ["vvvv"]))
        .collect();
    json!({"sub": tags})
}

fn categories(count: usize) -> Value {
    let all: Vec<String> = (10..10 + count)
        .map(|n| format!("{n}{}", wide(253)))
        .collect();
    json!({"category": all})
}

/// Every filter with texts, together a little shorter than the header may be.
fn filters() -> Value {
    let text = |begin: &str| filled(begin, 200_000);
    let settings = |settings: Value| json!({"settings": settings});
    let utm = "u".repeat(800);
    json!({"filters": {
        "footer": settings(json!({"enable": 1, "text/plain": text("bye\n"), "text/html": text("<hr>\n")})),
        "template": settings(json!({"enable": 1, "text/html": text("<h1>Hello</h1><% body %>\n")})),
        "subscriptiontrack": settings(json!({"enable": 1, "text/plain": text("leave: <% %>\n"),
            "text/html": text("<p><% leave %></p>\n")})),
        "opentrack": settings(json!({"enable": 1, "replace": text("-a-")})),
        "clicktrack": settings(json!({"enable": 1, "enable_text": true})),
        "ganalytics": settings(json!({"enable": 1, "utm_source": utm, "utm_medium": utm,
            "utm_term": utm, "utm_content": utm, "utm_campaign": utm})),
        "bypass_list_management": settings(json!({"enable": 1})),
        "spamcheck": settings(json!({"enable": 1, "url": text("")})),
    }})
}

fn cases(now: i64, ids: &[i64]) -> Vec<(&'static str, Value, End)> {
    let args = |bytes: usize| json!({"unique_args": {"k": "v".repeat(bytes - 1)}});
    let shown = |count: usize| {
        let mut shown = ids.to_vec();
        shown.resize(count, 1);
        json!({"asm_group_id": ids[0], "asm_groups_to_display": shown, "ip_pool": wide(64),
            "reply_to_list": mailboxes(1_000)})
    };
    let subject = json!({"sub": {"-a-": ["s".repeat(9_997)]}});
    let too_many_tags = End::Dropped("the substitution tags are too many or too long");
    vec![
        ("a substitution", subject, End::Delivered),
        ("a long section", long_section(0), End::Delivered),
        ("a longer header", long_section(1), INVALID),
        ("sections", many_sections(32_768), End::Delivered),
        ("more sections", many_sections(32_769), too_many_tags),
        ("substitutions", many_tags(1_000), End::Delivered),
        ("more substitutions", many_tags(1_001), INVALID),
        ("unique arguments", args(10_000), End::Delivered),
        ("more unique arguments", args(10_001), INVALID),
        ("categories", categories(10), End::Delivered),
        ("more categories", categories(11), INVALID),
        ("filters", filters(), End::Delivered),
        ("groups", shown(25), End::Delivered),
        ("more groups", shown(26), INVALID),
        (
            "a time past the horizon",
            json!({"send_at": now + 72 * 3_600 + 1}),
            INVALID,
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn every_recipient_of_the_largest_options_ends_once() {
    let mut ledger = Ledger::open().await;
    let mut smtp = connected(&ledger).await;
    let ids = groups(&ledger).await;
    for (name, options, end) in cases(ledger.service.now(), &ids) {
        let id = smtp.taken(&TO, &letter(&options)).await;
        ledger.accept(id, name, TO.len(), end);
    }
    ledger.ended().await;
    ledger.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_recipient_of_the_longest_subjects_ends_once() {
    let mut ledger = Ledger::open().await;
    let mut smtp = connected(&ledger).await;
    let mut folded = String::new();
    for _ in 0..400 {
        let _ = write!(folded, "{}\r\n ", "s".repeat(750));
    }
    let grown = json!({"sub": {"-a-": ["s".repeat(900)]}});
    for (name, subject, options) in [
        ("a long subject", format!("{folded}end"), json!({})),
        ("a subject that grows", "-a-".repeat(300), grown),
    ] {
        let mail = format!(
            "From: app@example.com\r\nX-SMTPAPI: {options}\r\nSubject: {subject}\r\n\r\nHi\r\n"
        );
        let id = smtp.taken(&TO, mail.as_bytes()).await;
        ledger.accept(id, name, TO.len(), End::Delivered);
    }
    ledger.ended().await;
    ledger.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_largest_body_and_a_thousand_recipients_end_once_and_more_is_refused() {
    let mut ledger = Ledger::open().await;
    let mut smtp = connected(&ledger).await;
    let refused = smtp.send(&TO, &body(LARGEST_MAIL + 1)).await;
    assert!(refused.starts_with("552 5.3.4 "), "{refused}");
    let id = smtp.taken(&TO, &body(LARGEST_MAIL)).await;
    ledger.accept(id, "a body", TO.len(), End::Delivered);

    let list: Vec<String> = (0..1_000).map(|n| format!("p{n}@example.com")).collect();
    let list: Vec<&str> = list.iter().map(String::as_str).collect();
    smtp.ask("MAIL FROM:<app@example.com>").await;
    for to in &list {
        smtp.ask(&format!("RCPT TO:<{to}>")).await;
    }
    let refused = smtp.ask("RCPT TO:<more@example.com>").await;
    assert_eq!(refused, "452 4.5.3 too many recipients");
    smtp.ask("RSET").await;
    let id = smtp.taken(&list, &letter(&json!({}))).await;
    ledger.accept(id, "a list", list.len(), End::Delivered);
    ledger.ended().await;
    ledger.close().await;
}

/// Substitutions are replaced in unique arguments too. They come with every event, and the row of a copy has room for
/// so many.
#[tokio::test(flavor = "multi_thread")]
async fn unique_arguments_that_a_substitution_grows_are_held_to_their_limit() {
    let mut ledger = Ledger::open().await;
    let mut smtp = connected(&ledger).await;
    for (name, tags, value, end) in [
        ("fits", 30, 333, End::Delivered),
        ("grown", 3_000, 900, INVALID),
    ] {
        let options = json!({"unique_args": {"k": "-a-".repeat(tags)},
            "sub": {"-a-": ["v".repeat(value)]}});
        let id = smtp.taken(&TO, &letter(&options)).await;
        ledger.accept(id, name, TO.len(), end);
    }
    ledger.ended().await;
    ledger.close().await;
}
