//! What a search finds.

use axum::http::StatusCode;

use crate::support::{Box, mail, rich};

async fn filled() -> Box {
    let b = Box::new();
    b.deliver(
        &["ann@x.example"],
        mail(
            "Shop <shop@s.example>",
            "Ann Ä <ann@x.example>",
            "Order one",
            "red shoes, size 40",
        ),
    )
    .await;
    b.deliver(
        &["bob@x.example"],
        mail(
            "Shop <shop@s.example>",
            "bob@x.example",
            "Order two",
            "blue shoes",
        ),
    )
    .await;
    b.deliver(&["zoe@y.example"], rich()).await;
    b.get("/api/v1/message/latest?query=subject%3Atwo").await;
    b
}

#[tokio::test]
async fn a_search_finds_by_field_word_and_phrase() {
    let b = filled().await;
    for (search, want) in [
        ("shoes", &["Order two", "Order one"][..]),
        ("SHOES red", &["Order one"]),
        ("\"red shoes\"", &["Order one"]),
        ("\"shoes red\"", &[]),
        ("to:ann", &["Order one"]),
        ("to:\"ann ä\"", &["Order one"]),
        ("from:shop@s.example", &["Order two", "Order one"]),
        ("from:shop -to:bob", &["Order one"]),
        ("subject:\"order one\"", &["Order one"]),
        ("subject:grüße", &["Grüße 🎉"]),
        ("🎉", &["Grüße 🎉"]),
        ("cc:ZOË", &["Grüße 🎉"]),
        ("to:zoe", &["Grüße 🎉"]),
        ("rcpt:zoe@y.example", &["Grüße 🎉"]),
        ("addressed:desk", &["Grüße 🎉"]),
        ("message-id:RICH.1", &["Grüße 🎉"]),
        ("größe.csv", &["Grüße 🎉"]),
        ("has:attachment", &["Grüße 🎉"]),
        ("has:inline", &["Grüße 🎉"]),
        ("is:read", &["Order two"]),
        ("is:unread", &["Grüße 🎉", "Order one"]),
        ("after:2026-11-27T12:00:03Z", &["Grüße 🎉"]),
        ("before:2026-11-27T12:00:02Z", &["Order one"]),
        ("larger:1k", &["Grüße 🎉"]),
        ("tag:x", &[]),
        ("100%", &[]),
        ("' OR 1=1 --", &[]),
    ] {
        let query: String = url::form_urlencoded::byte_serialize(search.as_bytes()).collect();
        let found = b.subjects(&format!("/api/v1/search?query={query}")).await;
        assert_eq!(found, want, "{search}");
    }
}

#[tokio::test]
async fn a_search_counts_what_it_found_beside_what_there_is() {
    let b = filled().await;
    let found = b
        .get("/api/v1/search?query=shoes&limit=1&start=1")
        .await
        .json();
    let counts = [
        "total",
        "unread",
        "count",
        "messages_count",
        "messages_unread",
        "start",
    ];
    let counts: Vec<_> = counts
        .iter()
        .map(|name| found[name].as_u64().unwrap())
        .collect();
    assert_eq!(counts, [3, 2, 1, 2, 1, 1]);
    for path in ["/api/v1/search", "/api/v1/search?query=%20"] {
        let none = b.get(path).await;
        let want = (StatusCode::BAD_REQUEST, "Error: no search query".to_owned());
        assert_eq!((none.status, none.text()), want);
    }
}
