//! Posts as they were made: listed, shown, and made again.

use std::collections::BTreeSet;

use http::StatusCode;
use posthaste_model::{Event, EventKind, MessageId, Timestamp, WebhookId};
use posthaste_queue::{Retry, WebhookRetry};
use posthaste_store::{AttemptOutcome, Claimant, CopyState, Described, WebhookPost};
use posthaste_testkit::entropy;
use posthaste_webhook::event_json;
use serde_json::{Value, json};

use crate::test_app::{TestApp, message};

const LIST: &str = "/v3/user/webhooks/event/posts";
const REPLAY: &str = "/v3/user/webhooks/event/posts/replay";

fn event(app: &TestApp, message: &MessageId, kind: EventKind) -> Event {
    let (account, now) = (app.tenant.account.id.clone(), app.hand.now());
    let id = Event::derived_id(message, 0, kind, 0);
    let mut event = Event::new(id, account, kind, now, "ann@example.com".to_owned());
    event.message = Some(message.clone());
    event
}

/// Stores a post of these events.
async fn post(app: &TestApp, webhook: &WebhookId, at: i64, status: Option<u16>, events: &[Event]) {
    let account = app.tenant.account.id.clone();
    let inside = WebhookRetry {
        retry: Retry {
            account: account.clone(),
            webhook: webhook.clone(),
            attempt: 0,
            not_before: Timestamp(0),
            last: String::new(),
        },
        events: events.to_vec(),
    };
    let post = WebhookPost {
        account,
        webhook: webhook.clone(),
        at: Timestamp(at),
        attempt: 2,
        url: "https://hook.example/".to_owned(),
        accepted: status == Some(200),
        status,
        answer: "<thanks>".to_owned(),
        took_ms: status.map(|_| 7),
        signature: status.map(|_| "MEUC".to_owned()),
        message: inside.to_texts().unwrap().remove(0),
    };
    app.store.put_post(&post).await.unwrap();
}

/// Seconds before the posts of the lists.
const BASE: i64 = 1_795_820_000;

/// The times of the posts that a query finds, without [`BASE`].
async fn listed(app: &TestApp, query: &str) -> Vec<i64> {
    let (status, body) = app.call("GET", &format!("{LIST}?{query}"), None).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    let posts = body["result"].as_array().unwrap().iter();
    posts
        .map(|post| post["posted_at"].as_i64().unwrap() - BASE)
        .collect()
}

#[tokio::test]
async fn a_post_is_shown_with_what_was_sent_and_answered() {
    let app = TestApp::new().await;
    let mail = entropy().message_id();
    let events = [EventKind::Processed, EventKind::Delivered].map(|kind| event(&app, &mail, kind));
    let at = app.hand.now().0;
    let webhook = entropy().webhook_id();
    post(&app, &webhook, at, Some(200), &events).await;
    let (_, body) = app
        .call("GET", &format!("{LIST}?webhook_id={webhook}"), None)
        .await;
    let id = body["result"][0]["post_id"].as_str().unwrap().to_owned();
    let mut want = json!({
        "post_id": id, "webhook_id": webhook, "posted_at": at, "attempt": 2,
        "url": "https://hook.example/", "status": "ok", "status_code": 200,
        "answer": "<thanks>", "took_ms": 7, "events": 2, "kinds": ["processed", "delivered"],
    });
    assert_eq!(body, json!({"result": [want], "next": null}));

    let (status, shown) = app.call("GET", &format!("{LIST}/{id}"), None).await;
    assert_eq!(status, StatusCode::OK);
    let sent = events.map(|event| event_json(&event)).join(",\r\n");
    want["body"] = format!("[{sent}]\r\n").into();
    want["headers"] = json!({
        "X-Twilio-Email-Event-Webhook-Signature": "MEUC",
        "X-Twilio-Email-Event-Webhook-Timestamp": at.to_string(),
    });
    assert_eq!(shown, want);

    // Of another account, and of nobody.
    let stranger = app.stranger().await;
    let other = id.replace(".A.", ".F.");
    for (app, id) in [(&stranger, &id), (&app, &other), (&app, &"x".to_owned())] {
        let (status, body) = app.call("GET", &format!("{LIST}/{id}"), None).await;
        assert_eq!(
            (status, &body["errors"][0]["field"]),
            (StatusCode::NOT_FOUND, &json!("post_id"))
        );
    }
}

