//! Other sites can neither read, nor change, nor embed.

use axum::http::StatusCode;

use crate::support::{Box, mail};

async fn full() -> Box {
    let b = Box::new();
    b.deliver(
        &["a@x.example"],
        mail("f@x.example", "a@x.example", "one", "hi"),
    )
    .await;
    b
}

const CHANGES: [(&str, &str); 5] = [
    ("DELETE", "/api/v1/messages"),
    ("DELETE", "/api/v1/search?query=one"),
    ("PUT", "/api/v1/messages"),
    ("POST", "/clear"),
    ("POST", "/read"),
];

#[tokio::test]
async fn another_site_changes_nothing() {
    let host = ("host", "localhost:8025");
    for headers in [
        &[host, ("origin", "https://evil.example")][..],
        &[host, ("origin", "null")],
        &[host, ("origin", "http://localhost:3000")],
        &[host, ("origin", "http://localhost:80250")],
        &[host, ("sec-fetch-site", "cross-site")],
        &[host, ("sec-fetch-site", "same-site")],
        &[
            host,
            ("sec-fetch-site", "cross-site"),
            ("origin", "http://localhost:8025"),
        ],
        &[
            ("host", "rebound.example"),
            ("origin", "http://rebound.example"),
        ],
        &[("host", "rebound.example")],
    ] {
        let b = full().await;
        for (method, path) in CHANGES {
            let done = b.ask(method, path, headers, r#"{"Read":true}"#).await;
            assert_eq!(
                done.status,
                StatusCode::FORBIDDEN,
                "{method} {path} {headers:?}"
            );
        }
        let unread = b.subjects("/api/v1/search?query=is:unread").await;
        assert_eq!(unread, ["one"], "{headers:?}");
    }
}

#[tokio::test]
async fn the_page_itself_and_programs_do() {
    let host = ("host", "localhost:8025");
    for headers in [
        &[][..],
        &[host],
        &[host, ("origin", "http://localhost:8025")],
        &[
            host,
            ("sec-fetch-site", "same-origin"),
            ("origin", "http://localhost:8025"),
        ],
        // A page under `no-referrer` says so; it is the page all the same.
        &[host, ("sec-fetch-site", "same-origin"), ("origin", "null")],
        &[
            ("host", "posthaste:8025"),
            ("origin", "http://posthaste:8025"),
        ],
        &[("host", "[::1]:8025"), ("origin", "http://[::1]:8025")],
    ] {
        let b = full().await;
        let done = b.ask("DELETE", "/api/v1/messages", headers, "").await;
        assert_eq!(done.status, StatusCode::OK, "{headers:?}");
        assert_eq!(b.subjects("/api/v1/messages").await, [""; 0]);
    }
}

#[tokio::test]
async fn a_strange_host_name_reads_nothing_unless_it_was_given() {
    let b = full().await;
    let host = [("host", "mail.example.com:8025")];
    let paths = [
        "/",
        "/api/v1/messages",
        "/api/v1/message/latest/raw",
        "/live",
        "/style.css",
    ];
    for path in paths {
        let done = b.ask("GET", path, &host, "").await;
        assert_eq!(done.status, StatusCode::FORBIDDEN, "{path}");
        assert!(!done.text().contains("one"));
    }
    let named = b
        .mailbox
        .clone()
        .answering_to(["Mail.Example.com".to_owned()]);
    let b = Box {
        router: named.clone().router(Default::default()),
        mailbox: named,
    };
    assert_eq!(b.ask("GET", "/", &host, "").await.status, StatusCode::OK);
}

#[tokio::test]
async fn other_sites_cannot_embed_what_is_here_but_may_link_to_it() {
    let b = full().await;
    let id = b.get("/api/v1/messages").await.json()["messages"][0]["ID"]
        .as_str()
        .unwrap()
        .to_owned();
    let part = format!("/api/v1/message/{id}/part/0");
    for (path, mode, want) in [
        ("/api/v1/messages", "no-cors", StatusCode::FORBIDDEN),
        (
            "/api/v1/message/latest/part/0",
            "no-cors",
            StatusCode::FORBIDDEN,
        ),
        ("/app.js", "no-cors", StatusCode::FORBIDDEN),
        ("/", "navigate", StatusCode::OK),
        // The frame of a mail has no origin, so its own pictures come as from another site.
        (part.as_str(), "no-cors", StatusCode::OK),
    ] {
        let headers = [
            ("host", "localhost"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", mode),
        ];
        let done = b.ask("GET", path, &headers, "").await;
        assert_eq!(done.status, want, "{path}");
    }
    let done = b.get("/api/v1/messages").await;
    assert!(done.headers.get("access-control-allow-origin").is_none());
    assert_eq!(done.header("x-frame-options"), "SAMEORIGIN");
    assert!(
        done.header("content-security-policy")
            .contains("frame-ancestors 'none'")
    );
}
