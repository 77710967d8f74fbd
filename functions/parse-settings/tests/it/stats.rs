//! How many mails came.

use posthaste_model::Timestamp;
use serde_json::json;

use crate::TestApp;

const STATS: &str = "/v3/user/webhooks/parse/stats";
/// Monday, 2026-06-01, 00:00 UTC.
const JUNE: i64 = 1_780_272_000;
const DAY: i64 = 86_400;

#[tokio::test]
async fn received_mails_are_counted_by_day_week_and_month() {
    let app = TestApp::new().await;
    for day in [0, 0, 1, 7, 30] {
        let at = Timestamp(JUNE + day * DAY + 5);
        app.store
            .count_received(&app.tenant.account.id, at)
            .await
            .unwrap();
    }
    let line = |date: &str, n: i64| json!({"date": date, "stats": [{"metrics": {"received": n}}]});
    for (query, want) in [
        (
            "start_date=2026-06-01&end_date=2026-06-02",
            vec![line("2026-06-01", 2), line("2026-06-02", 1)],
        ),
        (
            "start_date=2026-05-31&end_date=2026-06-08&aggregated_by=week",
            vec![
                line("2026-05-25", 0),
                line("2026-06-01", 3),
                line("2026-06-08", 1),
            ],
        ),
        (
            "start_date=2026-06-01&end_date=2026-07-31&aggregated_by=month",
            vec![line("2026-06-01", 4), line("2026-07-01", 1)],
        ),
        (
            "start_date=2026-06-01&end_date=2026-06-30&limit=1&offset=1",
            vec![line("2026-06-02", 1)],
        ),
    ] {
        let path = format!("{STATS}?{query}");
        let answer = app.api.get(&path).key(&app.tenant.key).send().await;
        assert_eq!(answer.expect(200).json(), json!(want), "{query}");
    }
}

#[tokio::test]
async fn an_invalid_query_is_refused() {
    let app = TestApp::new().await;
    for (query, field) in [
        ("", "start_date"),
        ("start_date=yesterday", "start_date"),
        ("start_date=2026-06-31", "start_date"),
        ("start_date=2026-06-02&end_date=2026-06-01", "end_date"),
        ("start_date=2026-06-01&end_date=x", "end_date"),
        ("start_date=1900-01-01&end_date=2026-06-01", "start_date"),
        (
            "start_date=2026-06-01&end_date=2026-06-01&aggregated_by=year",
            "aggregated_by",
        ),
        ("start_date=2026-06-01&end_date=2026-06-01&limit=0", "limit"),
        (
            "start_date=2026-06-01&end_date=2026-06-01&offset=-1",
            "offset",
        ),
    ] {
        let path = format!("{STATS}?{query}");
        let answer = app.api.get(&path).key(&app.tenant.key).send().await;
        let answer = answer.expect(400);
        assert_eq!(answer.error().0.as_deref(), Some(field), "{query}");
    }
}