#[tokio::test]
async fn posts_are_listed_by_webhook_mail_end_and_time_in_pages() {
    let app = TestApp::new().await;
    let mut hooks = Vec::new();
    for n in 0..2 {
        let body = json!({"url": format!("https://hook.example/{n}")});
        let id = app.create(body).await;
        hooks.push(WebhookId::parse(&id).unwrap());
    }
    let (one, two) = (entropy().message_id(), entropy().message_id());
    let delivered = |mail| event(&app, mail, EventKind::Delivered);
    post(&app, &hooks[0], BASE + 100, Some(200), &[delivered(&one)]).await;
    post(&app, &hooks[1], BASE + 200, Some(500), &[delivered(&one)]).await;
    post(
        &app,
        &hooks[1],
        BASE + 300,
        None,
        &[delivered(&one), delivered(&two)],
    )
    .await;
    post(&app, &hooks[0], BASE + 400, Some(200), &[delivered(&two)]).await;
    for (query, want) in [
        (String::new(), vec![400, 300, 200, 100]),
        (format!("webhook_id={}", hooks[0]), vec![400, 100]),
        (format!("message_id={one}"), vec![300, 200, 100]),
        (format!("message_id={two}.posthaste-0.0.0"), vec![400, 300]),
        (format!("message_id={two}.posthaste-0.1.0"), vec![]),
        ("status=ok".to_owned(), vec![400, 100]),
        ("status=failed".to_owned(), vec![300, 200]),
        (
            format!("start_time={}&end_time={}", BASE + 200, BASE + 300),
            vec![300, 200],
        ),
        (
            format!("start_time={}&end_time={}", BASE + 201, BASE + 299),
            vec![],
        ),
    ] {
        assert_eq!(listed(&app, &query).await, want, "{query}");
    }
    let (mut seen, mut after) = (Vec::new(), String::new());
    loop {
        let path = format!("{LIST}?limit=3{after}");
        let (_, body) = app.call("GET", &path, None).await;
        let posts = body["result"].as_array().unwrap().iter();
        seen.extend(posts.map(|post| post["posted_at"].as_i64().unwrap() - BASE));
        let Some(next) = body["next"].as_str() else {
            break;
        };
        after = format!("&after={next}");
    }
    assert_eq!(seen, [400, 300, 200, 100]);

    let path = format!(
        "{LIST}?webhook_id=7&message_id=x&status=all&start_time=&end_time=y&after=z&limit=101"
    );
    let (status, body) = app.call("GET", &path, None).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let fields: Vec<_> = body["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| &error["field"])
        .collect();
    assert_eq!(
        fields,
        [
            "webhook_id",
            "message_id",
            "status",
            "start_time",
            "end_time",
            "after",
            "limit"
        ]
    );
    let (status, _) = app
        .call("GET", &format!("{LIST}?start_time=2&end_time=1"), None)
        .await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
}

/// A mail that was delivered now, with the rows of the search.
async fn delivered(app: &TestApp) -> MessageId {
    let message = entropy().message_id();
    let now = app.hand.now();
    let copy = (&app.tenant.account.id, &message, 0);
    let who = Claimant {
        owner: "test",
        single_process: true,
        now,
        lease: 60,
        retention: 86_400,
    };
    let what = Described {
        email: "ann@example.com",
        from: "me@example.com",
        subject: "Hello",
        accepted_at: now,
    };
    let _won = app.store.claim(copy, 0, who, &what).await.unwrap();
    let events =
        [EventKind::Processed, EventKind::Delivered].map(|kind| event(app, &message, kind));
    let outcome = AttemptOutcome {
        state: CopyState::Delivered,
        now,
        events: &events,
    };
    assert!(app.store.record(copy, 0, &outcome).await.unwrap());
    app.store.index(copy.0, &events, 86_400).await.unwrap();
    message
}

/// The ids of the events on the queue.
fn queued(app: &TestApp) -> BTreeSet<String> {
    let texts = app.queues.drain("retries").into_iter();
    let lots = texts.map(|(text, _)| WebhookRetry::from_text(&text).unwrap());
    lots.flat_map(|lot| lot.events)
        .map(|event| event.id)
        .collect()
}

#[tokio::test]
async fn one_event_one_mail_and_a_span_are_posted_again() {
    let app = TestApp::new().await;
    let hook = json!({"url": "https://hook.example/", "enabled": true, "processed": true, "delivered": true});
    let hook = app.create(hook).await;
    let mail = delivered(&app).await;
    let id = |kind| event(&app, &mail, kind).id;
    let both = BTreeSet::from([id(EventKind::Processed), id(EventKind::Delivered)]);
    let one = BTreeSet::from([id(EventKind::Delivered)]);
    let now = app.hand.now().0;
    for (mut selection, want) in [
        (json!({"event_id": id(EventKind::Delivered)}), &one),
        (json!({"message_id": mail}), &both),
        (json!({"message_id": mail.of_copy(0)}), &both),
        (json!({"start_time": now, "end_time": now}), &both),
        (
            json!({"start_time": now + 1, "end_time": now + 1}),
            &BTreeSet::new(),
        ),
    ] {
        for only in [None, Some(&hook)] {
            if let Some(hook) = only {
                selection["webhook_id"] = json!(hook);
            }
            let (status, body) = app.call("POST", REPLAY, Some(selection.clone())).await;
            assert_eq!(status, StatusCode::ACCEPTED, "{selection}: {body}");
            assert_eq!(
                (&body["events"], &body["status"]),
                (&json!(want.len()), &json!("done"))
            );
            assert_eq!(queued(&app), *want, "{selection}");
            let is_span = selection.get("start_time").is_some();
            assert_eq!(body.get("replay_id").is_some(), is_span);
            if let Some(replay) = body["replay_id"].as_str() {
                let (status, state) = app.call("GET", &format!("{REPLAY}/{replay}"), None).await;
                let end = state["finished_at"].as_i64();
                assert_eq!((status, end), (StatusCode::OK, Some(now)), "{state}");
                assert_eq!(state["events"], body["events"]);
                assert_eq!(state["start_time"], selection["start_time"]);
                let stranger = app.stranger().await;
                let (status, _) = stranger
                    .call("GET", &format!("{REPLAY}/{replay}"), None)
                    .await;
                assert_eq!(status, StatusCode::NOT_FOUND);
            }
        }
    }
}

#[tokio::test]
async fn a_wrong_selection_is_refused_and_queues_nothing() {
    let app = TestApp::new().await;
    let mail = delivered(&app).await;
    let day = 86_400;
    for (selection, status, fields) in [
        (json!({}), 400, vec![Value::Null]),
        (json!({"event_id": "x"}), 400, vec![json!("event_id")]),
        (json!({"message_id": "x"}), 400, vec![json!("message_id")]),
        (
            json!({"message_id": mail, "start_time": 1, "end_time": 2}),
            400,
            vec![Value::Null],
        ),
        (json!({"start_time": 1}), 400, vec![json!("end_time")]),
        (json!({"end_time": 1}), 400, vec![json!("start_time")]),
        (
            json!({"start_time": -1, "end_time": 1}),
            400,
            vec![json!("start_time")],
        ),
        (
            json!({"start_time": 2, "end_time": 1}),
            400,
            vec![json!("end_time")],
        ),
        (
            json!({"start_time": 1, "end_time": 7 * day + 2}),
            400,
            vec![json!("end_time")],
        ),
        (
            json!({"message_id": mail, "webhook_id": "7"}),
            400,
            vec![json!("webhook_id")],
        ),
        (
            json!({"message_id": mail, "webhook_id": entropy().webhook_id()}),
            404,
            vec![Value::Null],
        ),
        (
            json!({"message_id": entropy().message_id()}),
            404,
            vec![json!("message_id")],
        ),
        (
            json!({"event_id": format!("open-1-{mail}-0")}),
            404,
            vec![json!("event_id")],
        ),
        // Nothing subscribes to it.
        (json!({"message_id": mail}), 400, vec![json!("message_id")]),
    ] {
        let (answered, body) = app.call("POST", REPLAY, Some(selection.clone())).await;
        assert_eq!(answered.as_u16(), status, "{selection}: {body}");
        let errors = body["errors"].as_array().unwrap().iter();
        assert_eq!(
            errors
                .map(|error| error["field"].clone())
                .collect::<Vec<_>>(),
            fields,
            "{selection}"
        );
        assert_eq!(queued(&app).len(), 0, "{selection}");
    }
    let longest = json!({"start_time": 1, "end_time": 7 * day + 1});
    let (status, body) = app.call("POST", REPLAY, Some(longest)).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{body}");
}

#[tokio::test]
async fn a_span_waits_for_another_and_needs_the_search() {
    let app = TestApp::new().await;
    let hook = json!({"url": "https://hook.example/", "enabled": true, "delivered": true});
    app.create(hook).await;
    delivered(&app).await;
    let now = app.hand.now().0;
    let span = json!({"start_time": now, "end_time": now});
    app.queues.set_broken(true);
    // It is stored, and goes on when the queue takes messages again.
    let (status, first) = app.call("POST", REPLAY, Some(span.clone())).await;
    assert_eq!(
        (status, &first["status"]),
        (StatusCode::ACCEPTED, &json!("running"))
    );
    let (_, same) = app.call("POST", REPLAY, Some(span.clone())).await;
    assert_eq!(same, first);
    let other = json!({"start_time": now, "end_time": now + 1});
    let (status, body) = app.call("POST", REPLAY, Some(other)).await;
    assert_eq!(status, StatusCode::CONFLICT, "{body}");
    assert_eq!(body["errors"][0]["replay_id"], first["replay_id"]);

    let blind = TestApp::without_search().await;
    let (status, body) = blind.call("POST", REPLAY, Some(span)).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(message(&body).contains("search"), "{body}");
}
