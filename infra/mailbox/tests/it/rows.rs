//! What becomes of rows beside their mails: deleted, erased, dropped for room, opened from an older file, and
//! their events posted again.

use std::sync::{Arc, Mutex};

use axum::http::StatusCode;
use futures_util::FutureExt as _;
use posthaste_mailbox::{
    AcceptedMail, DeliveryStatus, Lookup, Mailbox, PostAgain, PostSpan, Sources,
};
use posthaste_model::{EmailAddress, Verp};
use serde_json::json;

use crate::copies::{account, copy, lines, message, note, record, request};
use crate::support::{Box, clock, mail};

#[tokio::test]
async fn a_late_event_brings_back_no_copy_that_was_deleted() {
    let b = Box::new();
    b.mailbox
        .expect(request(1, &["ann@x.example", "bob@x.example"]))
        .await
        .unwrap();
    record(&b, 1, 0, "ann@x.example").await;
    b.ask("DELETE", "/api/v1/messages", &[], "").await;
    assert_eq!(note(&b, 1, 0, DeliveryStatus::Delivered, "").await, []);
    assert_eq!(note(&b, 1, 1, DeliveryStatus::Dropped, "Spam").await, []);
    assert!(b.get("/").await.html().contains("0 messages"));
    // One that was never seen is reported.
    let unknown = note(&b, 7, 0, DeliveryStatus::Dropped, "Spam").await;
    assert_eq!(unknown, [copy(7, 0)]);
    // Its mail is shown all the same.
    record(&b, 1, 1, "bob@x.example").await;
    assert_eq!(lines(&b, "/").await, ["bob@x.example"]);
}

#[tokio::test]
async fn a_request_that_could_not_be_queued_is_taken_back() {
    let b = Box::new();
    for n in 1..=2 {
        b.mailbox
            .expect(request(n, &["ann@x.example"]))
            .await
            .unwrap();
    }
    record(&b, 2, 0, "ann@x.example").await;
    for n in 1..=2 {
        b.mailbox.withdraw(account(1), message(n)).await.unwrap();
    }
    assert_eq!(b.subjects("/api/v1/messages").await, ["Request 2"]);
    assert_eq!(lines(&b, "/").await.len(), 1);
}

#[tokio::test]
async fn an_erased_address_has_no_mail_left_and_others_keep_theirs() {
    let b = Box::new();
    let other = AcceptedMail {
        account: account(2),
        ..request(9, &["ann@x.example"])
    };
    b.mailbox.expect(other).await.unwrap();
    let to = ["ann@x.example", "bob@x.example", "annabel@x.example"];
    b.mailbox.expect(request(1, &to)).await.unwrap();
    record(&b, 1, 0, "Ann@X.example").await;
    b.deliver(
        &["ann@x.example"],
        mail("f@y.example", "ann@x.example", "x", "y"),
    )
    .await;
    let ann = EmailAddress::parse("Ann@x.example").unwrap();
    assert_eq!(b.mailbox.erase(account(1), &ann).await.unwrap(), 2);
    assert_eq!(
        lines(&b, "/").await,
        ["annabel@x.example", "bob@x.example", "ann@x.example"]
    );
    assert_eq!(b.mailbox.erase(account(1), &ann).await.unwrap(), 0);
    assert_eq!(note(&b, 1, 0, DeliveryStatus::Delivered, "").await, []);
    assert_eq!(lines(&b, "/").await.len(), 3);
}

#[tokio::test]
async fn copies_make_room_as_mails_do() {
    let b = Box::with(Sources::default(), 10);
    for n in 0..30 {
        b.mailbox
            .expect(request(n, &["ann@x.example", "bob@x.example"]))
            .await
            .unwrap();
    }
    assert_eq!(lines(&b, "/").await.len(), 10);
    let many: Vec<String> = (0..100).map(|n| format!("user{n}@x.example")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    b.mailbox.expect(request(40, &many)).await.unwrap();
    assert!(lines(&b, "/").await.len() <= 20);
    assert_eq!(lines(&b, "/").await[0], "user99@x.example");
}

#[tokio::test]
async fn a_file_of_the_first_version_opens_with_its_mails() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mailbox.sqlite");
    let old = rusqlite::Connection::open(&file).unwrap();
    old.execute_batch(include_str!("first_version.sql"))
        .unwrap();
    drop(old);
    let mailbox = Mailbox::open(Some(dir.path().to_owned()), 10, clock()).unwrap();
    let router = mailbox.clone().router(Sources::default());
    let b = Box { mailbox, router };
    assert_eq!(b.subjects("/api/v1/messages").await, ["two", "one"]);
    assert_eq!(b.get("/api/v1/messages").await.json()["unread"], 1);
    assert_eq!(
        b.subjects("/api/v1/search?query=is:delivered").await.len(),
        2
    );
    b.mailbox
        .expect(request(1, &["eve@x.example"]))
        .await
        .unwrap();
    assert_eq!(lines(&b, "/").await[0], "eve@x.example");
}

