//! What recipients do with a mail: look at it, click, leave.

use posthaste_store::VisitKind;
use reqwest::Method;
use serde_json::{Value, json};

use crate::service::Service;

const LINK: &str = "https://shop.example/sale?a=1&b=%20two";

/// A mail in HTML with a link and a way to click it wrong.
fn letter(to: &str) -> Value {
    json!({
        "personalizations": [{"to": [{"email": to}]}],
        "from": {"email": "sender@example.com"},
        "subject": "Sale",
        "content": [
            {"type": "text/plain", "value": "Look: https://shop.example/plain"},
            {"type": "text/html", "value": format!(
                "<p><a href=\"{}\">Look</a> <a clicktracking=off href=\"https://shop.example/own\">own</a></p>",
                LINK.replace('&', "&amp;")
            )},
        ],
    })
}

/// Switches a setting of the account.
async fn set(service: &Service, setting: &str, body: &Value) {
    let path = format!("/v3/{setting}");
    let answer = service.call(Method::PATCH, &path, body).await;
    assert_eq!(answer.status(), 200, "{path}");
}

/// The URLs of a text that begin like this.
fn links(text: &str, begin: &str) -> Vec<String> {
    let ends = |c: char| c.is_whitespace() || "\"'<>".contains(c);
    text.match_indices(begin)
        .filter_map(|(at, _)| text[at..].split(ends).next())
        .map(|url| url.replace("&amp;", "&"))
        .collect()
}

