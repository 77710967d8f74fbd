//! Domains of a parent that its subusers send from.

use posthaste_model::EmailAddress;
use posthaste_store::SenderAuthority;
use serde_json::{Value, json};

use crate::TestApp;

const ALL: &str = "/v3/whitelabel/domains";

fn names(answer: &Value) -> Vec<&str> {
    let all = answer.as_array().unwrap().iter();
    all.map(|d| d["domain"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_subuser_sends_from_a_lent_domain_until_it_is_taken_back() {
    let app = TestApp::trusting().await;
    let sub = app.tenant.subuser(&app.store, "sub").await;
    let domain = app.domain("example.com").await;
    let address = EmailAddress::parse("ann@example.com").unwrap();
    let path = format!("{ALL}/{}/subuser", domain["id"]);
    assert_eq!(
        app.store.standing(&sub.account.id, &address).await.unwrap(),
        None
    );

    let lent = app.post(&path, &json!({"username": "sub"}), 201).await;

    assert_eq!(
        lent["subusers"],
        json!([{"user_id": sub.account.user_id, "username": "sub"}])
    );
    let standing = app.store.standing(&sub.account.id, &address).await.unwrap();
    let Some(SenderAuthority::Domain(found)) = standing else {
        unreachable!("{standing:?}")
    };
    assert_eq!(found.account, app.tenant.account.id);
    assert_eq!(
        app.get(&format!("{ALL}/subuser?username=sub"), 200).await["id"],
        domain["id"]
    );
    assert_eq!(
        names(&app.get(&format!("{ALL}?username=sub"), 200).await),
        ["example.com"]
    );
    assert!(names(&app.get(&format!("{ALL}?exclude_subusers=true"), 200).await).is_empty());
    // Once more changes nothing.
    assert_eq!(
        app.post(&path, &json!({"username": "sub"}), 201).await,
        lent
    );

    app.delete(&format!("{ALL}/subuser?username=sub"), 204)
        .await;
    assert_eq!(
        app.store.standing(&sub.account.id, &address).await.unwrap(),
        None
    );
    app.get(&format!("{ALL}/subuser?username=sub"), 404).await;
}

#[tokio::test]
async fn one_domain_replaces_another_and_up_to_five_are_added() {
    let app = TestApp::trusting().await;
    app.tenant.subuser(&app.store, "sub").await;
    let mut domains = Vec::new();
    for i in 1..=6 {
        domains.push(app.domain(&format!("d{i}.example.com")).await);
    }
    let body = json!({"username": "sub"});
    let path = |i: usize, end: &str| format!("{ALL}/{}/{end}", domains[i]["id"]);
    let of_sub = format!("{ALL}/subuser/all?username=sub");

    app.post(&path(0, "subuser"), &body, 201).await;
    app.post(&path(1, "subuser"), &body, 201).await;
    assert_eq!(names(&app.get(&of_sub, 200).await), ["d2.example.com"]);

    for i in 2..6 {
        app.post(&path(i, "subuser:add"), &body, 201).await;
    }
    app.post(&path(0, "subuser:add"), &body, 400).await;
    assert_eq!(app.get(&of_sub, 200).await.as_array().unwrap().len(), 5);
    app.delete(&format!("{}?username=sub", path(2, "subuser")), 204)
        .await;
    app.delete(&format!("{}?username=sub", path(2, "subuser")), 404)
        .await;
    assert_eq!(app.get(&of_sub, 200).await.as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn a_deleted_domain_is_gone_for_its_borrowers_too() {
    let app = TestApp::trusting().await;
    let sub = app.tenant.subuser(&app.store, "sub").await;
    let body = json!({"domain": "example.com", "username": "sub"});
    let domain = app.post(ALL, &body, 201).await;
    assert_eq!(domain["subusers"][0]["username"], "sub");

    app.delete(&format!("{ALL}/{}", domain["id"]), 204).await;

    let address = EmailAddress::parse("ann@example.com").unwrap();
    assert_eq!(
        app.store.standing(&sub.account.id, &address).await.unwrap(),
        None
    );
    let own = app
        .api
        .post(ALL)
        .key(&sub.key)
        .json(&json!({"domain": "example.com"}));
    own.send().await.expect(201);
}

#[tokio::test]
async fn a_subuser_still_has_its_own_domain() {
    let app = TestApp::trusting().await;
    let sub = app.tenant.subuser(&app.store, "sub").await;
    let own = app
        .api
        .post(ALL)
        .key(&sub.key)
        .json(&json!({"domain": "example.com"}));
    own.send().await.expect(201);
    let body = json!({"domain": "example.com", "username": "sub"});
    let answer = app.post(ALL, &body, 400).await;
    assert_eq!(answer["errors"][0]["field"], "username");
    assert_eq!(
        app.get(ALL, 200).await,
        json!([]),
        "nothing is left of the attempt"
    );
}

#[tokio::test]
async fn strangers_are_no_borrowers() {
    let app = TestApp::trusting().await;
    let domain = app.domain("example.com").await;
    posthaste_testkit::Tenant::new(&app.store, "stranger", app.hand.now()).await;
    for end in ["subuser", "subuser:add"] {
        let path = format!("{ALL}/{}/{end}", domain["id"]);
        app.post(&path, &json!({"username": "stranger"}), 400).await;
        app.post(&path, &json!({}), 400).await;
    }
    app.get(&format!("{ALL}/subuser"), 400).await;
    app.get(&format!("{ALL}/subuser/all?username=stranger"), 400)
        .await;
}
