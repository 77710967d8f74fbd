//! Look-ups and statistics, asked for as a client asks.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bounces;
mod download;
mod erase;
mod erase_jobs;
mod kept;
mod logs;
mod pages;
mod search;
mod segments;
mod sent_again;
mod subusers;
mod sums;
mod waiting;
mod wrong;

use std::ops::Deref;

use std::collections::BTreeMap;

use activity::{App, routes};
use posthaste_model::{Event, EventKind, MessageId};
use posthaste_store::{
    AttemptOutcome, Claim, Claimant, CopyState, Described, Store, Tally, Visit, VisitKind,
};
use posthaste_testkit::{FailAfter, Response, Services, TABLE, dynamodb, entropy};

pub(crate) struct TestApp(posthaste_testkit::TestApp);

impl Deref for TestApp {
    type Target = posthaste_testkit::TestApp;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

pub(crate) const DAY: i64 = 86_400;

impl TestApp {
    pub(crate) async fn new() -> Self {
        Self::with(true).await
    }

    /// Where mails can be searched, or not.
    pub(crate) async fn with(searches: bool) -> Self {
        let days = if searches { "30" } else { "0" };
        let services = Services::start().await.var("SEARCH_DAYS", days);
        Self(posthaste_testkit::TestApp::on(services, App::from_env, routes).await)
    }

    /// Where mails can be searched, on a table whose calls fail when these do.
    pub(crate) async fn failing(faults: &FailAfter) -> Self {
        let store = Store::open(&faults.around(&dynamodb().await), TABLE);
        store.create_table().await.unwrap();
        Self::searching(store).await
    }

    /// Where mails can be searched, on this table.
    pub(crate) async fn searching(store: Store) -> Self {
        let services = Services::on(store).var("SEARCH_DAYS", "30");
        Self(posthaste_testkit::TestApp::on(services, App::from_env, routes).await)
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.api.get(path).key(&self.tenant.key).send().await
    }

    pub(crate) async fn count(&self, batch: &str, day: &str, category: &str, delivered: i64) {
        let mut tally = Tally::default();
        let counters = BTreeMap::from([("delivered", delivered)]);
        for name in ["", category] {
            tally
                .counters
                .insert((day.to_owned(), name.to_owned()), counters.clone());
        }
        let id = &self.tenant.account.id;
        let counted = self.store.count_batch(id, batch, &tally, self.hand.now());
        counted.await.unwrap();
    }

    /// A copy that was delivered.
    pub(crate) async fn delivered(&self) -> MessageId {
        self.copy("ann@example.com", CopyState::Delivered).await
    }

    /// A copy that is being handed over.
    pub(crate) async fn claimed(&self, email: &str) -> MessageId {
        self.described(&Described {
            email,
            from: "me@example.com",
            subject: "Hello",
            accepted_at: self.hand.now(),
        })
        .await
    }

    /// A copy of this description that is being handed over.
    pub(crate) async fn described(&self, described: &Described<'_>) -> MessageId {
        let (id, message) = (&self.tenant.account.id, entropy().message_id());
        let now = self.hand.now();
        let who = Claimant {
            owner: "test",
            single_process: true,
            now,
            lease: 60,
            retention: 30 * DAY,
        };
        let which = (id, &message, 0);
        let claim = self.store.claim(which, 0, who, described).await.unwrap();
        assert_eq!(claim, Claim::Won);
        message
    }

    /// A copy of a mail of its own that stands so, without the rows of the search.
    pub(crate) async fn copy(&self, email: &str, state: CopyState) -> MessageId {
        let message = self.claimed(email).await;
        if state != CopyState::Claimed {
            let kind = match state {
                CopyState::Bounced => EventKind::Bounce,
                CopyState::Deferred => EventKind::Deferred,
                _ => EventKind::Delivered,
            };
            let event = self.event(kind, &message, email);
            self.record(&message, state, &event).await;
        }
        message
    }

    /// Records what became of a claimed copy.
    pub(crate) async fn record(&self, message: &MessageId, state: CopyState, event: &Event) {
        let which = (&self.tenant.account.id, message, 0);
        let outcome = AttemptOutcome {
            state,
            now: self.hand.now(),
            events: std::slice::from_ref(event),
        };
        self.store.record(which, 0, &outcome).await.unwrap();
    }

