//! The fields of a request that take little beside a mail: texts of a line, labels, addresses, headers, parts.

use serde_json::{Value, json};

use super::{End, Ledger, MIB, changed, wide};

type Case = (&'static str, Value);

fn subjects() -> Vec<Case> {
    let long = "s".repeat(300_000);
    vec![
        ("subject", changed(|mail| mail["subject"] = json!(long))),
        (
            "wide subject",
            changed(|mail| mail["subject"] = json!(wide(300_000))),
        ),
        (
            "subject of a personalization",
            changed(|mail| mail["personalizations"][1]["subject"] = json!(long)),
        ),
        (
            "subject that a substitution grows",
            changed(|mail| {
                mail["subject"] = json!("-a-".repeat(100));
                mail["personalizations"][0]["substitutions"] = json!({"-a-": "s".repeat(9_997)});
            }),
        ),
        (
            "many substitutions",
            changed(|mail| {
                // A thousand of ten bytes each.
                let tags = (0..1_000).map(|n| (format!("-{n:04}-"), json!("vvvv")));
                let text: String = (0..1_000).map(|n| format!("-{n:04}- ")).collect();
                mail["personalizations"][0]["substitutions"] = Value::Object(tags.collect());
                mail["content"][0]["value"] = json!(text);
            }),
        ),
        (
            "a long tag",
            changed(|mail| {
                let tag = "t".repeat(9_999);
                mail["content"][0]["value"] = json!(tag.repeat(100));
                mail["personalizations"][0]["substitutions"] = json!({tag: "v"});
            }),
        ),
    ]
}

fn labels() -> Vec<Case> {
    vec![
        (
            "custom arguments",
            changed(|mail| {
                mail["custom_args"] = json!({"m": "\u{1}".repeat(4_999)});
                mail["personalizations"][0]["custom_args"] = json!({"p": "\u{1}".repeat(4_999)});
            }),
        ),
        (
            "many custom arguments",
            changed(|mail| {
                let args = (1_000..3_500).map(|n| (n.to_string(), json!("")));
                mail["custom_args"] = Value::Object(args.collect());
            }),
        ),
        (
            "custom arguments in a text",
            changed(|mail| {
                let args = json!({"k": "v".repeat(9_999)});
                mail["custom_args"] = json!(args.to_string());
            }),
        ),
        (
            "categories",
            changed(|mail| {
                let category = |n: u32| format!("{n}{}", "\u{1}".repeat(254));
                mail["categories"] = (0..10).map(category).collect();
            }),
        ),
        (
            "pool",
            changed(|mail| mail["ip_pool_name"] = json!(wide(64))),
        ),
        (
            "times of long ago",
            changed(|mail| {
                mail["send_at"] = json!(i64::MIN);
                mail["personalizations"][0]["send_at"] = json!(0);
            }),
        ),
    ]
}

fn addresses() -> Vec<Case> {
    // 64 octets before the `@`.
    let plain = format!("{}@example.com", "a".repeat(64));
    let foreign = format!("{}@example.com", wide(16));
    vec![
        (
            "addresses and names",
            changed(|mail| {
                mail["personalizations"][1] = json!({
                    "to": [{"email": foreign, "name": wide(50_000)}],
                    "cc": [{"email": plain, "name": wide(50_000)}],
                    "bcc": [{"email": format!("b{}", &plain[1..]), "name": wide(50_000)}],
                    "from": {"email": plain, "name": wide(50_000)},
                });
                mail["reply_to"] = json!({"email": foreign, "name": wide(50_000)});
                mail["from"]["name"] = json!(wide(50_000));
            }),
        ),
        (
            "names of a megabyte",
            changed(|mail| {
                let name = wide(MIB / 4);
                mail["personalizations"][1]["to"][0]["name"] = json!(name);
                mail["reply_to"] = json!({"email": "answers@example.com", "name": name});
                mail["from"]["name"] = json!(name);
            }),
        ),
        (
            "headers",
            changed(|mail| {
                let header = |name: &str| json!({name.repeat(76): "h".repeat(99_924)});
                mail["headers"] = header("m");
                mail["personalizations"][0]["headers"] = header("p");
            }),
        ),
        (
            "many headers",
            changed(|mail| {
                let headers = (0..12_500).map(|n| (format!("X-{n:05}"), json!("h")));
                mail["headers"] = Value::Object(headers.collect());
            }),
        ),
    ]
}

fn parts() -> Vec<Case> {
    vec![
        (
            "content blocks",
            changed(|mail| {
                let kind = |n| match n {
                    0 => "text/plain",
                    1 => "text/html",
                    _ => "text/csv",
                };
                let part = |n| json!({"type": kind(n), "value": format!("part {n}")});
                mail["content"] = (0..100).map(part).collect();
            }),
        ),
        (
            "what a file is called",
            changed(|mail| {
                mail["attachments"] = json!([{"content": "QUJD", "filename": wide(100_000),
                    "type": format!("x/{}", "y".repeat(100_000)), "disposition": "inline",
                    "content_id": "i".repeat(100_000)}]);
            }),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn every_recipient_of_the_largest_fields_ends_once() {
    let mut ledger = Ledger::open().await;
    let cases = [subjects(), labels(), addresses(), parts()];
    for (name, mail) in cases.into_iter().flatten() {
        ledger.send(name, &mail, End::Delivered).await;
    }
    ledger.ended().await;
    ledger.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recipient_for_whom_substitution_makes_too_much_is_dropped_and_told_of() {
    let mut ledger = Ledger::open().await;
    let one = |change: &dyn Fn(&mut Value)| {
        changed(|mail| {
            mail["personalizations"] = json!([{"to": [{"email": "ann@example.com"}]}]);
            change(mail);
        })
    };
    let text = one(&|mail| {
        mail["content"][0]["value"] = json!("-a-".repeat(3_200));
        mail["personalizations"][0]["substitutions"] = json!({"-a-": "v".repeat(9_997)});
    });
    let reason = "the content exceeds 31457280 bytes";
    ledger.send("text", &text, End::Dropped(reason)).await;
    let address = one(&|mail| {
        mail["reply_to"] = json!({"email": "-a-@example.com"});
        mail["personalizations"][0]["substitutions"] = json!({"-a-": "a".repeat(400)});
    });
    let reason = "reply_to after substitution: the address exceeds 320 characters or 900 octets";
    ledger.send("address", &address, End::Dropped(reason)).await;
    ledger.ended().await;
    ledger.close().await;
}
