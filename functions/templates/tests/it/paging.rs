//! Lists: both forms, both ways.

use serde_json::Value;

use crate::TestApp;

fn ids(body: &Value) -> Vec<String> {
    let all = body["result"].as_array().unwrap();
    all.iter()
        .map(|t| t["id"].as_str().unwrap().to_owned())
        .collect()
}

/// Without the host.
fn path(address: &Value) -> String {
    let address = address.as_str().unwrap();
    address[address.find("/v3/").unwrap()..].to_owned()
}

#[tokio::test]
async fn pages_lead_to_one_another_both_ways() {
    let app = TestApp::new().await;
    let mut made = Vec::new();
    for _ in 0..5 {
        let template = app.template("dynamic").await;
        made.push(template.rsplit('/').next().unwrap().to_owned());
        app.hand.advance(1);
    }
    app.template("legacy").await;
    let first = app
        .get("/v3/templates?generations=dynamic&page_size=2")
        .await
        .expect(200)
        .json();
    assert_eq!(ids(&first), made[..2]);
    assert_eq!(first["_metadata"]["count"], 5);
    assert!(first["_metadata"].get("prev").is_none());
    let second = app
        .get(&path(&first["_metadata"]["next"]))
        .await
        .expect(200)
        .json();
    assert_eq!(ids(&second), made[2..4]);
    let third = app
        .get(&path(&second["_metadata"]["next"]))
        .await
        .expect(200)
        .json();
    assert_eq!(ids(&third), made[4..]);
    assert!(third["_metadata"].get("next").is_none());
    let back = app
        .get(&path(&third["_metadata"]["prev"]))
        .await
        .expect(200)
        .json();
    assert_eq!(ids(&back), made[2..4]);
    assert_eq!(
        ids(&app
            .get(&path(&back["_metadata"]["self"]))
            .await
            .expect(200)
            .json()),
        made[2..4]
    );
}

#[tokio::test]
async fn without_a_page_size_the_older_form_answers() {
    let app = TestApp::new().await;
    app.template("dynamic").await;
    app.template("legacy").await;
    for (query, count) in [
        ("", 1),
        ("?generations=dynamic", 1),
        ("?generations=legacy,dynamic", 2),
        ("?generations=legacy&generations=dynamic", 2),
    ] {
        let body = app
            .get(&format!("/v3/templates{query}"))
            .await
            .expect(200)
            .json();
        assert_eq!(
            body["templates"].as_array().unwrap().len(),
            count,
            "{query}"
        );
    }
}

#[tokio::test]
async fn odd_pages_are_refused() {
    let app = TestApp::new().await;
    for (query, field) in [
        ("page_size=0", "page_size"),
        ("page_size=201", "page_size"),
        ("page_size=x", "page_size"),
        ("generations=modern", "generations"),
        ("generations=legacy&generations=modern", "generations"),
        ("page_size=1&page_token=!", "page_token"),
    ] {
        let answer = app.get(&format!("/v3/templates?{query}")).await.expect(400);
        assert_eq!(answer.error().0.as_deref(), Some(field), "{query}");
    }
}
