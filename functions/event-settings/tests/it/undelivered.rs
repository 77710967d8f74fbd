//! Dead letters: listed, and sent again.

use http::StatusCode;
use posthaste_model::{Event, EventKind, Timestamp, WebhookId};
use posthaste_queue::{Retry, WebhookRetry};
use posthaste_store::DeadLetter;
use serde_json::{Value, json};

use crate::test_app::TestApp;

const LIST: &str = "/v3/user/webhooks/event/undelivered";
const REPLAY: &str = "/v3/user/webhooks/event/undelivered/replay";

async fn bury(app: &TestApp, webhook: u8, at: i64) {
    let account = &app.tenant.account.id;
    let webhook = WebhookId::from_bytes([webhook; 16]);
    let event = Event::new(
        format!("open-0-{at}"),
        account.clone(),
        EventKind::Open,
        Timestamp(at),
        "a@b.co".to_owned(),
    );
    let waiting = WebhookRetry {
        retry: Retry {
            account: account.clone(),
            webhook: webhook.clone(),
            attempt: 19,
            not_before: Timestamp(0),
            last: String::new(),
        },
        events: vec![event],
    };
    let letter = DeadLetter {
        account: account.clone(),
        webhook,
        first: Timestamp(at),
        last: Timestamp(at),
        events: 1,
        died_at: Timestamp(at + 86_400),
        attempts: 19,
        reason: "answered 500".to_owned(),
        message: waiting.to_texts().unwrap().remove(0),
    };
    app.store
        .put_dead_letter(&letter, Timestamp(4_000_000_000))
        .await
        .unwrap();
}

async fn times(app: &TestApp, query: &str) -> Vec<i64> {
    let (status, body) = app.call("GET", &format!("{LIST}?{query}"), None).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    let letters = body["result"].as_array().unwrap().iter();
    letters
        .map(|l| l["first_event_at"].as_i64().unwrap())
        .collect()
}

#[tokio::test]
async fn letters_are_listed_by_time_and_webhook_in_pages() {
    let app = TestApp::new().await;
    for at in [300, 100, 200] {
        bury(&app, 1, at).await;
        bury(&app, 1, at).await;
    }
    bury(&app, 2, 150).await;

    let (_, body) = app.call("GET", &format!("{LIST}?until=100"), None).await;
    let webhook = WebhookId::from_bytes([1; 16]);
    assert_eq!(
        body,
        json!({"next": null, "result": [{
            "webhook_id": webhook, "events": 1, "first_event_at": 100, "last_event_at": 100,
            "gave_up_at": 86_500, "attempts": 19, "reason": "answered 500",
        }]})
    );
    assert_eq!(times(&app, "").await, [100, 150, 200, 300]);
    assert_eq!(times(&app, "since=150&until=200").await, [150, 200]);
    assert_eq!(times(&app, "since=151&until=199").await, [0; 0]);
    assert_eq!(
        times(&app, &format!("webhook_id={webhook}")).await,
        [100, 200, 300]
    );

    let mut seen = Vec::new();
    let mut after = String::new();
    loop {
        let (_, body) = app
            .call("GET", &format!("{LIST}?limit=3{after}"), None)
            .await;
        let letters = body["result"].as_array().unwrap().iter();
        seen.extend(letters.map(|l| l["first_event_at"].as_i64().unwrap()));
        let Some(next) = body["next"].as_str() else {
            break;
        };
        after = format!("&after={}", next.replace('#', "%23"));
    }
    assert_eq!(seen, [100, 150, 200, 300]);
    assert_eq!(times(&app.stranger().await, "").await, [0; 0]);
}

#[tokio::test]
async fn a_wrong_query_is_refused_with_every_problem() {
    let app = TestApp::new().await;
    let path = format!(
        "{LIST}?since=x&until=&limit=0&webhook_id=7&after={}",
        "9".repeat(1025)
    );
    let (status, body) = app.call("GET", &path, None).await;
    let fields: Vec<_> = body["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| &e["field"])
        .collect();
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(fields, ["since", "until", "after", "limit", "webhook_id"]);
}

#[tokio::test]
async fn replayed_letters_are_on_the_queue_and_no_longer_dead() {
    let app = TestApp::new().await;
    for at in [100, 200, 300] {
        bury(&app, 1, at).await;
    }
    let choice = json!({"since": 150, "until": 250});
    let (status, body) = app.call("POST", REPLAY, Some(choice)).await;
    assert_eq!(
        (status, body),
        (StatusCode::ACCEPTED, json!({"events": 1, "more": false}))
    );
    let sent = app.queues.drain("retries");
    assert_eq!(sent.len(), 1);
    let waiting = WebhookRetry::from_text(&sent[0].0).unwrap();
    assert_eq!(
        (waiting.retry.attempt, waiting.retry.not_before),
        (0, app.hand.now())
    );
    assert_eq!(waiting.events[0].at, Timestamp(200));
    assert_eq!(times(&app, "").await, [100, 300]);

    let (_, body) = app.call("POST", REPLAY, None).await;
    assert_eq!(body["events"], json!(2));
    assert_eq!(times(&app, "").await, [0; 0]);
}

#[tokio::test]
async fn a_replay_that_the_queue_refuses_loses_nothing() {
    let app = TestApp::new().await;
    bury(&app, 1, 100).await;
    app.queues.set_broken(true);
    let (status, _) = app.call("POST", REPLAY, None).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(times(&app, "").await, [100]);
    let (status, body) = app
        .call("POST", REPLAY, Some(json!({"webhook_id": "x"})))
        .await;
    assert_eq!(
        (status, &body["errors"][0]["field"]),
        (StatusCode::BAD_REQUEST, &Value::from("webhook_id"))
    );
}
