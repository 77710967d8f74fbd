//! Statistics that cannot be asked for.

use crate::TestApp;

#[tokio::test]
async fn a_category_counts_once_and_ten_are_the_most_in_one_request() {
    let app = TestApp::new().await;
    let path = "/v3/categories/stats?start_date=2026-02-01&end_date=2026-02-01";
    let named =
        |names: usize| -> String { (0..names).map(|n| format!("&categories=c{n}")).collect() };
    let twice = format!("{path}{}{}", named(10), named(10));
    let answer = app.get(&twice).await.expect(200).json();
    let stats = answer[0]["stats"].as_array().unwrap().iter();
    let names: Vec<_> = stats.map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9"]
    );
    let more = app.get(&format!("{path}{}", named(11))).await.expect(400);
    let (field, message) = more.error();
    assert_eq!(
        (field.as_deref(), message.as_str()),
        (Some("categories"), "name at most 10 categories")
    );
}

#[tokio::test]
async fn a_wrong_question_is_told_what_is_wrong() {
    let app = TestApp::new().await;
    for (query, field) in [
        ("", "start_date"),
        ("?start_date=yesterday", "start_date"),
        ("?start_date=2026-02-30", "start_date"),
        ("?start_date=2026-02-02&end_date=2026-02-01", "end_date"),
        ("?start_date=2020-01-01&end_date=2026-02-01", "start_date"),
        (
            "?start_date=2026-02-01&end_date=2026-02-01&aggregated_by=year",
            "aggregated_by",
        ),
    ] {
        let answer = app
            .get(&format!("/v3/stats{query}"))
            .await
            .expect(400)
            .json();
        assert_eq!(answer["errors"][0]["field"], field, "{query}");
    }
    let answer = app
        .get("/v3/categories/stats?start_date=2026-02-01")
        .await
        .expect(400)
        .json();
    assert_eq!(answer["errors"][0]["field"], "categories");
}
