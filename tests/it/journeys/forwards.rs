//! Bounces forwarded by mail: only once the owner of the address wants it.

use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::service::{Service, mail};

const REPORT: &str = include_str!("../../../functions/ses-feedback/tests/samples/failed.eml");
const SETTING: &str = "/v3/mail_settings/forward_bounce";

/// Sends a mail, which the relay takes, and hands in its bounce; waits until the search has it,
/// which is written with what is forwarded.
async fn bounce(service: &Service, to: &str, recorded: usize) {
    let id = service.send(&mail(to)).await;
    let mails = service.mails(recorded + 1).await;
    assert_eq!(service.states(&id, 1).await, ["Delivered"]);
    let whole = service.open(&mails[0]).await;
    let sender = whole["ReturnPath"].as_str().expect("a return path");
    let (taken, kept) = service
        .hand_in("", sender, &REPORT.replace("{verp}", sender))
        .await;
    assert!(taken.starts_with("250") && kept.starts_with("250"));
    let path = format!(
        "/v3/messages?query=to_email%3D%22{}%22",
        to.replace('@', "%40")
    );
    let searched = async || {
        let found = service.call(Method::GET, &path, &json!({})).await;
        let found: Value = found.json().await.expect("JSON");
        (found["messages"][0]["status"] == "not_delivered").then_some(())
    };
    service
        .wait_for("the search finds the bounce", searched)
        .await;
}

fn subjects(mails: &[Value]) -> impl Iterator<Item = &str> {
    mails.iter().filter_map(|mail| mail["Subject"].as_str())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bounce_is_forwarded_once_the_address_is_confirmed() {
    let service = Service::start().await;
    let setting = json!({"email": "ops@elsewhere.example", "enabled": true});
    let stored = service.call(Method::PATCH, SETTING, &setting).await;
    assert_eq!(stored.status(), 200);
    let stored: Value = stored.json().await.expect("JSON");
    assert_eq!(stored, setting, "stored and answered as ever");
    let letter = service.mails(1).await.swap_remove(0);
    let letter = service.open(&letter).await;
    assert_eq!(letter["To"][0]["Address"], "ops@elsewhere.example");
    let text = letter["Text"].as_str().expect("a text");
    let link = text.lines().find(|line| line.starts_with("http://"));
    let link = link.expect("a link on a line of its own");

    bounce(&service, "ann@example.com", 1).await;

    // As a person's browser would, without a key.
    let browser = Client::new();
    let page = browser.get(link).send().await.expect("the page");
    assert_eq!(page.status(), 200);
    bounce(&service, "eve@example.com", 2).await;
    let pressed = browser.post(link).send().await.expect("the page");
    assert_eq!(pressed.status(), 200);

    bounce(&service, "bob@example.com", 3).await;
    let mails = service.mails(5).await;
    let forwarded: Vec<_> = subjects(&mails)
        .filter(|subject| subject.starts_with("Bounce: "))
        .collect();
    // One of three: what bounced before the button was pressed stays where it was.
    assert_eq!(forwarded, ["Bounce: bob@example.com"]);
    assert_eq!(service.recorded().await, Some(5));
    service.stop().await;
}
