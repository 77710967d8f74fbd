//! The statistics of subusers, as their parent asks for them.

use std::collections::BTreeMap;

use posthaste_store::Tally;
use posthaste_testkit::Tenant;
use serde_json::{Value, json};

use crate::TestApp;

const ALL: &str = "/v3/subusers";

impl TestApp {
    /// A subuser with this many mails delivered and bounced on each of these days.
    async fn subuser(&self, name: &str, days: &[(&str, i64, i64)]) -> Tenant {
        let sub = self.tenant.subuser(&self.store, name).await;
        self.hand.advance(1);
        for (day, delivered, bounces) in days {
            let mut tally = Tally::default();
            let counters = BTreeMap::from([("delivered", *delivered), ("bounces", *bounces)]);
            for category in ["", "news"] {
                tally
                    .counters
                    .insert(((*day).to_owned(), category.to_owned()), counters.clone());
            }
            let id = &sub.account.id;
            let counted = self.store.count_batch(id, day, &tally, self.hand.now());
            counted.await.unwrap();
        }
        sub
    }

    async fn told(&self, path: &str) -> Value {
        self.get(&format!("{ALL}{path}")).await.expect(200).json()
    }
}

/// Names and deliveries of one period.
fn delivered(period: &Value) -> Vec<(String, i64)> {
    let one = |one: &Value| {
        assert_eq!(one["type"], "subuser");
        assert_eq!(one["metrics"].as_object().unwrap().len(), 16);
        let count = one["metrics"]["delivered"].as_i64().unwrap();
        (one["name"].as_str().unwrap().to_owned(), count)
    };
    period["stats"]
        .as_array()
        .unwrap()
        .iter()
        .map(one)
        .collect()
}

fn named(all: &[(&str, i64)]) -> Vec<(String, i64)> {
    all.iter()
        .map(|(name, n)| ((*name).to_owned(), *n))
        .collect()
}

#[tokio::test]
async fn the_named_subusers_are_told_day_by_day() {
    let app = TestApp::new().await;
    app.subuser("ann", &[("2026-01-31", 3, 0), ("2026-02-01", 4, 0)])
        .await;
    app.subuser("bob", &[("2026-02-01", 9, 0)]).await;
    app.subuser("cy", &[("2026-02-01", 99, 0)]).await;
    let days = "start_date=2026-01-31&end_date=2026-02-01";

    let told = app
        .told(&format!("/stats?{days}&subusers=bob&subusers=ANN"))
        .await;
    assert_eq!(
        (&told[0]["date"], &told[1]["date"], told[2].is_null()),
        (&json!("2026-01-31"), &json!("2026-02-01"), true)
    );
    assert_eq!(delivered(&told[0]), named(&[("bob", 0), ("ann", 3)]));
    assert_eq!(delivered(&told[1]), named(&[("bob", 9), ("ann", 4)]));
    let month = format!("/stats?{days}&subusers=ann&aggregated_by=month&limit=1&offset=1");
    let told = app.told(&month).await;
    assert_eq!(delivered(&told[0]), named(&[("ann", 4)]));
    assert!(told[1].is_null());
}

#[tokio::test]
async fn subusers_times_periods_are_limited() {
    let app = TestApp::new().await;
    let mut named = String::new();
    for n in 0..51 {
        app.subuser(&format!("sub{n}"), &[]).await;
        named += &format!("&subusers=sub{n}");
    }
    // 400 days, or 58 weeks.
    let path = format!("{ALL}/stats?start_date=2025-01-01&end_date=2026-02-04{named}");
    let (field, message) = app.get(&path).await.expect(400).error();
    assert_eq!(field.as_deref(), Some("subusers"));
    assert!(message.contains("at most 20000 statistics"), "{message}");
    let path = format!("{path}&aggregated_by=week");
    let told = app.get(&path).await.expect(200).json();
    assert_eq!(told[0]["stats"].as_array().unwrap().len(), 51);
}

#[tokio::test]
async fn the_busiest_subuser_comes_first() {
    let app = TestApp::new().await;
    app.subuser("ann", &[("2026-01-31", 3, 2), ("2026-02-01", 4, 0)])
        .await;
    app.subuser("bob", &[("2026-02-01", 9, 0)]).await;
    app.subuser("cy", &[]).await;
    let days = "start_date=2026-01-31&end_date=2026-02-01";
    for (more, want) in [
        ("", &[("bob", 9), ("ann", 7), ("cy", 0)][..]),
        (
            "&sort_by_direction=asc",
            &[("cy", 0), ("ann", 7), ("bob", 9)],
        ),
        (
            "&sort_by_metric=bounces",
            &[("ann", 7), ("bob", 9), ("cy", 0)],
        ),
        ("&limit=1&offset=1", &[("ann", 7)]),
    ] {
        let told = app.told(&format!("/stats/sums?{days}{more}")).await;
        assert_eq!(told["date"], "2026-01-31");
        assert_eq!(delivered(&told), named(want), "{more}");
    }

    let told = app.told("/stats/monthly?date=2026-02-17").await;
    assert_eq!(told["date"], "2026-02-01");
    assert_eq!(
        delivered(&told),
        named(&[("bob", 9), ("ann", 4), ("cy", 0)])
    );
    let first = &told["stats"][0];
    assert_eq!(
        (&first["first_name"], &first["last_name"]),
        (&json!(""), &json!(""))
    );
    let told = app.told("/stats/monthly?date=2026-01-01&subuser=ann").await;
    assert_eq!(delivered(&told), named(&[("ann", 3)]));
    let told = app.told("/Ann/stats/monthly?date=2026-02-01").await;
    assert_eq!(delivered(&told), named(&[("ann", 4)]));
}

