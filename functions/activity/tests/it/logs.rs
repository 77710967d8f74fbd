//! The email logs: the same mails as `/v3/messages`, with fields and statuses of their own.

use posthaste_model::{BounceType, Category, Event, EventKind, MessageId};
use posthaste_store::{CopyState, Visit, VisitKind};
use posthaste_testkit::Response;
use serde_json::{Value, json};

use crate::TestApp;

impl TestApp {
    async fn logs(&self, body: &Value) -> Response {
        let call = self.api.post("/v3/logs").key(&self.tenant.key);
        call.json(body).send().await
    }

    async fn log(&self, id: &str) -> Response {
        self.get(&format!("/v3/logs/{id}")).await
    }

    /// A mail that the receiving server refused for this mail alone.
    async fn blocked(&self) -> MessageId {
        let message = self.claimed("ann@example.com").await;
        let event = Event {
            bounce_type: Some(BounceType::Blocked),
            reason: Some("550 not today".to_owned()),
            response: None,
            status: Some("5.7.1".to_owned()),
            ip: Some("192.0.2.7".to_owned()),
            tls: Some(true),
            client_ip: Some("198.51.100.9".to_owned()),
            category: Some(Category::One("news".to_owned())),
            custom_args: [("event".to_owned(), "party".to_owned())].into(),
            asm_group_id: Some(9),
            ..self.event(EventKind::Bounce, &message, "ann@example.com")
        };
        self.record(&message, CopyState::Bounced, &event).await;
        self.index(&[event]).await;
        message
    }
}

#[tokio::test]
async fn logs_are_searched_by_a_body() {
    let app = TestApp::new().await;
    let delivered = app
        .searchable("bob@example.com", CopyState::Delivered)
        .await;
    app.hand.advance(60);
    let blocked = app.blocked().await;
    let (old, new) = (delivered.of_copy(0), blocked.of_copy(0));
    for (body, want) in [
        (json!({}), vec![&new, &old]),
        (json!({"query": "", "limit": 1}), vec![&new]),
        (
            json!({"query": "status IN ('blocked', 'dropped')"}),
            vec![&new],
        ),
        (json!({"query": "status IN ('delivered')"}), vec![&old]),
        (json!({"query": "reason = '550 not today'"}), vec![&new]),
        (
            json!({"query": "categories IN ('news') AND to_email = 'ann@example.com'"}),
            vec![&new],
        ),
        (
            json!({"query": "sg_message_id_created_at < TIMESTAMP \"2027-01-15T08:01:00Z\""}),
            vec![&old],
        ),
        (
            json!({"query": "sg_message_id_created_at >= \"2027-01-15T08:01:00Z\""}),
            vec![&new],
        ),
        (
            json!({"query": format!("sg_message_id = '{new}'"), "subusers": []}),
            vec![&new],
        ),
    ] {
        let found = app.logs(&body).await.expect(200).json();
        let found = found["messages"].as_array().unwrap().iter();
        let found: Vec<_> = found
            .map(|m| m["sg_message_id"].as_str().unwrap())
            .collect();
        assert_eq!(found, want, "{body}");
    }
    let found = app.logs(&json!({"limit": 1})).await.expect(200).json();
    let want = json!({
        "from_email": "me@example.com", "sg_message_id": new, "subject": "Hello",
        "to_email": "ann@example.com", "reason": "550 not today", "status": "blocked",
        "sg_message_id_created_at": "2027-01-15T08:01:00Z",
    });
    assert_eq!(found["messages"][0], want);
}

