//! Copies of which no mail was recorded: the page has them, Mailpit's calls do not.

use axum::http::StatusCode;
use posthaste_mailbox::{
    AcceptedCopy, AcceptedMail, ApiAddress, CopyEvent, DeliveryStatus, Sources, StoredEnvelope,
};
use posthaste_model::{AccountId, MessageId, Timestamp, Verp};

use crate::support::{Box, NOON, mail};

pub(crate) fn account(n: u8) -> AccountId {
    AccountId::from_bytes([n; 10])
}

pub(crate) fn message(n: u8) -> MessageId {
    MessageId::from_bytes([n; 16])
}

pub(crate) fn copy(n: u8, recipient: u32) -> Verp {
    Verp {
        account: account(1),
        message: message(n),
        recipient,
    }
}

/// Request `n` to these recipients.
pub(crate) fn request(n: u8, to: &[&str]) -> AcceptedMail {
    let address = |address: &str| ApiAddress {
        name: String::new(),
        address: address.to_owned(),
    };
    let copies = (0..).zip(to).map(|(recipient, to)| AcceptedCopy {
        recipient,
        from: address("shop@s.example"),
        to: address(to),
        subject: format!("Request {n}"),
        leaves: None,
    });
    AcceptedMail {
        account: account(1),
        message: message(n),
        username: "shop key".to_owned(),
        categories: vec!["order".to_owned(), format!("request {n}")],
        is_sandboxed: false,
        copies: copies.collect(),
    }
}

/// The relay records the mail of a copy.
pub(crate) async fn record(b: &Box, n: u8, recipient: u32, to: &str) -> String {
    let envelope = StoredEnvelope {
        from: format!("{}@bounce.example", copy(n, recipient).local(9)),
        to: vec![to.to_owned()],
        peer: String::new(),
    };
    let everybody = "ann@x.example, bob@x.example, eve@x.example";
    let raw = mail("shop@s.example", everybody, &format!("Request {n}"), "hi");
    b.mailbox.deliver(envelope, raw.into()).await.unwrap()
}

pub(crate) async fn note(
    b: &Box,
    n: u8,
    recipient: u32,
    status: DeliveryStatus,
    reason: &str,
) -> Vec<Verp> {
    let event = CopyEvent {
        copy: copy(n, recipient),
        status,
        reason: reason.to_owned(),
    };
    b.mailbox.note(vec![event]).await.unwrap()
}

/// The recipients of the lines of the page, the first one first.
pub(crate) async fn lines(b: &Box, path: &str) -> Vec<String> {
    let html = b.get(path).await.html();
    let lines = html.split("→</span> <bdi>").skip(1);
    let to = lines.map(|line| line.split('<').next().unwrap().to_owned());
    to.collect()
}

#[tokio::test]
async fn a_copy_is_listed_with_its_state_until_its_mail_comes_and_after() {
    let b = Box::new();
    b.mailbox
        .expect(request(
            1,
            &["ann@x.example", "bob@x.example", "eve@x.example"],
        ))
        .await
        .unwrap();
    let html = b.get("/").await.html();
    assert!(html.contains("3 messages") && html.contains(">queued</b>"));
    assert!(html.contains("Request 1"));

    record(&b, 1, 1, "bob@x.example").await;
    note(&b, 1, 0, DeliveryStatus::Dropped, "Bounced Address").await;
    note(&b, 1, 2, DeliveryStatus::Deferred, "450 <later>").await;
    assert_eq!(
        lines(&b, "/").await,
        ["eve@x.example", "bob@x.example", "ann@x.example"]
    );
    let html = b.get("/").await.html();
    for want in [
        "3 messages",
        "1 new",
        ">dropped</b>",
        "Bounced Address",
        ">deferred</b>",
        "450 &lt;later&gt;",
    ] {
        assert!(html.contains(want), "{want}: {html}");
    }
    for (search, want) in [
        ("is:dropped", vec!["ann@x.example"]),
        ("is:deferred", vec!["eve@x.example"]),
        ("is:delivered", vec!["bob@x.example"]),
        ("-is:delivered", vec!["eve@x.example", "ann@x.example"]),
        ("is:queued", vec![]),
        ("to:ann", vec!["ann@x.example"]),
        ("to:bob", vec!["bob@x.example"]),
        (
            "request",
            vec!["eve@x.example", "bob@x.example", "ann@x.example"],
        ),
    ] {
        assert_eq!(lines(&b, &format!("/?q={search}")).await, want, "{search}");
    }
    let list = b.get("/api/v1/messages").await.json();
    assert_eq!((&list["total"], &list["unread"]), (&1.into(), &1.into()));
    let found = b.get("/api/v1/search?query=is:dropped").await.json();
    assert_eq!(found["messages_count"], 0);
}

