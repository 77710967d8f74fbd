//! `/v3/user/…`.

use std::collections::BTreeMap;

use account_settings::{App, routes};
use posthaste_store::{Allowance, Borrower, Frequency, Lent, Tally};
use posthaste_testkit::{Response, Services};
use serde_json::{Value, json};

use crate::TestApp;

impl TestApp {
    async fn put(&self, path: &str, body: &Value) -> Response {
        let ask = self.api.put(path).key(&self.tenant.key);
        ask.json(body).send().await
    }
}

#[tokio::test]
async fn a_profile_keeps_what_a_change_leaves_out() {
    let app = TestApp::new().await;
    let path = "/v3/user/profile";
    let empty = json!({"address": "", "address2": "", "city": "", "company": "", "country": "",
        "first_name": "", "last_name": "", "phone": "", "state": "", "website": "", "zip": ""});
    assert_eq!(app.get(path).await.expect(200).json(), empty);
    let got = app
        .set(path, &json!({"city": "Köln", "first_name": "Jane"}))
        .await;
    assert_eq!(
        (&got["city"], &got["first_name"]),
        (&json!("Köln"), &json!("Jane"))
    );
    let got = app
        .set(path, &json!({"city": "", "zip": "50667", "state": null}))
        .await;
    assert_eq!(
        (&got["city"], &got["first_name"], &got["zip"]),
        (&json!(""), &json!("Jane"), &json!("50667"))
    );
    let wrong = json!({"city": 1, "phone": {}, "zip": "x".repeat(1_001)});
    app.refuses(path, &wrong, &["city", "phone", "zip"]).await;
}

#[tokio::test]
async fn an_account_has_the_reputation_of_its_mail() {
    let app = TestApp::new().await;
    let path = "/v3/user/account";
    let want = json!({"type": "paid", "reputation": 100.0});
    assert_eq!(app.get(path).await.expect(200).json(), want);
}

#[tokio::test]
async fn credits_are_those_of_the_allowance_and_a_months_usage_without_one() {
    let app = TestApp::new().await;
    let path = "/v3/user/credits";
    let (id, now) = (&app.tenant.account.id, app.hand.now());
    let got = app.get(path).await.expect(200).json();
    let month = format!("{}-01", &now.day()[..7]);
    let next = now.next_month().day();
    assert_eq!(
        got,
        json!({"remain": 2_147_483_647, "total": 2_147_483_647, "overage": 0, "used": 0,
            "last_reset": month, "next_reset": next, "reset_frequency": "monthly"})
    );
    let allowance = Allowance {
        frequency: Some(Frequency::Monthly),
        total: 200,
    };
    assert!(
        app.store
            .set_credits(id, Some(allowance), now)
            .await
            .unwrap()
    );
    let account = app.store.account(id).await.unwrap().unwrap();
    assert_eq!(app.store.spend_credits(&account, 7, now).await.unwrap(), 7);
    let got = app.get(path).await.expect(200).json();
    assert_eq!(
        got,
        json!({"remain": 193, "total": 200, "overage": 0, "used": 7,
            "last_reset": month, "next_reset": next, "reset_frequency": "monthly"})
    );
}

#[tokio::test]
async fn a_billing_key_opens_what_is_about_billing_and_nothing_else() {
    let app = TestApp::new().await;
    let key = app.tenant.restricted(&app.store, &["billing.read"]).await;
    for (path, status) in [
        ("/v3/user/credits", 200),
        ("/v3/user/account", 200),
        ("/v3/user/cost", 200),
        ("/v3/user/email", 403),
        ("/v3/user/profile", 403),
        ("/v3/mail_settings", 403),
    ] {
        let got = app.api.get(path).key(&key).send().await;
        assert_eq!(got.status, status, "{path}");
    }
    app.get("/v3/user/cost").await.expect(403);
}

#[tokio::test]
async fn a_cost_is_that_of_the_mails_of_the_days_at_the_prices_of_the_service() {
    let services = Services::start().await.var("SERVICE_PRICE", "12.43");
    let services = services.var("RELAY_PRICE", "100");
    let app = posthaste_testkit::TestApp::on(services, App::from_env, routes).await;
    let (id, key) = (
        &app.tenant.account.id,
        app.tenant.restricted(&app.store, &["billing.read"]),
    );
    let key = key.await;
    let now = app.hand.now();
    let today = now.day();
    let (month, before) = (format!("{}-01", &today[..7]), now.plus(-40 * 86_400).day());
    for (day, category, mails) in [
        (&today, "", 3_000),
        (&today, "news", 3_000),
        (&month, "", 1_000),
        (&before, "", 500),
    ] {
        let counters = BTreeMap::from([("requests", mails), ("processed", mails - 100)]);
        let tally = Tally {
            counters: BTreeMap::from([((day.clone(), category.to_owned()), counters)]),
            ..Tally::default()
        };
        let batch = format!("{day}{category}");
        app.store
            .count_batch(id, &batch, &tally, now)
            .await
            .unwrap();
    }
    let read = async |query: &str| {
        let path = format!("/v3/user/cost{query}");
        app.api.get(&path).key(&key).send().await
    };
    let prices = json!({"service": "12.4300", "relay": "100.0000"});
    assert_eq!(
        read("").await.expect(200).json(),
        json!({"start_date": month, "end_date": today, "currency": "USD",
            "usage": {"requests": 4_000, "processed": 3_800}, "price_per_million": prices,
            "cost": {"service": "0.049720", "relay": "0.380000", "total": "0.429720"}})
    );
    let one = read(&format!("?start_date={before}&end_date={before}")).await;
    let one = one.expect(200).json();
    assert_eq!(one["usage"], json!({"requests": 500, "processed": 400}));
    assert_eq!(one["cost"]["total"], "0.046215");
    for (query, fields) in [
        ("?start_date=1&end_date=x", &["start_date", "end_date"][..]),
        ("?start_date=2026-02-30", &["start_date"]),
        (
            "?start_date=2020-01-01&end_date=2021-02-04",
            &["start_date"],
        ),
        ("?start_date=2020-01-02&end_date=2020-01-01", &["end_date"]),
    ] {
        let answer = read(query).await.expect(400).json();
        let errors = answer["errors"].as_array().unwrap().iter();
        let answer: Vec<_> = errors
            .map(|error| error["field"].as_str().unwrap())
            .collect();
        assert_eq!(answer, fields, "{query}");
    }
    read("?start_date=2020-01-01&end_date=2021-02-03")
        .await
        .expect(200);
}

