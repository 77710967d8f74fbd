//! Every operation, its answers and its errors (API facts, section 1).

use posthaste_testkit::Tenant;
use serde_json::json;

use crate::TestApp;

const UNKNOWN: &str = "AAAAAAAAAAAAAAAAAAAAAA";

#[tokio::test]
async fn a_new_key_is_shown_once_and_works_at_once() {
    let app = TestApp::new().await;
    let answer = app
        .create(&app.tenant.key, &json!({"name": " Mail "}))
        .await
        .expect(201);
    assert_eq!(answer.header("cache-control"), "no-store");
    let made = answer.json();
    let (key, id) = (
        made["api_key"].as_str().unwrap(),
        made["api_key_id"].as_str().unwrap(),
    );
    assert_eq!((key.len(), made["name"].as_str()), (69, Some("Mail")));
    assert!(key.starts_with(&format!("SG.{id}.")), "{key}");
    assert_eq!(made["scopes"], json!(app.scopes_of(key).await));

    let seen = app
        .api
        .get(&format!("/v3/api_keys/{id}"))
        .key(key)
        .send()
        .await
        .expect(200);
    assert_eq!(
        seen.json(),
        json!({"api_key_id": id, "name": "Mail", "scopes": made["scopes"]})
    );
}

#[tokio::test]
async fn the_list_names_keys_and_nothing_else() {
    let app = TestApp::new().await;
    let (id, _) = app.made(&["mail.send"]).await;
    let key = &app.tenant.key;
    let all = app
        .api
        .get("/v3/api_keys")
        .key(key)
        .send()
        .await
        .expect(200)
        .json();
    let own = key.split('.').nth(1).unwrap();
    let want = json!({"result": [
        {"api_key_id": own, "name": "test"},
        {"api_key_id": id, "name": "made"},
    ]});
    assert_eq!(all, want);

    let first = app
        .api
        .get("/v3/api_keys?limit=1")
        .key(key)
        .send()
        .await
        .expect(200)
        .json();
    assert_eq!(first["result"].as_array().map(Vec::len), Some(1));
    for bad in ["0", "-1", "x", ""] {
        let path = format!("/v3/api_keys?limit={bad}");
        let error = app.api.get(&path).key(key).send().await.expect(400).error();
        assert_eq!(error.0.as_deref(), Some("limit"), "{bad}");
    }
}

#[tokio::test]
async fn a_name_is_needed_and_at_most_255_characters() {
    let app = TestApp::new().await;
    let key = &app.tenant.key;
    for body in [
        json!({}),
        json!({"name": null}),
        json!({"name": ""}),
        json!({"name": " "}),
    ] {
        let error = app.create(key, &body).await.expect(400).error();
        assert_eq!(
            error,
            (
                Some("name".to_owned()),
                "missing required argument".to_owned()
            )
        );
    }
    let name = |n| json!({"name": "ä".repeat(n)});
    assert_eq!(app.create(key, &name(255)).await.status, 201);
    assert_eq!(
        app.create(key, &name(256))
            .await
            .expect(400)
            .error()
            .0
            .as_deref(),
        Some("name")
    );

    let (id, _) = app.made(&["mail.send"]).await;
    let path = format!("/v3/api_keys/{id}");
    for ask in [app.api.put(&path), app.api.patch(&path)] {
        let error = ask
            .key(key)
            .json(&json!({"scopes": ["mail.send"]}))
            .send()
            .await;
        let want = "expected JSON request body with 'name' property";
        assert_eq!(error.expect(400).error(), (None, want.to_owned()));
    }
}

#[tokio::test]
async fn types_that_do_not_fit_are_named() {
    let app = TestApp::new().await;
    for (body, field) in [
        (json!({"name": 5}), Some("name")),
        (json!({"name": ["a"]}), Some("name")),
        (json!({"name": "a", "scopes": "mail.send"}), Some("scopes")),
        (
            json!({"name": "a", "scopes": ["mail.send", 5]}),
            Some("scopes.1"),
        ),
        (
            json!({"name": "a", "scopes": {"mail.send": true}}),
            Some("scopes"),
        ),
        (json!(["a"]), None),
        (json!("a"), None),
        (json!(null), None),
    ] {
        let error = app.create(&app.tenant.key, &body).await.expect(400).error();
        assert_eq!(error.0.as_deref(), field, "{body}");
    }
    let before = app.store.keys(&app.tenant.account.id).await.unwrap().len();
    assert_eq!(before, 1, "a refused request makes no key");
}

#[tokio::test]
async fn put_changes_name_and_scopes_and_patch_the_name() {
    let app = TestApp::new().await;
    let (id, made) = app.made(&["mail.send"]).await;
    let (key, path) = (&app.tenant.key, format!("/v3/api_keys/{id}"));

    let body = json!({"name": "two", "scopes": ["templates.read", "alerts.read"]});
    let put = app
        .api
        .put(&path)
        .key(key)
        .json(&body)
        .send()
        .await
        .expect(200)
        .json();
    let want =
        json!({"api_key_id": id, "name": "two", "scopes": ["alerts.read", "templates.read"]});
    assert_eq!(put, want);
    assert_eq!(
        app.scopes_of(&made).await,
        ["alerts.read", "templates.read"]
    );

    let body = json!({"name": "three"});
    let put = app
        .api
        .put(&path)
        .key(key)
        .json(&body)
        .send()
        .await
        .expect(200)
        .json();
    assert_eq!(
        put["scopes"], want["scopes"],
        "PUT without scopes leaves them unchanged"
    );

    let body = json!({"name": "four"});
    let patch = app
        .api
        .patch(&path)
        .key(key)
        .json(&body)
        .send()
        .await
        .expect(200)
        .json();
    assert_eq!(patch, json!({"api_key_id": id, "name": "four"}));
    assert_eq!(
        app.scopes_of(&made).await,
        ["alerts.read", "templates.read"]
    );
}

