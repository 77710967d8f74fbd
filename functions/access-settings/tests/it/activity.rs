use serde_json::json;

use crate::{LIST, TestApp};

const ACTIVITY: &str = "/v3/access_settings/activity";

#[tokio::test]
async fn attempts_are_listed_latest_first() {
    let app = TestApp::new().await;
    let first = app.hand.now().0;
    let from = |last: u8| Some(std::net::IpAddr::from([203, 0, 113, last]));
    let key = &app.tenant.key;
    app.api
        .get(LIST)
        .key(key)
        .from(from(1))
        .send()
        .await
        .expect(200);
    app.hand.advance(60);
    app.add(&["192.0.2.1"]).await.expect(201);
    app.hand.advance(60);
    app.api
        .get(LIST)
        .key(key)
        .from(from(1))
        .send()
        .await
        .expect(403);
    app.hand.advance(60);
    let get = app.api.get(ACTIVITY).key(key).send().await.expect(200);
    let seen = |allowed: bool, ip: &str, first_at: i64, last_at: i64| {
        json!({"allowed": allowed, "auth_method": "bearer", "first_at": first_at, "ip": ip,
            "last_at": last_at, "location": ""})
    };
    let mut want = vec![
        seen(false, "203.0.113.1", first + 120, first + 120),
        seen(true, "192.0.2.1", first + 60, first + 60),
        seen(true, "203.0.113.1", first, first),
    ];
    // The call itself is recorded while it is answered, so it may or may not be in the list.
    let got = get.json()["result"].clone();
    if got[0]["ip"] == "192.0.2.1" {
        want = vec![
            seen(true, "192.0.2.1", first + 60, first + 180),
            want[0].clone(),
            want[2].clone(),
        ];
    }
    assert_eq!(got, json!(want));
}

#[tokio::test]
async fn twenty_are_listed_unless_a_limit_says_otherwise() {
    let app = TestApp::new().await;
    for last in 0..30_u8 {
        let ip = Some(std::net::IpAddr::from([203, 0, 113, last]));
        let get = app.api.get(LIST).key(&app.tenant.key).from(ip);
        get.send().await.expect(200);
    }
    for (query, want) in [("", 20), ("?limit=7", 7), ("?limit=25", 25)] {
        let get = app
            .api
            .get(&format!("{ACTIVITY}{query}"))
            .key(&app.tenant.key);
        let list = get.send().await.expect(200).json();
        assert_eq!(list["result"].as_array().unwrap().len(), want, "{query}");
    }
    let bad = app
        .api
        .get(&format!("{ACTIVITY}?limit=0"))
        .key(&app.tenant.key);
    bad.send().await.expect(400);
}
