//! Pages of the search: each mail is on one of them, and what they read does not grow with what is stored.

use std::collections::BTreeSet;

use posthaste_store::CopyState;
use posthaste_testkit::{FailAfter, Response, Scale, entropy};
use serde_json::Value;

use crate::TestApp;

fn ids(page: &Response) -> Vec<String> {
    let messages = page.json()["messages"].as_array().unwrap().clone();
    let id = |mail: &Value| mail["msg_id"].as_str().unwrap().to_owned();
    messages.iter().map(id).collect()
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

impl TestApp {
    /// The page behind this place, and where the next one goes on.
    async fn search_page(
        &self,
        query: &str,
        limit: usize,
        after: &str,
    ) -> (Response, Option<String>) {
        let path = format!(
            "/v3/messages?limit={limit}&query={}&after={}",
            encoded(query),
            encoded(after)
        );
        let page = self.get(&path).await.expect(200);
        let next = page.headers.get("x-search-next");
        let next = next.map(|next| next.to_str().unwrap().to_owned());
        (page, next)
    }

    /// The ids of all pages, page by page.
    async fn search_pages(&self, query: &str, limit: usize) -> Vec<Vec<String>> {
        let (mut pages, mut after) = (Vec::new(), Some(String::new()));
        while let Some(place) = after {
            let (page, next) = self.search_page(query, limit, &place).await;
            pages.push(ids(&page));
            assert!(pages.len() < 100, "{next:?}");
            after = next;
        }
        pages
    }
}

#[tokio::test]
async fn each_mail_is_on_one_page_also_one_that_waits() {
    let app = TestApp::new().await;
    let key = entropy().key_id();
    let (mut all, mut bounced) = (Vec::new(), Vec::new());
    for n in 0..12 {
        // Several in each second, of both kinds.
        app.hand.advance(i64::from(n % 3 == 0));
        let state = [CopyState::Delivered, CopyState::Bounced][n % 2];
        let message = app.searchable("ann@example.com", state).await;
        all.push(message.of_copy(0));
        if state == CopyState::Bounced {
            bounced.push(message.of_copy(0));
        }
        if n % 4 == 0 {
            let waits = app.scheduled(&key).await;
            all.extend([waits.of_copy(0), waits.of_copy(1)]);
        }
    }
    all.sort();
    bounced.sort();
    for (query, limit, want) in [
        ("", 1, &all),
        ("", 4, &all),
        ("", 18, &all),
        ("", 1_000, &all),
        ("status=\"not_delivered\"", 4, &bounced),
        ("Contains(events,\"bounced\")", 4, &bounced),
        ("opens=0", 5, &all),
    ] {
        let pages = app.search_pages(query, limit).await;
        let full = want.len().div_ceil(limit);
        assert_eq!(pages.len(), full, "{query} by {limit}: {pages:?}");
        let mut found = pages.concat();
        found.sort();
        assert_eq!(found, *want, "{query} by {limit}");
    }
    // The copies of a message, by its id.
    let message = app.scheduled(&key).await;
    let pages = app.search_pages(&format!("msg_id=\"{message}\""), 1).await;
    assert_eq!(pages, [[message.of_copy(0)], [message.of_copy(1)]]);
}

#[tokio::test]
async fn a_page_is_of_what_the_page_before_says() {
    let app = TestApp::new().await;
    let place = "8199999999#AAAAAAAAAAAAAAAAAAAAAA#00000";
    app.get(&format!("/v3/messages?after={}", encoded(place)))
        .await
        .expect(200);
    for wrong in [
        "x",
        "8199999999",
        &place[1..],
        &format!("{place}0"),
        &format!("{place}#"),
    ] {
        let path = format!("/v3/messages?after={}&limit=0", encoded(wrong));
        let refused = app.get(&path).await.expect(400).json();
        let fields = refused["errors"].as_array().unwrap().iter();
        let fields: Vec<_> = fields.map(|error| error["field"].clone()).collect();
        assert_eq!(fields, ["limit", "after"], "{wrong}");
    }
}

#[tokio::test]
async fn a_page_examines_five_hundred_mails_and_the_next_goes_on() {
    let (_, store) = Scale::table().await;
    let app = TestApp::searching(store).await;
    let rare = app.searchable("rare@example.com", CopyState::Bounced).await;
    app.hand.advance(1);
    for _ in 0..600 {
        app.searchable("ann@example.com", CopyState::Delivered)
            .await;
    }
    let query = "status=\"not_delivered\"";
    let (first, next) = app.search_page(query, 25, "").await;
    assert!(ids(&first).is_empty());
    assert_eq!(first.header("x-search-incomplete"), "true");
    let (second, end) = app.search_page(query, 25, &next.unwrap()).await;
    assert_eq!(ids(&second), [rare.of_copy(0)]);
    assert_eq!((second.header("x-search-incomplete"), end), ("false", None));
    // Who asks for no page gets what ten thousand mails have.
    let path = format!("/v3/messages?query={}", encoded(query));
    assert_eq!(ids(&app.get(&path).await.expect(200)), [rare.of_copy(0)]);
}

#[tokio::test]
async fn a_page_takes_as_few_calls_to_the_table_however_many_mails_are_stored() {
    let faults = FailAfter::default();
    let app = TestApp::failing(&faults).await;
    let key = entropy().key_id();
    let waits = app.scheduled(&key).await;
    let mut first = None;
    let mut stored = 0;
    for more in [30, 170] {
        for n in 0..more {
            let state = [CopyState::Delivered, CopyState::Bounced][n % 2];
            let message = app.searchable("ann@example.com", state).await;
            first.get_or_insert(message);
        }
        stored += more;
        app.hand.advance(1);
        let id = encoded(&format!("msg_id=\"{}\"", first.as_ref().unwrap()));
        let to = encoded("to_email=\"ann@example.com\"");
        // 8 partitions of what waits, 8 of what left, twice where one round leaves the page short; pieces and copies.
        for (path, most) in [
            ("/v3/messages?limit=25&details=true&after=".to_owned(), 26),
            (
                format!("/v3/messages?limit=25&details=true&after=&query={to}"),
                12,
            ),
            (
                format!("/v3/messages?limit=25&details=true&after=&query={id}"),
                5,
            ),
            (format!("/v3/logs/{}", waits.of_copy(1)), 3),
        ] {
            // The caller is looked up before.
            app.get(&path).await.expect(200);
            let before = faults.calls();
            app.get(&path).await.expect(200);
            let calls = faults.calls() - before;
            assert!(calls <= most, "{path}: {calls} calls with {stored} mails");
        }
    }
}

#[tokio::test]
async fn details_say_how_a_mail_stands_and_why() {
    let app = TestApp::new().await;
    let arrived = app
        .searchable("ann@example.com", CopyState::Delivered)
        .await;
    app.hand.advance(1);
    let bounced = app.searchable("bob@example.com", CopyState::Bounced).await;
    app.hand.advance(1);
    let waits = app.scheduled(&entropy().key_id()).await;
    let found = app.get("/v3/messages?details=true").await.expect(200);
    let found = found.json();
    let line = |mail: &Value| {
        let text = |name: &str| {
            mail.get(name)
                .map(|value| value.as_str().unwrap().to_owned())
        };
        (
            text("msg_id").unwrap(),
            text("state").unwrap(),
            text("reason"),
        )
    };
    let found = found["messages"].as_array().unwrap().iter();
    let found: BTreeSet<_> = found.map(line).collect();
    let want = [
        (arrived.of_copy(0), "delivered", None),
        (bounced.of_copy(0), "bounced", Some("250 ok")),
        (waits.of_copy(0), "scheduled", None),
        (waits.of_copy(1), "scheduled", None),
    ];
    let want = want.map(|(id, state, why)| (id, state.to_owned(), why.map(str::to_owned)));
    assert_eq!(found, BTreeSet::from(want));
    let bare = app.get("/v3/messages").await.expect(200).json();
    assert!(bare["messages"][0].get("state").is_none());
}
