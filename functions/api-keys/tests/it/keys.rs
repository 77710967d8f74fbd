//! Every operation, its answers and its errors (API facts, section 1).

use posthaste_testkit::Tenant;
use serde_json::json;

use crate::TestApp;

const UNKNOWN: &str = "AAAAAAAAAAAAAAAAAAAAAA";

#[tokio::test]
async fn a_new_key_is_shown_once_and_works_at_once() {
    let desk = TestApp::new().await;
    let answer = desk
        .create(&desk.tenant.key, &json!({"name": " Mail "}))
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
    assert_eq!(made["scopes"], json!(desk.scopes_of(key).await));

    let seen = desk
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
    let desk = TestApp::new().await;
    let (id, _) = desk.made(&["mail.send"]).await;
    let key = &desk.tenant.key;
    let all = desk
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

    let first = desk
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
        let error = desk
            .api
            .get(&path)
            .key(key)
            .send()
            .await
            .expect(400)
            .error();
        assert_eq!(error.0.as_deref(), Some("limit"), "{bad}");
    }
}

#[tokio::test]
async fn a_name_is_needed_and_at_most_255_characters() {
    let desk = TestApp::new().await;
    let key = &desk.tenant.key;
    for body in [
        json!({}),
        json!({"name": null}),
        json!({"name": ""}),
        json!({"name": " "}),
    ] {
        let error = desk.create(key, &body).await.expect(400).error();
        assert_eq!(
            error,
            (
                Some("name".to_owned()),
                "missing required argument".to_owned()
            )
        );
    }
    let name = |n| json!({"name": "ä".repeat(n)});
    assert_eq!(desk.create(key, &name(255)).await.status, 201);
    assert_eq!(
        desk.create(key, &name(256))
            .await
            .expect(400)
            .error()
            .0
            .as_deref(),
        Some("name")
    );

    let (id, _) = desk.made(&["mail.send"]).await;
    let path = format!("/v3/api_keys/{id}");
    for ask in [desk.api.put(&path), desk.api.patch(&path)] {
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
    let desk = TestApp::new().await;
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
        let error = desk
            .create(&desk.tenant.key, &body)
            .await
            .expect(400)
            .error();
        assert_eq!(error.0.as_deref(), field, "{body}");
    }
    let before = desk
        .store
        .keys(&desk.tenant.account.id)
        .await
        .unwrap()
        .len();
    assert_eq!(before, 1, "a refused request makes no key");
}

#[tokio::test]
async fn put_changes_name_and_scopes_and_patch_the_name() {
    let desk = TestApp::new().await;
    let (id, made) = desk.made(&["mail.send"]).await;
    let (key, path) = (&desk.tenant.key, format!("/v3/api_keys/{id}"));

    let body = json!({"name": "two", "scopes": ["templates.read", "alerts.read"]});
    let put = desk
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
        desk.scopes_of(&made).await,
        ["alerts.read", "templates.read"]
    );

    let body = json!({"name": "three"});
    let put = desk
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
        "PUT without scopes keeps them"
    );

    let body = json!({"name": "four"});
    let patch = desk
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
        desk.scopes_of(&made).await,
        ["alerts.read", "templates.read"]
    );
}

#[tokio::test]
async fn an_unknown_id_is_not_found_in_the_words_of_its_verb() {
    let desk = TestApp::new().await;
    let body = json!({"name": "x"});
    for id in [UNKNOWN, "short", "%ff", "a%2Fb", "AAAAAAAAAAAAAAAAAAAAA%0A"] {
        let path = format!("/v3/api_keys/{id}");
        for (ask, want) in [
            (desk.api.get(&path), "unable to find API Key"),
            (
                desk.api.put(&path).json(&body),
                "unable to find API Key to update",
            ),
            (
                desk.api.patch(&path).json(&body),
                "unable to find API Key to update",
            ),
            (
                desk.api.delete(&path),
                "unable to find API Key for deletion",
            ),
        ] {
            let error = ask.key(&desk.tenant.key).send().await.expect(404).error();
            let undecodable = id == "%ff";
            let want = if undecodable { "not found" } else { want };
            assert_eq!(error, (None, want.to_owned()), "{id}");
        }
    }
}

