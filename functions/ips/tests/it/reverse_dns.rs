//! `/v3/whitelabel/ips`: the names of addresses.

use axum::http::Method;
use posthaste_model::RecordKind;
use serde_json::{Value, json};

use crate::TestApp;

const ALL: &str = "/v3/whitelabel/ips";

async fn validate(app: &TestApp) -> Value {
    let answer = app
        .ask(Method::POST, &format!("{ALL}/1/validate"), &json!({}), 200)
        .await;
    assert_eq!(
        answer["valid"],
        answer["validation_results"]["a_record"]["valid"]
    );
    answer["validation_results"]["a_record"].clone()
}

#[tokio::test]
async fn where_no_dns_is_asked_a_name_stays_as_it_was_and_the_reason_says_so() {
    let app = TestApp::without_dns().await;
    let body = json!({"ip": "192.0.2.1", "domain": "example.com"});
    app.ask(Method::POST, ALL, &body, 201).await;
    let reason = "this deployment asks no DNS, so that it cannot look the name up";
    let want = json!({"valid": false, "reason": reason});
    assert_eq!(validate(&app).await, want);
    let shown = app.get(&format!("{ALL}/1"), 200).await;
    assert!(shown.get("last_validation_attempt_at").is_none(), "{shown}");
}

#[tokio::test]
async fn a_name_is_valid_once_it_leads_to_its_address() {
    let app = TestApp::new(None).await;
    let body = json!({"ip": "192.0.2.1", "domain": "Example.com", "subdomain": "mail"});
    let made = app.ask(Method::POST, ALL, &body, 201).await;
    let want = json!({
        "id": 1, "ip": "192.0.2.1", "rdns": "mail.example.com", "users": [], "subdomain": "mail",
        "domain": "example.com", "valid": false, "legacy": false,
        "a_record": {"valid": false, "type": "a", "host": "mail.example.com", "data": "192.0.2.1"},
    });
    assert_eq!(made, want);
    let none = validate(&app).await;
    assert_eq!(
        none,
        json!({"valid": false, "reason": "mail.example.com does not lead to 192.0.2.1"})
    );
    app.zone
        .publish(RecordKind::A, "mail.example.com", &["192.0.2.7"]);
    let other = validate(&app).await;
    assert_eq!(other, none, "other addresses are not shown");
    app.zone.publish(
        RecordKind::A,
        "mail.example.com",
        &["192.0.2.7", "192.0.2.1"],
    );
    assert_eq!(validate(&app).await, json!({"valid": true, "reason": null}));
    let shown = app.get(&format!("{ALL}/1"), 200).await;
    assert_eq!(
        (&shown["valid"], &shown["a_record"]["valid"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(shown["last_validation_attempt_at"], app.hand.now().0);
    app.zone.fail(RecordKind::A, "mail.example.com");
    let reason = "the DNS gave no answer for mail.example.com";
    assert_eq!(
        validate(&app).await,
        json!({"valid": true, "reason": reason})
    );
    let shown = app.get(&format!("{ALL}/1"), 200).await;
    assert_eq!(shown["valid"], true, "without an answer it stays as it was");
}

#[tokio::test]
async fn names_are_listed_and_deleted_and_an_address_has_one() {
    let app = TestApp::new(None).await;
    for (ip, domain) in [("192.0.2.1", "example.com"), ("2001:DB8::1", "example.org")] {
        app.ask(Method::POST, ALL, &json!({"ip": ip, "domain": domain}), 201)
            .await;
    }
    let again = json!({"ip": "192.0.2.1", "domain": "example.net"});
    let refused = app.ask(Method::POST, ALL, &again, 400).await;
    assert_eq!(refused["errors"][0]["field"], "ip");
    let all = app.get(ALL, 200).await;
    assert_eq!(all[0]["rdns"], "o1.example.com");
    assert_eq!(all[1]["ip"], "2001:db8::1");
    assert_eq!(
        app.get(&format!("{ALL}?ip=192.0"), 200).await,
        json!([all[0]])
    );
    assert_eq!(
        app.get(&format!("{ALL}?limit=1&offset=1"), 200).await,
        json!([all[1]])
    );
    app.ask(Method::DELETE, &format!("{ALL}/1"), &json!({}), 204)
        .await;
    for path in [format!("{ALL}/1"), format!("{ALL}/x")] {
        app.get(&path, 404).await;
        app.ask(Method::DELETE, &path, &json!({}), 404).await;
        app.ask(Method::POST, &format!("{path}/validate"), &json!({}), 404)
            .await;
    }
    for (body, fields) in [
        (json!({}), &["ip", "domain"][..]),
        (
            json!({"ip": "x", "domain": "a b", "subdomain": "a b"}),
            &["ip", "domain", "subdomain"],
        ),
    ] {
        let refused = app.ask(Method::POST, ALL, &body, 400).await;
        let errors = refused["errors"].as_array().unwrap();
        let named: Vec<_> = errors
            .iter()
            .map(|error| error["field"].as_str().unwrap())
            .collect();
        assert_eq!(named, fields);
    }
}
