//! What the webhooks answered, beside the mail it was about.

use std::time::Duration;

use posthaste_testkit::{Receiver, Reply};
use reqwest::Method;
use serde_json::{Value, json};

use crate::service::{Service, mail};

#[tokio::test(flavor = "multi_thread")]
async fn the_mailbox_shows_what_a_webhook_answered() {
    let service = Service::start().await;
    let receiver = Receiver::start().await.unwrap();
    receiver.always(Reply::with_body(202, "thanks <b>a lot</b>"));
    let hook = json!({"url": receiver.url(), "enabled": true, "delivered": true});
    let path = "/v3/user/webhooks/event/settings";
    let made = service.call(Method::POST, path, &hook).await;
    assert_eq!(made.status(), 201);

    service.send(&mail("ann@example.com")).await;

    let mails = service.mails(1).await;
    let answers = service.answers(&mails[0]).await;
    assert_eq!(answers.len(), 1, "{answers:?}");
    let answer = &answers[0];
    assert_eq!(answer["status"], 202);
    assert_eq!(answer["answer"], "thanks <b>a lot</b>");
    assert_eq!(answer["attempt"], 1);
    assert_eq!(answer["url"], receiver.url());
    assert_eq!(answer["events"], json!(["delivered"]));
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_mailbox_shows_events_as_they_are_posted_and_posts_them_again() {
    const PATIENCE: Duration = Duration::from_secs(30);
    let service = Service::start().await;
    let receiver = Receiver::start().await.unwrap();
    let hook =
        json!({"url": receiver.url(), "enabled": true, "processed": true, "delivered": true});
    let path = "/v3/user/webhooks/event/settings";
    let made = service.call(Method::POST, path, &hook).await;
    let made: Value = made.json().await.unwrap();
    let path = format!("{path}/signed/{}", made["id"].as_str().unwrap());
    let signed = service
        .call(Method::PATCH, &path, &json!({"enabled": true}))
        .await;
    assert_eq!(signed.status(), 200);

    service.send(&mail("ann@example.com")).await;
    let mails = service.mails(1).await;
    let first = receiver.next(PATIENCE).await.unwrap();
    let answers = service.answers(&mails[0]).await;
    let body: Value = serde_json::from_slice(&first.body).unwrap();
    assert_eq!(answers[0]["body"], body);
    assert!(
        answers[0]["signature"]
            .as_str()
            .is_some_and(|one| one.len() > 40)
    );

    let page = format!(
        "http://{}/message/{}",
        service.host().mailbox,
        mails[0]["ID"].as_str().unwrap()
    );
    let html = service.follow(&format!("{page}?view=events"), None).await;
    let html = html.text().await.unwrap();
    for name in ["sg_event_id", "sg_message_id", "smtp-id", "timestamp"] {
        assert!(html.contains(name), "{name}: {html}");
    }
    let mut posted: Vec<Value> = body.as_array().unwrap().clone();
    while posted.len() < 2 {
        let next = receiver.next(PATIENCE).await.unwrap();
        posted.extend(serde_json::from_slice::<Vec<Value>>(&next.body).unwrap());
    }
    let again = service.follow(&format!("{page}/post"), Some("")).await;
    assert_eq!(again.status(), 303);
    let next = receiver.next(PATIENCE).await.unwrap();
    let mut next: Vec<Value> = serde_json::from_slice(&next.body).unwrap();
    let place = |event: &Value| event["event"].as_str().unwrap_or_default().to_owned();
    posted.sort_by_key(place);
    next.sort_by_key(place);
    assert_eq!(next, posted);
    service.stop().await;
}

/// The events of a post, sorted by kind.
fn sorted(body: &[u8]) -> Vec<Value> {
    let mut events: Vec<Value> = serde_json::from_slice(body).unwrap();
    events.sort_by_key(|event| event["event"].as_str().unwrap_or_default().to_owned());
    events
}

#[tokio::test(flavor = "multi_thread")]
async fn a_post_is_shown_byte_for_byte_and_a_span_of_time_is_posted_again() {
    const PATIENCE: Duration = Duration::from_secs(30);
    const POSTS: &str = "/v3/user/webhooks/event/posts";
    let service = Service::start().await;
    let receiver = Receiver::start().await.unwrap();
    let hook = json!({"url": receiver.url(), "enabled": true, "delivered": true});
    let path = "/v3/user/webhooks/event/settings";
    let made = service.call(Method::POST, path, &hook).await;
    let made: Value = made.json().await.unwrap();
    let path = format!("{path}/signed/{}", made["id"].as_str().unwrap());
    let signed = service
        .call(Method::PATCH, &path, &json!({"enabled": true}))
        .await;
    assert_eq!(signed.status(), 200);
    let begin = service.now();
    let id = service.send(&mail("ann@example.com")).await;
    let mails = service.mails(1).await;
    let first = receiver.next(PATIENCE).await.unwrap();
    // Stored when its answer is there.
    service.answers(&mails[0]).await;
    let header = |name: &str| first.headers[name].to_str().unwrap().to_owned();

    let list = format!("{POSTS}?message_id={id}&status=ok");
    let list: Value = service
        .call(Method::GET, &list, &Value::Null)
        .await
        .json()
        .await
        .unwrap();
    assert_eq!(list["result"][0]["kinds"], json!(["delivered"]), "{list}");
    let post = format!("{POSTS}/{}", list["result"][0]["post_id"].as_str().unwrap());
    let post: Value = service
        .call(Method::GET, &post, &Value::Null)
        .await
        .json()
        .await
        .unwrap();
    assert_eq!(post["body"].as_str().unwrap().as_bytes(), first.body);
    for name in [
        "X-Twilio-Email-Event-Webhook-Signature",
        "X-Twilio-Email-Event-Webhook-Timestamp",
    ] {
        assert_eq!(post["headers"][name], header(name));
    }

    let page = mails[0]["ID"].as_str().unwrap();
    let page = format!("http://{}/message/{page}/post-span", service.host().mailbox);
    let form = format!("from={begin}&to={}", service.now());
    let shown = service.submit(&page, form).await;
    let (status, html) = (shown.status(), shown.text().await.unwrap());
    assert!(
        status == 200 && html.contains("1 event is posted again."),
        "{html}"
    );
    let again = receiver.next(PATIENCE).await.unwrap();
    assert_eq!(sorted(&again.body), sorted(&first.body));

    let span = json!({"start_time": begin, "end_time": service.now(), "webhook_id": made["id"]});
    let queued = service
        .call(Method::POST, &format!("{POSTS}/replay"), &span)
        .await;
    let queued: Value = queued.json().await.unwrap();
    assert_eq!(
        (&queued["events"], &queued["status"]),
        (&json!(1), &json!("done"))
    );
    let again = receiver.next(PATIENCE).await.unwrap();
    assert_eq!(sorted(&again.body), sorted(&first.body));
    service.stop().await;
}

/// The one link between a request and its events (API facts, trap 27).
#[tokio::test(flavor = "multi_thread")]
async fn an_event_begins_with_the_id_of_its_request() {
    const PATIENCE: Duration = Duration::from_secs(30);
    let service = Service::start().await;
    let receiver = Receiver::start().await.unwrap();
    let hook = json!({"url": receiver.url(), "enabled": true, "delivered": true});
    let path = "/v3/user/webhooks/event/settings";
    let made = service.call(Method::POST, path, &hook).await;
    assert_eq!(made.status(), 201);

    let id = service.send(&mail("ann@example.com")).await;

    let post = receiver.next(PATIENCE).await.unwrap();
    let events: Value = serde_json::from_slice(&post.body).unwrap();
    let named = events[0]["sg_message_id"].as_str().unwrap();
    let (begin, rest) = named.split_once('.').unwrap();
    assert_eq!(begin, id);
    assert!(!rest.is_empty());
    let smtp_id = events[0]["smtp-id"].as_str().unwrap();
    assert!(
        smtp_id.starts_with('<') && smtp_id.ends_with('>'),
        "{smtp_id}"
    );
    service.stop().await;
}
