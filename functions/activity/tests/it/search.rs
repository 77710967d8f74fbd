//! The search over messages.

use posthaste_model::{Event, EventKind, MessageId};
use posthaste_store::CopyState;
use posthaste_testkit::Response;
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
    let desk = TestApp::new().await;
    let first = desk
        .searchable("Ann@Example.com", CopyState::Delivered)
        .await;
    desk.hand.advance(100);
    let second = desk.searchable("bob@example.com", CopyState::Bounced).await;
    desk.hand.advance(100);
    let third = desk.searchable("ann@example.com", CopyState::Bounced).await;

    let all = ids(&[&third, &second, &first]);
    assert_eq!(desk.ids("subject=\"hello\"").await, all);
    let ann = "to_email=\"ann@EXAMPLE.com\"";
    assert_eq!(desk.ids(ann).await, ids(&[&third, &first]));
    let query = format!("{ann} AND status=\"delivered\"");
    assert_eq!(desk.ids(&query).await, ids(&[&first]));
    assert_eq!(
        desk.ids("status=\"not_delivered\"").await,
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
        assert_eq!(desk.ids(query).await, ids(&want), "{query}");
    }
    let one = desk.found(&format!("msg_id=\"{second}\""), "").await;
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
    let desk = TestApp::new().await;
    let message = desk
        .searchable("ann@example.com", CopyState::Delivered)
        .await;
    desk.hand.advance(3 * DAY);
    let seen: Vec<Event> = [
        (EventKind::Open, "o1"),
        (EventKind::Open, "o2"),
        (EventKind::Click, "c1"),
    ]
    .into_iter()
    .map(|(kind, id)| Event {
        id: id.to_owned(),
        ..desk.event(kind, &message, "ann@example.com")
    })
    .collect();
    assert_eq!(desk.index(&seen).await, 1);
    assert_eq!(desk.index(&seen).await, 0, "told again");
    let found = desk.found("clicks=1 AND opens=2", "").await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["status"], "delivered");
    assert_eq!(found[0]["last_event_time"], "2027-01-18T08:00:00Z");
}

#[tokio::test]
async fn so_many_are_given_as_are_asked_for() {
    let desk = TestApp::new().await;
    for _ in 0..25 {
        desk.searchable("ann@example.com", CopyState::Delivered)
            .await;
        desk.hand.advance(1);
    }
    for query in ["opens=0", "to_email=\"ann@example.com\""] {
        assert_eq!(desk.found(query, "").await.len(), 10);
        assert_eq!(desk.found(query, "&limit=1").await.len(), 1);
        let all = desk.found(query, "&limit=1000").await;
        let times: Vec<_> = all
            .iter()
            .map(|mail| mail["last_event_time"].as_str())
            .collect();
        assert_eq!(times.len(), 25);
        assert!(times.is_sorted_by(|a, b| a >= b));
    }
    for limit in ["0", "1001", "-1", "x", "1.5"] {
        let (field, _) = desk
            .ask("opens=0", &format!("&limit={limit}"))
            .await
            .expect(400)
            .error();
        assert_eq!(field.as_deref(), Some("limit"), "{limit}");
    }
}

#[tokio::test]
async fn a_query_that_is_none_is_told_what_is_wrong() {
    let desk = TestApp::new().await;
    let (field, message) = desk.ask("bad_field=1", "").await.expect(400).error();
    assert_eq!(field.as_deref(), Some("query"));
    assert_eq!(message, "invalid syntax: 'bad_field' is not a known field");
    for path in [
        "/v3/messages",
        "/v3/messages?query=",
        "/v3/messages?query=%20",
    ] {
        let (field, message) = desk.get(path).await.expect(400).error();
        assert_eq!(field.as_deref(), Some("query"), "{path}");
        assert_eq!(message, "missing required parameter");
    }
    desk.get("/v3/messages?query=%FF%22").await.expect(400);
}

#[tokio::test]
async fn what_expired_is_not_found() {
    let desk = TestApp::new().await;
    desk.searchable("ann@example.com", CopyState::Delivered)
        .await;
    assert_eq!(desk.ids("opens=0").await.len(), 1);
    desk.hand.advance(30 * DAY);
    assert!(desk.ids("opens=0").await.is_empty());
    assert!(desk.ids("to_email=\"ann@example.com\"").await.is_empty());
}

#[tokio::test]
async fn a_service_without_the_search_says_so() {
    let desk = TestApp::with(false).await;
    let (_, message) = desk.ask("opens=0", "").await.expect(400).error();
    assert!(message.contains("switched off"), "{message}");
}
