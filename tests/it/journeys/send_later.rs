//! Mails that leave later, by a clock that the test moves.

use reqwest::Method;
use serde_json::{Value, json};

use crate::service::{Service, mail};

async fn batch(service: &Service) -> String {
    let answer = service
        .call(Method::POST, "/v3/mail/batch", &json!({}))
        .await;
    assert_eq!(answer.status(), 201);
    let body: Value = answer.json().await.unwrap();
    body["batch_id"].as_str().unwrap().to_owned()
}

fn later(to: &str, at: i64, batch: &str) -> Value {
    let mut request = mail(to);
    request["send_at"] = at.into();
    request["batch_id"] = batch.into();
    request
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_mail_leaves_at_its_time_and_not_before() {
    let service = Service::start().await;
    let mut request = mail("late@example.com");
    request["send_at"] = (service.now() + 7200).into();
    service.send(&request).await;
    service.send(&mail("now@example.com")).await;

    assert_eq!(
        service.mails(1).await[0]["Subject"],
        "Hello now@example.com"
    );
    service.pass(7100).await;
    service.send(&mail("between@example.com")).await;
    assert_eq!(service.mails(2).await.len(), 2);
    service.pass(100).await;
    assert_eq!(
        service.mails(3).await[0]["Subject"],
        "Hello late@example.com"
    );
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_batch_is_discarded_at_its_time() {
    let service = Service::start().await;
    let batch = batch(&service).await;
    let id = service
        .send(&later("a@example.com", service.now() + 3600, &batch))
        .await;

    let hold = json!({"batch_id": batch, "status": "cancel"});
    let answer = service
        .call(Method::POST, "/v3/user/scheduled_sends", &hold)
        .await;
    assert_eq!(answer.status(), 201);
    service.pass(3600).await;

    assert_eq!(service.states(&id, 1).await, ["Dropped"]);
    assert_eq!(
        service.events(&id).await,
        [("dropped".to_owned(), Some("Cancelled".to_owned()))]
    );
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_batch_waits_past_its_time_and_leaves_when_the_pause_is_removed() {
    let service = Service::start().await;
    let batch = batch(&service).await;
    service
        .send(&later("a@example.com", service.now() + 3600, &batch))
        .await;
    let hold = json!({"batch_id": batch, "status": "pause"});
    let answer = service
        .call(Method::POST, "/v3/user/scheduled_sends", &hold)
        .await;
    assert_eq!(answer.status(), 201);

    service.pass(4000).await;
    service.send(&mail("probe@example.com")).await;
    assert_eq!(
        service.mails(1).await[0]["Subject"],
        "Hello probe@example.com"
    );

    let path = format!("/v3/user/scheduled_sends/{batch}");
    assert_eq!(
        service
            .call(Method::DELETE, &path, &json!({}))
            .await
            .status(),
        204
    );
    assert_eq!(service.mails(2).await.len(), 2);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_lies_past_the_horizon_or_names_no_batch_is_refused() {
    let service = Service::start().await;
    let mut far = mail("a@example.com");
    far["send_at"] = (service.now() + 72 * 3600 + 60).into();
    let mut unknown = mail("a@example.com");
    unknown["batch_id"] = "no-such-batch".into();
    for (request, field) in [(far, "send_at"), (unknown, "batch_id")] {
        let answer = service.call(Method::POST, "/v3/mail/send", &request).await;
        assert_eq!(answer.status(), 400);
        let body: Value = answer.json().await.unwrap();
        assert_eq!(body["errors"][0]["field"], field);
    }
    service.stop().await;
}
