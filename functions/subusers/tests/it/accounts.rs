use posthaste_store::AccountStatus;
use posthaste_testkit::Tenant;
use serde_json::json;

use crate::{ALL, TestApp, wanted};

#[tokio::test]
async fn a_subuser_is_made_listed_and_deleted() {
    let app = TestApp::new().await;
    let made = app.create("sub@example.com").await.expect(200).json();
    let id = made["user_id"].as_u64().unwrap();
    let want = json!({"username": "sub@example.com", "user_id": id, "email": "sub@example.com",
        "credit_allocation": {"type": "unlimited"}});
    assert_eq!(made, want);
    let entry = json!({"disabled": false, "id": id, "username": "sub@example.com",
        "email": "sub@example.com"});
    assert_eq!(app.get(ALL).await.expect(200).json(), json!([entry]));
    for path in ["sub@example.com", "sub%40example.com", "SUB@EXAMPLE.COM"] {
        let one = app.get(&format!("{ALL}/{path}")).await.expect(200).json();
        assert_eq!(one, entry, "{path}");
    }
    let id = app
        .store
        .subuser_id(&app.tenant.account.id, "sub@example.com")
        .await
        .unwrap();
    let account = app.store.account(&id.unwrap()).await.unwrap().unwrap();
    assert!(
        !format!("{account:?}").contains("s3cret-word"),
        "a password is stored"
    );

    let delete = || {
        app.api
            .delete(&format!("{ALL}/sub@example.com"))
            .key(&app.tenant.key)
    };
    assert!(delete().send().await.expect(204).body.is_empty());
    assert_eq!(app.get(ALL).await.json(), json!([]));
    delete().send().await.expect(400);
    app.create("sub@example.com").await.expect(200);
}

#[tokio::test]
async fn the_list_is_paged_and_filtered() {
    let app = TestApp::new().await;
    for (name, region) in [("a", "global"), ("b", "eu"), ("c", "global")] {
        let mut body = wanted(name);
        body["region"] = json!(region);
        body["include_region"] = json!(true);
        assert_eq!(app.post(&body).await.expect(200).json()["region"], region);
        app.hand.advance(1);
    }
    for (query, want) in [
        ("", "abc"),
        ("?limit=2", "ab"),
        ("?limit=2&offset=2", "c"),
        ("?offset=9", ""),
        ("?username=B", "b"),
        ("?username=x", ""),
        ("?region=eu", "b"),
        ("?region=global&limit=1&offset=1", "c"),
        ("?region=all", "abc"),
    ] {
        assert_eq!(app.names(query).await.concat(), want, "{query}");
    }
    let list = app
        .get(&format!("{ALL}?include_region=true"))
        .await
        .expect(200)
        .json();
    assert_eq!(list[1]["region"], "eu");
    for (query, field) in [
        ("?limit=0", "limit"),
        ("?offset=-1", "offset"),
        ("?region=mars", "region"),
        ("?include_region=maybe", "include_region"),
    ] {
        let error = app.get(&format!("{ALL}{query}")).await.expect(400).error();
        assert_eq!(error.0.as_deref(), Some(field));
    }
}

#[tokio::test]
async fn every_problem_of_a_new_subuser_is_named() {
    let app = TestApp::new().await;
    let answer = app.post(&json!({})).await.expect(400).json();
    let want = |field: &str| json!({"field": field, "message": "missing required argument"});
    assert_eq!(
        answer["errors"],
        json!([want("username"), want("email"), want("password")])
    );

    let body = json!({"username": "a b", "email": "x", "password": "p", "ips": ["1.2.3.4", "x"]});
    let answer = app.post(&body).await.expect(400).json();
    let want = json!([
        {"field": "username", "message": "invalid username"},
        {"field": "email", "message": "invalid email"},
        {"field": "ips.1", "message": "unable to validate IPs at this time"},
    ]);
    assert_eq!(answer["errors"], want);
    for name in [
        "stats",
        "Reputations",
        ".",
        "..",
        "a/b",
        "ä",
        "a\u{0}",
        &"x".repeat(65),
    ] {
        let error = app.create(name).await.expect(400).error();
        assert_eq!(error.1, "invalid username", "{name:?}");
    }
    for (field, value) in [
        ("region", json!("mars")),
        ("ips", json!("1.2.3.4")),
        ("password", json!(5)),
        ("include_region", json!("yes")),
    ] {
        let mut body = wanted("sub");
        body[field] = value;
        let error = app.post(&body).await.expect(400).error();
        assert_eq!(error.0.as_deref(), Some(field));
    }
    assert_eq!(app.names("").await, [""; 0]);
}

