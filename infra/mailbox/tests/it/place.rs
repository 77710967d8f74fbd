//! Where a reader is: the place in the list, what was deleted, and the path that the mailbox lies under.

use axum::http::StatusCode;
use posthaste_mailbox::{Mailbox, Sources};

use crate::copies::lines;
use crate::support::{Box, clock, mail, rich};

async fn filled(mails: usize) -> (Box, Vec<String>) {
    let b = Box::new();
    let mut ids = Vec::new();
    for n in 0..mails {
        let raw = mail("f@x.example", "a@x.example", &format!("m{n}"), "hi");
        ids.push(b.deliver(&[&format!("a{n}@x.example")], raw).await);
    }
    (b, ids)
}

#[tokio::test]
async fn a_mail_far_down_opens_beside_the_part_of_the_list_that_has_it() {
    let (b, ids) = filled(120).await;
    for (n, range) in [(119, "1–50"), (70, "1–50"), (69, "51–100"), (0, "101–120")] {
        let html = b.get(&format!("/message/{}", ids[n])).await.html();
        assert!(html.contains(&format!("{range} of 120")), "{n}");
        assert!(html.contains("aria-current=\"true\""), "{n}");
    }
    // A place that the link names stays.
    let html = b
        .get(&format!("/message/{}?start=100", ids[110]))
        .await
        .html();
    assert!(html.contains("101–120 of 120"));
}

#[tokio::test]
async fn a_mail_that_is_gone_has_a_page() {
    let (b, ids) = filled(2).await;
    b.ask(
        "DELETE",
        "/api/v1/messages",
        &[],
        &format!("{{\"IDs\":[\"{}\"]}}", ids[0]),
    )
    .await;
    for id in [ids[0].as_str(), "nonsense"] {
        let page = b.get(&format!("/message/{id}")).await;
        assert_eq!(page.status, StatusCode::NOT_FOUND);
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
        let html = page.html();
        assert!(
            html.contains("This message is gone.") && html.contains("m1"),
            "{html}"
        );
    }
}

#[tokio::test]
async fn the_last_deletion_can_be_undone_and_no_earlier_one() {
    let (b, ids) = filled(4).await;
    assert!(!b.get("/").await.html().contains("Undo"));
    let delete = async |n: usize| {
        let path = format!("/message/{}/delete", ids[n]);
        b.ask("POST", &path, &[], "").await;
    };
    delete(0).await;
    assert!(b.get("/").await.html().contains("1 deleted."));
    assert_eq!(b.get("/api/v1/messages").await.json()["total"], 3);
    let gone = b.get(&format!("/message/{}", ids[0])).await;
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
    b.ask("POST", "/restore", &[], "").await;
    assert_eq!(lines(&b, "/").await.len(), 4);
    let list = b.get("/api/v1/messages").await.json();
    assert_eq!((&list["total"], &list["unread"]), (&4.into(), &4.into()));

    delete(0).await;
    delete(1).await;
    b.ask("POST", "/clear", &[], "q=to:a3").await;
    assert!(b.get("/").await.html().contains("1 deleted."));
    b.ask("POST", "/restore", &[], "").await;
    b.ask("POST", "/restore", &[], "").await;
    assert_eq!(lines(&b, "/").await, ["a3@x.example", "a2@x.example"]);
}

#[tokio::test]
async fn what_was_deleted_takes_no_room() {
    let mailbox = Mailbox::open(None, 3, clock()).unwrap();
    let router = mailbox.clone().router(Sources::default());
    let b = Box { mailbox, router };
    for n in 0..3 {
        let raw = mail("f@x.example", "a@x.example", &format!("m{n}"), "hi");
        b.deliver(&["a@x.example"], raw).await;
    }
    let newest = b.get("/api/v1/message/latest").await.json();
    let path = format!("/message/{}/delete", newest["ID"].as_str().unwrap());
    b.ask("POST", &path, &[], "").await;
    let raw = mail("f@x.example", "a@x.example", "m3", "hi");
    b.deliver(&["a@x.example"], raw).await;
    assert_eq!(b.subjects("/api/v1/messages").await, ["m3", "m1", "m0"]);
    assert!(!b.get("/").await.html().contains("Undo"));
}

