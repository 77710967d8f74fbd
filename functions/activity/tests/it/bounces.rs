//! Why mails bounced, day by day.

use posthaste_store::Tally;
use serde_json::json;

use crate::TestApp;

const SINGULAR: &str = "/v3/suppression/bounces/classifications";
const PLURAL: &str = "/v3/suppressions/bounces/classifications";

async fn bounced(app: &TestApp, batch: &str, rows: &[(&str, &str, &str, i64)]) {
    let mut tally = Tally::default();
    for (day, class, domain, count) in rows {
        let place = (*day, *class, *domain);
        let place = (place.0.to_owned(), place.1.to_owned(), place.2.to_owned());
        tally.bounces.insert(place, *count);
    }
    let id = &app.tenant.account.id;
    let counted = app.store.count_batch(id, batch, &tally, app.hand.now());
    counted.await.unwrap();
}

async fn some() -> TestApp {
    let app = TestApp::new().await;
    let rows = [
        ("2026-01-31", "Invalid Address", "a.example", 2),
        ("2026-01-31", "Invalid Address", "b.example", 3),
        ("2026-01-31", "Technical", "a.example", 9),
        ("2026-02-01", "Content", "a.example", 1),
    ];
    bounced(&app, "one", &rows).await;
    // A batch that comes again counts once; another adds.
    bounced(&app, "one", &rows).await;
    bounced(&app, "two", &rows[..1]).await;
    app
}

#[tokio::test]
async fn bounces_are_told_by_classification_the_most_frequent_first() {
    let app = some().await;
    let first = json!({"date": "2026-01-31", "stats": [
        {"classification": "Technical Failure", "count": 9},
        {"classification": "Invalid Address", "count": 7},
    ]});
    let second =
        json!({"date": "2026-02-01", "stats": [{"classification": "Content", "count": 1}]});
    for (query, want) in [
        ("", vec![&first, &second]),
        ("?start_date=2026-01-31&end_date=2026-01-31", vec![&first]),
        ("?start_date=2026-02-01&end_date=2026-02-01", vec![&second]),
        ("?end_date=2026-01-30", vec![]),
        ("?start_date=2020-01-01", vec![&first, &second]),
        // Before the oldest day that is stored, and after today.
        ("?end_date=2000-01-01", vec![]),
        ("?start_date=2100-01-01", vec![]),
    ] {
        for path in [SINGULAR, PLURAL] {
            let told = app.get(&format!("{path}{query}")).await.expect(200).json();
            assert_eq!(told, json!({"result": want}), "{path}{query}");
        }
    }
}

#[tokio::test]
async fn one_classification_is_told_by_domain() {
    let app = some().await;
    for (name, day, stats) in [
        (
            "Invalid%20Address",
            "2026-01-31",
            json!([{"domain": "a.example", "count": 4}, {"domain": "b.example", "count": 3}]),
        ),
        (
            "technical%20failure",
            "2026-01-31",
            json!([{"domain": "a.example", "count": 9}]),
        ),
        (
            "Content",
            "2026-02-01",
            json!([{"domain": "a.example", "count": 1}]),
        ),
    ] {
        let told = app.get(&format!("{SINGULAR}/{name}")).await.expect(200);
        let want = json!({"result": [{"date": day, "stats": stats}]});
        assert_eq!(told.json(), want, "{name}");
    }
    let none = app.get(&format!("{PLURAL}/Reputation")).await.expect(200);
    assert_eq!(none.json(), json!({"result": []}));
    // The word of the events is none of this list.
    app.get(&format!("{SINGULAR}/Technical")).await.expect(404);
}

#[tokio::test]
async fn a_table_for_a_spreadsheet_is_given_to_who_asks_for_one() {
    let app = some().await;
    for (path, want) in [
        (
            SINGULAR.to_owned(),
            "date,classification,count\r\n2026-01-31,Technical Failure,9\r\n\
             2026-01-31,Invalid Address,7\r\n2026-02-01,Content,1\r\n",
        ),
        (
            format!("{SINGULAR}/Content"),
            "date,domain,count\r\n2026-02-01,a.example,1\r\n",
        ),
    ] {
        let ask = app.api.get(&path).key(&app.tenant.key);
        let answer = ask.header("accept", "text/csv").send().await.expect(200);
        assert_eq!(std::str::from_utf8(&answer.body).unwrap(), want);
    }
}

#[tokio::test]
async fn days_that_make_no_sense_are_told() {
    let app = some().await;
    for (query, field) in [
        ("?start_date=yesterday", "start_date"),
        ("?end_date=2026-02-30", "end_date"),
        ("?start_date=2026-02-01&end_date=2026-01-31", "end_date"),
    ] {
        let refused = app.get(&format!("{SINGULAR}{query}")).await.expect(400);
        assert_eq!(refused.error().0.as_deref(), Some(field), "{query}");
    }
}
