//! Mails that take all that a mail may: by their texts, by their files, by a subject.

use serde_json::{Value, json};

use super::{End, LARGEST_MAIL, Ledger, MIB, filled, noise};
use crate::service::mail;

/// So many bytes are left for the header.
const HEADER: usize = 64 * 1024;

/// Text and HTML that fill the mail. A line end takes two bytes in JSON, and in the mail.
fn texts() -> Value {
    let each = (LARGEST_MAIL - HEADER) / 2 / 72 * 71;
    let mut mail = mail("ann@example.com");
    mail["content"] = json!([
        {"type": "text/plain", "value": filled("", each)},
        {"type": "text/html", "value": filled("<p>Hello</p>\n", each)},
    ]);
    mail
}

/// A thousand files, of which one fills the mail. In lines of 76 letters it takes two more for each.
fn files() -> Value {
    let largest = (LARGEST_MAIL - MIB) / 78 * 76;
    let mut large = noise(MIB).repeat(largest / MIB + 1);
    large.truncate(largest);
    let small = |n| json!({"content": "QUJD", "filename": format!("{n}.txt")});
    let mut files: Vec<Value> = (1..1_000).map(small).collect();
    files.push(json!({"content": large, "filename": "large.bin"}));
    let mut mail = mail("ann@example.com");
    mail["attachments"] = Value::Array(files);
    mail
}

/// A subject of which three bytes for each still fit: the most that encoding makes of it.
fn subject() -> Value {
    let mut mail = mail("ann@example.com");
    mail["subject"] = json!("s".repeat((LARGEST_MAIL - HEADER) / 3));
    mail
}

#[tokio::test(flavor = "multi_thread")]
async fn the_recipient_of_a_mail_as_large_as_a_mail_may_be_ends_once() {
    let mut ledger = Ledger::open().await;
    ledger.send("texts", &texts(), End::Delivered).await;
    ledger.send("files", &files(), End::Delivered).await;
    ledger.send("subject", &subject(), End::Delivered).await;
    ledger.ended().await;
    ledger.close().await;
}