#[tokio::test]
async fn reputation_is_the_share_that_ended_well_in_thirty_days() {
    let app = TestApp::new().await;
    let now = app.hand.now();
    let (first, before) = (now.plus(-29 * crate::DAY), now.plus(-30 * crate::DAY));
    app.subuser("ann", &[(&now.day(), 6, 1), (&first.day(), 0, 1)])
        .await;
    app.subuser("bob", &[(&before.day(), 0, 9)]).await;
    let ann = json!({"username": "ann", "reputation": 75.0});
    let bob = json!({"username": "bob", "reputation": 100.0});
    assert_eq!(app.told("/reputations").await, json!([ann, bob]));
    for query in ["usernames=bob&usernames=ann", "usernames=bob,ann"] {
        let told = app.told(&format!("/reputations?{query}")).await;
        assert_eq!(told, json!([bob, ann]), "{query}");
    }
}

#[tokio::test]
async fn wrong_questions_are_told() {
    let app = TestApp::new().await;
    app.subuser("ann", &[]).await;
    let start = "start_date=2026-01-31";
    for (path, field) in [
        ("/stats?subusers=ann".to_owned(), "start_date"),
        (format!("/stats?{start}"), "subusers"),
        (format!("/stats?{start}&subusers=nobody"), "subusers"),
        (format!("/stats?{start}&subusers=ann&limit=0"), "limit"),
        (
            format!("/stats/sums?{start}&sort_by_metric=x"),
            "sort_by_metric",
        ),
        ("/stats/sums".to_owned(), "start_date"),
        ("/stats/monthly".to_owned(), "date"),
        ("/stats/monthly?date=2026-1-1".to_owned(), "date"),
        // The sums know it, the months do not.
        (
            "/stats/monthly?date=2026-01-01&sort_by_metric=processed".to_owned(),
            "sort_by_metric",
        ),
        (
            "/stats/monthly?date=2026-01-01&subuser=nobody".to_owned(),
            "subuser",
        ),
        ("/ann/stats/monthly".to_owned(), "date"),
        ("/reputations?usernames=ann,nobody".to_owned(), "usernames"),
    ] {
        let answer = app.get(&format!("{ALL}{path}")).await;
        let (told, _) = answer.expect(400).error();
        assert_eq!(told.as_deref(), Some(field), "{path}");
    }
    let path = format!("{ALL}/nobody/stats/monthly?date=2026-01-01");
    app.get(&path).await.expect(404);
}

#[tokio::test]
async fn nobody_is_told_of_the_subusers_of_another() {
    let app = TestApp::new().await;
    let sub = app.subuser("ann", &[("2026-01-31", 3, 0)]).await;
    let other = Tenant::new(&app.store, "other", app.hand.now()).await;
    let start = "start_date=2026-01-31&end_date=2026-01-31";
    let month = "date=2026-01-31";
    let named = [
        format!("{ALL}/reputations?usernames=ann"),
        format!("{ALL}/stats?{start}&subusers=ann"),
        format!("{ALL}/stats/monthly?{month}&subuser=ann"),
        format!("{ALL}/ann/stats/monthly?{month}"),
    ];
    for path in &named {
        let answer = app.api.get(path).key(&other.key).send().await;
        assert!([400, 404].contains(&answer.status.as_u16()), "{answer:?}");
    }
    let all = [
        format!("{ALL}/reputations"),
        format!("{ALL}/stats/sums?{start}"),
        format!("{ALL}/stats/monthly?{month}"),
    ];
    for path in &all {
        let answer = app.api.get(path).key(&other.key).send().await;
        let json = answer.expect(200).json();
        assert!(!json.to_string().contains("ann"), "{json}");
    }
    // A subuser has none of its own.
    for path in named.iter().chain(&all) {
        let answer = app.api.get(path).key(&sub.key).send().await;
        let error = answer.expect(403).error();
        assert_eq!(error.1, "you dont have permission to access this resource");
    }
}