/// The mail that was recorded for this address.
async fn mail_to(service: &Service, to: &str, count: usize) -> Value {
    let mails = service.mails(count).await;
    let its = mails.iter().find(|mail| mail["To"][0]["Address"] == to);
    its.expect("a mail to this address").clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn opens_and_clicks_are_told_where_the_account_wants_it() {
    let service = Service::start().await;
    set(
        &service,
        "tracking_settings/open",
        &json!({"enabled": true}),
    )
    .await;
    set(
        &service,
        "tracking_settings/click",
        &json!({"enabled": true}),
    )
    .await;
    let message = service.send(&letter("ann@example.com")).await;
    let mail = mail_to(&service, "ann@example.com", 1).await;
    let whole = service.open(&mail).await;
    let (html, text) = (
        whole["HTML"].as_str().unwrap(),
        whole["Text"].as_str().unwrap(),
    );
    assert!(text.contains("Look: https://shop.example/plain"), "{text}");
    assert!(html.contains("href=\"https://shop.example/own\""), "{html}");
    let (clicks, opens) = (links(html, "http://127.0.0.1"), "/wf/open?");
    let (opens, clicks): (Vec<_>, Vec<_>) = clicks.into_iter().partition(|l| l.contains(opens));
    assert_eq!((opens.len(), clicks.len()), (1, 1), "{html}");

    let pixel = service.follow(&opens[0], None).await;
    assert_eq!(pixel.headers()["content-type"], "image/gif");
    for _ in 0..2 {
        let click = service.follow(&clicks[0], None).await;
        assert_eq!(click.status(), 302);
        assert_eq!(click.headers()["location"], LINK);
    }
    let seen = |row: &posthaste_store::Recipient| {
        row.visits(VisitKind::Open).len() == 1 && row.visits(VisitKind::Click).len() == 2
    };
    service.copy(&message, seen).await;
    let path = format!("/v3/messages/{message}");
    let told = service.call(Method::GET, &path, &json!({})).await;
    let told: Value = told.json().await.unwrap();
    let names: Vec<_> = told["events"].as_array().unwrap().iter().collect();
    let names: Vec<_> = names
        .iter()
        .map(|e| e["event_name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["processed", "delivered", "opened", "clicked", "clicked"]
    );

    // A link that somebody changed leads nowhere.
    let forged = service.follow(&format!("{}x", clicks[0]), None).await;
    assert_eq!(forged.status(), 404);

    // The request's own setting wins.
    let mut quiet = letter("bob@example.com");
    quiet["tracking_settings"] = json!({"open_tracking": {"enable": false},
        "click_tracking": {"enable": false}});
    service.send(&quiet).await;
    let whole = service
        .open(&mail_to(&service, "bob@example.com", 2).await)
        .await;
    assert!(
        !whole["HTML"].as_str().unwrap().contains("127.0.0.1"),
        "{whole}"
    );
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_unsubscribes_gets_no_more_mail() {
    let service = Service::start().await;
    set(
        &service,
        "tracking_settings/subscription",
        &json!({"enabled": true}),
    )
    .await;
    for (i, (to, form)) in [
        // The button, a mail client's own (RFC 8058), and a mail.
        ("button@example.com", Some("")),
        ("client@example.com", Some("List-Unsubscribe=One-Click")),
        ("mail@example.com", None),
    ]
    .into_iter()
    .enumerate()
    {
        let first = service.send(&letter(to)).await;
        assert_eq!(service.states(&first, 1).await, ["Delivered"]);
        let count = 1 + 2 * i;
        let mail = mail_to(&service, to, count).await;
        let heads = service.headers(&mail).await;
        assert_eq!(
            heads["List-Unsubscribe-Post"][0],
            "List-Unsubscribe=One-Click"
        );
        let header = heads["List-Unsubscribe"][0].as_str().unwrap();
        let link = links(header, "http://127.0.0.1").remove(0);
        let whole = service.open(&mail).await;
        assert!(whole["HTML"].as_str().unwrap().contains(&link), "{whole}");

        // Whoever opens links for people leaves nothing for them.
        let page = service.follow(&link, None).await;
        assert_eq!(page.status(), 200);
        assert!(page.text().await.unwrap().contains(to));
        let second = service.send(&letter(to)).await;
        assert_eq!(service.states(&second, 1).await, ["Delivered"]);

        for _ in 0..2 {
            match form {
                Some(form) => {
                    let done = service.follow(&link, Some(form)).await;
                    assert_eq!(done.status(), 200);
                }
                None => write_to(&service, header, to).await,
            }
        }
        let third = service.send(&letter(to)).await;
        let reason = Some("Unsubscribed Address".to_owned());
        assert_eq!(
            service.events(&third).await,
            [("dropped".to_owned(), reason)]
        );
        let listed = format!("/v3/asm/suppressions/global/{to}");
        let listed = service.call(Method::GET, &listed, &json!({})).await;
        let listed: Value = listed.json().await.unwrap();
        assert_eq!(listed["recipient_email"], to);
    }
    service.stop().await;
}

/// Does what a mail client does with the second address of `List-Unsubscribe`, and waits until it
/// is heeded.
async fn write_to(service: &Service, header: &str, from: &str) {
    let (_, mailto) = header.split_once(", <mailto:").unwrap();
    let (mailbox, token) = mailto
        .trim_end_matches('>')
        .split_once("?subject=")
        .unwrap();
    let mail = format!("From: {from}\r\nTo: {mailbox}\r\nSubject: {token}\r\n\r\n");
    let (taken, kept) = service.hand_in(from, mailbox, &mail).await;
    assert!(
        taken.starts_with("250") && kept.starts_with("250"),
        "{taken} {kept}"
    );
    service.suppressed(from).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn people_choose_on_the_preferences_page_what_they_get() {
    let service = Service::start().await;
    let mut groups = Vec::new();
    for name in ["News", "Offers"] {
        let body = json!({"name": name, "description": format!("{name} of the shop")});
        let made = service.call(Method::POST, "/v3/asm/groups", &body).await;
        let made: Value = made.json().await.unwrap();
        groups.push(made["id"].as_i64().unwrap());
    }
    assert_eq!(groups, [1, 2]);
    let grouped = |group: i64| {
        let mut mail = letter("ann@example.com");
        mail["asm"] = json!({"group_id": group, "groups_to_display": groups});
        mail
    };
    let end = async |mail: Value| {
        let message = service.send(&mail).await;
        service.events(&message).await.pop().unwrap()
    };
    let message = service.send(&grouped(1)).await;
    assert_eq!(service.states(&message, 1).await, ["Delivered"]);
    let mail = mail_to(&service, "ann@example.com", 1).await;
    let whole = service.open(&mail).await;
    let html = whole["HTML"].as_str().unwrap();
    let own = links(html, "http://127.0.0.1");
    let find = |part: &str| own.iter().find(|link| link.contains(part)).unwrap().clone();
    let (leave, choose) = (find("/asm/unsubscribe?"), find("/asm/preferences?"));
    let heads = service.headers(&mail).await;
    let header = heads["List-Unsubscribe"][0].as_str().unwrap();
    assert!(header.contains(&leave), "{header}");

    let page = service.follow(&choose, None).await.text().await.unwrap();
    for text in [
        "News of the shop",
        "Offers of the shop",
        "name=\"g1\" checked",
    ] {
        assert!(page.contains(text), "{page}");
    }
    // Only offers.
    let saved = service.follow(&choose, Some("g2=on")).await;
    assert!(saved.text().await.unwrap().contains("Saved."));
    let dropped = (
        "dropped".to_owned(),
        Some("Unsubscribed Address".to_owned()),
    );
    assert_eq!(end(grouped(1)).await, dropped);
    assert_eq!(end(grouped(2)).await.0, "delivered");
    assert_eq!(end(letter("ann@example.com")).await.0, "delivered");
    // News again, and off the other by its own link.
    service.follow(&choose, Some("g1=on&g2=on")).await;
    assert_eq!(end(grouped(1)).await.0, "delivered");
    service
        .follow(&leave, Some("List-Unsubscribe=One-Click"))
        .await;
    assert_eq!(end(grouped(1)).await, dropped);
    // Nothing at all.
    service.follow(&choose, Some("g1=on&g2=on&all=on")).await;
    assert_eq!(end(grouped(2)).await, dropped);
    assert_eq!(end(letter("ann@example.com")).await, dropped);
    service.stop().await;
}
