use axum::http::Method;
use posthaste_store::SuppressionList;
use serde_json::{Value, json};

use crate::TestApp;

const GROUPS: &str = "/v3/asm/groups";

async fn make(env: &TestApp, name: &str) -> i64 {
    let body = json!({"name": name, "description": "about it"});
    let made = env.call(Method::POST, GROUPS, &body).await.expect(201);
    made.json()["id"].as_i64().unwrap()
}

#[tokio::test]
async fn a_group_lives_through_its_endpoints() {
    let env = TestApp::new().await;
    let body = json!({"name": "News", "description": "Weekly", "is_default": true});
    let made = env.call(Method::POST, GROUPS, &body).await.expect(201);
    assert_eq!(
        made.json(),
        json!({"id": 1, "name": "News", "description": "Weekly", "is_default": true})
    );
    make(&env, "Offers").await;

    let one = env.get("/v3/asm/groups/1").await;
    let whole = json!({"id": 1, "name": "News", "description": "Weekly", "is_default": true,
        "unsubscribes": 0});
    assert_eq!(one, whole);
    let all = env.get(GROUPS).await;
    assert_eq!((all.as_array().unwrap().len(), &all[0]), (2, &whole));
    let some = env.get("/v3/asm/groups?id=2&id=77").await;
    assert_eq!(some.as_array().unwrap().len(), 1);

    let change = json!({"name": "Old news"});
    let changed = env.call(Method::PATCH, "/v3/asm/groups/1", &change).await;
    assert_eq!(changed.expect(201).json()["name"], "Old news");
    env.delete("/v3/asm/groups/1").await.expect(204);
    for _ in 0..2 {
        env.delete("/v3/asm/groups/1").await.expect(404);
    }
}

#[tokio::test]
async fn a_group_that_cannot_be_is_refused_with_every_reason() {
    let env = TestApp::new().await;
    make(&env, "News").await;
    let long = |n| "ä".repeat(n);
    for (body, fields) in [
        (json!({}), vec!["name"]),
        (
            json!({"name": " ", "description": long(101)}),
            vec!["name", "description"],
        ),
        (json!({"name": long(31)}), vec!["name"]),
        (json!({"name": " NEWS "}), vec!["name"]),
        (json!({"name": 5}), vec!["name"]),
    ] {
        let refused = env.call(Method::POST, GROUPS, &body).await.expect(400);
        let errors = refused.json()["errors"].as_array().unwrap().clone();
        let named: Vec<_> = errors
            .iter()
            .map(|e| e["field"].as_str().unwrap())
            .collect();
        assert_eq!(named, fields, "{body}");
    }
    let fits = json!({"name": long(30), "description": long(100)});
    let made = env.call(Method::POST, GROUPS, &fits).await.expect(201);
    let path = format!("{GROUPS}/{}", made.json()["id"]);
    let taken = json!({"name": "news"});
    let other = env.call(Method::PATCH, &path, &taken).await;
    assert_eq!(other.expect(400).error().0.as_deref(), Some("name"));
    for id in ["99", "x", "-1", "99999999999999999999"] {
        let path = format!("/v3/asm/groups/{id}");
        let empty = json!({});
        env.call(Method::GET, &path, &empty).await.expect(404);
        env.call(Method::PATCH, &path, &empty).await.expect(404);
        env.call(Method::DELETE, &path, &empty).await.expect(404);
    }
}

#[tokio::test]
async fn a_group_that_was_mailed_lately_stays() {
    let env = TestApp::new().await;
    let id = make(&env, "News").await;
    let account = &env.tenant.account.id;
    let noted = env.store.note_group_mailed(account, id, env.hand.now());
    noted.await.unwrap();
    env.hand.advance(60 * 86_400 - 1);
    let refused = env.delete("/v3/asm/groups/1").await.expect(400);
    assert!(
        refused
            .error()
            .1
            .starts_with("refusing to delete active group")
    );
    env.hand.advance(1);
    env.delete("/v3/asm/groups/1").await.expect(204);
}