    pub(crate) fn event(&self, kind: EventKind, message: &MessageId, email: &str) -> Event {
        let id = Event::derived_id(message, 0, kind, 0);
        let (account, now) = (self.tenant.account.id.clone(), self.hand.now());
        let mut event = Event::new(id, account, kind, now, email.to_owned());
        event.message = Some(message.clone());
        event.response = Some("250 ok".to_owned());
        event
    }

    /// A copy with the rows of the search.
    pub(crate) async fn searchable(&self, email: &str, state: CopyState) -> MessageId {
        let message = self.copy(email, state).await;
        let kind = match state {
            CopyState::Bounced => EventKind::Bounce,
            _ => EventKind::Delivered,
        };
        let event = self.event(kind, &message, email);
        self.index(&[event]).await;
        message
    }

    pub(crate) async fn index(&self, events: &[Event]) -> usize {
        let account = &self.tenant.account.id;
        self.store.index(account, events, 30 * DAY).await.unwrap()
    }
}

#[tokio::test]
async fn a_message_is_found_by_either_of_its_ids() {
    let app = TestApp::new().await;
    let message = app.delivered().await;
    for id in [message.to_string(), format!("{message}.posthaste-0.0.0")] {
        let told = app
            .get(&format!("/v3/messages/{id}"))
            .await
            .expect(200)
            .json();
        assert_eq!(told["status"], "delivered");
        assert_eq!(told["to_email"], "ann@example.com");
        assert_eq!(told["msg_id"], format!("{message}.posthaste-0.0.0"));
        assert_eq!(told["events"][0]["event_name"], "delivered");
        assert_eq!(told["events"][0]["reason"], "250 ok");
    }
}

#[tokio::test]
async fn a_message_has_all_documented_fields_and_no_other() {
    let app = TestApp::new().await;
    let bare = app.delivered().await;
    let full = app.claimed("ann@example.com").await;
    let mut processed = app.event(EventKind::Processed, &full, "ann@example.com");
    processed.template_id = Some("d-1".to_owned());
    processed.asm_group_id = Some(7);
    let key = entropy().key_id();
    processed.key = Some(key.clone());
    let outcome = AttemptOutcome {
        state: CopyState::Delivered,
        now: app.hand.now(),
        events: &[
            processed,
            app.event(EventKind::Delivered, &full, "ann@example.com"),
        ],
    };
    let copy = (&app.tenant.account.id, &full, 0);
    assert!(app.store.record(copy, 0, &outcome).await.unwrap());

    for (message, template, group, key) in [
        (bare, "", 0, String::new()),
        (full, "d-1", 7, key.to_string()),
    ] {
        let told = app.get(&format!("/v3/messages/{message}")).await;
        let told = told.expect(200).json();
        let mut keys: Vec<_> = told.as_object().unwrap().keys().collect();
        keys.sort();
        let want = [
            "api_key_id",
            "asm_group_id",
            "categories",
            "events",
            "from_email",
            "msg_id",
            "originating_ip",
            "outbound_ip",
            "outbound_ip_type",
            "status",
            "subject",
            "teammate",
            "template_id",
            "to_email",
            "unique_args",
        ];
        assert_eq!(keys, want);
        assert_eq!(told["template_id"], template);
        assert_eq!(told["asm_group_id"], group);
        assert_eq!(told["teammate"], "");
        assert_eq!(told["api_key_id"], key);
    }
}

#[tokio::test]
async fn opens_and_clicks_are_events_in_their_order() {
    let app = TestApp::new().await;
    let message = app.delivered().await;
    let visit = |seconds, url: Option<&str>| Visit {
        at: app.hand.now().plus(seconds),
        id: format!("visit-{seconds}"),
        url: url.map(str::to_owned),
        agent: Some("Mozilla/5.0".to_owned()),
    };
    let copy = (&app.tenant.account.id, &message, 0);
    for (kind, visits) in [
        (
            VisitKind::Click,
            vec![visit(20, Some("https://example.com/"))],
        ),
        (VisitKind::Open, vec![visit(30, None), visit(10, None)]),
    ] {
        let noted = app.store.note_visits(copy, kind, &visits);
        assert!(noted.await.unwrap());
    }
    let told = app.get(&format!("/v3/messages/{message}")).await;
    let told = told.expect(200).json();
    let events = told["events"].as_array().unwrap();
    let names: Vec<_> = events
        .iter()
        .map(|e| e["event_name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["delivered", "opened", "clicked", "opened"]);
    assert_eq!(events[2]["url"], "https://example.com/");
    let agents = events
        .iter()
        .map(|e| e["http_user_agent"].as_str().unwrap());
    let agent = "Mozilla/5.0";
    assert_eq!(agents.collect::<Vec<_>>(), ["", agent, agent, agent]);
}

#[tokio::test]
async fn an_unknown_message_is_not_found() {
    let app = TestApp::new().await;
    let message = app.delivered().await;
    for id in [
        "x".to_owned(),
        "C".repeat(22),
        format!("{message}.posthaste-0.1.0"),
    ] {
        let told = app
            .get(&format!("/v3/messages/{id}"))
            .await
            .expect(404)
            .json();
        assert_eq!(told["errors"][0]["field"], "message_id");
        assert_eq!(told["errors"][0]["message"], "not found");
    }
}

#[tokio::test]
async fn a_batch_that_comes_again_counts_once() {
    let app = TestApp::new().await;
    app.count("one", "2026-01-31", "news", 3).await;
    app.count("one", "2026-01-31", "news", 3).await;
    app.count("two", "2026-02-01", "sale", 4).await;

    let days = app
        .get("/v3/stats?start_date=2026-01-30&end_date=2026-02-02")
        .await;
    let days = days.expect(200).json();
    let of = |i: usize| {
        days[i]["stats"][0]["metrics"]["delivered"]
            .as_i64()
            .unwrap()
    };
    assert_eq!([of(0), of(1), of(2), of(3)], [0, 3, 4, 0]);
    let metrics = days[0]["stats"][0]["metrics"].as_object().unwrap();
    assert_eq!(metrics.len(), 16);

    let months = "/v3/stats?start_date=2026-01-01&end_date=2026-02-28&aggregated_by=month";
    let months = app.get(months).await.expect(200).json();
    assert_eq!(months.as_array().unwrap().len(), 2);
    assert_eq!(months[0]["stats"][0]["metrics"]["delivered"], 3);

    // 31 January 2026 was a Saturday.
    let weeks = "/v3/stats?start_date=2026-01-26&end_date=2026-02-02&aggregated_by=week";
    let weeks = app.get(weeks).await.expect(200).json();
    assert_eq!(weeks[0]["stats"][0]["metrics"]["delivered"], 7);
    assert_eq!(weeks[1]["date"], "2026-02-02");
}

#[tokio::test]
async fn categories_are_listed_and_counted_apart() {
    let app = TestApp::new().await;
    app.count("one", "2026-01-31", "news", 3).await;
    app.count("two", "2026-02-01", "sale", 4).await;

    let names = app.get("/v3/categories").await.expect(200).json();
    assert_eq!(
        names,
        serde_json::json!([{"category": "news"}, {"category": "sale"}])
    );
    let names = app
        .get("/v3/categories?category=sa")
        .await
        .expect(200)
        .json();
    assert_eq!(names, serde_json::json!([{"category": "sale"}]));
    let same = app.get("/v3/categories?sort_by=category").await;
    assert_eq!(same.expect(200).json().as_array().unwrap().len(), 2);
    for wrong in ["name", "Category", "category,"] {
        let told = app.get(&format!("/v3/categories?sort_by={wrong}")).await;
        let (field, message) = told.expect(400).error();
        assert_eq!(
            (field.as_deref(), message.as_str()),
            (Some("sort_by"), "invalid sort value"),
            "{wrong}"
        );
    }
    let path = "/v3/categories/stats?start_date=2026-02-01&end_date=2026-02-01&categories=sale&categories=none";
    let told = app.get(path).await.expect(200).json();
    assert_eq!(told[0]["stats"][0]["name"], "sale");
    assert_eq!(told[0]["stats"][0]["type"], "category");
    assert_eq!(told[0]["stats"][0]["metrics"]["delivered"], 4);
    assert_eq!(told[0]["stats"][1]["metrics"]["delivered"], 0);
}
