//! No key grants more than it holds, by any verb.

use posthaste_model::scope;
use serde_json::json;

use crate::TestApp;

const MAKER: [&str; 4] = [
    "api_keys.create",
    "api_keys.read",
    "api_keys.update",
    "mail.send",
];

#[tokio::test]
async fn a_restricted_key_without_named_scopes_creates_a_key_with_its_own() {
    let app = TestApp::new().await;
    let maker = app.tenant.restricted(&app.store, &MAKER).await;
    for body in [json!({"name": "x"}), json!({"name": "x", "scopes": null})] {
        let made = app.create(&maker, &body).await.expect(201).json();
        assert_eq!(made["scopes"], json!(MAKER));
        assert_eq!(
            app.scopes_of(made["api_key"].as_str().unwrap()).await,
            MAKER
        );
    }
}

#[tokio::test]
async fn no_verb_lets_a_restricted_key_grow() {
    let app = TestApp::new().await;
    let maker = app.tenant.restricted(&app.store, &MAKER).await;
    let own = format!("/v3/api_keys/{}", maker.split('.').nth(1).unwrap());
    let more = json!({"name": "x", "scopes": ["mail.send", "api_keys.delete"]});

    let error = app.create(&maker, &more).await.expect(403).error();
    assert_eq!(error.0.as_deref(), Some("scopes.1"));
    let put = app
        .api
        .put(&own)
        .key(&maker)
        .json(&more)
        .send()
        .await
        .expect(403)
        .error();
    assert_eq!(put, error);
    // PATCH changes the name alone.
    app.api
        .patch(&own)
        .key(&maker)
        .json(&more)
        .send()
        .await
        .expect(200);
    assert_eq!(app.scopes_of(&maker).await, MAKER);

    // Nor can it give another key more than it holds.
    let (id, made) = app.made(&["mail.send"]).await;
    let path = format!("/v3/api_keys/{id}");
    app.api
        .put(&path)
        .key(&maker)
        .json(&more)
        .send()
        .await
        .expect(403);
    assert_eq!(app.scopes_of(&made).await, ["mail.send"]);
}

#[tokio::test]
async fn billing_and_other_scopes_exclude_each_other_and_no_full_key_grants_billing() {
    let app = TestApp::new().await;
    for (scopes, status) in [
        (json!(["billing.read"]), 403),
        (json!(["billing.read", "mail.send"]), 400),
        // Held by no Full Access key, which may give it to a restricted one.
        (json!(["validations.email.create"]), 201),
        (json!([]), 400),
        (json!(["no.such.scope"]), 400),
    ] {
        let body = json!({"name": "x", "scopes": scopes});
        let answer = app.create(&app.tenant.key, &body).await;
        assert_eq!(answer.status, status, "{body}");
    }
    let full = app.scopes_of(&app.tenant.key).await;
    assert!(
        !full
            .iter()
            .any(|s| s.starts_with("billing.") || s.starts_with("validations."))
    );
    assert!(full.is_sorted() && full.iter().any(|s| s == "mail.send"));
}

