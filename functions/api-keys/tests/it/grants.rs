//! Nobody hands on more than he holds, whichever verb he tries.

use serde_json::json;

use crate::TestApp;

const MAKER: [&str; 4] = [
    "api_keys.create",
    "api_keys.read",
    "api_keys.update",
    "mail.send",
];

#[tokio::test]
async fn a_restricted_maker_who_names_no_scopes_hands_on_his_own() {
    let desk = TestApp::new().await;
    let maker = desk.tenant.restricted(&desk.store, &MAKER).await;
    for body in [json!({"name": "x"}), json!({"name": "x", "scopes": null})] {
        let made = desk.create(&maker, &body).await.expect(201).json();
        assert_eq!(made["scopes"], json!(MAKER));
        assert_eq!(
            desk.scopes_of(made["api_key"].as_str().unwrap()).await,
            MAKER
        );
    }
}

#[tokio::test]
async fn no_verb_lets_a_restricted_key_grow() {
    let desk = TestApp::new().await;
    let maker = desk.tenant.restricted(&desk.store, &MAKER).await;
    let own = format!("/v3/api_keys/{}", maker.split('.').nth(1).unwrap());
    let more = json!({"name": "x", "scopes": ["mail.send", "api_keys.delete"]});

    let error = desk.create(&maker, &more).await.expect(403).error();
    assert_eq!(error.0.as_deref(), Some("scopes.1"));
    let put = desk
        .api
        .put(&own)
        .key(&maker)
        .json(&more)
        .send()
        .await
        .expect(403)
        .error();
    assert_eq!(put, error);
    // PATCH knows the name alone.
    desk.api
        .patch(&own)
        .key(&maker)
        .json(&more)
        .send()
        .await
        .expect(200);
    assert_eq!(desk.scopes_of(&maker).await, MAKER);

    // Nor does it turn somebody else's key into more than he holds himself.
    let (id, made) = desk.made(&["mail.send"]).await;
    let path = format!("/v3/api_keys/{id}");
    desk.api
        .put(&path)
        .key(&maker)
        .json(&more)
        .send()
        .await
        .expect(403);
    assert_eq!(desk.scopes_of(&made).await, ["mail.send"]);
}

#[tokio::test]
async fn billing_and_other_scopes_exclude_each_other_and_no_full_key_grants_billing() {
    let desk = TestApp::new().await;
    for (scopes, status) in [
        (json!(["billing.read"]), 403),
        (json!(["billing.read", "mail.send"]), 400),
        (json!(["validations.email.create"]), 403),
        (json!([]), 400),
        (json!(["no.such.scope"]), 400),
    ] {
        let body = json!({"name": "x", "scopes": scopes});
        let answer = desk.create(&desk.tenant.key, &body).await;
        assert_eq!(answer.status, status, "{body}");
    }
    let full = desk.scopes_of(&desk.tenant.key).await;
    assert!(
        !full
            .iter()
            .any(|s| s.starts_with("billing.") || s.starts_with("validations."))
    );
    assert!(full.is_sorted() && full.iter().any(|s| s == "mail.send"));
}

#[tokio::test]
async fn each_verb_needs_its_own_scope() {
    let desk = TestApp::new().await;
    let (id, _) = desk.made(&["mail.send"]).await;
    let (all, one) = ("/v3/api_keys", format!("/v3/api_keys/{id}"));
    let body = json!({"name": "x"});
    for scope in ["create", "read", "update", "delete"] {
        let key = desk
            .tenant
            .restricted(&desk.store, &[&format!("api_keys.{scope}")])
            .await;
        for (needs, ask) in [
            ("create", desk.api.post(all).json(&body)),
            ("read", desk.api.get(all)),
            ("read", desk.api.get(&one)),
            ("update", desk.api.put(&one).json(&body)),
            ("update", desk.api.patch(&one).json(&body)),
            ("delete", desk.api.delete(&one)),
        ] {
            let answer = ask.key(&key).send().await;
            if needs == scope {
                assert!(answer.status.is_success(), "{scope}: {answer:?}");
            } else {
                assert_eq!(
                    answer.expect(403).error(),
                    (None, "access forbidden".to_owned())
                );
            }
        }
        desk.scopes_of(&key).await;
    }
}

#[tokio::test]
async fn a_parent_grants_a_subuser_no_more_than_it_holds_itself() {
    let desk = TestApp::new().await;
    desk.tenant.subuser(&desk.store, "sub").await;
    let maker = desk.tenant.restricted(&desk.store, &MAKER).await;
    let create = |body| {
        desk.api
            .post("/v3/api_keys")
            .key(&maker)
            .as_if("sub")
            .json(&body)
    };
    let made = create(json!({"name": "x"})).send().await.expect(201).json();
    assert_eq!(made["scopes"], json!(MAKER));
    let more = json!({"name": "x", "scopes": ["subusers.read"]});
    create(more).send().await.expect(403);
}

#[tokio::test]
async fn a_body_that_says_its_scopes_twice_changes_nothing() {
    let desk = TestApp::new().await;
    let (id, made) = desk.made(&["mail.send"]).await;
    let (all, one) = ("/v3/api_keys".to_owned(), format!("/v3/api_keys/{id}"));
    let twice = [
        r#"{"name":"x","scopes":["mail.send"],"scopes":["templates.read"]}"#,
        r#"{"name":"x","scopes":["mail.send"],"scopes":null}"#,
        r#"{"scopes":[],"name":"x","scopes":["mail.send"]}"#,
        // The same name, written otherwise.
        r#"{"name":"x","scopes":["mail.send"],"\u0073copes":["templates.read"]}"#,
        r#"{"name":"x","name":"y","scopes":["mail.send"]}"#,
    ];
    for body in twice {
        for ask in [
            desk.api.post(&all),
            desk.api.put(&one),
            desk.api.patch(&one),
        ] {
            let ask = ask.key(&desk.tenant.key);
            let ask = ask.header("content-type", "application/json").body(body);
            ask.send().await.expect(400);
        }
    }
    let keys = desk.store.keys(&desk.tenant.account.id).await.unwrap();
    let names: Vec<_> = keys.iter().map(|key| key.name.as_str()).collect();
    assert_eq!(names, ["test", "made"]);
    assert_eq!(desk.scopes_of(&made).await, ["mail.send"]);
}
