//! A thousand of everything that names people.

use serde_json::{Value, json};

use super::{End, Ledger, changed, mailboxes, wide};
use crate::service::mail;

/// A thousand in one list, who see each other.
fn list() -> Value {
    let mut mail = mail("ann@example.com");
    mail["personalizations"] = json!([{"to": mailboxes(1_000)}]);
    mail
}

/// A thousand envelopes of one, each with something of its own.
fn envelopes() -> Value {
    let one = |n: u32| {
        json!({"to": [{"email": format!("p{n:04}@example.com"), "name": format!("No {n}")}],
            "subject": format!("To {n}"), "substitutions": {"-n-": n.to_string()},
            "custom_args": {"n": n.to_string()}, "headers": {"X-N": n.to_string()}})
    };
    let mut mail = mail("ann@example.com");
    mail["personalizations"] = (0..1_000).map(one).collect();
    mail["content"][0]["value"] = json!("You are -n-.");
    mail
}

#[tokio::test(flavor = "multi_thread")]
async fn every_one_of_a_thousand_recipients_ends_once() {
    let mut ledger = Ledger::open().await;
    ledger.send("a list", &list(), End::Delivered).await;
    ledger.send("envelopes", &envelopes(), End::Delivered).await;
    let answers: Value = (0..1_000)
        .map(|n| json!({"email": format!("r{n:04}@example.com"), "name": wide(30)}))
        .collect();
    let answers = changed(|mail| mail["reply_to_list"] = answers);
    ledger
        .send("reply addresses", &answers, End::Delivered)
        .await;
    ledger.ended().await;
    ledger.close().await;
}