#[tokio::test]
async fn a_revoked_key_stops_here_at_once_and_elsewhere_within_ten_seconds() {
    let desk = TestApp::new().await;
    let (id, made) = desk.made(&["mail.send"]).await;
    let elsewhere = crate::instance(&desk);
    elsewhere
        .get("/v3/scopes")
        .key(&made)
        .send()
        .await
        .expect(200);

    let gone = desk
        .api
        .delete(&format!("/v3/api_keys/{id}"))
        .key(&desk.tenant.key);
    assert!(gone.send().await.expect(204).body.is_empty());

    desk.api
        .get("/v3/scopes")
        .key(&made)
        .send()
        .await
        .expect(401);
    desk.hand.advance_ms(9_999);
    elsewhere
        .get("/v3/scopes")
        .key(&made)
        .send()
        .await
        .expect(200);
    desk.hand.advance_ms(1);
    elsewhere
        .get("/v3/scopes")
        .key(&made)
        .send()
        .await
        .expect(401);
    let again = desk
        .api
        .delete(&format!("/v3/api_keys/{id}"))
        .key(&desk.tenant.key);
    again.send().await.expect(404);
}

#[tokio::test]
async fn a_change_is_felt_elsewhere_within_ten_seconds() {
    let desk = TestApp::new().await;
    let (id, made) = desk.made(&["mail.send", "api_keys.read"]).await;
    let elsewhere = crate::instance(&desk);
    elsewhere
        .get("/v3/api_keys")
        .key(&made)
        .send()
        .await
        .expect(200);
    let body = json!({"name": "less", "scopes": ["mail.send"]});
    let put = desk
        .api
        .put(&format!("/v3/api_keys/{id}"))
        .key(&desk.tenant.key);
    put.json(&body).send().await.expect(200);
    desk.api
        .get("/v3/api_keys")
        .key(&made)
        .send()
        .await
        .expect(403);
    desk.hand.advance(10);
    elsewhere
        .get("/v3/api_keys")
        .key(&made)
        .send()
        .await
        .expect(403);
}

#[tokio::test]
async fn no_tenant_sees_or_touches_the_keys_of_another() {
    let desk = TestApp::new().await;
    let other = Tenant::new(&desk.store, "other", desk.hand.now()).await;
    let (id, made) = desk.made(&["mail.send"]).await;
    let (path, body) = (
        format!("/v3/api_keys/{id}"),
        json!({"name": "x", "scopes": ["mail.send"]}),
    );
    for (ask, want) in [
        (desk.api.get(&path), "unable to find API Key"),
        (
            desk.api.put(&path).json(&body),
            "unable to find API Key to update",
        ),
        (
            desk.api.patch(&path).json(&body),
            "unable to find API Key to update",
        ),
        (
            desk.api.delete(&path),
            "unable to find API Key for deletion",
        ),
    ] {
        let error = ask.key(&other.key).send().await.expect(404).error();
        assert_eq!(error.1, want, "as if it did not exist");
    }
    let list = desk
        .api
        .get("/v3/api_keys")
        .key(&other.key)
        .send()
        .await
        .expect(200)
        .json();
    assert_eq!(list["result"].as_array().map(Vec::len), Some(1), "{list}");
    assert_eq!(desk.scopes_of(&made).await, ["mail.send"]);
}

#[tokio::test]
async fn a_parent_makes_the_first_key_of_a_subuser() {
    let desk = TestApp::new().await;
    let sub = desk.tenant.subuser(&desk.store, "Sub").await;
    let ask = desk
        .api
        .post("/v3/api_keys")
        .key(&desk.tenant.key)
        .as_if("sub");
    let made = ask
        .json(&json!({"name": "first"}))
        .send()
        .await
        .expect(201)
        .json();
    let id = made["api_key_id"].as_str().unwrap();
    let key = desk
        .store
        .key_by_id(&posthaste_model::KeyId::parse(id).unwrap())
        .await
        .unwrap();
    assert_eq!(key.map(|key| key.account), Some(sub.account.id));
    // It is the subuser's alone: the parent's own list does not hold it.
    let path = format!("/v3/api_keys/{id}");
    desk.api
        .get(&path)
        .key(&desk.tenant.key)
        .send()
        .await
        .expect(404);
    desk.api
        .get(&path)
        .key(&desk.tenant.key)
        .as_if("SUB")
        .send()
        .await
        .expect(200);
}

#[tokio::test]
async fn every_route_names_a_scope_that_exists() {
    let desk = TestApp::new().await;
    let app = desk.services.open(api_keys::App::from_env);
    for route in api_keys::routes(app, desk.services.gate()).list() {
        match route.access {
            posthaste_http::Access::Scope(name) => {
                assert!(posthaste_model::scope::is_known(name), "{route:?}");
            }
            posthaste_http::Access::Either(..) => panic!("{route:?} takes two scopes"),
            posthaste_http::Access::AnyKey => assert_eq!(route.path, "/v3/scopes"),
            posthaste_http::Access::Public => panic!("{route:?} is open to everybody"),
        }
    }
}
