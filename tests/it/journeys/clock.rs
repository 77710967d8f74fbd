//! What takes days, on a clock that is turned by hand; and runs that repeat.

use posthaste::{ClockStart, TurnableClock};
use posthaste_model::{Entropy, Timestamp};
use posthaste_testkit::{Receiver, Reply};
use reqwest::Method;
use serde_json::{Value, json};

use crate::service::{Service, mail};

/// 2026-11-29T12:00:00Z.
const NOON: i64 = 1_795_953_600;

async fn standing(seed: u64) -> Service {
    Service::with(|settings| {
        let start = ClockStart::At(Timestamp(NOON));
        let clock = TurnableClock::new(start, settings.clock.clone());
        settings.clock = clock.clock();
        settings.turnable = Some(clock);
        settings.entropy = Entropy::seeded(seed);
        // Without the port, which is another in each run.
        settings.public_url = "https://links.example".parse().ok();
    })
    .await
}

/// `/api/v1/clock` on the mailbox's port.
async fn clock(service: &Service, method: Method, body: &Value) -> (u16, String) {
    let url = format!("http://{}/api/v1/clock", service.host().mailbox);
    let request = reqwest::Client::new().request(method, url).json(body);
    let answer = request.send().await.expect("the mailbox answers");
    (
        answer.status().as_u16(),
        answer.text().await.unwrap_or_default(),
    )
}

async fn advance(service: &Service, by: &str) -> Value {
    let (status, text) = clock(service, Method::POST, &json!({"Advance": by})).await;
    assert_eq!(status, 200, "{text}");
    serde_json::from_str(&text).expect("JSON")
}

#[tokio::test(flavor = "multi_thread")]
async fn days_pass_at_once_and_all_that_is_due_is_done() {
    let service = standing(1).await;
    let receiver = Receiver::start().await.unwrap();
    receiver.always(Reply::status(500));
    let hook = json!({"url": receiver.url(), "enabled": true, "delivered": true});
    let path = "/v3/user/webhooks/event/settings";
    let made = service.call(Method::POST, path, &hook).await;
    assert_eq!(made.status(), 201);

    let mut scheduled = mail("late@example.com");
    scheduled["send_at"] = (NOON + 7200).into();
    service.send(&scheduled).await;
    let deferred = service.send(&mail("deferred@outcome.test")).await;
    let batch = service
        .call(Method::POST, "/v3/mail/batch", &json!({}))
        .await;
    let batch: Value = batch.json().await.unwrap();
    let hold = json!({"batch_id": batch["batch_id"], "status": "pause"});
    let mut paused = mail("paused@example.com");
    paused["batch_id"] = batch["batch_id"].clone();
    paused["send_at"] = (NOON + 3600).into();
    let paused = service.send(&paused).await;
    let path = "/v3/user/scheduled_sends";
    assert_eq!(service.call(Method::POST, path, &hold).await.status(), 201);

    let now = advance(&service, "7199s").await;
    assert_eq!(now["Now"], "2026-11-29T13:59:59Z");
    assert_eq!(service.recorded().await, Some(0));
    let now = advance(&service, "1s").await;
    assert_eq!(now["Now"], "2026-11-29T14:00:00Z");
    assert_eq!(
        service.mails(1).await[0]["Subject"],
        "Hello late@example.com"
    );

    advance(&service, "24h").await;
    // Each attempt at the one event, until it was given up.
    let posts = receiver.posts().len();
    assert!(posts > 5, "{posts}");
    let path = "/v3/user/webhooks/event/undelivered";
    let lost = service.call(Method::GET, path, &Value::Null).await;
    let lost: Value = lost.json().await.unwrap();
    assert_eq!(lost["result"][0]["attempts"], posts, "{lost}");

    advance(&service, "80h").await;
    assert_eq!(receiver.posts().len(), posts);
    let row = service
        .copy(&deferred, |row| format!("{:?}", row.state) == "Bounced")
        .await;
    assert!(row.deferrals() > 70, "{}", row.deferrals());
    assert_eq!(service.states(&paused, 1).await, ["Dropped"]);
    assert_eq!(service.recorded().await, Some(1));
    let (status, text) = clock(&service, Method::GET, &Value::Null).await;
    assert_eq!(status, 200);
    let shown: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        shown,
        json!({"Now": "2026-12-03T22:00:00Z", "StandsStill": true})
    );
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seed_repeats_a_mail_byte_by_byte() {
    let mut runs = Vec::new();
    for seed in [7, 7, 8] {
        let service = standing(seed).await;
        let mut request = mail("ann@example.com");
        request["content"] = json!([
            {"type": "text/plain", "value": "Hello"}, {"type": "text/html", "value": "<p>Hello</p>"}]);
        let ids = [service.send(&request).await, service.send(&request).await];
        let mails = service.mails(2).await;
        let mut raw = Vec::new();
        for mail in &mails {
            raw.push(String::from_utf8(service.raw(mail).await).unwrap());
        }
        raw.sort();
        assert!(raw[0].contains("boundary"), "{}", raw[0]);
        runs.push((ids, service.key().to_owned(), raw));
        service.stop().await;
    }
    assert_eq!(runs[0], runs[1]);
    assert_ne!(runs[0].0, runs[2].0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_turn_changes_nothing() {
    let service = standing(1).await;
    for body in [
        json!({"Advance": "-1h"}),
        json!({"Advance": 72}),
        json!({"advance": "72h"}),
        json!({}),
        json!({"Advance": "72h", "To": "now"}),
    ] {
        let (status, text) = clock(&service, Method::POST, &body).await;
        assert_eq!(status, 400, "{body}: {text}");
    }
    let (_, text) = clock(&service, Method::GET, &Value::Null).await;
    assert!(text.contains("2026-11-29T12:00:00Z"), "{text}");
    service.stop().await;
    let service = Service::start().await;
    let (status, text) = clock(&service, Method::GET, &Value::Null).await;
    assert_eq!(status, 404);
    assert!(text.contains("--clock"), "{text}");
    service.stop().await;
}
