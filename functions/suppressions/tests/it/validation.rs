//! `POST /v3/validations/email`.

use std::sync::Arc;

use posthaste_dns::{Resolver, Zone};
use posthaste_model::RecordKind;
use posthaste_store::SuppressionList;
use posthaste_testkit::{Response, Services, Tenant};
use serde_json::{Value, json};
use suppressions::{AddressDns, App, routes};

use crate::TestApp;

const PATH: &str = "/v3/validations/email";

async fn app(resolver: Option<Resolver>) -> TestApp {
    let services = Services::start().await.part(AddressDns(resolver));
    TestApp(posthaste_testkit::TestApp::on(services, App::from_env, routes).await)
}

/// With domains that take mail by MX and by address, one that refuses it, and one that gets no answer.
async fn with_domains() -> TestApp {
    let zone = Zone::default();
    for domain in ["rcpt.example", "mailinator.com", "m\u{fc}ller.example"] {
        let domain = posthaste_model::EmailAddress::parse(&format!("a@{domain}"))
            .unwrap()
            .ascii_domain();
        zone.publish(RecordKind::Mx, &domain, &["mx.rcpt.example."]);
    }
    zone.publish(RecordKind::Mx, "null.example", &["."]);
    zone.publish(RecordKind::A, "host.example", &["192.0.2.1"]);
    zone.fail(RecordKind::Mx, "broken.example");
    app(Some(Resolver::Zone(Arc::new(zone)))).await
}

/// With a key for it, which no Full Access key holds (SPEC, "Authentication").
async fn ask(app: &TestApp, tenant: &Tenant, body: &Value) -> Response {
    let key = tenant
        .restricted(&app.store, &["validations.email.create"])
        .await;
    app.api.post(PATH).key(&key).json(body).send().await
}

async fn validate(app: &TestApp, email: &str) -> Value {
    let answer = ask(app, &app.tenant, &json!({"email": email})).await;
    answer.expect(200).json()["result"].clone()
}

#[tokio::test]
async fn a_good_address_is_valid() {
    let app = with_domains().await;
    let body = json!({"email": "Ann@rcpt.example", "source": "signup"});
    let answer = ask(&app, &app.tenant, &body).await.expect(200).json();
    let want = json!({"result": {
        "email": "Ann@rcpt.example", "verdict": "Valid", "score": 1.0, "local": "Ann", "host": "rcpt.example",
        "checks": {
            "domain": {
                "has_valid_address_syntax": true,
                "has_mx_or_a_record": true,
                "is_suspected_disposable_address": false,
            },
            "local_part": {"is_suspected_role_address": false},
            "additional": {"has_known_bounces": false, "has_suspected_bounces": false},
        },
        "source": "signup",
        "ip_address": answer["result"]["ip_address"],
    }});
    assert_eq!(answer, want);
}

#[tokio::test]
async fn the_verdict_says_what_is_known() {
    let app = with_domains().await;
    for (email, list) in [
        ("bounced@rcpt.example", SuppressionList::Bounces),
        ("invalid@rcpt.example", SuppressionList::InvalidEmails),
        ("blocked@rcpt.example", SuppressionList::Blocks),
        ("angry@rcpt.example", SuppressionList::SpamReports),
        ("left@rcpt.example", SuppressionList::Unsubscribes),
    ] {
        app.mark(email, list, 0).await;
    }
    for (email, verdict, score) in [
        ("ann@rcpt.example", "Valid", 1.0),
        ("ann@host.example", "Valid", 1.0),
        ("ann@m\u{fc}ller.example", "Valid", 1.0),
        ("info@rcpt.example", "Risky", 0.6),
        ("ann@mailinator.com", "Risky", 0.3),
        ("Blocked@rcpt.example", "Risky", 0.5),
        ("angry@rcpt.example", "Risky", 0.2),
        ("left@rcpt.example", "Risky", 0.2),
        ("bounced@rcpt.example", "Invalid", 0.0),
        ("invalid@rcpt.example", "Invalid", 0.0),
        ("ann@null.example", "Invalid", 0.0),
        ("ann@nowhere.example", "Invalid", 0.0),
        ("ann", "Invalid", 0.0),
        ("a b@rcpt.example", "Invalid", 0.0),
    ] {
        let result = validate(&app, email).await;
        assert_eq!(
            (&result["verdict"], &result["score"]),
            (&json!(verdict), &json!(score)),
            "{email}"
        );
    }
    let bounced = validate(&app, "bounced@rcpt.example").await;
    assert_eq!(bounced["checks"]["additional"]["has_known_bounces"], true);
    let blocked = validate(&app, "blocked@rcpt.example").await;
    assert_eq!(
        blocked["checks"]["additional"]["has_suspected_bounces"],
        true
    );
    let none = validate(&app, "ann@null.example").await;
    assert_eq!(none["checks"]["domain"]["has_mx_or_a_record"], false);
    let typo = validate(&app, "ann@gmial.com").await;
    assert_eq!(typo["suggestion"], "gmail.com");
}

#[tokio::test]
async fn what_cannot_be_known_is_not_answered() {
    let app = with_domains().await;
    let broken = validate(&app, "ann@broken.example").await;
    assert_eq!(
        (&broken["verdict"], &broken["score"]),
        (&json!("Risky"), &json!(0.5)),
        "the DNS of the domain gives no answer"
    );
    for body in [json!({}), json!({"email": " "}), json!({"email": null})] {
        let refused = ask(&app, &app.tenant, &body).await.expect(400);
        assert_eq!(refused.error().0.as_deref(), Some("email"));
    }
    let app = self::app(None).await;
    ask(&app, &app.tenant, &json!({"email": "ann@rcpt.example"}))
        .await
        .expect(501);
}

#[tokio::test]
async fn the_bounces_of_other_accounts_are_no_ones_business() {
    let app = with_domains().await;
    app.mark("ann@rcpt.example", SuppressionList::Bounces, 0)
        .await;
    let other = Tenant::new(&app.store, "other", app.hand.now()).await;
    let body = &json!({"email": "ann@rcpt.example"});
    let answer = ask(&app, &other, body).await.expect(200).json();
    assert_eq!(answer["result"]["verdict"], "Valid");
}

#[tokio::test]
async fn a_full_access_key_does_not_hold_the_scope() {
    let app = with_domains().await;
    let ask = app.api.post(PATH).key(&app.tenant.key);
    let body = json!({"email": "ann@rcpt.example"});
    ask.json(&body).send().await.expect(403);
}
