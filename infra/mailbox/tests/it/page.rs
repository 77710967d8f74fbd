//! The page without its script: list, open, search, clear.

use axum::http::StatusCode;
use futures_util::FutureExt as _;
use http_body_util::BodyExt as _;
use posthaste_mailbox::Sources;
use serde_json::json;
use std::sync::Arc;
use tower::ServiceExt as _;

use crate::support::{Box, mail, rich};

fn sources() -> Sources {
    Sources {
        events: Some(Arc::new(|_| {
            async {
                vec![json!({"event": "bounce", "timestamp": 1_795_780_800, "reason": "550 <no>"})]
            }
            .boxed()
        })),
        webhooks: Some(Arc::new(|_| {
            async { vec![json!({"url": "http://h.example", "status": 503, "answer": "busy"})] }
                .boxed()
        })),
        ..Sources::default()
    }
}

#[tokio::test]
async fn the_list_shows_the_mails_and_a_search_the_ones_it_finds() {
    let b = Box::new();
    let empty = b.get("/").await.html();
    assert!(empty.contains("No mail yet") && empty.contains("0 messages"));
    b.deliver(
        &["ann@x.example"],
        mail("Shop <s@s.example>", "ann@x.example", "Order one", "red"),
    )
    .await;
    b.deliver(&["bob@x.example"], rich()).await;
    let page = b.get("/").await;
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    let html = page.html();
    for want in [
        "2 messages",
        "2 new",
        "Order one",
        "Grüße 🎉",
        "Shop",
        "ann@x.example",
        "Clear…",
    ] {
        assert!(html.contains(want), "{want}");
    }
    let found = b.get("/?q=subject%3Aorder").await.html();
    assert!(found.contains("1 found") && found.contains("Order one"));
    assert!(!found.contains("Grüße"));
    assert!(found.contains("value=\"subject:order\""));
    assert!(
        b.get("/?q=nothing")
            .await
            .html()
            .contains("Nothing matches.")
    );
}

#[tokio::test]
async fn long_lists_have_pages_that_keep_the_search() {
    let b = Box::new();
    for n in 0..120 {
        b.deliver(
            &["a@x.example"],
            mail("f@x.example", "a@x.example", &format!("m{n}"), "hi"),
        )
        .await;
    }
    let html = b.get("/?q=f%40x.example&start=50").await.html();
    assert!(html.contains("51–100 of 120"));
    assert!(html.contains("href=\"/?q=f%40x.example\">Newer"), "{html}");
    assert!(html.contains("href=\"/?q=f%40x.example&amp;start=100\">Older"));
    let last = b.get("/?start=100").await.html();
    assert!(last.contains("101–120 of 120") && !last.contains(">Older<"));
    assert!(
        b.get("/?start=5000")
            .await
            .html()
            .contains("No older messages.")
    );
}

#[tokio::test]
async fn every_view_of_a_message_shows_what_it_promises() {
    let b = Box::with(sources(), 10);
    let id = b.deliver(&["bob@y.example"], rich()).await;
    let frame = format!("src=\"/view/{id}.html?embed=1\"");
    let part = format!("/api/v1/message/{id}/part/2");
    for (view, wants) in [
        (
            "",
            vec![
                frame.as_str(),
                "sandbox=\"allow-popups allow-popups-to-escape-sandbox\"",
                "Phone width",
            ],
        ),
        ("html", vec![frame.as_str()]),
        ("text", vec!["Hello plain"]),
        ("source", vec!["&lt;p&gt;Hello &lt;img"]),
        ("headers", vec!["Message-ID", "&lt;rich.1@x.example&gt;"]),
        ("raw", vec!["Content-Type: multipart/mixed"]),
        (
            "files",
            vec![
                "größe.csv",
                "a b.pdf",
                "pic.png",
                "another form of the body",
                &part,
            ],
        ),
        (
            "events",
            vec![
                "bounce",
                "550 &lt;no&gt;",
                "http://h.example",
                "503",
                "busy",
            ],
        ),
        ("unknown", vec![frame.as_str()]),
    ] {
        let html = b.get(&format!("/message/{id}?view={view}")).await.html();
        for want in wants {
            assert!(html.contains(want), "{view}: {want}\n{html}");
        }
        let people = [
            "Ferro, Ann &lt;ann@x.example&gt;",
            "Zoë",
            "desk@x.example",
            "bounce@sender.example",
            "rich.1@x.example",
        ];
        for want in people {
            assert!(html.contains(want), "{view}: {want}");
        }
    }
    let list = b.get("/api/v1/messages").await.json();
    assert_eq!(list["unread"], 0);
}

