use posthaste_testkit::{HOME, Tenant};
use serde_json::json;

use crate::{LIST, TestApp};

#[tokio::test]
async fn entries_are_answered_as_cidr_with_their_ids() {
    let app = TestApp::new().await;
    let now = app.hand.now().0;
    let home = HOME.to_string();
    let added = app
        .add(&[&home, "192.*.*.*", "25.203.44.*", "198.51.100.7/24"])
        .await;
    let rule =
        |id: i64, ip: &str| json!({"id": id, "ip": ip, "created_at": now, "updated_at": now});
    let want = json!([
        rule(1, "192.0.2.1/32"),
        rule(2, "192.0.0.0/8"),
        rule(3, "25.203.44.0/24"),
        rule(4, "198.51.100.0/24"),
    ]);
    assert_eq!(added.expect(201).json(), json!({"result": want}));
    assert_eq!(app.list().await, want);
    let one = app
        .api
        .get(&format!("{LIST}/3"))
        .key(&app.tenant.key)
        .send()
        .await;
    assert_eq!(one.expect(200).json(), json!({"result": [want[2]]}));
}

#[tokio::test]
async fn every_wrong_entry_is_named_and_nothing_is_added() {
    let app = TestApp::new().await;
    let body =
        json!({"ips": [{"ip": "192.0.2.1"}, {"ip": "x"}, {}, {"ip": null}, {"ip": "1.*.3.*"}]});
    let answer = app.post(&body).await.expect(400).json();
    let errors = answer["errors"].as_array().unwrap();
    let fields: Vec<_> = errors
        .iter()
        .map(|e| e["field"].as_str().unwrap())
        .collect();
    assert_eq!(fields, ["ips.1.ip", "ips.2.ip", "ips.3.ip", "ips.4.ip"]);
    assert_eq!(app.list().await, json!([]));
}

#[tokio::test]
async fn a_body_that_does_not_fit_is_refused() {
    let app = TestApp::new().await;
    for (body, field) in [
        (json!({}), Some("ips")),
        (json!({"ips": null}), Some("ips")),
        (json!({"ips": []}), Some("ips")),
        (json!({"ips": "192.0.2.1"}), Some("ips")),
        (json!({"ips": ["192.0.2.1"]}), Some("ips.0")),
        (json!({"ips": [{"ip": 5}]}), Some("ips.0.ip")),
        (json!([{"ip": "192.0.2.1"}]), None),
        (
            json!({"ips": vec![json!({"ip": "x"}); 10_001]}),
            Some("ips"),
        ),
    ] {
        let error = app.post(&body).await.expect(400).error();
        assert_eq!(error.0.as_deref(), field);
    }
    for (body, field) in [
        (json!({}), Some("ids")),
        (json!({"ids": []}), Some("ids")),
        (json!({"ids": ["1"]}), Some("ids.0")),
        (json!({"ids": [1.5]}), Some("ids.0")),
        (json!({"ids": [1e30]}), Some("ids.0")),
        (json!({"ids": vec![1; 10_001]}), Some("ids")),
    ] {
        let ask = app.api.delete(LIST).key(&app.tenant.key).json(&body);
        assert_eq!(
            ask.send().await.expect(400).error().0.as_deref(),
            field,
            "{body}"
        );
    }
}

#[tokio::test]
async fn a_network_is_on_the_list_once() {
    let app = TestApp::new().await;
    app.add(&["192.0.2.*"]).await.expect(201);
    let answer = app
        .add(&["10.0.0.1", "192.0.2.77/24", "10.0.0.1/32"])
        .await
        .expect(400);
    let fields = answer.json()["errors"].as_array().unwrap().clone();
    let fields: Vec<_> = fields.iter().map(|e| e["field"].clone()).collect();
    assert_eq!(fields, ["ips.1.ip", "ips.2.ip"]);
    assert_eq!(app.ips().await, ["192.0.2.0/24"]);
}

#[tokio::test]
async fn one_and_many_are_removed_or_none() {
    let app = TestApp::new().await;
    let home = HOME.to_string();
    app.add(&[&home, "10.0.0.1", "10.0.0.2", "10.0.0.3"])
        .await
        .expect(201);
    let key = &app.tenant.key;
    let one = |id: &str| app.api.delete(&format!("{LIST}/{id}")).key(key).send();
    let many = |ids| {
        app.api
            .delete(LIST)
            .key(key)
            .json(&json!({"ids": ids}))
            .send()
    };

    assert!(one("2").await.expect(204).body.is_empty());
    let answer = many(json!([3, 2, 9])).await.expect(404).json();
    let help = json!({"text": "https://post.example/docs/errors#unknown-id"});
    let want = json!({"errors": [
        {"field": "ids.1", "message": "not found", "help": help},
        {"field": "ids.2", "message": "not found", "help": help},
    ]});
    assert_eq!(answer, want);
    assert_eq!(
        app.ips().await,
        ["192.0.2.1/32", "10.0.0.2/32", "10.0.0.3/32"]
    );
    many(json!([3, 4])).await.expect(204);
    for id in ["2", "0", "-1", "x", "99999999999999999999", "%ff"] {
        let (field, message) = one(id).await.expect(404).error();
        assert_eq!(field, None, "{id}");
        assert!(message.starts_with("not found"), "{id}: {message}");
        app.api
            .get(&format!("{LIST}/{id}"))
            .key(key)
            .send()
            .await
            .expect(404);
    }
    assert_eq!(app.ips().await, ["192.0.2.1/32"]);
}

#[tokio::test]
async fn no_tenant_sees_or_touches_the_list_of_another() {
    let app = TestApp::new().await;
    let other = Tenant::new(&app.store, "other", app.hand.now()).await;
    app.add(&["192.0.2.*"]).await.expect(201);
    let one = format!("{LIST}/1");
    for ask in [
        app.api.get(&one),
        app.api.delete(&one),
        app.api.delete(LIST).json(&json!({"ids": [1]})),
    ] {
        ask.key(&other.key).send().await.expect(404);
    }
    let theirs = app
        .api
        .get(LIST)
        .key(&other.key)
        .send()
        .await
        .expect(200)
        .json();
    assert_eq!(theirs, json!({"result": []}));
    assert_eq!(app.ips().await, ["192.0.2.0/24"]);
}

#[tokio::test]
async fn each_verb_needs_its_own_scope() {
    let app = TestApp::new().await;
    let one = format!("{LIST}/1");
    for scope in [
        "whitelist.create",
        "whitelist.read",
        "whitelist.delete",
        "activity.read",
    ] {
        let name = format!("access_settings.{scope}");
        let key = app.tenant.restricted(&app.store, &[&name]).await;
        for (needs, ask) in [
            ("whitelist.create", app.api.post(LIST)),
            ("whitelist.read", app.api.get(LIST)),
            ("whitelist.read", app.api.get(&one)),
            ("whitelist.delete", app.api.delete(LIST)),
            ("whitelist.delete", app.api.delete(&one)),
            ("activity.read", app.api.get("/v3/access_settings/activity")),
        ] {
            let refused = ask.key(&key).send().await.status == 403;
            assert_eq!(refused, needs != scope, "{scope} at {needs}");
        }
    }
}
