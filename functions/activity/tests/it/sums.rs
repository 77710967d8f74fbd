//! Categories over the whole time asked about.

use serde_json::Value;

use crate::TestApp;

const PATH: &str = "/v3/categories/stats/sums?start_date=2026-01-31&end_date=2026-02-01";

fn names(told: &Value) -> Vec<&str> {
    let stats = told["stats"].as_array().unwrap();
    stats
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn the_busiest_category_comes_first() {
    let app = TestApp::new().await;
    app.count("one", "2026-01-31", "news", 3).await;
    app.count("two", "2026-02-01", "news", 4).await;
    app.count("three", "2026-02-01", "sale", 9).await;
    app.count("four", "2026-02-02", "late", 99).await;
    app.count("five", "2026-02-01", "a", 1).await;

    let told = app.get(PATH).await.expect(200).json();
    assert_eq!(told["date"], "2026-01-31");
    assert_eq!(names(&told), ["sale", "news", "a"]);
    let news = &told["stats"][1];
    assert_eq!(
        (news["type"].as_str(), news["metrics"]["delivered"].as_i64()),
        (Some("category"), Some(7))
    );
    assert_eq!(news["metrics"].as_object().unwrap().len(), 16);

    for (more, want) in [
        ("&sort_by_direction=asc", vec!["a", "news", "sale"]),
        ("&sort_by_metric=opens", vec!["a", "news", "sale"]),
        ("&limit=1", vec!["sale"]),
        ("&limit=1&offset=1", vec!["news"]),
        ("&offset=9", vec![]),
        ("&aggregated_by=month", vec!["sale", "news", "a"]),
    ] {
        let told = app.get(&format!("{PATH}{more}")).await.expect(200).json();
        assert_eq!(names(&told), want, "{more}");
    }
}

#[tokio::test]
async fn a_wrong_order_is_told() {
    let app = TestApp::new().await;
    let (field, message) = app
        .get(&format!("{PATH}&sort_by_metric=loudest"))
        .await
        .expect(400)
        .error();
    assert_eq!(
        (field.as_deref(), message.as_str()),
        (Some("sort_by_metric"), "invalid sort value")
    );
    for (more, field) in [
        ("&sort_by_direction=up", "sort_by_direction"),
        ("&limit=0", "limit"),
        ("&offset=-1", "offset"),
    ] {
        let (told, _) = app.get(&format!("{PATH}{more}")).await.expect(400).error();
        assert_eq!(told.as_deref(), Some(field));
    }
    app.get("/v3/categories/stats/sums").await.expect(400);
}