#[tokio::test]
async fn attachments_are_counted_one_way() {
    let b = Box::new();
    let id = b.deliver(&["bob@y.example"], rich()).await;
    let listed = b.get("/api/v1/messages").await.json()["messages"][0]["Attachments"].clone();
    let html = b.get(&format!("/message/{id}")).await.html();
    let shown = format!("Attachments <span class=\"count\">{listed}</span>");
    assert!(html.contains(&shown), "{listed}: {html}");
    let clip = format!("attachments: </span>{listed}</span>");
    assert!(html.contains(&clip), "{html}");
}

#[tokio::test]
async fn a_dark_preview_is_a_link_away() {
    let b = Box::new();
    let raw =
        "Content-Type: text/html\r\n\r\n<style>@media (prefers-color-scheme: dark){p{}}</style>";
    let id = b.deliver(&["a@x.example"], raw).await;
    let html = b.get(&format!("/message/{id}")).await.html();
    assert!(html.contains("view=html&amp;dark=1"), "{html}");
    let html = b
        .get(&format!("/message/{id}?dark=1&images=1"))
        .await
        .html();
    assert!(
        html.contains(".html?embed=1&amp;images=1&amp;dark=1"),
        "{html}"
    );
    let frame = b.get(&format!("/view/{id}.html?dark=1")).await.text();
    assert!(frame.contains("color-scheme:dark") && frame.contains("(min-width:0)"));
    let frame = b.get(&format!("/view/{id}.html")).await.text();
    assert!(frame.contains("(prefers-color-scheme: dark)"));
}

/// Where links, forms, pictures and scripts of a page lead, less those within it.
fn links(html: &str) -> Vec<&str> {
    let names = ["href=\"", "src=\"", "action=\""];
    let all = names.into_iter().flat_map(|name| html.split(name).skip(1));
    let links: Vec<_> = all.map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(links.len() > 5, "{html}");
    links
        .into_iter()
        .filter(|link| !link.starts_with('#'))
        .collect()
}

#[tokio::test]
async fn a_mailbox_under_a_path_answers_there_and_links_there() {
    let mailbox = Mailbox::open(None, 10, clock()).unwrap();
    let mailbox = mailbox.under_path("/tools/mail");
    let router = mailbox.clone().router(Sources::default());
    let b = Box { mailbox, router };
    let id = b.deliver(&["bob@y.example"], rich()).await;
    for path in ["/tools/mail/", "/"] {
        for link in links(&b.get(path).await.html()) {
            assert!(link.starts_with("/tools/mail/"), "{path}: {link}");
        }
    }
    let home = b.get("/tools/mail").await;
    assert_eq!(home.status, StatusCode::PERMANENT_REDIRECT);
    assert_eq!(home.header("location"), "/tools/mail/");
    for view in ["", "files", "events", "source"] {
        let html = b
            .get(&format!("/tools/mail/message/{id}?view={view}"))
            .await
            .html();
        for link in links(&html) {
            assert!(link.starts_with("/tools/mail/"), "{view}: {link}");
        }
    }
    let frame = b.get(&format!("/tools/mail/view/{id}.html")).await.text();
    assert!(
        frame.contains("src=\"/tools/mail/api/v1/message/"),
        "{frame}"
    );
    for path in [
        "style.css",
        "app.js",
        "icon.svg",
        "livez",
        "api/v1/info",
        "list",
    ] {
        let answer = b.get(&format!("/tools/mail/{path}")).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
    }
    let deleted = b
        .ask("POST", &format!("/tools/mail/message/{id}/delete"), &[], "")
        .await;
    assert_eq!(deleted.header("location"), "/tools/mail/");
    let unknown = b.get("/tools/other").await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    let foreign = b
        .ask("GET", "/tools/mail/", &[("host", "evil.example.com")], "")
        .await;
    assert_eq!(foreign.status, StatusCode::FORBIDDEN);
}
