//! A mail that the relay took and that comes back later.

use std::time::Duration;

use posthaste_testkit::Receiver;
use reqwest::Method;
use serde_json::{Value, json};

use crate::service::{Service, mail};

const REPORT: &str = include_str!("../../../functions/ses-feedback/tests/samples/failed.eml");

#[tokio::test(flavor = "multi_thread")]
async fn a_bounce_by_mail_reaches_the_webhook_and_the_list() {
    let service = Service::start().await;
    let receiver = Receiver::start().await.unwrap();
    let hook = json!({"url": receiver.url(), "enabled": true, "bounce": true});
    let path = "/v3/user/webhooks/event/settings";
    let made = service.call(Method::POST, path, &hook).await;
    assert_eq!(made.status(), 201);
    let id = service.send(&mail("ann@example.com")).await;
    let mails = service.mails(1).await;
    assert_eq!(service.states(&id, 1).await, ["Delivered"]);
    let whole = service.open(&mails[0]).await;
    let sender = whole["ReturnPath"].as_str().unwrap();
    assert!(sender.starts_with("b-"), "{sender}");

    let report = REPORT.replace("{verp}", sender);
    let (_, invented) = sender.split_once('-').unwrap();
    let (refused, _) = service.hand_in("", &format!("x-{invented}"), &report).await;
    assert!(refused.starts_with("550 5.1.1"), "{refused}");
    let (taken, kept) = service.hand_in("", sender, &report).await;
    assert!(
        taken.starts_with("250") && kept.starts_with("250"),
        "{taken} {kept}"
    );

    let post = receiver.next(Duration::from_secs(30)).await.unwrap();
    let told: Value = serde_json::from_slice(&post.body).unwrap();
    assert_eq!(told[0]["event"], "bounce");
    assert_eq!(told[0]["type"], "bounce");
    assert_eq!(told[0]["email"], "ann@example.com");
    assert_eq!(told[0]["bounce_classification"], "Invalid Address");
    assert_eq!(service.states(&id, 1).await, ["Bounced"]);
    let list = service
        .call(
            Method::GET,
            "/v3/suppression/bounces/ann@example.com",
            &json!({}),
        )
        .await;
    let list: Value = list.json().await.unwrap();
    assert_eq!(list[0]["email"], "ann@example.com");

    // The search knows it, and then nobody does.
    let path = "/v3/messages?query=to_email%3D%22ann@example.com%22";
    // Its rows are written after the posts.
    let searched = async || {
        let found = service.call(Method::GET, path, &json!({})).await;
        let found: Value = found.json().await.unwrap();
        (found["messages"][0]["status"] == "not_delivered").then_some(())
    };
    service
        .wait_for("the search finds the bounce", searched)
        .await;
    let path = "/v3/messages/recipients/ann@example.com?suppressions=true";
    let erased = service.call(Method::DELETE, path, &json!({})).await;
    assert_eq!(erased.status(), 202);
    service.pass(60).await;
    let erased = service.call(Method::DELETE, path, &json!({})).await;
    assert_eq!(erased.status(), 204);
    let path = format!("/v3/messages/{id}");
    assert_eq!(
        service.call(Method::GET, &path, &json!({})).await.status(),
        404
    );
    // Nothing was sent in answer, and the mail to the address is erased from the mailbox too.
    assert_eq!(service.recorded().await, Some(0));
    service.stop().await;
}