#[tokio::test]
async fn a_mail_without_html_opens_as_text() {
    let b = Box::new();
    let id = b
        .deliver(
            &["a@x.example"],
            mail("f@x.example", "a@x.example", "s", "just words"),
        )
        .await;
    for view in ["", "html", "source", "files"] {
        let html = b.get(&format!("/message/{id}?view={view}")).await.html();
        assert!(html.contains("just words"), "{view}");
        assert!(!html.contains("<iframe") && !html.contains("HTML source"));
    }
}

#[tokio::test]
async fn remote_pictures_are_offered_and_loaded_only_on_demand() {
    let b = Box::new();
    let raw = "Content-Type: text/html\r\n\r\n<img src=http://r.example/a.png>";
    let id = b.deliver(&["a@x.example"], raw).await;
    let html = b.get(&format!("/message/{id}")).await.html();
    assert!(html.contains("Remote pictures are not loaded."));
    let html = b.get(&format!("/message/{id}?images=1")).await.html();
    assert!(html.contains("Remote pictures are shown."));
    assert!(html.contains(".html?embed=1&amp;images=1"));
    for (query, remote) in [("", false), ("?images=0", false), ("?images=1", true)] {
        let frame = b.get(&format!("/view/{id}.html{query}")).await;
        let policy = frame.header("content-security-policy");
        assert_eq!(
            policy.contains("img-src 'self' data: http: https:;"),
            remote
        );
        assert!(
            policy.starts_with("default-src 'none';") && policy.contains("sandbox allow-popups")
        );
        assert!(!policy.contains("script-src") && !policy.contains("allow-scripts"));
    }
}

#[tokio::test]
async fn the_page_runs_only_its_own_script() {
    let b = Box::new();
    let page = b.get("/").await;
    let policy = page.header("content-security-policy");
    for want in [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "frame-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.contains(want), "{want}");
    }
    assert!(!policy.contains("unsafe"));
    assert_eq!(page.header("x-content-type-options"), "nosniff");
    assert_eq!(page.header("cache-control"), "no-store");
    let html = page.html();
    assert!(
        !html.contains("http://") && !html.contains("https://"),
        "no external assets"
    );
    for (path, kind) in [
        ("/style.css", "text/css; charset=utf-8"),
        ("/app.js", "text/javascript; charset=utf-8"),
        ("/icon.svg", "image/svg+xml; charset=utf-8"),
    ] {
        let asset = b.get(path).await;
        assert_eq!(
            (asset.status, asset.header("content-type")),
            (StatusCode::OK, kind)
        );
        assert!(html.contains(path));
    }
}

#[tokio::test]
async fn open_pages_get_changes_until_the_mailbox_closes() {
    let b = Box::new();
    let request = axum::http::Request::get("/live")
        .body(axum::body::Body::empty())
        .unwrap();
    let response = b.router.clone().oneshot(request).await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut body = response.into_body();
    for n in 1..=2 {
        b.deliver(
            &["a@x.example"],
            mail("f@x.example", "a@x.example", "s", "hi"),
        )
        .await;
        let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(frame, format!("event: change\ndata: {n}\n\n"));
    }
    b.mailbox.close();
    assert!(body.frame().await.is_none());
}

#[tokio::test]
async fn an_open_page_gets_what_changed_without_the_rest() {
    let b = Box::with(sources(), 10);
    let id = b.deliver(&["bob@y.example"], rich()).await;
    let list = b.get(&format!("/list?open={id}")).await.html();
    assert!(list.starts_with("<section id=\"list\"") && !list.contains("<html"));
    assert!(list.contains("Grüße 🎉") && list.contains("aria-current=\"true\""));
    assert!(!b.get("/list").await.html().contains("aria-current"));
    let update = b.get(&format!("/message/{id}/events")).await.html();
    for want in [
        "id=\"status\"",
        "id=\"events\"",
        "bounce",
        "550 &lt;no&gt;",
        "busy",
    ] {
        assert!(update.contains(want), "{want}");
    }
    let unread = b.subjects("/api/v1/search?query=is:unread").await;
    assert_eq!(unread.len(), 1, "an update leaves the mail unread");
    let gone = b.get("/message/nope/events").await;
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
}
