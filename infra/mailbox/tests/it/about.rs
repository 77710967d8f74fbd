//! What Mailpit's calls lack: events, the state of the mailbox, the body alone.

use std::sync::{Arc, Mutex};

use axum::http::StatusCode;
use futures_util::FutureExt as _;
use posthaste_mailbox::{Lookup, Sources, StoredEnvelope, Trace};
use posthaste_model::{AccountId, MessageId, Verp};
use serde_json::json;

use crate::support::{Box, mail, rich};

#[tokio::test]
async fn the_sources_are_requests_about_the_right_copy() {
    let requests: Arc<Mutex<Vec<Trace>>> = Arc::default();
    let log = Arc::clone(&requests);
    let events: Lookup = Arc::new(move |trace: Trace| {
        log.lock().unwrap().push(trace);
        async { vec![json!({"event": "delivered"})] }.boxed()
    });
    let sources = Sources {
        events: Some(events),
        ..Sources::default()
    };
    let b = Box::with(sources, 10);
    let verp = Verp {
        account: AccountId::parse("abcdefghij").unwrap(),
        message: MessageId::from_bytes([7; 16]),
        recipient: 3,
    };
    let envelope = StoredEnvelope {
        from: format!("{}@bounce.example", verp.local(9)),
        to: vec!["ann@x.example".to_owned()],
        peer: "127.0.0.1:1".to_owned(),
    };
    let raw = mail("f@x.example", "ann@x.example", "one", "hi");
    b.mailbox
        .deliver(envelope.clone(), raw.into())
        .await
        .unwrap();
    let answer = b.get("/api/v1/message/latest/events").await.json();
    let want = json!({"Envelope": {"From": envelope.from, "To": envelope.to, "Peer": "127.0.0.1:1"},
        "Events": [{"event": "delivered"}], "Webhooks": []});
    assert_eq!(answer, want);
    let trace = requests.lock().unwrap().pop().unwrap();
    assert_eq!(trace.message_id, "one@sender.example");
    assert_eq!(trace.verp, Some(verp));
    assert_eq!(trace.recipients, ["ann@x.example"]);
}

#[tokio::test]
async fn info_counts_what_came_and_went() {
    let b = Box::with(Sources::default(), 2);
    for n in 0..3 {
        b.deliver(
            &["a@x.example"],
            mail("f@x.example", "a@x.example", &format!("m{n}"), "hi"),
        )
        .await;
    }
    let info = b.get("/api/v1/info").await.json();
    assert_eq!(info["Messages"], 2);
    assert_eq!(info["Unread"], 2);
    assert_eq!(info["Database"], ":memory:");
    assert!(info["DatabaseSize"].as_u64().unwrap() > 0);
    assert_eq!(info["RuntimeStats"]["SMTPAccepted"], 3);
    assert_eq!(info["RuntimeStats"]["MessagesDeleted"], 1);
    for path in ["/livez", "/readyz"] {
        assert_eq!(b.get(path).await.text(), "ok");
    }
}

#[tokio::test]
async fn the_body_alone_is_served_for_tests() {
    let b = Box::new();
    let id = b.deliver(&["bob@y.example"], rich()).await;
    let html = b.get(&format!("/view/{id}.html")).await;
    let want = format!("<p>Hello <img src=\"/api/v1/message/{id}/part/1.2\"></p>");
    assert_eq!(html.text(), want);
    assert_eq!(html.header("content-type"), "text/html; charset=utf-8");
    assert_eq!(html.header("referrer-policy"), "no-referrer");
    let text = b.get("/view/latest.txt").await;
    assert_eq!(text.text(), "Hello plain");
    assert_eq!(text.header("content-type"), "text/plain; charset=utf-8");
    b.deliver(
        &["bob@y.example"],
        mail("f@x.example", "bob@y.example", "plain", "hi"),
    )
    .await;
    let none = b.get("/view/latest.html").await;
    let why = "This message does not contain a HTML part";
    assert_eq!(
        (none.status, none.text()),
        (StatusCode::NOT_FOUND, why.to_owned())
    );
}
