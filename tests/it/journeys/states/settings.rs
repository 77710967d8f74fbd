//! Mail settings, tracking settings and unsubscribe groups.

use serde_json::{Value, json};

use super::{End, Ledger, MIB, changed, filled, groups};
use crate::service::mail;

type Case = (&'static str, Value);

const LINK: &str = "<a href=\"https://example.com/page\">page</a>";

/// A mail with this HTML beside its text.
fn page(html: &str, change: impl FnOnce(&mut Value)) -> Value {
    changed(|mail| {
        mail["content"] = json!([
            {"type": "text/plain", "value": "See https://example.com/page"},
            {"type": "text/html", "value": html},
        ]);
        change(mail);
    })
}

fn mail_settings() -> Vec<Case> {
    vec![
        (
            "footer",
            page("<p>Hello</p>", |mail| {
                mail["mail_settings"] = json!({"footer": {"enable": true,
                    "text": filled("bye\n", 2 * MIB), "html": filled("<hr>\n", 2 * MIB)}});
            }),
        ),
        (
            "retired settings",
            page("<p>Hello</p>", |mail| {
                let long = "r".repeat(MIB);
                mail["mail_settings"] = json!({"bcc": {"enable": true, "email": long},
                    "spam_check": {"enable": true, "threshold": i64::MAX, "post_to_url": long}});
            }),
        ),
    ]
}

fn tracking_settings() -> Vec<Case> {
    let tag = "t".repeat(MIB);
    let utm = |value: &str| {
        let names = ["source", "medium", "term", "content", "campaign"];
        let names = names.map(|name| (format!("utm_{name}"), json!(value)));
        let enable = ("enable".to_owned(), json!(true));
        let all = names.into_iter().chain([enable]);
        json!({"ganalytics": Value::Object(all.collect())})
    };
    let links: String = (0..1_001)
        .map(|n| {
            // The longest target that is tracked: 4,096 bytes. The last link is one too many.
            let target = format!("https://example.com/{n:04}{}", "l".repeat(4_072));
            format!("<a href=\"{target}\">{n}</a>\n")
        })
        .collect();
    vec![
        (
            "subscription tracking",
            page(LINK, |mail| {
                mail["tracking_settings"] = json!({"subscription_tracking": {"enable": true,
                    "text": filled("leave: <% %>\n", MIB),
                    "html": filled("<p><% leave %></p>\n", MIB)}});
            }),
        ),
        (
            "tag of subscription tracking",
            page(&format!("<p>{tag}</p>"), |mail| {
                mail["content"][0]["value"] = json!(format!("leave: {tag}"));
                mail["tracking_settings"] = json!({"subscription_tracking": {"enable": true,
                    "substitution_tag": tag}});
            }),
        ),
        (
            "tag of open tracking",
            page(&format!("<p>{tag}</p>"), |mail| {
                mail["tracking_settings"] =
                    json!({"open_tracking": {"enable": true, "substitution_tag": tag}});
            }),
        ),
        (
            "utm values that fit",
            page(LINK, |mail| {
                mail["tracking_settings"] = utm(&"u".repeat(800));
            }),
        ),
        (
            "utm values that no link takes",
            page(LINK, |mail| {
                mail["tracking_settings"] = utm(&"u".repeat(MIB));
            }),
        ),
        (
            "links",
            page(&links, |mail| {
                mail["tracking_settings"] =
                    json!({"click_tracking": {"enable": true, "enable_text": true}});
            }),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn every_recipient_of_the_largest_settings_ends_once() {
    let mut ledger = Ledger::open().await;
    let ids = groups(&ledger).await;
    let shown = page(LINK, |mail| {
        mail["asm"] = json!({"group_id": ids[0], "groups_to_display": ids});
    });
    ledger.send("groups", &shown, End::Delivered).await;
    for (name, mail) in mail_settings().into_iter().chain(tracking_settings()) {
        ledger.send(name, &mail, End::Delivered).await;
    }
    ledger.ended().await;
    ledger.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recipient_who_left_ends_as_the_bypasses_say() {
    let mut ledger = Ledger::open().await;
    let gone = json!({"recipient_emails": ["gone@example.com"]});
    ledger.made("/v3/asm/suppressions/global", &gone).await;
    let unsubscribed = End::Dropped("Unsubscribed Address");
    for (name, bypasses, end) in [
        ("none", vec![], unsubscribed),
        ("of all lists", vec!["list"], End::Delivered),
        (
            "of each",
            vec!["spam", "bounce", "unsubscribe"],
            End::Delivered,
        ),
        ("of the others", vec!["spam", "bounce"], unsubscribed),
    ] {
        let on = |list: &&str| (format!("bypass_{list}_management"), json!({"enable": true}));
        let mut mail = mail("gone@example.com");
        mail["mail_settings"] = Value::Object(bypasses.iter().map(on).collect());
        ledger.send(name, &mail, end).await;
    }
    ledger.ended().await;
    ledger.close().await;
}
