//! Addresses with a fixed outcome, and keys of tests: mail ends as the address says, and does not leave.

use std::time::Duration;

use posthaste_testkit::{Receiver, Reply};
use reqwest::Method;
use serde_json::{Value, json};

use crate::service::Service;

fn mail_with_link(email: &str) -> Value {
    json!({
        "personalizations": [{"to": [{"email": email}]}],
        "from": {"email": "app@example.com"}, "subject": "Hello",
        "content": [{"type": "text/html", "value": "<a href=\"https://example.com/?a=1&amp;b=2\">Go</a>"}],
        "tracking_settings": {"click_tracking": {"enable": true, "enable_text": false}},
        "custom_args": {"order": "7"}, "categories": ["welcome"],
    })
}

async fn webhook(service: &Service) -> Receiver {
    let receiver = Receiver::start().await.unwrap();
    receiver.always(Reply::with_body(200, ""));
    let hook = json!({"url": receiver.url(), "enabled": true, "processed": true, "delivered": true, "open": true,
        "click": true, "bounce": true, "dropped": true, "deferred": true, "spam_report": true, "unsubscribe": true,
        "group_unsubscribe": true, "group_resubscribe": true});
    let path = "/v3/user/webhooks/event/settings";
    let made = service.call(Method::POST, path, &hook).await;
    assert_eq!(made.status(), 201);
    receiver
}

/// So many events, in the order of their kinds' names.
async fn posted(receiver: &Receiver, count: usize) -> Vec<Value> {
    const PATIENCE: Duration = Duration::from_secs(60);
    let mut events: Vec<Value> = Vec::new();
    while events.len() < count {
        let post = receiver.next(PATIENCE).await.unwrap();
        let more: Vec<Value> = serde_json::from_slice(&post.body).unwrap();
        events.extend(more);
    }
    events.sort_by_key(|event| event["event"].as_str().map(str::to_owned));
    events
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_recipient_does_is_posted_as_if_it_had_been_done() {
    let service = Service::start().await;
    let receiver = webhook(&service).await;
    for (email, kinds) in [
        (
            "complained@resend.dev",
            &["delivered", "processed", "spamreport"][..],
        ),
        (
            "complaint@simulator.amazonses.com",
            &["delivered", "processed", "spamreport"],
        ),
        (
            "unsubscribed@outcome.test",
            &["delivered", "processed", "unsubscribe"],
        ),
        ("opened@outcome.test", &["delivered", "open", "processed"]),
        (
            "clicked@outcome.test",
            &["click", "delivered", "open", "processed"],
        ),
    ] {
        service.send(&mail_with_link(email)).await;
        let events = posted(&receiver, kinds.len()).await;
        let got: Vec<_> = events
            .iter()
            .map(|event| event["event"].as_str().unwrap())
            .collect();
        assert_eq!(got, kinds, "{email}");
        let mut ids: Vec<_> = events.iter().map(|event| &event["sg_event_id"]).collect();
        ids.dedup();
        assert_eq!(ids.len(), kinds.len(), "{email}");
        for event in &events {
            assert_eq!(event["email"], email);
            assert_eq!(event["order"], "7", "{event}");
            assert!(event.get("test").is_none(), "{event}");
        }
        if email.starts_with("clicked") {
            assert_eq!(events[0]["url"], "https://example.com/?a=1&b=2");
            assert_eq!(events[0]["url_offset"], json!({"index": 0, "type": "html"}));
        }
    }
    for (list, email) in [
        ("spam_reports", "complained@resend.dev"),
        ("unsubscribes", "unsubscribed@outcome.test"),
    ] {
        let path = format!("/v3/suppression/{list}");
        let answer = service.call(Method::GET, &path, &Value::Null).await;
        let rows: Vec<Value> = answer.json().await.expect("a list");
        assert!(
            rows.iter().any(|row| row["email"] == email),
            "{list}: {rows:?}"
        );
    }
    service.stop().await;
}

/// A relay that takes no connection: whatever reaches it is deferred.
fn no_relay() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    format!("smtp://127.0.0.1:{port}?tls=none")
}