#[tokio::test]
async fn an_unknown_id_is_not_found_in_the_words_of_its_verb() {
    let app = TestApp::new().await;
    let body = json!({"name": "x"});
    for id in [UNKNOWN, "short", "%ff", "a%2Fb", "AAAAAAAAAAAAAAAAAAAAA%0A"] {
        let path = format!("/v3/api_keys/{id}");
        for (ask, want) in [
            (app.api.get(&path), "unable to find API Key"),
            (
                app.api.put(&path).json(&body),
                "unable to find API Key to update",
            ),
            (
                app.api.patch(&path).json(&body),
                "unable to find API Key to update",
            ),
            (app.api.delete(&path), "unable to find API Key for deletion"),
        ] {
            let error = ask.key(&app.tenant.key).send().await.expect(404).error();
            let undecodable = id == "%ff";
            let want = if undecodable { "not found" } else { want };
            assert_eq!(error.0, None, "{id}");
            assert!(error.1.starts_with(want), "{id}: {}", error.1);
        }
    }
}

#[tokio::test]
async fn a_revoked_key_stops_here_at_once_and_elsewhere_within_ten_seconds() {
    let app = TestApp::new().await;
    let (id, made) = app.made(&["mail.send"]).await;
    let elsewhere = crate::instance(&app);
    elsewhere
        .get("/v3/scopes")
        .key(&made)
        .send()
        .await
        .expect(200);

    let gone = app
        .api
        .delete(&format!("/v3/api_keys/{id}"))
        .key(&app.tenant.key);
    assert!(gone.send().await.expect(204).body.is_empty());

    app.api
        .get("/v3/scopes")
        .key(&made)
        .send()
        .await
        .expect(401);
    app.hand.advance_ms(9_999);
    elsewhere
        .get("/v3/scopes")
        .key(&made)
        .send()
        .await
        .expect(200);
    app.hand.advance_ms(1);
    elsewhere
        .get("/v3/scopes")
        .key(&made)
        .send()
        .await
        .expect(401);
    let again = app
        .api
        .delete(&format!("/v3/api_keys/{id}"))
        .key(&app.tenant.key);
    again.send().await.expect(404);
}

#[tokio::test]
async fn a_change_takes_effect_elsewhere_within_ten_seconds() {
    let app = TestApp::new().await;
    let (id, made) = app.made(&["mail.send", "api_keys.read"]).await;
    let elsewhere = crate::instance(&app);
    elsewhere
        .get("/v3/api_keys")
        .key(&made)
        .send()
        .await
        .expect(200);
    let body = json!({"name": "less", "scopes": ["mail.send"]});
    let put = app
        .api
        .put(&format!("/v3/api_keys/{id}"))
        .key(&app.tenant.key);
    put.json(&body).send().await.expect(200);
    app.api
        .get("/v3/api_keys")
        .key(&made)
        .send()
        .await
        .expect(403);
    app.hand.advance(10);
    elsewhere
        .get("/v3/api_keys")
        .key(&made)
        .send()
        .await
        .expect(403);
}

#[tokio::test]
async fn no_tenant_sees_or_touches_the_keys_of_another() {
    let app = TestApp::new().await;
    let other = Tenant::new(&app.store, "other", app.hand.now()).await;
    let (id, made) = app.made(&["mail.send"]).await;
    let (path, body) = (
        format!("/v3/api_keys/{id}"),
        json!({"name": "x", "scopes": ["mail.send"]}),
    );
    for (ask, want) in [
        (app.api.get(&path), "unable to find API Key"),
        (
            app.api.put(&path).json(&body),
            "unable to find API Key to update",
        ),
        (
            app.api.patch(&path).json(&body),
            "unable to find API Key to update",
        ),
        (app.api.delete(&path), "unable to find API Key for deletion"),
    ] {
        let error = ask.key(&other.key).send().await.expect(404).error();
        assert_eq!(error.1, want, "as if it did not exist");
    }
    let list = app
        .api
        .get("/v3/api_keys")
        .key(&other.key)
        .send()
        .await
        .expect(200)
        .json();
    assert_eq!(list["result"].as_array().map(Vec::len), Some(1), "{list}");
    assert_eq!(app.scopes_of(&made).await, ["mail.send"]);
}

#[tokio::test]
async fn a_parent_makes_the_first_key_of_a_subuser() {
    let app = TestApp::new().await;
    let sub = app.tenant.subuser(&app.store, "Sub").await;
    let ask = app
        .api
        .post("/v3/api_keys")
        .key(&app.tenant.key)
        .as_if("sub");
    let made = ask
        .json(&json!({"name": "first"}))
        .send()
        .await
        .expect(201)
        .json();
    let id = made["api_key_id"].as_str().unwrap();
    let key = app
        .store
        .key_by_id(&posthaste_model::KeyId::parse(id).unwrap())
        .await
        .unwrap();
    assert_eq!(key.map(|key| key.account), Some(sub.account.id));
    // It is the subuser's alone: the parent's own list does not hold it.
    let path = format!("/v3/api_keys/{id}");
    app.api
        .get(&path)
        .key(&app.tenant.key)
        .send()
        .await
        .expect(404);
    app.api
        .get(&path)
        .key(&app.tenant.key)
        .as_if("SUB")
        .send()
        .await
        .expect(200);
}
