//! Tags: of categories, of a header, and as the REST calls set them.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::copies::{record, request};
use crate::support::{Box, mail};

async fn tags_of(b: &Box, id: &str) -> Value {
    b.get(&format!("/api/v1/message/{id}")).await.json()["Tags"].clone()
}

async fn put(b: &Box, path: &str, body: &Value) -> (StatusCode, String) {
    let answer = b.ask("PUT", path, &[], &body.to_string()).await;
    (answer.status, answer.text())
}

fn ok() -> (StatusCode, String) {
    (StatusCode::OK, "ok".to_owned())
}

/// A mail with this `X-Tags` header.
async fn tagged(b: &Box, tags: &str) -> String {
    let raw = format!("X-Tags: {tags}\r\nSubject: {tags}\r\n\r\nhi\r\n");
    b.deliver(&["a@x.example"], raw).await
}

#[tokio::test]
async fn categories_and_the_key_of_a_send_are_tags_and_user_name_of_its_copies() {
    let b = Box::new();
    let to = ["ann@x.example", "bob@x.example"];
    b.mailbox.expect(request(1, &to)).await.unwrap();
    // Before its mail arrives, a copy has none that the calls know.
    assert_eq!(b.get("/api/v1/tags").await.json(), json!([]));
    let id = record(&b, 1, 1, "bob@x.example").await;
    let message = b.get(&format!("/api/v1/message/{id}")).await.json();
    assert_eq!(message["Tags"], json!(["order", "request 1"]));
    assert_eq!(message["Username"], "shop key");
    let list = b.get("/api/v1/messages").await.json();
    assert_eq!(list["messages"][0]["Tags"], message["Tags"]);
    assert_eq!(list["messages"][0]["Username"], "shop key");
    assert_eq!(list["tags"], json!(["order", "request 1"]));
    let info = b.get("/api/v1/info").await.json();
    assert_eq!(info["Tags"], json!({"order": 1, "request 1": 1}));
    // Another program's mail has neither.
    let raw = mail("f@x.example", "a@x.example", "other", "hi");
    let id = b.deliver(&["a@x.example"], raw).await;
    let message = b.get(&format!("/api/v1/message/{id}")).await.json();
    assert_eq!(
        (&message["Tags"], &message["Username"]),
        (&json!([]), &json!(""))
    );
}

/// Scheduled mail gets a new place in the list when it leaves.
#[tokio::test]
async fn a_copy_keeps_its_tags_at_a_new_place() {
    let b = Box::new();
    let mut scheduled = request(1, &["ann@x.example"]);
    for copy in &mut scheduled.copies {
        copy.leaves = Some(posthaste_model::Timestamp(
            crate::support::NOON / 1000 + 1_000,
        ));
    }
    b.mailbox.expect(scheduled).await.unwrap();
    let id = record(&b, 1, 0, "ann@x.example").await;
    assert_eq!(tags_of(&b, &id).await, json!(["order", "request 1"]));
}

#[tokio::test]
async fn tags_are_searched_in_any_letter_case() {
    let b = Box::new();
    tagged(&b, "News, Big sale").await;
    tagged(&b, "news").await;
    b.deliver(&["a@x.example"], "Subject: none\r\n\r\n").await;
    for (query, want) in [
        ("tag:news", &["news", "News, Big sale"][..]),
        ("tag:%22BIG%20sale%22", &["News, Big sale"]),
        ("-tag:news", &["none"]),
        ("is:tagged", &["news", "News, Big sale"]),
        ("-is:tagged", &["none"]),
        ("tag:ne", &[]),
    ] {
        let found = b.subjects(&format!("/api/v1/search?query={query}")).await;
        assert_eq!(found, want, "{query}");
    }
    // One tag has one name, that of the first mail.
    assert_eq!(
        b.get("/api/v1/tags").await.json(),
        json!(["Big sale", "News"])
    );
}

#[tokio::test]
async fn tags_of_messages_are_replaced() {
    let b = Box::new();
    let first = tagged(&b, "one, two").await;
    let second = tagged(&b, "two").await;
    let body = json!({"IDs": [first, "unknown"], "Tags": ["three", "Three", " two "]});
    assert_eq!(put(&b, "/api/v1/tags", &body).await, ok());
    assert_eq!(tags_of(&b, &first).await, json!(["three", "two"]));
    assert_eq!(tags_of(&b, &second).await, json!(["two"]));
    assert_eq!(b.get("/api/v1/tags").await.json(), json!(["three", "two"]));
    for body in [
        json!({"IDs": [first], "Tags": []}),
        json!({"ids": [second]}),
    ] {
        assert_eq!(put(&b, "/api/v1/tags", &body).await, ok());
    }
    assert_eq!(b.get("/api/v1/tags").await.json(), json!([]));
}