/// The copy whose events are posted again, and the one event that is asked for.
type PostedAgain = (Option<Verp>, Option<String>);

#[tokio::test]
async fn events_of_a_copy_are_posted_again_one_or_all() {
    let asked: Arc<Mutex<Vec<PostedAgain>>> = Arc::default();
    let log = Arc::clone(&asked);
    let post_again: PostAgain = Arc::new(move |trace, event| {
        let mut log = log.lock().unwrap();
        log.push((trace.verp, event));
        let done = if log.len() < 3 {
            Ok(1)
        } else {
            Err("no <webhook>".to_owned())
        };
        async move { done }.boxed()
    });
    let events: Lookup = Arc::new(|_| {
        let event = json!({"event": "processed", "timestamp": 1, "sg_event_id": "abc"});
        async move { vec![event] }.boxed()
    });
    let sources = Sources {
        events: Some(events),
        post_again: Some(post_again),
        ..Sources::default()
    };
    let b = Box::with(sources, 10);
    let id = record(&b, 1, 0, "ann@x.example").await;
    let html = b.get(&format!("/message/{id}?view=events")).await.html();
    let form = format!("action=\"/message/{id}/post\"");
    assert_eq!(html.matches(&form).count(), 2, "{html}");
    let path = format!("/message/{id}/post");
    for (form, status) in [
        ("event=abc", StatusCode::SEE_OTHER),
        ("", StatusCode::SEE_OTHER),
        ("", StatusCode::BAD_REQUEST),
    ] {
        let answer = b.ask("POST", &path, &[], form).await;
        assert_eq!(answer.status, status, "{form}");
        let refused = status == StatusCode::BAD_REQUEST;
        assert_eq!(answer.html().contains("no &lt;webhook&gt;"), refused);
    }
    let asked = asked.lock().unwrap().clone();
    assert_eq!(asked[0], (Some(copy(1, 0)), Some("abc".to_owned())));
    assert_eq!(asked[1], (Some(copy(1, 0)), None));
    // A mail of another program has no events to post.
    let id = b
        .deliver(
            &["a@x.example"],
            mail("f@x.example", "a@x.example", "s", "hi"),
        )
        .await;
    let html = b.get(&format!("/message/{id}?view=events")).await.html();
    assert!(!html.contains("Post again"), "{html}");
}

#[tokio::test]
async fn events_of_a_span_of_time_are_posted_again() {
    let asked: Arc<Mutex<Vec<(i64, i64)>>> = Arc::default();
    let log = Arc::clone(&asked);
    let post_span: PostSpan = Arc::new(move |first, last| {
        log.lock().unwrap().push((first.0, last.0));
        let done = if last.0 == 9 {
            Err("no <webhook>".to_owned())
        } else {
            Ok("2 <events> are posted again.".to_owned())
        };
        async move { done }.boxed()
    });
    let events: Lookup = Arc::new(|_| {
        let event = |at: i64| json!({"event": "processed", "timestamp": at, "sg_event_id": "abc"});
        let events = vec![event(1_795_780_800), event(1_795_780_805)];
        async move { events }.boxed()
    });
    let sources = Sources {
        events: Some(events),
        post_span: Some(post_span),
        ..Sources::default()
    };
    let b = Box::with(sources, 10);
    let id = record(&b, 1, 0, "ann@x.example").await;
    let html = b.get(&format!("/message/{id}?view=events")).await.html();
    for part in [
        format!("action=\"/message/{id}/post-span\""),
        "name=\"from\" value=\"2026-11-27T12:00:00\"".to_owned(),
        "name=\"to\" value=\"2026-11-27T12:00:05\"".to_owned(),
    ] {
        assert!(html.contains(&part), "{part}: {html}");
    }
    let path = format!("/message/{id}/post-span");
    for (form, status, said) in [
        (
            "from=2026-11-27T12:00&to=2026-11-27T12:00:05",
            StatusCode::OK,
            "2 &lt;events&gt; are posted again.",
        ),
        ("from=8&to=9", StatusCode::BAD_REQUEST, "no &lt;webhook&gt;"),
        (
            "from=9&to=8",
            StatusCode::BAD_REQUEST,
            "ends before it begins",
        ),
        ("from=&to=8", StatusCode::BAD_REQUEST, "A time is not one"),
        ("", StatusCode::BAD_REQUEST, "A time is not one"),
    ] {
        let answer = b.ask("POST", &path, &[], form).await;
        assert_eq!(answer.status, status, "{form}");
        let html = answer.html();
        assert!(html.contains(said), "{form}: {html}");
        assert!(html.contains("<h2>Webhooks</h2>"), "{form}: {html}");
    }
    let asked = asked.lock().unwrap().clone();
    assert_eq!(asked, [(1_795_780_800, 1_795_780_805), (8, 9)]);
}