#[tokio::test]
async fn an_email_is_changed_to_an_address_alone() {
    let app = TestApp::new().await;
    let path = "/v3/user/email";
    let new = json!({"email": "owner@corp.example"});
    assert_eq!(app.put(path, &new).await.expect(200).json(), new);
    assert_eq!(app.get(path).await.expect(200).json(), new);
    for bad in [
        json!({}),
        json!({"email": "no-address"}),
        json!({"email": 7}),
    ] {
        let error = app.put(path, &bad).await.expect(400).error();
        assert_eq!(error.0.as_deref(), Some("email"), "{bad}");
    }
    assert_eq!(app.get(path).await.expect(200).json(), new);
}

#[tokio::test]
async fn a_renamed_subuser_is_acted_for_by_its_new_name() {
    let app = TestApp::new().await;
    let path = "/v3/user/username";
    let sub = app.tenant.subuser(&app.store, "sub").await;
    let other = app.tenant.subuser(&app.store, "other").await;
    let put = async |key: &str, name: &str| {
        let ask = app.api.put(path).key(key).json(&json!({"username": name}));
        ask.send().await
    };
    let got = app
        .api
        .get(path)
        .key(&sub.key)
        .send()
        .await
        .expect(200)
        .json();
    assert_eq!(got["username"], "sub");
    assert!(got["user_id"].is_u64());

    for taken in ["other", "OTHER"] {
        put(&sub.key, taken).await.expect(400);
    }
    for bad in ["", "a b", "stats", &"x".repeat(65)] {
        put(&sub.key, bad).await.expect(400);
    }
    let renamed = put(&sub.key, "new").await.expect(200).json();
    assert_eq!(renamed, json!({"username": "new"}));
    put(&sub.key, "NEW").await.expect(200);
    let parent = &app.tenant.account.id;
    let found = async |name: &str| app.store.subuser_id(parent, name).await.unwrap();
    assert_eq!(found("new").await, Some(sub.account.id.clone()));
    assert_eq!(found("sub").await, None);
    assert_eq!(found("other").await, Some(other.account.id.clone()));
    let as_new = app.api.get(path).key(&app.tenant.key).as_if("new");
    assert_eq!(as_new.send().await.expect(200).json()["username"], "NEW");
    // The name is free again.
    put(&other.key, "sub").await.expect(200);
}

#[tokio::test]
async fn a_domain_names_its_borrower_by_the_new_name() {
    let app = TestApp::new().await;
    let sub = app.tenant.subuser(&app.store, "sub").await;
    app.tenant.domain(&app.store, "own.example").await;
    let borrower = Borrower {
        account: sub.account.id.clone(),
        username: "sub".to_owned(),
        user_id: sub.account.user_id,
    };
    let parent = &app.tenant.account.id;
    let domain = app.store.domains(parent).await.unwrap().remove(0);
    let lent = app.store.lend_domain(parent, domain.id, &borrower).await;
    assert!(matches!(lent.unwrap(), Lent::Done(_)));
    let ask = app.api.put("/v3/user/username").key(&sub.key);
    ask.json(&json!({"username": "new"}))
        .send()
        .await
        .expect(200);
    let domain = app.store.domain(parent, domain.id).await.unwrap().unwrap();
    assert_eq!(domain.subusers[0].username, "new");
}

#[tokio::test]
async fn a_time_zone_is_stored_under_its_name() {
    let app = TestApp::new().await;
    let path = "/v3/user/timezone";
    assert_eq!(
        app.get(path).await.expect(200).json(),
        json!({"timezone": "UTC"})
    );
    let berlin = json!({"timezone": "Europe/Berlin"});
    assert_eq!(app.set(path, &berlin).await, berlin);
    let denver = json!({"timezone": "America/Denver"});
    assert_eq!(app.put(path, &denver).await.expect(200).json(), denver);
    app.refuses(path, &json!({"timezone": "+01:00"}), &["timezone"])
        .await;
    // The profile is stored beside it.
    app.set("/v3/user/profile", &json!({"city": "Köln"})).await;
    assert_eq!(app.get(path).await.json(), denver);
}

#[tokio::test]
async fn what_an_account_does_not_have_is_answered_with_the_reason() {
    let app = TestApp::new().await;
    let passwords = json!({"new_password": "a", "old_password": "b"});
    let answer = app.put("/v3/user/password", &passwords).await.expect(403);
    assert!(
        answer
            .error()
            .1
            .contains("API keys are the only credentials")
    );
    app.get("/v3/user/multifactor_authentication")
        .await
        .expect(403);
}