#[tokio::test]
async fn a_tag_is_renamed_and_deleted_on_every_message() {
    let b = Box::new();
    let first = tagged(&b, "one, two").await;
    let second = tagged(&b, "one").await;
    assert_eq!(
        put(&b, "/api/v1/tags/one", &json!({"Name": "1 st"})).await,
        ok()
    );
    assert_eq!(tags_of(&b, &first).await, json!(["1 st", "two"]));
    assert_eq!(tags_of(&b, &second).await, json!(["1 st"]));
    assert_eq!(
        put(&b, "/api/v1/tags/1%20st", &json!({"Name": "1 ST"})).await,
        ok()
    );
    assert_eq!(tags_of(&b, &second).await, json!(["1 ST"]));
    let gone = b.ask("DELETE", "/api/v1/tags/1%20ST", &[], "").await;
    assert_eq!((gone.status, gone.text()), ok());
    assert_eq!(tags_of(&b, &first).await, json!(["two"]));
    let list = b.get("/api/v1/messages").await.json();
    assert_eq!(list["total"], 2);
}

#[tokio::test]
async fn what_cannot_be_done_with_tags_is_refused_and_changes_nothing() {
    let b = Box::new();
    let id = tagged(&b, "one, two").await;
    let many: Vec<_> = (0..101).map(|n| n.to_string()).collect();
    for (path, body, why) in [
        (
            "/api/v1/tags",
            json!({"IDs": [id], "Tag": ["x"]}),
            "unknown field",
        ),
        ("/api/v1/tags", json!({"Tags": ["x"]}), "missing field"),
        (
            "/api/v1/tags",
            json!({"IDs": id, "Tags": ["x"]}),
            "invalid type",
        ),
        (
            "/api/v1/tags",
            json!({"IDs": [id], "Tags": ["<>"]}),
            "invalid tag name",
        ),
        (
            "/api/v1/tags",
            json!({"IDs": [id], "Tags": many}),
            "more than 100",
        ),
        ("/api/v1/tags", json!([]), "an object is expected"),
        (
            "/api/v1/tags/one",
            json!({"Name": "two"}),
            "tag already exists: two",
        ),
        ("/api/v1/tags/one", json!({"Name": "!"}), "invalid tag name"),
        ("/api/v1/tags/one", json!({}), "missing field"),
        (
            "/api/v1/tags/three",
            json!({"Name": "x"}),
            "tag not found: three",
        ),
    ] {
        let (status, text) = put(&b, path, &body).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
        assert!(text.contains(why), "{text}");
    }
    let gone = b.ask("DELETE", "/api/v1/tags/three", &[], "").await;
    assert_eq!(gone.status, StatusCode::BAD_REQUEST);
    assert_eq!(tags_of(&b, &id).await, json!(["one", "two"]));
}

#[tokio::test]
async fn the_tags_of_deleted_messages_are_gone_and_come_back_with_them() {
    let b = Box::new();
    let id = tagged(&b, "one").await;
    tagged(&b, "two").await;
    let delete = format!("/message/{id}/delete");
    b.ask("POST", &delete, &[], "").await;
    assert_eq!(b.get("/api/v1/tags").await.json(), json!(["two"]));
    b.ask("POST", "/restore", &[], "").await;
    assert_eq!(b.get("/api/v1/tags").await.json(), json!(["one", "two"]));
    b.ask("DELETE", "/api/v1/messages", &[], "").await;
    assert_eq!(b.get("/api/v1/tags").await.json(), json!([]));
}

/// A search with days in another zone may delete other mails than meant.
#[tokio::test]
async fn a_zone_other_than_utc_is_refused_where_it_would_count() {
    let b = Box::new();
    tagged(&b, "one").await;
    for (path, status) in [
        (
            "/api/v1/search?query=before:2026-11-28&tz=Pacific/Auckland",
            400,
        ),
        ("/api/v1/search?query=before:2026-11-28&tz=UTC", 200),
        ("/api/v1/search?query=one&tz=Pacific/Auckland", 200),
    ] {
        assert_eq!(b.get(path).await.status.as_u16(), status, "{path}");
    }
    let path = "/api/v1/search?query=before:2027-01-01&tz=Pacific/Auckland";
    let refused = b.ask("DELETE", path, &[], "").await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    let body = json!({"Search": "after:2026-01-01", "Read": true});
    let path = "/api/v1/messages?tz=Pacific/Auckland";
    assert_eq!(put(&b, path, &body).await.0, StatusCode::BAD_REQUEST);
    assert_eq!(b.get("/api/v1/messages").await.json()["unread"], 1);
}
