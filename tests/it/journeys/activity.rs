//! A mail as look-ups show it, from its acceptance to its end.

use reqwest::Method;
use serde_json::{Value, json};

use crate::service::{Service, mail};

/// A copy of a mail as the activity feed has it.
async fn shown(service: &Service, message: &str, recipient: usize) -> Value {
    let path = format!("/v3/messages/{message}.posthaste-0.{recipient}.0");
    let answer = service.call(Method::GET, &path, &Value::Null).await;
    assert_eq!(answer.status(), 200, "{path}");
    answer.json().await.expect("JSON")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_shows_what_was_sent_before_and_after_it_leaves() {
    let service = Service::start().await;
    let mut request = mail("delivered@outcome.test");
    request["send_at"] = (service.now() + 3600).into();
    request["categories"] = json!(["news", "sale"]);
    request["custom_args"] = json!({"": "no name", "list": "all", "order": "none"});
    request["personalizations"] = json!([
        {"to": [{"email": "delivered@outcome.test"}], "custom_args": {"order": "A 1"}},
        {"to": [{"email": "bounced@outcome.test"}]},
        {"to": [{"email": "blocked@outcome.test"}], "custom_args": {"order": "C 3"}},
    ]);
    let message = service.send(&request).await;
    let own = [
        (r#"{"":"no name","list":"all","order":"A 1"}"#, ""),
        (r#"{"":"no name","list":"all","order":"none"}"#, "hard"),
        (r#"{"":"no name","list":"all","order":"C 3"}"#, "soft"),
    ];
    let check = |found: &Value, args: &str| {
        for (field, want) in [
            ("categories", json!(["news", "sale"])),
            ("unique_args", json!(args)),
            ("originating_ip", json!("127.0.0.1")),
            ("from_email", json!("sender@example.com")),
        ] {
            assert_eq!(found[field], want, "{field} of {found}");
        }
    };
    for (n, (args, _)) in own.into_iter().enumerate() {
        let found = shown(&service, &message, n).await;
        check(&found, args);
        assert_eq!(
            (&found["events"], &found["outbound_ip"]),
            (&json!([]), &json!(""))
        );
    }
    service.pass(3600).await;
    assert_eq!(
        service.states(&message, 3).await,
        ["Delivered", "Bounced", "Bounced"]
    );
    for (n, (args, bounce_type)) in own.into_iter().enumerate() {
        let found = shown(&service, &message, n).await;
        check(&found, args);
        assert_eq!(found["outbound_ip"], "127.0.0.1");
        let events = found["events"].as_array().expect("events");
        let types: Vec<_> = events.iter().map(|event| &event["bounce_type"]).collect();
        assert_eq!(types, ["", bounce_type], "{found}");
    }
    service.stop().await;
}