#[tokio::test]
async fn a_wrong_search_says_all_that_is_wrong() {
    let app = TestApp::new().await;
    let both = json!({"limit": 1001, "query": "status = 'not_delivered'"});
    let answer = app.logs(&both).await.expect(400).json();
    let fields: Vec<_> = answer["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| &e["field"])
        .collect();
    assert_eq!(fields, ["limit", "query"]);
    for (body, status, field) in [
        (json!({"limit": 0}), 400, "limit"),
        (json!({"limit": -1}), 400, "limit"),
        (json!({"limit": "many"}), 400, "limit"),
        (json!({"query": 7}), 400, "query"),
        (json!({"subusers": ["1", "2"]}), 400, "subusers"),
        (json!({"subusers": ["77777"]}), 403, "subusers"),
    ] {
        let (found, _) = app.logs(&body).await.expect(status).error();
        assert_eq!(found.as_deref(), Some(field), "{body}");
    }
    let off = TestApp::with(false).await;
    off.logs(&json!({})).await.expect(400);
}

#[tokio::test]
async fn a_log_has_the_events_of_its_mail_as_webhooks_get_them() {
    let app = TestApp::new().await;
    let message = app.blocked().await;
    let visit = Visit {
        at: app.hand.now().plus(5),
        id: "visit".to_owned(),
        url: Some("https://example.com/".to_owned()),
        agent: Some("Mozilla/5.0".to_owned()),
    };
    let copy = (&app.tenant.account.id, &message, 0);
    let visits = [visit];
    let noted = app.store.note_visits(copy, VisitKind::Click, &visits);
    assert!(noted.await.unwrap());
    let id = message.of_copy(0);
    let log = app.log(&id).await.expect(200).json();
    let shared = json!({"email": "ann@example.com", "sg_message_id": id, "category": ["news"],
        "asm_group_id": 9, "custom_args": {"event": "party"}});
    let with = |own: Value| {
        let mut all = shared.clone();
        all.as_object_mut()
            .unwrap()
            .extend(own.as_object().unwrap().clone());
        all
    };
    let bounce = with(
        json!({"event": "bounce", "timestamp": 1_800_000_000_i64, "type": "blocked",
        "sg_event_id": Event::derived_id(&message, 0, EventKind::Bounce, 0),
        "reason": "550 not today", "status": "5.7.1", "ip": "192.0.2.7", "tls": 1}),
    );
    let click = with(
        json!({"event": "click", "timestamp": 1_800_000_005_i64, "sg_event_id": "visit",
        "url": "https://example.com/", "useragent": "Mozilla/5.0"}),
    );
    let want = json!({
        "from_email": "me@example.com", "sg_message_id": id, "subject": "Hello",
        "to_email": "ann@example.com", "status": "blocked", "asm_group_id": 9, "teammate": "",
        "api_key_id": "", "events": [bounce, click], "client_ip": "198.51.100.9",
        "category": ["news"], "custom_args": {"event": "party"}, "outbound_ip": "192.0.2.7",
    });
    assert_eq!(log, want);
    for unknown in [
        "x".to_owned(),
        "C".repeat(22),
        format!("{message}.posthaste-0.1.0"),
    ] {
        let (field, text) = app.log(&unknown).await.expect(404).error();
        assert_eq!(
            (field.as_deref(), text.as_str()),
            (Some("sg_message_id"), "not found")
        );
    }
    let (field, _) = app
        .log(&format!("{id}?subuser=77777"))
        .await
        .expect(403)
        .error();
    assert_eq!(field.as_deref(), Some("subuser"));
    // The activity feed tells the same in its own words.
    let told = app
        .get(&format!("/v3/messages/{id}"))
        .await
        .expect(200)
        .json();
    for (field, want) in [
        ("originating_ip", json!("198.51.100.9")),
        ("categories", json!(["news"])),
        ("unique_args", json!(r#"{"event":"party"}"#)),
        ("outbound_ip", json!("192.0.2.7")),
        ("outbound_ip_type", json!("shared")),
        ("asm_group_id", json!(9)),
    ] {
        assert_eq!(told[field], want, "{field}");
    }
    let events = told["events"].as_array().unwrap();
    let types: Vec<_> = events
        .iter()
        .map(|e| e["bounce_type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["soft", ""]);
    assert_eq!(events[1]["http_user_agent"], "Mozilla/5.0");
    assert_eq!(events[0]["mx_server"], "");
}