#[tokio::test]
async fn a_name_is_taken_once() {
    let app = TestApp::new().await;
    app.create("sub").await.expect(200);
    let error = app.create("SUB").await.expect(400).error();
    assert_eq!(
        error,
        (Some("username".to_owned()), "username exists".to_owned())
    );
    // Under another parent it is free: names of other accounts are not revealed.
    let other = Tenant::new(&app.store, "other", app.hand.now()).await;
    let post = app.api.post(ALL).key(&other.key).json(&wanted("sub"));
    post.send().await.expect(200);
}

#[tokio::test]
async fn a_parent_disables_and_enables_a_subuser() {
    let app = TestApp::new().await;
    let sub = app.tenant.subuser(&app.store, "sub").await;
    let path = format!("{ALL}/sub");
    let patch = async |body| {
        let ask = app.api.patch(&path).key(&app.tenant.key).json(&body);
        ask.send().await
    };
    let status = async || {
        app.store
            .account(&sub.account.id)
            .await
            .unwrap()
            .unwrap()
            .status
    };
    assert!(
        patch(json!({"disabled": true}))
            .await
            .expect(204)
            .body
            .is_empty()
    );
    assert_eq!(status().await, AccountStatus::Disabled);
    assert_eq!(app.get(&path).await.json()["disabled"], true);
    patch(json!({"disabled": false})).await.expect(204);
    assert_eq!(status().await, AccountStatus::Active);

    for body in [
        json!({}),
        json!({"disabled": null}),
        json!({"enabled": true}),
    ] {
        let error = patch(body).await.expect(400).error();
        assert_eq!(error, (None, "no fields provided".to_owned()));
    }
    patch(json!({"disabled": "yes"})).await.expect(400);
    // A parent cannot end the operator's suspension, and its own setting applies afterwards.
    let suspend = async |suspended| {
        let turn = |account: &mut posthaste_store::Account| {
            account.status = account.status.suspended(suspended);
        };
        let id = &sub.account.id;
        app.store.update_account(id, turn).await.unwrap();
    };
    suspend(true).await;
    for (disabled, want) in [
        (false, AccountStatus::Suspended),
        (true, AccountStatus::DisabledAndSuspended),
        (false, AccountStatus::Suspended),
        (true, AccountStatus::DisabledAndSuspended),
    ] {
        patch(json!({"disabled": disabled})).await.expect(204);
        assert_eq!(status().await, want);
        assert_eq!(app.get(&path).await.json()["disabled"], true);
    }
    suspend(false).await;
    assert_eq!(status().await, AccountStatus::Disabled);
}

#[tokio::test]
async fn website_access_and_addresses_are_kept() {
    let app = TestApp::new().await;
    let sub = app.tenant.subuser(&app.store, "sub").await;
    let key = &app.tenant.key;
    let website = app.api.patch(&format!("{ALL}/sub/website_access")).key(key);
    website
        .json(&json!({"disabled": true}))
        .send()
        .await
        .expect(204);
    let ips = || app.api.put(&format!("{ALL}/sub/ips")).key(key);
    let put = ips()
        .json(&json!(["192.0.2.1", "2001:db8::1"]))
        .send()
        .await
        .expect(200);
    assert_eq!(put.json(), json!({"ips": ["192.0.2.1", "2001:db8::1"]}));
    let account = app.store.account(&sub.account.id).await.unwrap().unwrap();
    assert!(account.website_disabled);
    assert_eq!(account.ips, ["192.0.2.1", "2001:db8::1"]);
    for bad in [
        json!(["x"]),
        json!([5]),
        json!({"ips": ["192.0.2.1"]}),
        json!(null),
    ] {
        ips().json(&bad).send().await.expect(400);
    }
    ips().json(&json!([])).send().await.expect(200);
}

