//! The search over messages.

use posthaste_model::{Event, EventKind, MessageId, TemplateId};
use posthaste_store::{CopyState, Placed, Template};
use posthaste_testkit::{Response, entropy};
use serde_json::Value;

use crate::{DAY, TestApp};

impl TestApp {
    /// Asks with a query and further parameters.
    async fn ask(&self, query: &str, more: &str) -> Response {
        let mut path = "/v3/messages?query=".to_owned();
        for byte in query.bytes() {
            path.push_str(&format!("%{byte:02X}"));
        }
        self.get(&format!("{path}{more}")).await
    }

    async fn found(&self, query: &str, more: &str) -> Vec<Value> {
        let answer = self.ask(query, more).await.expect(200);
        assert_eq!(answer.header("x-search-incomplete"), "false");
        answer.json()["messages"].as_array().unwrap().clone()
    }

    async fn ids(&self, query: &str) -> Vec<String> {
        let found = self.found(query, "").await;
        let id = |mail: &Value| mail["msg_id"].as_str().unwrap().to_owned();
        found.iter().map(id).collect()
    }
}

fn ids(messages: &[&MessageId]) -> Vec<String> {
    messages.iter().map(|id| id.of_copy(0)).collect()
}

#[tokio::test]
async fn mails_are_found_by_recipient_status_and_time() {
    let app = TestApp::new().await;
    let first = app
        .searchable("Ann@Example.com", CopyState::Delivered)
        .await;
    app.hand.advance(100);
    let second = app.searchable("bob@example.com", CopyState::Bounced).await;
    app.hand.advance(100);
    let third = app.searchable("ann@example.com", CopyState::Bounced).await;

    let all = ids(&[&third, &second, &first]);
    assert_eq!(app.ids("subject=\"hello\"").await, all);
    let ann = "to_email=\"ann@EXAMPLE.com\"";
    assert_eq!(app.ids(ann).await, ids(&[&third, &first]));
    let query = format!("{ann} AND status=\"delivered\"");
    assert_eq!(app.ids(&query).await, ids(&[&first]));
    assert_eq!(
        app.ids("status=\"not_delivered\"").await,
        ids(&[&third, &second])
    );
    // 2027-01-15 08:00:00 is when the first was accepted.
    for (query, want) in [
        (
            "last_event_time < TIMESTAMP \"2027-01-15T08:01:00Z\"",
            vec![&first],
        ),
        ("last_event_time > \"2027-01-15T08:03:00Z\"", vec![&third]),
        (
            "last_event_time BETWEEN TIMESTAMP \"2027-01-15T08:01:40Z\" AND TIMESTAMP \"2027-01-15T08:01:40Z\"",
            vec![&second],
        ),
    ] {
        assert_eq!(app.ids(query).await, ids(&want), "{query}");
    }
    let one = app.found(&format!("msg_id=\"{second}\""), "").await;
    assert_eq!(one[0]["to_email"], "bob@example.com");
    assert_eq!(one[0]["from_email"], "me@example.com");
    assert_eq!(one[0]["last_event_time"], "2027-01-15T08:01:40Z");
    assert_eq!(
        (&one[0]["opens_count"], &one[0]["clicks_count"]),
        (&0.into(), &0.into())
    );
}

#[tokio::test]
async fn opens_and_clicks_count_once_each() {
    let app = TestApp::new().await;
    let message = app
        .searchable("ann@example.com", CopyState::Delivered)
        .await;
    app.hand.advance(3 * DAY);
    let seen: Vec<Event> = [
        (EventKind::Open, "o1"),
        (EventKind::Open, "o2"),
        (EventKind::Click, "c1"),
    ]
    .into_iter()
    .map(|(kind, id)| Event {
        id: id.to_owned(),
        ..app.event(kind, &message, "ann@example.com")
    })
    .collect();
    assert_eq!(app.index(&seen).await, 1);
    assert_eq!(app.index(&seen).await, 0, "told again");
    let found = app.found("clicks=1 AND opens=2", "").await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["status"], "delivered");
    assert_eq!(found[0]["last_event_time"], "2027-01-18T08:00:00Z");
}

#[tokio::test]
async fn so_many_are_given_as_are_asked_for() {
    let app = TestApp::new().await;
    for _ in 0..25 {
        app.searchable("ann@example.com", CopyState::Delivered)
            .await;
        app.hand.advance(1);
    }
    for query in ["opens=0", "to_email=\"ann@example.com\""] {
        assert_eq!(app.found(query, "").await.len(), 10);
        assert_eq!(app.found(query, "&limit=1").await.len(), 1);
        let all = app.found(query, "&limit=1000").await;
        let times: Vec<_> = all
            .iter()
            .map(|mail| mail["last_event_time"].as_str())
            .collect();
        assert_eq!(times.len(), 25);
        assert!(times.is_sorted_by(|a, b| a >= b));
    }
    for limit in ["0", "1001", "-1", "x", "1.5"] {
        let (field, _) = app
            .ask("opens=0", &format!("&limit={limit}"))
            .await
            .expect(400)
            .error();
        assert_eq!(field.as_deref(), Some("limit"), "{limit}");
    }
}

