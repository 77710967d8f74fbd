//! Branded links: made, published, validated, chosen, lent, deleted.

use posthaste_model::RecordKind;
use serde_json::{Value, json};

use crate::TestApp;

const ALL: &str = "/v3/whitelabel/links";

impl TestApp {
    async fn branded(&self, subdomain: &str, domain: &str) -> Value {
        let body = json!({"domain": domain, "subdomain": subdomain});
        self.post(ALL, &body, 201).await
    }

    async fn check(&self, link: &Value) -> Value {
        let path = format!("{ALL}/{}/validate", link["id"]);
        self.post(&path, &json!({}), 200).await
    }
}

#[tokio::test]
async fn a_branded_link_lists_two_aliases_and_is_valid_once_both_are_there() {
    let app = TestApp::new().await;

    let link = app.branded("Links", "Example.COM").await;

    let user_id = app.tenant.account.user_id;
    let dns = |name: &str, host: &str| json!({"valid": false, "type": "cname", "host": format!("{name}.{host}"), "data": "track.post.example"});
    assert_eq!(
        link,
        json!({
            "id": 1, "domain": "example.com", "subdomain": "links", "username": "owner",
            "user_id": user_id, "default": false, "valid": false, "legacy": false,
            "dns": {
                "domain_cname": dns("links", "example.com"),
                "owner_cname": dns(&user_id.to_string(), "example.com"),
            },
        })
    );

    let missing = app.check(&link).await;
    assert_eq!(missing["valid"], false);
    let results = &missing["validation_results"];
    for name in ["domain_cname", "owner_cname"] {
        let reason = results[name]["reason"].as_str().unwrap();
        assert!(reason.ends_with("but found none."), "{reason}");
    }
    // The host alone says nothing about who owns it: two accounts can ask for it.
    let host = "links.example.com";
    app.zone
        .publish(RecordKind::Cname, host, &["Track.post.example."]);
    assert_eq!(app.check(&link).await["valid"], false);
    assert!(!app.store.is_branded(host).await.unwrap());

    app.publish(&link);
    let valid = app.check(&link).await;
    let right = json!({"valid": true, "reason": null});
    assert_eq!(
        valid,
        json!({"id": 1, "valid": true, "validation_results":
            {"domain_cname": right, "owner_cname": right}})
    );
    let one = app.get(&format!("{ALL}/1"), 200).await;
    assert_eq!(
        (&one["valid"], &one["dns"]["owner_cname"]["valid"]),
        (&json!(true), &json!(true))
    );
    assert!(app.store.is_branded(host).await.unwrap());

    // What was taken away is not valid any more, and stays known as somebody's.
    app.zone
        .publish(RecordKind::Cname, host, &["elsewhere.example"]);
    let broken = app.check(&link).await;
    assert_eq!(broken["valid"], false);
    let reason = broken["validation_results"]["domain_cname"]["reason"]
        .as_str()
        .unwrap();
    assert!(reason.contains("\"elsewhere.example\""), "{reason}");
    assert!(app.store.is_branded(host).await.unwrap());
    app.zone.fail(RecordKind::Cname, host);
    let unknown = app
        .post(&format!("{ALL}/1/validate"), &json!({}), 500)
        .await;
    assert_eq!(
        unknown["errors"][0]["message"],
        "internal error getting CNAME"
    );
}

#[tokio::test]
async fn one_link_is_the_default_and_deleted_ones_are_gone() {
    let app = TestApp::trusting().await;
    app.get(&format!("{ALL}/default"), 404).await;
    let made = app
        .post(ALL, &json!({"domain": "a.example", "default": true}), 201)
        .await;
    let subdomain = made["subdomain"].as_str().unwrap();
    assert!(
        subdomain.starts_with("url") && subdomain.len() == 7,
        "{subdomain}"
    );
    // Even where every owner is believed, links have the host only when that is asked for.
    assert_eq!(made["valid"], false);
    assert_eq!(app.check(&made).await["valid"], true);
    app.post(ALL, &json!({"domain": "b.example", "default": true}), 201)
        .await;
    let default =
        async |query: &str| app.get(&format!("{ALL}/default{query}"), 200).await["id"].clone();
    assert_eq!(default("").await, 2);
    assert_eq!(default("?domain=B.example").await, 2);
    app.get(&format!("{ALL}/default?domain=a.example"), 404)
        .await;
    let one = app
        .patch(&format!("{ALL}/1"), &json!({"default": true}), 200)
        .await;
    assert_eq!(one["default"], true);
    assert_eq!(default("").await, 1);
    let all = app.get(ALL, 200).await;
    let ids: Vec<_> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|link| link["id"].clone())
        .collect();
    assert_eq!(ids, [json!(1), json!(2)]);
    assert_eq!(
        app.get(&format!("{ALL}?limit=1&offset=1"), 200).await[0]["id"],
        2
    );
    app.patch(&format!("{ALL}/1"), &json!({"default": false}), 200)
        .await;
    app.get(&format!("{ALL}/default"), 404).await;

    app.delete(&format!("{ALL}/1"), 204).await;
    app.delete(&format!("{ALL}/1"), 404).await;
    for (path, body) in [
        ("1/validate", json!({})),
        ("1/subuser", json!({"username": "owner"})),
    ] {
        app.post(
            &format!("{ALL}/{path}"),
            &body,
            if path.ends_with("subuser") { 400 } else { 404 },
        )
        .await;
    }
    app.patch(&format!("{ALL}/1"), &json!({"default": true}), 404)
        .await;
    // Its number is not given again.
    assert_eq!(app.branded("links", "c.example").await["id"], 3);
}

