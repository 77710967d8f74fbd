//! Domains: made, published, validated, changed, deleted.

use posthaste_model::RecordKind;
use serde_json::{Value, json};

use crate::TestApp;

const ALL: &str = "/v3/whitelabel/domains";

#[tokio::test]
async fn a_domain_lists_the_records_to_publish_and_is_valid_once_they_are() {
    let app = TestApp::new().await;

    let domain = app.domain("Example.COM").await;

    assert_eq!(domain["domain"], "example.com");
    assert_eq!(domain["username"], "owner");
    assert_eq!(domain["user_id"], app.tenant.account.user_id);
    for (key, want) in [
        ("valid", false),
        ("legacy", false),
        ("default", false),
        ("automatic_security", true),
    ] {
        assert_eq!(domain[key], want, "{key}");
    }
    let subdomain = domain["subdomain"].as_str().unwrap();
    assert!(
        subdomain.starts_with("em") && subdomain.len() == 6,
        "{subdomain}"
    );
    let dns = &domain["dns"];
    assert_eq!(dns["mail_cname"]["type"], "cname");
    assert_eq!(
        dns["mail_cname"]["host"],
        format!("{subdomain}.example.com")
    );
    assert_eq!(dns["dkim1"]["host"], "s1._domainkey.example.com");
    assert_ne!(dns["dkim1"]["data"], dns["dkim2"]["data"]);

    let missing = app.validate(&domain).await;
    assert_eq!(missing["valid"], false);
    let reason = missing["validation_results"]["dkim1"]["reason"]
        .as_str()
        .unwrap();
    assert!(reason.ends_with("but found none."), "{reason}");
    let results = &missing["validation_results"];
    assert_eq!(results["spf"], results["mail_cname"]);

    app.publish(&domain);
    let valid = app.validate(&domain).await;
    assert_eq!(valid["valid"], true);
    let right = json!({"valid": true, "reason": null});
    assert_eq!(valid["validation_results"]["mail_cname"], right);
    assert_eq!(valid["validation_results"]["spf"], right);
    let path = format!("{ALL}/{}", domain["id"]);
    let now = app.get(&path, 200).await;
    assert_eq!(
        (&now["valid"], &now["dns"]["dkim2"]["valid"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(now["last_validation_attempt_at"], app.hand.now().0);

    app.zone.publish(
        RecordKind::Txt,
        "s2._domainkey.example.com",
        &["v=DKIM1; p="],
    );
    assert_eq!(app.validate(&domain).await["valid"], false);
}

#[tokio::test]
async fn a_dns_that_does_not_answer_changes_nothing() {
    let app = TestApp::new().await;
    let domain = app.domain("example.com").await;
    app.publish(&domain);
    app.validate(&domain).await;
    app.zone.fail(RecordKind::Txt, "s1._domainkey.example.com");

    let path = format!("{ALL}/{}/validate", domain["id"]);
    let answer = app.post(&path, &json!({}), 500).await;

    assert_eq!(answer["errors"][0]["message"], "internal error getting TXT");
    let path = format!("{ALL}/{}", domain["id"]);
    assert_eq!(app.get(&path, 200).await["valid"], true);
}

#[tokio::test]
async fn a_domain_managed_by_hand_has_other_records() {
    let app = TestApp::new().await;
    let body = json!({"domain": "example.com", "subdomain": "News", "automatic_security": false,
        "custom_spf": true, "custom_dkim_selector": "Abc", "ips": ["192.0.2.1"], "default": true});

    let domain = app.post(ALL, &body, 201).await;

    let names: Vec<_> = domain["dns"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(
        names,
        ["dkim", "domain_spf", "mail_server", "subdomain_spf"]
    );
    assert_eq!(domain["dns"]["mail_server"]["host"], "news.example.com");
    assert_eq!(domain["dns"]["mail_server"]["data"], "mx.post.example");
    assert_eq!(domain["dns"]["dkim"]["host"], "abc._domainkey.example.com");
    assert_eq!(domain["ips"], json!(["192.0.2.1"]));
    app.publish(&domain);
    assert_eq!(app.validate(&domain).await["valid"], true);
}

#[tokio::test]
async fn a_trusting_instance_makes_no_dns_query() {
    let app = TestApp::trusting().await;
    let domain = app.domain("example.com").await;
    assert_eq!(domain["valid"], true);
    assert_eq!(app.validate(&domain).await["valid"], true);
}

#[tokio::test]
async fn wrong_requests_name_every_problem_and_make_nothing() {
    let app = TestApp::new().await;
    for (body, fields) in [
        (json!({}), &["domain"][..]),
        (json!({"domain": "localhost"}), &["domain"]),
        (json!({"domain": "a@example.com"}), &["domain"]),
        (json!({"domain": 17}), &["domain"]),
        (
            json!({"domain": "-", "subdomain": "a b", "ips": ["x"], "custom_dkim_selector": "ab_", "region": "mars"}),
            &[
                "domain",
                "subdomain",
                "ips",
                "custom_dkim_selector",
                "region",
            ],
        ),
        (
            json!({"domain": "example.org", "custom_dkim_selector": "abcd"}),
            &["custom_dkim_selector"],
        ),
        (
            json!({"domain": "example.org", "username": "nobody"}),
            &["username"],
        ),
    ] {
        let answer = app.post(ALL, &body, 400).await;
        let found: Vec<_> = answer["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| e["field"].clone())
            .collect();
        assert_eq!(found, fields, "{body}");
    }
    assert_eq!(app.get(ALL, 200).await, json!([]));
}

#[tokio::test]
async fn a_name_is_on_an_account_once_and_may_be_on_another() {
    let app = TestApp::new().await;
    let first = app.domain("example.com").await;
    let answer = app.post(ALL, &json!({"domain": "EXAMPLE.com"}), 400).await;
    assert_eq!(answer["errors"][0]["field"], "domain");

    let other = posthaste_testkit::Tenant::new(&app.store, "other", app.hand.now()).await;
    let body = json!({"domain": "example.com"});
    app.api
        .post(ALL)
        .key(&other.key)
        .json(&body)
        .send()
        .await
        .expect(201);
    let path = format!("{ALL}/{}", first["id"]);
    app.delete(&path, 204).await;
    app.delete(&path, 404).await;
    let again = app.domain("example.com").await;
    assert_ne!(again["id"], first["id"]);
}

#[tokio::test]
async fn nobody_sees_the_domains_of_another_account() {
    let app = TestApp::new().await;
    let domain = app.domain("example.com").await;
    let other = posthaste_testkit::Tenant::new(&app.store, "other", app.hand.now()).await;
    let path = format!("{ALL}/{}", domain["id"]);
    for ask in [
        app.api.get(&path),
        app.api.delete(&path),
        app.api.patch(&path),
        app.api.post(&format!("{path}/validate")),
    ] {
        ask.key(&other.key).send().await.expect(404);
    }
    let list = app.api.get(ALL).key(&other.key).send().await.expect(200);
    assert_eq!(list.json(), json!([]));
    for id in ["0", "-1", "x", "99999999999999999999"] {
        app.get(&format!("{ALL}/{id}"), 404).await;
    }
}

#[tokio::test]
async fn only_one_domain_is_the_default() {
    let app = TestApp::new().await;
    let make = |name: &str| json!({"domain": name, "default": true});
    let first = app.post(ALL, &make("one.example.com"), 201).await;
    assert_eq!(first["default"], true);
    app.post(ALL, &make("two.example.com"), 201).await;
    let defaults = |answer: &Value| -> Vec<String> {
        let all = answer.as_array().unwrap().iter();
        all.map(|d| d["domain"].as_str().unwrap().to_owned())
            .collect()
    };
    let path = format!("{ALL}/default");
    assert_eq!(defaults(&app.get(&path, 200).await), ["two.example.com"]);

    let one = format!("{ALL}/{}", first["id"]);
    let changed = app
        .patch(&one, &json!({"default": true, "custom_spf": true}), 200)
        .await;
    assert_eq!(
        (&changed["default"], &changed["custom_spf"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(defaults(&app.get(&path, 200).await), ["one.example.com"]);
    let none = format!("{path}?domain=two.example.com");
    assert_eq!(app.get(&none, 200).await, json!([]));
    assert_eq!(
        app.get(&format!("{ALL}?limit=1&offset=1"), 200).await[0]["domain"],
        "two.example.com"
    );
    assert_eq!(
        defaults(&app.get(&format!("{ALL}?domain=one"), 200).await),
        ["one.example.com"]
    );
}

#[tokio::test]
async fn addresses_are_added_and_removed() {
    let app = TestApp::new().await;
    let domain = app.domain("example.com").await;
    let path = format!("{ALL}/{}/ips", domain["id"]);
    app.post(&path, &json!({"ip": "x"}), 400).await;
    for _ in 0..2 {
        let shown = app.post(&path, &json!({"ip": "192.0.2.7"}), 200).await;
        assert_eq!(shown["ips"], json!(["192.0.2.7"]));
    }
    let shown = app.delete(&format!("{path}/192.0.2.7"), 200).await;
    assert_eq!(shown["ips"], json!([]));
}

#[tokio::test]
async fn the_records_can_be_mailed_to_a_colleague() {
    let app = TestApp::new().await;
    let domain = app.domain("example.com").await;
    let path = "/v3/whitelabel/dns/email";
    let body = json!({"link_id": 0, "domain_id": domain["id"], "email": "dns@example.com", "message": "Please add:"});
    app.post(path, &body, 204).await;

    let mails = app.mails();
    let text = &mails[0].content[0].value;
    let start = "You are asked to publish DNS records for the domain example[.]com.";
    assert!(text.starts_with(start), "{text}");
    assert!(!text.contains("example.com"), "a link: {text}");
    assert!(text.ends_with(":\n\n> Please add:\n"), "{text}");
    for record in domain["dns"].as_object().unwrap().values() {
        let host = record["host"].as_str().unwrap();
        let host = host.strip_suffix(".example.com").unwrap();
        let data = record["data"].as_str().unwrap();
        let lines = format!("Host:  {host}\nValue: {data}\n");
        assert!(text.contains(&lines), "{text}");
    }
    assert_eq!(
        mails[0].personalizations[0].to[0].email.as_str(),
        "dns@example.com"
    );
    assert_eq!(mails[0].from.email.as_str(), "no-reply@post.example");
    let wrong = json!({"email": "x", "message": "y".repeat(301)});
    let answer = app.post(path, &wrong, 400).await;
    assert_eq!(answer["errors"].as_array().unwrap().len(), 3);
    let unknown = json!({"domain_id": 99, "email": "dns@example.com"});
    app.post(path, &unknown, 400).await;
    assert!(app.mails().is_empty());
}

#[tokio::test]
async fn each_route_requires_its_scope() {
    let app = TestApp::new().await;
    let key = app
        .tenant
        .restricted(&app.store, &["whitelabel.read"])
        .await;
    app.api.get(ALL).key(&key).send().await.expect(200);
    app.api
        .get("/v3/verified_senders")
        .key(&key)
        .send()
        .await
        .expect(200);
    app.api.post(ALL).key(&key).send().await.expect(403);
    app.api
        .post("/v3/verified_senders")
        .key(&key)
        .send()
        .await
        .expect(403);
    app.api
        .delete(&format!("{ALL}/1"))
        .key(&key)
        .send()
        .await
        .expect(403);
    app.api.get(ALL).send().await.expect(401);
}