#[tokio::test]
async fn a_query_that_is_none_is_told_what_is_wrong() {
    let app = TestApp::new().await;
    let (field, message) = app.ask("bad_field=1", "").await.expect(400).error();
    assert_eq!(field.as_deref(), Some("query"));
    assert_eq!(message, "invalid syntax: 'bad_field' is not a known field");
    app.get("/v3/messages?query=%FF%22").await.expect(400);
}

/// As the guide of the v3 API begins: the most recent mails.
#[tokio::test]
async fn without_a_query_the_newest_come() {
    let app = TestApp::new().await;
    for path in ["/v3/messages", "/v3/messages?query=%20"] {
        let none = app.get(path).await.expect(200).json();
        assert_eq!(none, serde_json::json!({"messages": []}), "{path}");
    }
    let mut all = Vec::new();
    for _ in 0..12 {
        all.insert(
            0,
            app.searchable("ann@example.com", CopyState::Delivered)
                .await,
        );
        app.hand.advance(1);
    }
    let all = ids(&all.iter().collect::<Vec<_>>());
    for (path, want) in [
        ("/v3/messages", &all[..10]),
        ("/v3/messages?limit=3", &all[..3]),
        ("/v3/messages?limit=100&query=", &all[..]),
    ] {
        let found = app.get(path).await.expect(200).json();
        let found = found["messages"].as_array().unwrap().iter();
        let found: Vec<_> = found.map(|m| m["msg_id"].as_str().unwrap()).collect();
        assert_eq!(found, want, "{path}");
    }
}

/// What the row of the search lacks is read from the copy, the template and the group.
#[tokio::test]
async fn mails_are_found_by_their_arguments_events_key_and_the_name_of_their_template() {
    let app = TestApp::new().await;
    let account = &app.tenant.account.id;
    let key = entropy().key_id();
    let id = format!("d-{}", "7".repeat(32));
    let template = Template {
        id: TemplateId::parse(&id).unwrap(),
        account: account.clone(),
        name: "Welcome".to_owned(),
        created_at: app.hand.now(),
        updated_at: app.hand.now(),
        versions: Vec::new(),
    };
    let made = app.store.create_template(&template, 10).await.unwrap();
    assert_eq!(made, Placed::Done(()));
    let mut messages = Vec::new();
    for number in ["17", "18"] {
        let message = app.claimed("ann@example.com").await;
        let event = Event {
            custom_args: [("order".to_owned(), number.to_owned())].into(),
            template_id: (number == "17").then(|| id.clone()),
            key: Some(key.clone()),
            ..app.event(EventKind::Bounce, &message, "ann@example.com")
        };
        app.record(&message, CopyState::Bounced, &event).await;
        app.index(&[event]).await;
        messages.push(message);
        app.hand.advance(1);
    }
    let (first, second) = (&messages[0], &messages[1]);
    for (query, want) in [
        ("unique_args['order']=\"17\"".to_owned(), vec![first]),
        ("unique_args['order']!=\"17\"".to_owned(), vec![second]),
        ("Contains(unique_args,\"18\")".to_owned(), vec![second]),
        ("unique_args['other']=\"17\"".to_owned(), vec![]),
        (
            "Contains(events,\"bounced\")".to_owned(),
            vec![second, first],
        ),
        ("events=\"delivered\"".to_owned(), vec![]),
        (format!("api_key_id=\"{key}\""), vec![second, first]),
        ("template_name=\"Welcome\"".to_owned(), vec![first]),
        ("template_name IS NULL".to_owned(), vec![second]),
    ] {
        assert_eq!(app.ids(&query).await, ids(&want), "{query}");
    }
}

#[tokio::test]
async fn what_expired_is_not_found() {
    let app = TestApp::new().await;
    app.searchable("ann@example.com", CopyState::Delivered)
        .await;
    assert_eq!(app.ids("opens=0").await.len(), 1);
    app.hand.advance(30 * DAY);
    assert!(app.ids("opens=0").await.is_empty());
    assert!(app.ids("to_email=\"ann@example.com\"").await.is_empty());
}

#[tokio::test]
async fn a_service_without_the_search_says_so() {
    let app = TestApp::with(false).await;
    let (_, message) = app.ask("opens=0", "").await.expect(400).error();
    assert!(message.contains("disabled"), "{message}");
}