#[tokio::test]
async fn what_cannot_be_a_branded_link_is_refused_and_changes_nothing() {
    let app = TestApp::trusting().await;
    let domain = app.domain("example.com").await;
    app.branded("links", "example.com").await;
    for (body, field) in [
        (json!({}), "domain"),
        (json!({"domain": "no dots"}), "domain"),
        (
            json!({"domain": "example.com", "subdomain": "a_b"}),
            "subdomain",
        ),
        (json!({"domain": "example.com", "region": "moon"}), "region"),
        (
            json!({"domain": "example.com", "subdomain": "LINKS"}),
            "domain",
        ),
        // Mail comes back to this one.
        (
            json!({"domain": "example.com", "subdomain": domain["subdomain"]}),
            "subdomain",
        ),
        // Links of all accounts have this one.
        (
            json!({"domain": "post.example", "subdomain": "track"}),
            "subdomain",
        ),
    ] {
        let refused = app.post(ALL, &body, 400).await;
        assert_eq!(refused["errors"][0]["field"], field, "{body}");
    }
    for i in 2..=50 {
        app.branded(&format!("l{i}"), "example.com").await;
    }
    let full = app.post(ALL, &json!({"domain": "example.com"}), 400).await;
    assert_eq!(
        full["errors"][0]["message"],
        "an account has at most 50 branded links"
    );
    assert_eq!(app.get(ALL, 200).await.as_array().unwrap().len(), 50);
}

#[tokio::test]
async fn a_subuser_has_one_link_of_its_parent() {
    let app = TestApp::trusting().await;
    let sub = app.tenant.subuser(&app.store, "sub").await;
    for name in ["a.example", "b.example"] {
        app.branded("links", name).await;
    }
    let of_sub = format!("{ALL}/subuser?username=sub");
    app.get(&of_sub, 404).await;
    app.get(&format!("{ALL}/subuser"), 400).await;
    app.get(&format!("{ALL}/subuser?username=nobody"), 400)
        .await;
    for id in [1, 2] {
        let body = json!({"username": "sub"});
        let lent = app.post(&format!("{ALL}/{id}/subuser"), &body, 200).await;
        assert_eq!(
            (&lent["id"], &lent["username"]),
            (&json!(id), &json!("owner"))
        );
        assert_eq!(app.get(&of_sub, 200).await, lent);
    }
    app.post(
        &format!("{ALL}/9/subuser"),
        &json!({"username": "sub"}),
        404,
    )
    .await;
    // It is not among the subuser's own.
    let own = app.api.get(ALL).key(&sub.key).send().await.expect(200);
    assert_eq!(own.json(), json!([]));
    app.delete(&of_sub, 204).await;
    app.get(&of_sub, 404).await;
    app.delete(&of_sub, 204).await;

    let body = json!({"username": "sub"});
    app.post(&format!("{ALL}/2/subuser"), &body, 200).await;
    app.delete(&format!("{ALL}/2"), 204).await;
    app.get(&of_sub, 404).await;
}

#[tokio::test]
async fn the_records_of_a_link_are_mailed_with_those_of_its_domain() {
    let app = TestApp::trusting().await;
    let domain = app.domain("example.com").await;
    let link = app.branded("links", "example.com").await;
    let mut body = json!({"domain_id": domain["id"], "link_id": 9, "email": "dns@example.net"});
    let refused = app.post("/v3/whitelabel/dns/email", &body, 400).await;
    assert_eq!(refused["errors"][0]["field"], "link_id");
    assert!(app.mails().is_empty());
    body["link_id"] = link["id"].clone();
    app.post("/v3/whitelabel/dns/email", &body, 204).await;
    let mails = app.mails();
    let text = &mails[0].content[0].value;
    let owner = app.tenant.account.user_id;
    for line in [
        "Host:  links\nValue: track.post.example\n",
        &format!("Host:  {owner}\nValue: track.post.example\n"),
    ] {
        assert!(text.contains(line), "{text}");
    }
}