#[tokio::test]
async fn people_leave_a_group_and_come_back() {
    let env = TestApp::new().await;
    make(&env, "News").await;
    make(&env, "Offers").await;
    let path = "/v3/asm/groups/1/suppressions";
    let body = json!({"recipient_emails": ["Ann@Example.com", "bob@example.com"]});
    for _ in 0..2 {
        let added = env.call(Method::POST, path, &body).await.expect(201);
        assert_eq!(added.json(), body);
    }
    assert_eq!(env.get("/v3/asm/groups/1").await["unsubscribes"], 2);
    let mut left = env.get(path).await;
    left.as_array_mut().unwrap().sort_by_key(Value::to_string);
    assert_eq!(left, json!(["ann@example.com", "bob@example.com"]));

    let ask = json!({"recipient_emails": ["ANN@example.com", "eve@example.com"]});
    let found = env
        .call(Method::POST, &format!("{path}/search"), &ask)
        .await;
    assert_eq!(found.expect(200).json(), json!(["ann@example.com"]));
    let stands = env.get("/v3/asm/suppressions/ann@example.com").await;
    let shown: Vec<_> = stands["suppressions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| {
            (
                s["name"].as_str().unwrap(),
                s["suppressed"].as_bool().unwrap(),
            )
        })
        .collect();
    assert_eq!(shown, [("News", true), ("Offers", false)]);
    let all = env.get("/v3/asm/suppressions?limit=1").await;
    assert_eq!(
        (&all[0]["group_id"], &all[0]["group_name"]),
        (&json!(1), &json!("News"))
    );
    assert_eq!(
        env.get("/v3/asm/suppressions")
            .await
            .as_array()
            .unwrap()
            .len(),
        2
    );

    env.delete(&format!("{path}/ann%40example.com"))
        .await
        .expect(204);
    assert_eq!(env.get(path).await, json!(["bob@example.com"]));
    assert_eq!(env.get("/v3/asm/groups/1").await["unsubscribes"], 1);
    let path = "/v3/asm/groups/9/suppressions";
    let none = env.call(Method::GET, path, &json!({})).await;
    none.expect(404);
}

#[tokio::test]
async fn leaving_a_group_that_is_gone_is_leaving_everything() {
    let env = TestApp::new().await;
    let body = json!({"recipient_emails": ["Ann@example.com"]});
    let added = env.call(Method::POST, "/v3/asm/groups/42/suppressions", &body);
    added.await.expect(201);
    let global = env.get("/v3/asm/suppressions/global/ann@example.com").await;
    assert_eq!(global, json!({"recipient_email": "ann@example.com"}));
}

#[tokio::test]
async fn people_leave_everything_and_come_back() {
    let env = TestApp::new().await;
    let (path, one) = (
        "/v3/asm/suppressions/global",
        "/v3/asm/suppressions/global/ANN@example.com",
    );
    assert_eq!(env.get(one).await, json!({}));
    let body = json!({"recipient_emails": ["ann@example.com"]});
    let added = env.call(Method::POST, path, &body).await.expect(201);
    assert_eq!(added.json(), body);
    assert_eq!(
        env.get(one).await,
        json!({"recipient_email": "ann@example.com"})
    );
    let listed = env.get("/v3/suppression/unsubscribes").await;
    assert_eq!(listed[0]["email"], "ann@example.com");
    for _ in 0..2 {
        env.delete(one).await.expect(204);
    }
    assert_eq!(env.get(one).await, json!({}));
}

#[tokio::test]
async fn addresses_that_are_none_are_named_and_nobody_leaves() {
    let env = TestApp::new().await;
    make(&env, "News").await;
    let many: Vec<_> = (0..=suppressions::MOST)
        .map(|i| format!("r{i}@x.co"))
        .collect();
    for path in [
        "/v3/asm/suppressions/global",
        "/v3/asm/groups/1/suppressions",
        "/v3/asm/groups/1/suppressions/search",
    ] {
        for (body, field) in [
            (json!({}), "recipient_emails"),
            (json!({"recipient_emails": []}), "recipient_emails"),
            (
                json!({"recipient_emails": ["a@x.co", "@"]}),
                "recipient_emails.1",
            ),
            (json!({"recipient_emails": many}), "recipient_emails"),
        ] {
            let refused = env.call(Method::POST, path, &body).await.expect(400);
            assert_eq!(refused.error().0.as_deref(), Some(field), "{path}");
        }
    }
    let account = &env.tenant.account.id;
    let left = env.store.suppressed(account, "a@x.co").await.unwrap();
    assert!(
        left.on(SuppressionList::Unsubscribes).is_none()
            && left.on(SuppressionList::Group(1)).is_none()
    );
}

#[tokio::test]
async fn a_key_opens_the_endpoints_by_the_scopes_of_its_time_and_no_others() {
    let app = TestApp::new().await;
    let key = async |scope: &str| app.tenant.restricted(&app.store, &[scope]).await;
    let get = async |path: &str, key: &str| app.api.get(path).key(key).send().await.status.as_u16();
    const GLOBAL: &str = "/v3/asm/suppressions/global/a@example.com";
    for (scope, global, all) in [
        ("asm.suppressions.global.read", 200, 403),
        ("asm.suppressions.read", 200, 200),
        ("asm.groups.suppressions.read", 403, 200),
        ("asm.suppressions.global.create", 403, 403),
        ("mail.send", 403, 403),
    ] {
        let key = key(scope).await;
        assert_eq!(get(GLOBAL, &key).await, global, "{scope}");
        assert_eq!(get("/v3/asm/suppressions", &key).await, all, "{scope}");
    }
    for (scope, status) in [
        ("asm.suppressions.create", 201),
        ("asm.suppressions.global.create", 201),
        ("asm.suppressions.global.read", 403),
    ] {
        let key = key(scope).await;
        let body = json!({"recipient_emails": ["a@example.com"]});
        let ask = app.api.post("/v3/asm/suppressions/global").key(&key);
        assert_eq!(ask.json(&body).send().await.status, status, "{scope}");
    }
}
