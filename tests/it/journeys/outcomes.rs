//! Addresses with a fixed outcome: the service ends their mail as after a real refusal.

use reqwest::Method;
use serde_json::{Value, json};

use crate::service::Service;

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
        let answer = service.call(Method::GET, &path, &Value::Null).await;
        let rows: Value = answer.json().await.expect("a list");
        assert_eq!(rows[0]["email"], email, "{list}");
        assert_eq!(rows.as_array().map(Vec::len), Some(1), "{list}");
    }
    let mails = service.mails(1).await;
    assert_eq!(mails[0]["To"][0]["Address"], "delivered@outcome.test");
    service.stop().await;
}
