//! The limits that a clock decides: until when a batch can be stopped, and how long a pause keeps.

use reqwest::Method;
use serde_json::{Value, json};

use crate::service::{Service, mail};

const HOLDS: &str = "/v3/user/scheduled_sends";

/// A mail of a new batch that leaves in so many seconds: its id and the batch's.
async fn scheduled(service: &Service, seconds: i64) -> (String, String) {
    let answer = service
        .call(Method::POST, "/v3/mail/batch", &json!({}))
        .await;
    let made: Value = answer.json().await.expect("JSON");
    let batch = made["batch_id"].as_str().expect("an id").to_owned();
    let mut request = mail("ann@example.com");
    request["send_at"] = json!(service.now() + seconds);
    request["batch_id"] = json!(batch);
    (service.send(&request).await, batch)
}

async fn hold(service: &Service, batch: &str, status: &str) -> (u16, Value) {
    let body = json!({"batch_id": batch, "status": status});
    let answer = service.call(Method::POST, HOLDS, &body).await;
    (answer.status().as_u16(), answer.json().await.expect("JSON"))
}

async fn dropped(service: &Service, message: &str) -> Vec<(String, Option<String>)> {
    assert_eq!(service.states(message, 1).await, ["Dropped"]);
    service.events(message).await
}

fn reason(word: &str) -> (String, Option<String>) {
    ("dropped".to_owned(), Some(word.to_owned()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_can_be_stopped_up_to_ten_minutes_before_its_time() {
    for status in ["cancel", "pause"] {
        let service = Service::start().await;
        let (_, late) = scheduled(&service, 599).await;
        // What is accepted in the second of a hold counts as added after it, and is held.
        service.pass(1).await;
        let (code, answer) = hold(&service, &late, status).await;
        assert_eq!(code, 400, "{status}");
        assert_eq!(answer["errors"][0]["field"], "batch_id");
        let want = "every message of this batch leaves within 10 minutes and can no longer be \
            cancelled or paused";
        assert_eq!(answer["errors"][0]["message"], want);
        let (message, early) = scheduled(&service, 601).await;
        service.pass(1).await;
        let (code, _) = hold(&service, &early, status).await;
        assert_eq!(code, 201, "{status}");

        service.pass(600).await;
        assert_eq!(service.mails(1).await.len(), 1, "the late one left");
        if status == "cancel" {
            assert_eq!(dropped(&service, &message).await, [reason("Cancelled")]);
        }
        service.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_mail_is_kept_for_72_hours_and_not_longer() {
    const KEPT: i64 = 72 * 3600;
    let service = Service::start().await;
    let (kept, first) = scheduled(&service, 3600).await;
    let (lost, second) = scheduled(&service, 3600).await;
    for batch in [&first, &second] {
        assert_eq!(hold(&service, batch, "pause").await.0, 201);
    }
    service.pass(3600).await;

    // 72 hours old is not older.
    service.pass(KEPT).await;
    let path = format!("{HOLDS}/{first}");
    let answer = service.call(Method::DELETE, &path, &json!({})).await;
    assert_eq!(answer.status(), 204);
    assert_eq!(service.states(&kept, 1).await, ["Delivered"]);

    service.pass(1).await;
    assert_eq!(dropped(&service, &lost).await, [reason("Expired")]);
    assert_eq!(service.mails(1).await.len(), 1);
    service.stop().await;
}
