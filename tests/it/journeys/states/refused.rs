//! What lies just past a limit, and what is only checked: no recipient hears of it.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};

use super::{End, LARGEST_MAIL, Ledger, MIB, changed, filled, mailboxes, wide};
use crate::service::mail;

/// Each a mail that one more byte, letter or item makes too large, and its answer.
fn past(now: i64) -> Vec<(&'static str, u16, Value)> {
    let args = |bytes: usize| json!({"k": "v".repeat(bytes - 1)});
    let categories = |count: usize| (0..count).map(|n| n.to_string()).collect::<Value>();
    let file = json!({"content": "QUJD", "filename": "a.txt"});
    let with = |field: &'static str, value: Value| changed(|mail| mail[field] = value);
    let own = |field: &'static str, value: Value| {
        changed(|mail| mail["personalizations"][0][field] = value)
    };
    let envelope = json!({"to": [{"email": "ann@example.com"}]});
    let sections: BTreeMap<String, String> = (0..32_769)
        .map(|n| (format!(":{n:07}"), String::new()))
        .collect();
    // In lines of base64 it is as large as a mail.
    let large = "A".repeat(LARGEST_MAIL / 78 * 76);
    let large = json!([{"content": large, "filename": "large.bin"}]);
    vec![
        ("files of a mail", 413, with("attachments", large)),
        (
            "subject",
            413,
            with("subject", json!("s".repeat(LARGEST_MAIL / 3))),
        ),
        ("files", 400, with("attachments", json!(vec![file; 1_001]))),
        (
            "content blocks",
            400,
            with(
                "content",
                json!(vec![json!({"type": "text/csv", "value": "x"}); 101]),
            ),
        ),
        ("recipients", 400, own("to", mailboxes(3_001))),
        ("copies", 400, own("cc", mailboxes(1_001))),
        (
            "envelopes",
            400,
            with("personalizations", json!(vec![envelope; 1_001])),
        ),
        (
            "reply addresses",
            400,
            with("reply_to_list", mailboxes(1_001)),
        ),
        (
            "address",
            400,
            with(
                "from",
                json!({"email": format!("{}@example.com", "a".repeat(65))}),
            ),
        ),
        (
            "wide address",
            400,
            own(
                "to",
                json!([{"email": format!("{}@example.com", wide(17))}]),
            ),
        ),
        (
            "headers",
            400,
            with("headers", json!({"X-Long": "h".repeat(99_995)})),
        ),
        ("categories", 400, with("categories", categories(11))),
        (
            "category",
            400,
            with("categories", json!(["c".repeat(256)])),
        ),
        ("custom arguments", 400, with("custom_args", args(10_001))),
        (
            "merged custom arguments",
            400,
            changed(|mail| {
                mail["custom_args"] = args(5_000);
                mail["personalizations"][1]["custom_args"] = json!({"o": "v".repeat(5_000)});
            }),
        ),
        ("substitutions", 400, own("substitutions", args(10_001))),
        ("sections", 400, with("sections", json!(sections))),
        (
            "groups",
            400,
            with(
                "asm",
                json!({"group_id": 1, "groups_to_display": vec![1; 26]}),
            ),
        ),
        ("pool", 400, with("ip_pool_name", json!(wide(65)))),
        ("time", 400, with("send_at", json!(now + 72 * 3_600 + 1))),
        (
            "time of one",
            400,
            own("send_at", json!(now + 72 * 3_600 + 1)),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn what_lies_past_a_limit_is_refused_and_leaves_nothing() {
    let ledger = Ledger::open().await;
    for (name, status, mail) in past(ledger.service.now()) {
        let answer = ledger.service.call(Method::POST, "/v3/mail/send", &mail);
        let answer = answer.await;
        assert_eq!(answer.status(), status, "{name}");
        assert!(!answer.headers().contains_key("x-message-id"), "{name}");
    }
    nothing_left(ledger).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_that_is_only_checked_leaves_nothing_however_large_it_is() {
    let ledger = Ledger::open().await;
    let sandbox = changed(|mail| {
        mail["personalizations"] = json!([{"to": mailboxes(1_000)}]);
        mail["content"][0]["value"] = json!(filled("", 8 * MIB));
        mail["custom_args"] = json!({"k": "v".repeat(9_999)});
        mail["send_at"] = json!(ledger.service.now() + 72 * 3_600);
        mail["mail_settings"] = json!({"sandbox_mode": {"enable": true},
            "footer": {"enable": true, "text": filled("", 8 * MIB)}});
    });
    let answer = ledger.service.call(Method::POST, "/v3/mail/send", &sandbox);
    let answer = answer.await;
    assert_eq!(answer.status(), 200);
    assert!(!answer.headers().contains_key("x-message-id"));
    nothing_left(ledger).await;
}

/// Lets every time pass that a mail could have been given: a mail that comes then is the only one.
async fn nothing_left(mut ledger: Ledger) {
    ledger.service.pass(73 * 3_600).await;
    let probe = mail("probe@example.com");
    ledger.send("probe", &probe, End::Delivered).await;
    ledger.ended().await;
    ledger.close().await;
}
