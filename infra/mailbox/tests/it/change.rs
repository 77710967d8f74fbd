//! Calls that delete and mark.

use axum::http::StatusCode;
use serde_json::json;

use crate::support::{Box, mail};

async fn three() -> (Box, Vec<String>) {
    let b = Box::new();
    let mut ids = Vec::new();
    for subject in ["one", "two", "three"] {
        let to = format!("{subject}@x.example");
        ids.push(
            b.deliver(&[&to], mail("f@x.example", &to, subject, "hi"))
                .await,
        );
    }
    (b, ids)
}

async fn left(b: &Box) -> Vec<String> {
    b.subjects("/api/v1/messages").await
}

#[tokio::test]
async fn named_messages_are_deleted_in_whatever_case_the_field_is_written() {
    for field in ["IDs", "ids", "Ids"] {
        let (b, ids) = three().await;
        let body = json!({ field: [ids[0], ids[2], "unknown"] }).to_string();
        let done = b.ask("DELETE", "/api/v1/messages", &[], &body).await;
        assert_eq!(
            (done.status, done.text()),
            (StatusCode::OK, "ok".to_owned())
        );
        assert_eq!(left(&b).await, ["two"]);
        let list = b.get("/api/v1/messages").await.json();
        assert_eq!((&list["total"], &list["unread"]), (&json!(1), &json!(1)));
    }
}

#[tokio::test]
async fn a_body_that_names_nothing_deletes_everything() {
    for body in ["", " ", "{}", "null", r#"{"IDs":[]}"#, r#"{"IDs":null}"#] {
        let (b, _) = three().await;
        let done = b.ask("DELETE", "/api/v1/messages", &[], body).await;
        assert_eq!(done.status, StatusCode::OK, "{body}");
        assert_eq!(left(&b).await, [""; 0], "{body}");
        let info = b.get("/api/v1/info").await.json();
        assert_eq!((&info["Messages"], &info["Unread"]), (&json!(0), &json!(0)));
    }
}

#[tokio::test]
async fn a_body_that_cannot_be_read_deletes_nothing() {
    for body in ["{", "[]", "7", r#"{"IDs":"x"}"#, r#"{"IDs":[1]}"#] {
        let (b, _) = three().await;
        let done = b.ask("DELETE", "/api/v1/messages", &[], body).await;
        assert_eq!(done.status, StatusCode::BAD_REQUEST, "{body}");
        assert_eq!(left(&b).await.len(), 3, "{body}");
    }
}

#[tokio::test]
async fn what_a_search_finds_is_deleted() {
    let (b, _) = three().await;
    let done = b
        .ask("DELETE", "/api/v1/search?query=to:two", &[], "")
        .await;
    assert_eq!(done.text(), "ok");
    assert_eq!(left(&b).await, ["three", "one"]);
    let done = b.ask("DELETE", "/api/v1/search?query=", &[], "").await;
    assert_eq!(done.status, StatusCode::BAD_REQUEST);
    assert_eq!(left(&b).await.len(), 2);
}

#[tokio::test]
async fn messages_are_marked_by_id_by_search_or_all() {
    let (b, ids) = three().await;
    for (body, unread) in [
        (
            json!({"IDs": [ids[0]], "Read": true}),
            &["three", "two"][..],
        ),
        (json!({"IDs": [ids[0]], "Read": true}), &["three", "two"]),
        (json!({"Search": "subject:three", "Read": true}), &["two"]),
        (json!({"Read": true}), &[]),
        (json!({"IDs": [ids[1]], "Read": false}), &["two"]),
        (json!({}), &["three", "two", "one"]),
    ] {
        let done = b
            .ask("PUT", "/api/v1/messages", &[], &body.to_string())
            .await;
        assert_eq!(done.text(), "ok", "{body}");
        assert_eq!(
            b.subjects("/api/v1/search?query=is:unread").await,
            unread,
            "{body}"
        );
        let list = b.get("/api/v1/messages").await.json();
        assert_eq!(list["unread"], unread.len(), "{body}");
    }
    for body in [
        "",
        "{",
        r#"{"IDs":["x"],"Search":"y"}"#,
        r#"{"Read":"yes"}"#,
    ] {
        let done = b.ask("PUT", "/api/v1/messages", &[], body).await;
        assert_eq!(done.status, StatusCode::BAD_REQUEST, "{body}");
    }
}

#[tokio::test]
async fn the_forms_of_the_page_delete_mark_and_return() {
    let (b, ids) = three().await;
    let delete = format!("/message/{}/delete", ids[0]);
    for (path, body, back, want) in [
        (
            delete.as_str(),
            "q=to%3Aone&start=50",
            "/?q=to%3Aone&start=50",
            2,
        ),
        (delete.as_str(), "", "/", 2),
        ("/read", "q=to:two", "/?q=to%3Atwo", 2),
        ("/clear", "q=to:two", "/", 1),
        ("/clear", "", "/", 0),
        ("/restore", "start=50", "/?start=50", 1),
    ] {
        let done = b.ask("POST", path, &[], body).await;
        assert_eq!(done.status, StatusCode::SEE_OTHER, "{path}");
        assert_eq!(done.header("location"), back);
        assert_eq!(left(&b).await.len(), want, "{path} {body}");
        if path == "/read" {
            let read = b.subjects("/api/v1/search?query=is:read").await;
            assert_eq!(read, ["two"]);
        }
    }
}
