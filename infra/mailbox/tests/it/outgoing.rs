//! Mails that are recorded out of fields, and recorded mails that are released.

use std::sync::{Arc, Mutex};

use axum::http::StatusCode;
use posthaste_mailbox::{Release, ReleasedMail, Sources};
use serde_json::{Value, json};

use crate::support::{Box, rich};

async fn send(b: &Box, body: &Value) -> (StatusCode, Value) {
    let answer = b.ask("POST", "/api/v1/send", &[], &body.to_string()).await;
    assert_eq!(answer.header("content-type"), "application/json");
    (answer.status, serde_json::from_slice(&answer.body).unwrap())
}

fn least() -> Value {
    json!({"From": {"Email": "ann@x.example"}, "To": [{"Email": "bob@y.example"}]})
}

#[tokio::test]
async fn a_mail_is_recorded_out_of_its_fields() {
    let b = Box::new();
    let body = json!({
        "From": {"Email": "ann@x.example", "Name": "Änn"},
        "To": [{"Email": "bob@y.example", "Name": "Bob"}],
        "Cc": [{"Email": "cat@y.example"}],
        "Bcc": ["hid@y.example"],
        "ReplyTo": [{"Email": "desk@x.example"}],
        "Subject": "Grüße", "Text": "hello", "HTML": "<b>hello</b> <img src='cid:pic'>",
        "Headers": {"X-Campaign": "7", "Message-ID": "<own@x.example>"},
        "Tags": ["one", "two"],
        "Attachments": [
            {"Content": "aGk=", "Filename": "a.txt", "ContentType": "text/plain"},
            {"Content": "data:image/png;base64,iVBORw0KGgo=", "Filename": "p.png",
             "ContentType": "image/png", "ContentID": "pic"},
        ],
    });
    let user = [("authorization", "Basic dGVzdGVyOnNlY3JldA==")];
    let answer = b
        .ask("POST", "/api/v1/send", &user, &body.to_string())
        .await;
    let id = answer.json()["ID"].as_str().unwrap().to_owned();
    let message = b.get(&format!("/api/v1/message/{id}")).await.json();
    for (field, want) in [
        ("From", json!({"Name": "Änn", "Address": "ann@x.example"})),
        ("To", json!([{"Name": "Bob", "Address": "bob@y.example"}])),
        ("Cc", json!([{"Name": "", "Address": "cat@y.example"}])),
        ("Bcc", json!([{"Name": "", "Address": "hid@y.example"}])),
        (
            "ReplyTo",
            json!([{"Name": "", "Address": "desk@x.example"}]),
        ),
        ("ReturnPath", json!("ann@x.example")),
        ("Subject", json!("Grüße")),
        ("MessageID", json!("own@x.example")),
        ("Tags", json!(["one", "two"])),
        ("Username", json!("tester")),
        ("Date", json!("2026-11-27T12:00:01Z")),
    ] {
        assert_eq!(message[field], want, "{field}");
    }
    assert_eq!(message["Text"].as_str().unwrap().trim(), "hello");
    assert!(message["HTML"].as_str().unwrap().contains("<b>hello</b>"));
    let file = &message["Attachments"][0];
    assert_eq!(
        (&file["FileName"], &file["Size"]),
        (&json!("a.txt"), &json!(2))
    );
    assert_eq!(message["Inline"][0]["ContentID"], "pic");
    let headers = b.get(&format!("/api/v1/message/{id}/headers")).await.json();
    assert_eq!(headers["X-Campaign"], json!(["7"]));
    assert!(headers.get("Bcc").is_none());
}

#[tokio::test]
async fn a_mail_of_nothing_but_addresses_is_recorded() {
    let b = Box::new();
    let (status, answer) = send(&b, &least()).await;
    assert_eq!(status, StatusCode::OK);
    let id = answer["ID"].as_str().unwrap();
    let message = b.get(&format!("/api/v1/message/{id}")).await.json();
    assert_eq!(
        (&message["Subject"], &message["Username"]),
        (&json!(""), &json!(""))
    );
}

#[tokio::test]
async fn a_mail_that_cannot_be_recorded_is_refused_in_json() {
    let b = Box::new();
    let with = |field: &str, value: Value| {
        let mut body = least();
        body[field] = value;
        body
    };
    let many: Vec<_> = (0..101)
        .map(|n| json!({"Email": format!("{n}@y.example")}))
        .collect();
    for (body, why) in [
        (
            json!({"To": [{"Email": "bob@y.example"}]}),
            "From is missing",
        ),
        (
            json!({"From": {"Email": "ann@x.example"}}),
            "must name a recipient",
        ),
        (
            with("From", json!({"Email": "ann"})),
            "invalid From address",
        ),
        (with("To", json!([{"Email": "bob"}])), "invalid To address"),
        (with("Bcc", json!(["b b"])), "invalid Bcc address"),
        (with("To", json!(many)), "more than 100 recipients"),
        (
            with("Headers", json!({"Subject": "x"})),
            "cannot overwrite header",
        ),
        (
            with("Headers", json!({"x-tags": "x"})),
            "cannot overwrite header",
        ),
        (with("Headers", json!({"a b": "x"})), "is not a header name"),
        (with("Headers", json!({"Message-ID": "x"})), "Message-ID"),
        (
            with("Attachments", json!([{"Content": "%", "Filename": "f"}])),
            "not base64",
        ),
        (with("Body", json!("x")), "unknown field"),
        (with("Text", json!(7)), "invalid type"),
        (json!("x"), "an object is expected"),
    ] {
        let (status, answer) = send(&b, &body).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
        let text = answer["Error"].as_str().unwrap();
        assert!(text.contains(why), "{text}");
    }
    let huge = "x".repeat(43 << 20);
    let (status, answer) = send(&b, &with("Text", json!(huge))).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE, "{answer}");
    assert_eq!(b.get("/api/v1/messages").await.json()["total"], 0);
}