#[tokio::test]
async fn each_verb_needs_its_own_scope() {
    let app = TestApp::new().await;
    let (id, _) = app.made(&["mail.send"]).await;
    let (all, one) = ("/v3/api_keys", format!("/v3/api_keys/{id}"));
    let body = json!({"name": "x"});
    for scope in ["create", "read", "update", "delete"] {
        let key = app
            .tenant
            .restricted(&app.store, &[&format!("api_keys.{scope}")])
            .await;
        for (needs, ask) in [
            ("create", app.api.post(all).json(&body)),
            ("read", app.api.get(all)),
            ("read", app.api.get(&one)),
            ("update", app.api.put(&one).json(&body)),
            ("update", app.api.patch(&one).json(&body)),
            ("delete", app.api.delete(&one)),
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
        app.scopes_of(&key).await;
    }
}

#[tokio::test]
async fn a_parent_grants_a_subuser_no_more_than_it_holds_itself() {
    let app = TestApp::new().await;
    app.tenant.subuser(&app.store, "sub").await;
    let maker = app.tenant.restricted(&app.store, &MAKER).await;
    let create = |body| {
        app.api
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
    let app = TestApp::new().await;
    let (id, made) = app.made(&["mail.send"]).await;
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
        for ask in [app.api.post(&all), app.api.put(&one), app.api.patch(&one)] {
            let ask = ask.key(&app.tenant.key);
            let ask = ask.header("content-type", "application/json").body(body);
            ask.send().await.expect(400);
        }
    }
    let keys = app.store.keys(&app.tenant.account.id).await.unwrap();
    let names: Vec<_> = keys.iter().map(|key| key.name.as_str()).collect();
    assert_eq!(names, ["test", "made"]);
    assert_eq!(app.scopes_of(&made).await, ["mail.send"]);
}

#[tokio::test]
async fn the_scope_sets_of_clients_create_a_key_without_what_only_a_billing_key_holds() {
    let app = TestApp::new().await;
    let create = async |scopes: &[&str]| {
        let body = json!({"name": "admin", "scopes": scopes});
        app.create(&app.tenant.key, &body).await
    };
    // The "admin" set of the Ruby client is the published list, billing included.
    let made = create(&scope::ALL).await.expect(201).json();
    let without = scope::ALL.iter().filter(|name| !scope::is_billing(name));
    assert_eq!(made["scopes"], json!(without.collect::<Vec<_>>()));
    // That of the C# client is part of it, and mixes with billing no more than any other list.
    let csharp = scope::ALL.iter().copied();
    let csharp: Vec<_> = csharp
        .filter(|name| !name.starts_with("mail_settings.bcc."))
        .collect();
    let refused = create(&csharp).await.expect(400).json();
    let error = &refused["errors"][0];
    assert_eq!(error["field"], "scopes");
    let hint = "leave out billing.create, billing.delete, billing.read, billing.update";
    assert!(
        error["message"].as_str().unwrap().ends_with(hint),
        "{error}"
    );

    let all = scope::ALL.iter().chain(&scope::EXTRA).copied();
    let all: Vec<_> = all.filter(|name| !scope::is_billing(name)).collect();
    assert!(all.len() > 256, "the names of today among them");
    let made = create(&all).await.expect(201).json();
    assert_eq!(made["scopes"].as_array().unwrap().len(), all.len());
    // One that does not exist is named.
    let refused = create(&["mail.send", "mail.read.all"]).await.expect(400);
    assert_eq!(refused.error().0.as_deref(), Some("scopes.1"));
}

#[tokio::test]
async fn every_route_names_a_scope_that_exists() {
    let app = TestApp::new().await;
    let opened = app.services.open(api_keys::App::from_env);
    for route in api_keys::routes(opened, app.services.gate()).list() {
        match route.access {
            posthaste_http::Access::Scope(name) => {
                assert!(scope::is_known(name), "{route:?}");
            }
            posthaste_http::Access::Either(..) | posthaste_http::Access::OneOf(_) => {
                panic!("{route:?} takes several scopes")
            }
            posthaste_http::Access::AnyKey => assert_eq!(route.path, "/v3/scopes"),
            // The documentation.
            posthaste_http::Access::Public => assert!(!route.path.starts_with("/v3/"), "{route:?}"),
        }
    }
}

#[tokio::test]
async fn a_wrong_name_and_wrong_scopes_are_reported_at_once() {
    let app = TestApp::new().await;
    let fields = |answer: &serde_json::Value| -> Vec<String> {
        let errors = answer["errors"].as_array().unwrap().iter();
        errors
            .map(|error| error["field"].as_str().unwrap_or("-").to_owned())
            .collect()
    };
    let wrong = json!({"name": "", "scopes": ["mail.send", "mail.sned", "billing.read"]});
    let answer = app.create(&app.tenant.key, &wrong).await.expect(400).json();
    assert_eq!(fields(&answer), ["name", "scopes.1", "scopes"]);
    let (id, _) = app.made(&["mail.send"]).await;
    let path = format!("/v3/api_keys/{id}");
    let put = app.api.put(&path).key(&app.tenant.key).json(&wrong);
    let answer = put.send().await.expect(400).json();
    assert_eq!(fields(&answer), ["-", "scopes.1", "scopes"]);
}
