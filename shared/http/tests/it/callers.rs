//! Keys, scopes, on-behalf-of, and accounts that may not send.

use posthaste_store::{AccountStatus, Region};
use serde_json::json;

use crate::TestApp;

const NOT_AUTHORIZED: &str = "Authenticated user is not authorized to send mail";

#[tokio::test]
async fn the_mail_endpoint_refuses_in_its_own_words_and_shape() {
    let app = TestApp::new().await;
    let (api, key) = (&app.api, &app.tenant.key);
    let poor = app.tenant.restricted(&app.store, &["alerts.read"]).await;
    let grant = "The provided authorization grant is invalid, expired, or revoked";
    let wrong = format!("{}X", key.get(..68).unwrap());
    let send = || api.post("/v3/mail/send");
    for (ask, status, message) in [
        (send(), 401, "Permission denied, wrong credentials"),
        (
            send().header("authorization", "Token x"),
            401,
            "Permission denied, wrong credentials",
        ),
        (send().key("x"), 401, grant),
        (send().key(&wrong), 401, grant),
        (send().key(&poor), 403, "access forbidden"),
        (send().key(key).as_if("nobody"), 403, "access forbidden"),
    ] {
        let answer = ask.send().await.expect(status);
        let want = format!(r#"{{"errors":[{{"message":"{message}","field":null,"help":null}}]}}"#);
        assert_eq!(answer.body, want);
        assert_eq!(answer.header("content-type"), "application/json");
    }
}

#[tokio::test]
async fn a_parent_acts_for_its_subusers_and_customer_accounts() {
    let app = TestApp::new().await;
    let (api, key) = (&app.api, &app.tenant.key);
    app.tenant.subuser(&app.store, "Sub-1").await;
    let customer = app.tenant.subuser(&app.store, "customer").await.account;
    let customer = app
        .store
        .update_account(&customer.id, |account| account.customer = true)
        .await
        .unwrap()
        .unwrap();

    for (named, want) in [
        ("Sub-1".to_owned(), "Sub-1"),
        ("sub-1".to_owned(), "Sub-1"),
        (format!("account-id {}", customer.id), "customer"),
        (format!("ACCOUNT-ID  {}", customer.id), "customer"),
    ] {
        let seen = api
            .get("/v3/templates")
            .key(key)
            .as_if(&named)
            .send()
            .await
            .expect(200)
            .json();
        assert_eq!(
            (&seen["account"], &seen["on_behalf"]),
            (&json!(want), &json!(true)),
            "{named}"
        );
        let sent = api
            .post("/v3/mail/send")
            .key(key)
            .as_if(&named)
            .send()
            .await
            .expect(202);
        assert_eq!(sent.body, want, "mail/send honours the header too");
    }
    let own = api
        .get("/v3/templates")
        .key(key)
        .send()
        .await
        .expect(200)
        .json();
    assert_eq!(
        (&own["account"], &own["on_behalf"]),
        (&json!("parent"), &json!(false))
    );
}

#[tokio::test]
async fn nobody_acts_for_strangers() {
    let app = TestApp::new().await;
    let (api, key) = (&app.api, &app.tenant.key);
    let sub = app.tenant.subuser(&app.store, "sub").await;
    let other = posthaste_testkit::Tenant::new(&app.store, "other", app.hand.now()).await;
    let foreign = other.subuser(&app.store, "theirs").await;
    let by_id = |tenant: &posthaste_testkit::Tenant| format!("account-id {}", tenant.account.id);
    for (key, named) in [
        (key, "nobody".to_owned()),
        (key, String::new()),
        (key, "theirs".to_owned()),
        (key, by_id(&foreign)),
        (key, by_id(&other)),
        (key, by_id(&app.tenant)),
        // The id of a subuser names no customer account.
        (key, by_id(&sub)),
        (key, "account-id".to_owned()),
        (key, "account-id aaaaaaaaaa".to_owned()),
        (key, "account-id ../../x".to_owned()),
        (key, "parent".to_owned()),
        (key, "sub#".to_owned()),
        (key, "sub sub".to_owned()),
        (key, "süb".to_owned()),
        (&sub.key, "sub".to_owned()),
        (&sub.key, "parent".to_owned()),
        (&sub.key, by_id(&app.tenant)),
        (&other.key, "sub".to_owned()),
        (&other.key, by_id(&sub)),
    ] {
        let answer = api
            .get("/v3/templates")
            .key(key)
            .as_if(&named)
            .send()
            .await
            .expect(403);
        assert_eq!(
            answer.error(),
            (None, "access forbidden".to_owned()),
            "{named}"
        );
    }
    // Two names at once: a proxy may have judged the other one.
    let twice = api.get("/v3/templates").key(key).as_if("sub").as_if("sub");
    twice.send().await.expect(403);
}

#[tokio::test]
async fn the_parents_own_scopes_apply() {
    let app = TestApp::new().await;
    app.tenant.subuser(&app.store, "sub").await;
    let poor = app.tenant.restricted(&app.store, &["templates.read"]).await;
    let get = app.api.get("/v3/templates").key(&poor).as_if("sub");
    get.send().await.expect(200);
    let post = app.api.post("/v3/templates").key(&poor).as_if("sub");
    post.send().await.expect(403);
    let send = app.api.post("/v3/mail/send").key(&poor).as_if("sub");
    send.send().await.expect(403);
}

#[tokio::test]
async fn an_account_in_the_eu_is_sent_to_the_address_of_the_eu_where_there_is_another() {
    let app = TestApp::new().await;
    let sub = app.tenant.subuser(&app.store, "sub").await;
    let in_the_eu = |account: &mut posthaste_store::Account| account.region = Region::Eu;
    let moved = app.store.update_account(&sub.account.id, in_the_eu).await;
    assert!(moved.unwrap().is_some());
    let path = "/v3/templates";
    // One stack for all regions.
    app.api.get(path).key(&sub.key).send().await.expect(200);

    let global = app.with_eu_elsewhere("https://api.eu.example/mail/");
    let own = global.get(path).key(&sub.key).send().await.expect(403);
    assert!(
        own.error().1.ends_with("https://api.eu.example/mail"),
        "{}",
        own.error().1
    );
    let acted = global.get(path).key(&app.tenant.key).as_if("sub");
    acted.send().await.expect(403);
    let sent = global
        .post("/v3/mail/send")
        .key(&sub.key)
        .send()
        .await
        .expect(403);
    assert!(sent.error().1.contains("https://api.eu.example"));
    global
        .get(path)
        .key(&app.tenant.key)
        .send()
        .await
        .expect(200);
}

#[tokio::test]
async fn a_key_of_a_disabled_or_suspended_account_or_of_one_below_opens_nothing() {
    let app = TestApp::new().await;
    let (api, parent) = (&app.api, &app.tenant);
    let sub = parent.subuser(&app.store, "sub").await;
    let under = {
        let account = posthaste_store::Account {
            parent: Some(sub.account.id.clone()),
            customer: true,
            ..posthaste_store::Account::new(
                posthaste_testkit::entropy().account_id(),
                "under",
                app.hand.now(),
            )
        };
        assert!(app.store.create_account(&account).await.unwrap());
        account
    };
    let below = posthaste_testkit::key_of(&app.store, &under).await;
    let set = async |id, status| {
        app.store
            .update_account(id, |account| account.status = status)
            .await
            .unwrap();
        app.hand.advance(10);
    };
    for (who, status) in [
        (&sub.account.id, AccountStatus::Disabled),
        (&sub.account.id, AccountStatus::Suspended),
        (&sub.account.id, AccountStatus::DisabledAndSuspended),
        (&parent.account.id, AccountStatus::Suspended),
    ] {
        set(who, status).await;
        let by_id = format!("account-id {}", under.id);
        for ask in [
            api.post("/v3/mail/send").key(&sub.key),
            api.post("/v3/mail/send").key(&parent.key).as_if("sub"),
            api.post("/v3/mail/send").key(&sub.key).as_if(&by_id),
        ] {
            let error = ask.send().await.expect(401).error();
            assert_eq!(error, (None, NOT_AUTHORIZED.to_owned()), "{status:?}");
        }
        for ask in [
            api.get("/v3/templates").key(&sub.key),
            api.get("/v3/scopes").key(&sub.key),
            api.get("/v3/templates").key(&below),
            api.get("/v3/templates").key(&sub.key).as_if(&by_id),
        ] {
            let error = ask.send().await.expect(403).error();
            assert_eq!(error, (None, "access forbidden".to_owned()), "{status:?}");
        }
        // A parent that is active itself still sees to it.
        let seen = api.get("/v3/templates").key(&parent.key).as_if("sub");
        let parents_own = who == &parent.account.id;
        let want = if parents_own { 403 } else { 200 };
        seen.send().await.expect(want);
        set(who, AccountStatus::Active).await;
        for key in [&sub.key, &below] {
            api.get("/v3/templates").key(key).send().await.expect(200);
        }
        api.post("/v3/mail/send")
            .key(&sub.key)
            .send()
            .await
            .expect(202);
    }
    set(&sub.account.id, AccountStatus::Disabled).await;
    api.post("/v3/mail/send")
        .key(&parent.key)
        .send()
        .await
        .expect(202);
}

#[tokio::test]
async fn a_deleted_account_and_its_keys_are_gone() {
    let app = TestApp::new().await;
    let sub = app.tenant.subuser(&app.store, "sub").await;
    let (api, key) = (&app.api, &app.tenant.key);
    let own = || api.get("/v3/templates").key(&sub.key).send();
    let acting = || api.get("/v3/templates").key(key).as_if("sub").send();
    own().await.expect(200);
    app.hand.advance(5);
    // The name is remembered for five seconds longer than the account.
    acting().await.expect(200);
    app.store.delete_account(&sub.account).await.unwrap();
    app.hand.advance(5);
    own().await.expect(401);
    acting().await.expect(403);
    // The name is free again, and means the new one at once.
    let again = app.tenant.subuser(&app.store, "sub").await;
    let seen = acting().await.expect(200);
    assert_eq!(seen.json()["on_behalf"], true);
    app.store.delete_account(&again.account).await.unwrap();
}

#[tokio::test]
async fn a_known_caller_costs_no_call() {
    let app = TestApp::new().await;
    app.tenant.subuser(&app.store, "sub").await;
    let ask = || {
        app.api
            .get("/v3/templates")
            .key(&app.tenant.key)
            .as_if("sub")
    };
    ask().send().await.expect(200);
    let calls = app.faults.calls();
    for _ in 0..3 {
        ask().send().await.expect(200);
    }
    assert_eq!(app.faults.calls(), calls);
}