/// A value of a header, or a name, starts no other header.
#[tokio::test]
async fn no_field_starts_another_header() {
    let b = Box::new();
    let line = "x\r\nEvil: yes";
    let body = json!({
        "From": {"Email": "ann@x.example", "Name": line}, "To": [{"Email": "bob@y.example"}],
        "Subject": line, "Headers": {"X-Own": line},
        "Attachments": [{"Content": "aGk=", "Filename": line, "ContentID": line, "ContentType": "text/plain"}],
    });
    let (status, answer) = send(&b, &body).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let raw = b.get("/api/v1/message/latest/raw").await.text();
    assert!(!raw.lines().any(|line| line.starts_with("Evil")), "{raw}");
}

/// A mailbox whose relay takes everything, or answers this error, and what it took.
fn with_relay(error: Option<&'static str>) -> (Box, Arc<Mutex<Vec<ReleasedMail>>>) {
    let taken = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&taken);
    let release: Release = Arc::new(move |mail| {
        log.lock().unwrap().push(mail);
        std::boxed::Box::pin(async move { error.map_or(Ok(()), |why| Err(why.to_owned())) })
    });
    let sources = Sources {
        release: Some(release),
        release_relay: Some("smtp://relay.example:25".to_owned()),
        ..Sources::default()
    };
    (Box::with(sources, 10), taken)
}

async fn release(b: &Box, id: &str, body: &str) -> (u16, String) {
    let path = format!("/api/v1/message/{id}/release");
    let answer = b.ask("POST", &path, &[], body).await;
    (answer.status.as_u16(), answer.text())
}

#[tokio::test]
async fn a_released_mail_is_the_recorded_one_without_blind_copies() {
    let (b, taken) = with_relay(None);
    let raw = format!("Bcc: hid@y.example\r\n{}", rich());
    let id = b.deliver(&["bob@y.example"], raw).await;
    let body = r#"{"To": ["eve@z.example", "Bob <bob@z.example>"]}"#;
    let (status, why) = release(&b, &id, body).await;
    assert_eq!(status, 400, "{why}");
    let body = r#"{"To": ["eve@z.example", "bob@z.example"]}"#;
    assert_eq!(release(&b, &id, body).await, (200, "ok".to_owned()));
    let taken = taken.lock().unwrap().clone();
    let [mail] = taken.as_slice() else {
        panic!("{taken:?}");
    };
    assert_eq!(mail.from.as_str(), "ann@x.example");
    let to: Vec<_> = mail.to.iter().map(|to| to.as_str()).collect();
    assert_eq!(to, ["eve@z.example", "bob@z.example"]);
    assert_eq!(String::from_utf8_lossy(&mail.raw), rich());
    let configuration = b.get("/api/v1/webui").await.json();
    let relay = &configuration["MessageRelay"];
    assert_eq!(relay["Enabled"], true);
    assert_eq!(relay["SMTPServer"], "smtp://relay.example:25");
}

#[tokio::test]
async fn a_mail_that_cannot_be_released_is_refused() {
    let (b, taken) = with_relay(Some("eve@z.example: 550 no"));
    let id = b.deliver(&["bob@y.example"], rich()).await;
    let to: Vec<_> = (0..101).map(|n| format!("{n}@y.example")).collect();
    let many = json!({"To": to}).to_string();
    for (id, body, status, why) in [
        (
            "unknown",
            r#"{"To": ["eve@z.example"]}"#,
            404,
            "404 page not found",
        ),
        (id.as_str(), "", 400, "the body is not of the form"),
        (&id, r#"{"To": []}"#, 400, "between 1 and 100"),
        (&id, &many, 400, "between 1 and 100"),
        (&id, r#"{"To": ["eve"]}"#, 400, "invalid To address"),
        (&id, r#"{"Recipients": []}"#, 400, "unknown field"),
    ] {
        let (got, text) = release(&b, id, body).await;
        assert_eq!(got, status, "{body}: {text}");
        assert!(text.contains(why), "{text}");
    }
    assert!(taken.lock().unwrap().is_empty());
    let refused = release(&b, &id, r#"{"To": ["eve@z.example"]}"#).await;
    assert_eq!(
        refused,
        (400, "SMTP error: eve@z.example: 550 no".to_owned())
    );
    let bare = b.deliver(&["bob@y.example"], "Subject: x\r\n\r\n").await;
    let (status, text) = release(&b, &bare, r#"{"To": ["eve@z.example"]}"#).await;
    assert_eq!(
        (status, text.as_str()),
        (400, "the mail has no From header")
    );
    // Without a relay.
    let b = Box::new();
    let id = b.deliver(&["bob@y.example"], rich()).await;
    let (status, text) = release(&b, &id, r#"{"To": ["eve@z.example"]}"#).await;
    assert_eq!(status, 400);
    assert!(text.contains("--release-relay"), "{text}");
    let configuration = b.get("/api/v1/webui").await.json();
    assert_eq!(configuration["MessageRelay"]["Enabled"], false);
}