#[tokio::test(flavor = "multi_thread")]
async fn mail_of_a_test_key_is_recorded_and_never_reaches_the_relay() {
    let service = Service::with(|settings| settings.relay = no_relay().parse().ok()).await;
    let receiver = webhook(&service).await;
    let named = json!({"name": "CI", "test": true});
    let made = service.call(Method::POST, "/v3/api_keys", &named).await;
    assert_eq!(made.status(), 201);
    let made: Value = made.json().await.unwrap();
    assert_eq!(made["test"], true);
    let send = async |key: &str, email: &str| {
        let ask = service.ask(Method::POST, "/v3/mail/send").bearer_auth(key);
        let answer = ask.json(&mail_with_link(email)).send().await.unwrap();
        assert_eq!(answer.status(), 202);
    };
    let key = made["api_key"].as_str().unwrap();
    // The key, and one that it makes.
    let ask = service.ask(Method::POST, "/v3/api_keys").bearer_auth(key);
    let child = ask
        .json(&json!({"name": "child", "test": false}))
        .send()
        .await;
    let child: Value = child.unwrap().json().await.unwrap();
    assert_eq!(child["test"], true, "{child}");
    for key in [key, child["api_key"].as_str().unwrap()] {
        send(key, "ann@example.com").await;
        let events = posted(&receiver, 2).await;
        assert_eq!(events[0]["event"], "delivered", "{events:?}");
    }
    assert_eq!(
        service.mails(2).await[0]["To"][0]["Address"],
        "ann@example.com"
    );
    // The same address by a live key reaches the relay; one with an outcome does not.
    send(service.key(), "bounced+1@outcome.test").await;
    let events = posted(&receiver, 2).await;
    assert_eq!(events[0]["event"], "bounce", "{events:?}");
    send(service.key(), "ann@example.com").await;
    let events = posted(&receiver, 2).await;
    assert_eq!(events[0]["event"], "deferred", "{events:?}");
    assert_eq!(service.recorded().await, Some(2));
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_stays_a_test_key() {
    let service = Service::start().await;
    let named = json!({"name": "CI", "test": true});
    let made = service.call(Method::POST, "/v3/api_keys", &named).await;
    let made: Value = made.json().await.unwrap();
    let path = format!("/v3/api_keys/{}", made["api_key_id"].as_str().unwrap());
    let change = json!({"name": "live", "scopes": ["mail.send"], "test": false});
    let refused = service.call(Method::PUT, &path, &change).await;
    assert_eq!(refused.status(), 400);
    let refused: Value = refused.json().await.unwrap();
    assert_eq!(refused["errors"][0]["field"], "test");
    let change = json!({"name": "other", "scopes": ["mail.send"]});
    let changed = service.call(Method::PUT, &path, &change).await;
    let changed: Value = changed.json().await.unwrap();
    assert_eq!(
        (&changed["name"], &changed["test"]),
        (&json!("other"), &json!(true))
    );
    // Others are shown as before.
    let all = service
        .call(Method::GET, "/v3/api_keys", &Value::Null)
        .await;
    let all: Value = all.json().await.unwrap();
    let keys = all["result"].as_array().unwrap();
    let (test, live): (Vec<_>, Vec<_>) = keys.iter().partition(|key| key["name"] == "other");
    assert_eq!(test[0]["test"], true, "{all}");
    assert!(live[0].get("test").is_none(), "{all}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bounce_suppresses_its_address_and_a_block_does_not() {
    let service = Service::start().await;
    for (name, state) in [
        ("bounced", "Bounced"),
        ("blocked", "Bounced"),
        ("deferred", "Deferred"),
        ("delivered", "Delivered"),
    ] {
        let email = format!("{name}@outcome.test");
        let id = service
            .send(&json!({
                "personalizations": [{"to": [{"email": email}]}],
                "from": {"email": "app@example.com"}, "subject": "Hello",
                "content": [{"type": "text/plain", "value": "x"}],
            }))
            .await;
        let row = service.copy(&id, |row| format!("{:?}", row.state) == state);
        assert!(!row.await.events.is_empty(), "{name}");
    }
    for (list, email) in [
        ("bounces", "bounced@outcome.test"),
        ("blocks", "blocked@outcome.test"),
    ] {
        let path = format!("/v3/suppression/{list}");
        // The lists follow the row of the copy.
        let listed = async || {
            let answer = service.call(Method::GET, &path, &Value::Null).await;
            let rows: Value = answer.json().await.expect("a list");
            rows.as_array().cloned().filter(|rows| !rows.is_empty())
        };
        let rows = service.wait_for(list, listed).await;
        let emails: Vec<_> = rows.iter().map(|row| &row["email"]).collect();
        assert_eq!(emails, [email], "{list}");
    }
    let mails = service.mails(1).await;
    assert_eq!(mails[0]["To"][0]["Address"], "delivered@outcome.test");
    service.stop().await;
}
