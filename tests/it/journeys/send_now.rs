//! A mail that leaves at once.

use reqwest::Method;
use serde_json::json;

use crate::service::{Service, mail};

#[tokio::test(flavor = "multi_thread")]
async fn each_recipient_gets_one_copy_and_blind_copies_stay_blind() {
    let service = Service::start().await;

    let id = service
        .send(&json!({
            "personalizations": [{
                "to": [{"email": "ann@example.com", "name": "Smith, Ann"}],
                "cc": [{"email": "bob@example.com"}],
                "bcc": [{"email": "eve@example.com"}],
                "headers": {"X-Campaign": "spring"},
            }],
            "from": {"email": "sender@example.com"},
            "reply_to": {"email": "answers@example.com"},
            "subject": "Grüße 🌼",
            "content": [
                {"type": "text/plain", "value": "plain"},
                {"type": "text/html", "value": "<p>html</p>"},
            ],
            "attachments": [{"content": "aGVsbG8=", "filename": "hello.txt", "type": "text/plain"}],
        }))
        .await;

    assert_eq!(id.len(), 22);
    let mails = service.mails(3).await;
    assert_eq!(mails.len(), 3);
    for summary in &mails {
        let whole = service.open(summary).await;
        assert_eq!(whole["Subject"], "Grüße 🌼");
        assert_eq!(
            whole["To"],
            json!([{"Name": "Smith, Ann", "Address": "ann@example.com"}])
        );
        assert_eq!(
            whole["Cc"],
            json!([{"Name": "", "Address": "bob@example.com"}])
        );
        assert_eq!(whole["ReplyTo"][0]["Address"], "answers@example.com");
        assert!(whole["HTML"].as_str().unwrap().contains("<p>html</p>"));
        assert_eq!(whole["Text"].as_str().unwrap().trim(), "plain");
        assert_eq!(whole["Attachments"][0]["FileName"], "hello.txt");
    }
    assert_eq!(service.states(&id, 3).await, ["Delivered"; 3]);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_envelopes_in_one_request_all_leave() {
    let service = Service::start().await;
    let personalizations: Vec<_> = (0..1000)
        .map(|i| json!({"to": [{"email": format!("r{i}@example.com")}], "subject": format!("No {i}")}))
        .collect();
    let mut request = mail("nobody@example.com");
    request["personalizations"] = personalizations.into();

    let id = service.send(&request).await;

    let mails = service.mails(1000).await;
    let mut subjects: Vec<_> = mails.iter().map(|m| m["Subject"].to_string()).collect();
    subjects.sort_unstable();
    subjects.dedup();
    assert_eq!(subjects.len(), 1000);
    assert_eq!(service.states(&id, 1000).await, vec!["Delivered"; 1000]);
    service.stop().await;
}

/// The most recipients of one request, in the largest lists, as one mail.
#[tokio::test(flavor = "multi_thread")]
async fn three_thousand_recipients_of_one_envelope_each_get_the_mail() {
    let service = Service::start().await;
    let people = |list: &str| -> Vec<_> {
        let mailbox = |i| json!({"email": format!("{list}{i}@e.co")});
        (0..1000).map(mailbox).collect()
    };
    let mut request = mail("ann@example.com");
    request["personalizations"] =
        json!([{"to": people("t"), "cc": people("c"), "bcc": people("b")}]);

    let id = service.send(&request).await;

    service.recorded_at_least(3000).await;
    assert_eq!(service.states(&id, 3000).await, vec!["Delivered"; 3000]);
    let mails = service.mails(2).await;
    let mut ids = Vec::new();
    for summary in &mails {
        let raw = String::from_utf8_lossy(&service.raw(summary).await).into_owned();
        let mut lines = raw.lines();
        let own = lines.find_map(|line| line.strip_prefix("Message-ID: "));
        ids.push(own.expect("a Message-ID").to_owned());
    }
    assert_eq!(ids[0], ids[1]);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sandbox_send_is_checked_and_nothing_leaves() {
    let service = Service::start().await;
    let mut request = mail("ann@example.com");
    request["mail_settings"] = json!({"sandbox_mode": {"enable": true}});

    let answer = service.call(Method::POST, "/v3/mail/send", &request).await;

    assert_eq!(answer.status(), 200);
    assert!(answer.text().await.unwrap().is_empty());
    service.send(&mail("bob@example.com")).await;
    assert_eq!(service.mails(1).await.len(), 1);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_request_is_told_everything_and_changes_nothing() {
    let service = Service::start().await;

    let answer = service
        .call(
            Method::POST,
            "/v3/mail/send",
            &json!({"from": {"email": "nobody"}}),
        )
        .await;

    assert_eq!(answer.status(), 400);
    assert!(answer.headers().contains_key("x-ratelimit-remaining"));
    assert!(!answer.headers().contains_key("x-message-id"));
    let body: serde_json::Value = answer.json().await.unwrap();
    let fields: Vec<_> = body["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["field"].as_str().unwrap_or(""))
        .collect();
    for field in ["personalizations", "from.email", "subject", "content"] {
        assert!(fields.contains(&field), "{field} in {fields:?}");
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_route_takes_is_answered_in_the_same_shape() {
    let service = Service::start().await;
    for (method, path, status, message) in [
        (
            Method::GET,
            "/v3/nothing",
            404,
            "not found: Posthaste does not serve this path",
        ),
        (Method::GET, "/v3/mail/send", 405, "method not allowed"),
    ] {
        let answer = service.call(method, path, &json!({})).await;
        assert_eq!(answer.status(), status, "{path}");
        assert!(answer.headers().contains_key("x-ratelimit-limit"));
        let body: serde_json::Value = answer.json().await.unwrap();
        assert_eq!(body["errors"][0]["message"], message);
        let help = body["errors"][0]["help"]["text"].as_str().unwrap();
        assert!(help.ends_with("/docs/errors#unknown-path"), "{help}");
    }
    service.stop().await;
}
