//! Every accepted recipient ends in a state and is told of, whatever a field of the mail holds: each
//! field at the largest that is taken, over HTTP and over SMTP.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use posthaste_testkit::Receiver;
use reqwest::Method;
use serde_json::{Value, json};

use crate::service::{Service, mail};
use crate::smtp::Smtp;

/// How a copy can end.
const ENDS: [&str; 3] = ["delivered", "bounce", "dropped"];

/// A webhook for everything that is an end.
async fn told(service: &Service) -> Receiver {
    let receiver = Receiver::start().await.expect("a receiver");
    let hook = json!({"url": receiver.url(), "enabled": true, "delivered": true, "bounce": true,
        "dropped": true});
    let path = "/v3/user/webhooks/event/settings";
    let made = service.call(Method::POST, path, &hook).await;
    assert_eq!(made.status(), 201);
    receiver
}

/// Waits until the webhook was told of an end for so many copies of each of these mails.
async fn ends(receiver: &Receiver, mut awaited: BTreeMap<String, (&'static str, usize)>) {
    const PATIENCE: Duration = Duration::from_secs(120);
    while !awaited.is_empty() {
        let post = receiver.next(PATIENCE).await;
        let Some(post) = post else {
            panic!("never told of the end of {awaited:?}");
        };
        let events: Vec<Value> = serde_json::from_slice(&post.body).expect("events");
        for event in events {
            let id = event["sg_message_id"].as_str().expect("an id");
            let id = id.split('.').next().expect("a part").to_owned();
            assert!(ENDS.contains(&event["event"].as_str().expect("a kind")));
            if let Some((name, left)) = awaited.remove(&id).filter(|(_, left)| *left > 1) {
                awaited.insert(id, (name, left - 1));
            }
        }
    }
}

/// Four bytes each, the longest that UTF-8 has.
fn wide(count: usize) -> String {
    "\u{10348}".repeat(count)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_recipient_of_the_largest_requests_ends_and_is_told_of() {
    let service = Service::start().await;
    let receiver = told(&service).await;
    let with = |change: &dyn Fn(&mut Value)| {
        let mut mail = mail("ann@example.com");
        mail["personalizations"] = json!([
            {"to": [{"email": "ann@example.com"}]},
            {"to": [{"email": "bob@example.com"}]},
        ]);
        change(&mut mail);
        mail
    };
    let long = "s".repeat(300_000);
    let foreign = format!("{}@example.com", wide(220));
    let cases: Vec<(&'static str, Value)> = vec![
        ("subject", with(&|mail| mail["subject"] = json!(long))),
        (
            "wide subject",
            with(&|mail| mail["subject"] = json!(wide(300_000))),
        ),
        (
            "subject of a personalization",
            with(&|mail| mail["personalizations"][1]["subject"] = json!(long)),
        ),
        (
            "subject that a substitution grows",
            with(&|mail| {
                mail["subject"] = json!("-a-".repeat(100));
                mail["personalizations"][0]["substitutions"] = json!({"-a-": "s".repeat(9_900)});
            }),
        ),
        (
            "custom arguments",
            with(&|mail| {
                mail["custom_args"] = json!({"m": "\u{1}".repeat(4_999)});
                mail["personalizations"][0]["custom_args"] = json!({"p": "\u{1}".repeat(4_999)});
            }),
        ),
        (
            "many custom arguments",
            with(&|mail| {
                let args = (1_000..3_500).map(|n| (n.to_string(), json!("")));
                mail["custom_args"] = Value::Object(args.collect());
            }),
        ),
        (
            "categories",
            with(&|mail| {
                let category = |n: u32| format!("{n}{}", "\u{1}".repeat(254));
                mail["categories"] = (0..10).map(category).collect();
            }),
        ),
        (
            "addresses and names",
            with(&|mail| {
                let who = json!({"email": foreign, "name": wide(50_000)});
                mail["personalizations"][1] = json!({"to": [who], "cc": [{"email":
                    format!("c{foreign}"), "name": wide(50_000)}]});
                mail["reply_to"] = json!({"email": foreign, "name": wide(50_000)});
                mail["from"]["name"] = json!(wide(50_000));
            }),
        ),
        (
            "pool and headers",
            with(&|mail| {
                mail["ip_pool_name"] = json!(wide(64));
                mail["headers"] = json!({"X-Long": "h".repeat(9_900)});
            }),
        ),
    ];
    let mut awaited = BTreeMap::new();
    for (name, mail) in cases {
        let answer = service.call(Method::POST, "/v3/mail/send", &mail).await;
        let status = answer.status();
        let id = answer.headers().get("x-message-id").cloned();
        let text = answer.text().await.unwrap_or_default();
        assert_eq!(status, 202, "{name}: {text}");
        let id = id.expect("an id").to_str().expect("text").to_owned();
        let copies = if name == "addresses and names" { 3 } else { 2 };
        awaited.insert(id, (name, copies));
    }
    ends(&receiver, awaited).await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_recipient_of_the_largest_submissions_ends_and_is_told_of() {
    let service = Service::start().await;
    let receiver = told(&service).await;
    let mut smtp = Smtp::logged_in(service.host().submission, service.key()).await;
    let mut subject = String::new();
    for _ in 0..400 {
        let _ = write!(subject, "{}\r\n ", "s".repeat(750));
    }
    let categories: Vec<String> = (0..10).map(|n| format!("{n}{}", wide(254))).collect();
    let header = |value: Value| value.to_string().replace('\u{10348}', "\\ud800\\udf48");
    let grown = json!({"to": ["ann@example.com"], "sub": {"-a-": ["s".repeat(900)]}});
    let mut awaited = BTreeMap::new();
    for (name, subject, header) in [
        ("subject", format!("{subject}end"), None),
        ("substitution", "-a-".repeat(300), Some(header(grown))),
        (
            "categories",
            "Hello".to_owned(),
            Some(header(json!({"category": categories}))),
        ),
        (
            "unique arguments",
            "Hello".to_owned(),
            Some(header(json!({"unique_args": {"k": "v".repeat(9_999)}}))),
        ),
    ] {
        let header = header.map_or(String::new(), |header| format!("X-SMTPAPI: {header}\r\n"));
        let mail = format!(
            "From: app@example.com\r\nTo: ann@example.com\r\n{header}Subject: {subject}\r\n\r\nHi\r\n"
        );
        let id = smtp.taken(&["ann@example.com"], mail.as_bytes()).await;
        awaited.insert(id, (name, 1));
    }
    ends(&receiver, awaited).await;
    service.stop().await;
}