#[tokio::test]
async fn a_copy_without_a_mail_opens_with_its_reason() {
    let relay = "smtp://relay.example:587";
    let sources = Sources {
        relay: Some(relay.to_owned()),
        ..Sources::default()
    };
    let b = Box::with(sources, 100);
    let empty = b.get("/").await.html();
    assert!(empty.contains(relay) && !empty.contains("goes no further"));
    b.mailbox
        .expect(request(1, &["ann@x.example"]))
        .await
        .unwrap();
    note(&b, 1, 0, DeliveryStatus::Delivered, "250 ok queued").await;
    let html = b.get("/").await.html();
    let id = html
        .split("/message/")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let page = b.get(&format!("/message/{id}")).await;
    assert_eq!(page.status, StatusCode::OK);
    let html = page.html();
    for want in [
        "Request 1",
        "ann@x.example",
        ">delivered</b>",
        "Handed to smtp://relay.example:587.",
        "250 ok queued",
        "No events yet.",
    ] {
        assert!(html.contains(want), "{want}: {html}");
    }
    for absent in ["<iframe", "Download<", "view=raw"] {
        assert!(!html.contains(absent), "{absent}: {html}");
    }
    for path in ["", "/raw", "/headers", "/part/0", "/events"] {
        let answer = b.get(&format!("/api/v1/message/{id}{path}")).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
    }
    let answer = b.get(&format!("/view/{id}.txt")).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn events_in_any_order_and_twice_leave_the_last_state() {
    use DeliveryStatus::{Bounced, Deferred, Delivered, Processed};
    for order in [
        vec![Processed, Deferred, Delivered, Bounced],
        vec![Bounced, Delivered, Deferred, Processed],
        vec![Delivered, Bounced, Bounced, Delivered],
    ] {
        let b = Box::new();
        b.mailbox
            .expect(request(1, &["ann@x.example"]))
            .await
            .unwrap();
        for status in &order {
            note(&b, 1, 0, *status, "why").await;
        }
        let html = b.get("/").await.html();
        assert!(html.contains(">bounced</b>"), "{order:?}");
    }
}

#[tokio::test]
async fn lines_are_in_the_order_of_sending_whatever_arrives_first() {
    let b = Box::new();
    for n in 1..=3 {
        b.mailbox
            .expect(request(n, &["ann@x.example"]))
            .await
            .unwrap();
    }
    for n in [3, 1, 2] {
        record(&b, n, 0, "ann@x.example").await;
    }
    let sent = b.subjects("/api/v1/messages").await;
    assert_eq!(sent, ["Request 3", "Request 2", "Request 1"]);

    // What was scheduled is sent when it leaves.
    let mut later = request(4, &["ann@x.example"]);
    later.copies[0].leaves = Some(Timestamp(NOON / 1_000 + 86_400));
    b.mailbox.expect(later).await.unwrap();
    b.mailbox
        .expect(request(5, &["ann@x.example"]))
        .await
        .unwrap();
    record(&b, 5, 0, "ann@x.example").await;
    record(&b, 4, 0, "ann@x.example").await;
    let sent = b.subjects("/api/v1/messages?limit=2").await;
    assert_eq!(sent, ["Request 4", "Request 5"]);
    assert_eq!(lines(&b, "/").await.len(), 5);
}

#[tokio::test]
async fn a_mail_that_is_handed_over_twice_is_recorded_twice() {
    let b = Box::new();
    b.mailbox
        .expect(request(1, &["ann@x.example"]))
        .await
        .unwrap();
    record(&b, 1, 0, "ann@x.example").await;
    record(&b, 1, 0, "ann@x.example").await;
    assert_eq!(b.get("/api/v1/messages").await.json()["total"], 2);
    // A late acceptance adds nothing.
    b.mailbox
        .expect(request(1, &["ann@x.example"]))
        .await
        .unwrap();
    assert_eq!(lines(&b, "/").await.len(), 2);
}

#[tokio::test]
async fn one_request_is_one_line_that_opens() {
    let b = Box::new();
    b.mailbox
        .expect(request(1, &["ann@x.example"]))
        .await
        .unwrap();
    let many: Vec<String> = (0..60).map(|n| format!("user{n}@x.example")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    b.mailbox.expect(request(2, &many)).await.unwrap();
    note(&b, 2, 5, DeliveryStatus::Dropped, "Spam").await;
    b.deliver(
        &["foreign@y.example"],
        mail("f@y.example", "foreign@y.example", "x", "y"),
    )
    .await;
    let html = b.get("/?by=request").await.html();
    assert!(html.contains("3 requests"), "{html}");
    for want in ["59 queued", "1 dropped", "+59", "aria-expanded=\"false\""] {
        assert!(html.contains(want), "{want}: {html}");
    }
    assert_eq!(
        lines(&b, "/?by=request").await,
        ["foreign@y.example", "user0@x.example", "ann@x.example"]
    );
    let name = format!("{}/{}", account(1), message(2));
    let name: String = url::form_urlencoded::byte_serialize(name.as_bytes()).collect();
    let open = format!("/?by=request&request={name}");
    assert!(html.contains(&open.replace('&', "&amp;")), "{html}");
    let opened = lines(&b, &open).await;
    assert_eq!(opened.len(), 53, "three requests, fifty copies of one");
    // A search by request, and of a request.
    assert_eq!(
        lines(&b, "/?by=request&q=is:dropped").await,
        ["user5@x.example"]
    );
    let found = b.get(&format!("/?q=request:{name}")).await.html();
    assert!(found.contains("60 found"), "{found}");
}