#[tokio::test]
async fn nobody_reaches_the_subusers_of_another() {
    let app = TestApp::new().await;
    let sub = app.tenant.subuser(&app.store, "sub").await;
    let other = Tenant::new(&app.store, "other", app.hand.now()).await;
    let path = |rest: &str| format!("{ALL}/sub{rest}");
    let asks = || {
        [
            app.api.get(&path("")),
            app.api.patch(&path("")).json(&json!({"disabled": true})),
            app.api.delete(&path("")),
            app.api
                .patch(&path("/website_access"))
                .json(&json!({"disabled": true})),
            app.api.put(&path("/ips")).json(&json!([])),
            app.api.get(&path("/credits")),
            app.api
                .put(&path("/credits"))
                .json(&json!({"type": "nonrecurring", "total": 1})),
            app.api
                .patch(&path("/credits/remaining"))
                .json(&json!({"allocation_update": 1})),
        ]
    };
    for ask in asks() {
        let status = ask.key(&other.key).send().await.status.as_u16();
        assert!([400, 404].contains(&status), "{status}");
    }
    // A subuser has none of its own, and cannot reach its brothers.
    for key in [&sub.key, &app.tenant.key] {
        for ask in asks() {
            let ask = ask.key(key);
            let ask = if key == &sub.key {
                ask
            } else {
                ask.as_if("sub")
            };
            let error = ask.send().await.expect(403).error();
            assert_eq!(error.1, "you dont have permission to access this resource");
        }
    }
    let list = app
        .api
        .get(ALL)
        .key(&other.key)
        .send()
        .await
        .expect(200)
        .json();
    assert_eq!(list, json!([]));
    let account = app.store.account(&sub.account.id).await.unwrap();
    assert_eq!(account.unwrap(), sub.account, "nothing changed");
}

#[tokio::test]
async fn a_parent_lists_the_ids_of_its_customer_accounts_and_acts_for_them() {
    let app = TestApp::new().await;
    let path = "/v3/partners/accounts";
    let get = async |path: &str, status: u16| {
        let ask = app.api.get(path).key(&app.tenant.key);
        ask.send().await.expect(status).json()
    };
    assert_eq!(get(path, 200).await, json!({"accounts": [], "pages": {}}));
    let mut ids = Vec::new();
    for name in ["one", "two"] {
        let id = posthaste_testkit::entropy().account_id();
        let customer = posthaste_store::Account {
            parent: Some(app.tenant.account.id.clone()),
            customer: true,
            ..posthaste_store::Account::new(id, name, app.hand.now())
        };
        assert!(app.store.create_account(&customer).await.unwrap());
        ids.push(customer.id.to_string());
    }
    ids.sort_unstable();
    let at = app.hand.now().iso();
    let first = get(&format!("{path}?limit=1"), 200).await;
    let want = json!({"accounts": [{"id": ids[0], "created_at": at}], "pages": {"last": ids[0]}});
    assert_eq!(first, want);
    let next = get(&format!("{path}?offset={}", ids[0]), 200).await;
    assert_eq!(next["accounts"], json!([{"id": ids[1], "created_at": at}]));
    get(&format!("{path}?offset=x"), 400).await;
    let subusers = app.api.get(ALL).key(&app.tenant.key);
    assert_eq!(subusers.send().await.expect(200).json(), json!([]));

    let acted = app.api.get(ALL).key(&app.tenant.key);
    acted
        .as_if(&format!("account-id {}", ids[1]))
        .send()
        .await
        .expect(200);
    let sub = app.tenant.subuser(&app.store, "sub").await;
    app.api.get(path).key(&sub.key).send().await.expect(403);
}
