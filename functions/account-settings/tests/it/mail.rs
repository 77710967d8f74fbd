//! `/v3/mail_settings/…`.

use serde_json::json;

use crate::TestApp;

#[tokio::test]
async fn every_setting_is_off_at_first() {
    let app = TestApp::new().await;
    for (name, want) in [
        ("address_whitelist", json!({"enabled": false, "list": []})),
        (
            "bounce_purge",
            json!({"enabled": false, "soft_bounces": null, "hard_bounces": null}),
        ),
        (
            "footer",
            json!({"enabled": false, "html_content": "", "plain_content": ""}),
        ),
        ("forward_bounce", json!({"email": null, "enabled": false})),
        ("forward_spam", json!({"email": "", "enabled": false})),
        ("kept_mail", json!({"days": 7, "enabled": false})),
        ("spam_check", json!({"enabled": false, "max_score": 5})),
        ("bcc", json!({"email": "", "enabled": false})),
        ("plain_content", json!({"enabled": false})),
        ("template", json!({"enabled": false, "html_content": ""})),
    ] {
        let got = app.get(&format!("/v3/mail_settings/{name}")).await;
        assert_eq!(got.expect(200).json(), want, "{name}");
    }
}

#[tokio::test]
async fn a_whitelist_is_stored_normalized() {
    let app = TestApp::new().await;
    let path = "/v3/mail_settings/address_whitelist";
    let list =
        json!({"enabled": true, "list": [" Ann@Example.COM ", "Münster.example", "b.example"]});
    let want = json!(["ann@example.com", "b.example", "xn--mnster-3ya.example"]);
    assert_eq!(
        app.set(path, &list).await,
        json!({"enabled": true, "list": want})
    );
    // What is left out stays.
    let got = app.set(path, &json!({"enabled": false})).await;
    assert_eq!(got, json!({"enabled": false, "list": want}));
    let bad = json!({"list": ["a@b@c", "good.example", "", "not a domain"]});
    app.refuses(path, &bad, &["list.0", "list.2", "list.3"])
        .await;
    let entries: Vec<_> = (0..=500).map(|i| format!("d{i}.example")).collect();
    app.refuses(path, &json!({"list": entries}), &["list"])
        .await;
    let got = app.set(path, &json!({"list": entries[..500]})).await;
    assert_eq!(got["list"].as_array().unwrap().len(), 500);
    app.refuses(path, &json!({"list": "x"}), &["list"]).await;
}

#[tokio::test]
async fn bounces_are_purged_after_1_to_3650_days_or_never() {
    let app = TestApp::new().await;
    let path = "/v3/mail_settings/bounce_purge";
    let body = json!({"enabled": true, "soft_bounces": 1, "hard_bounces": 3650});
    assert_eq!(app.set(path, &body).await, body);
    let got = app.set(path, &json!({"hard_bounces": null})).await;
    assert_eq!(
        got,
        json!({"enabled": true, "soft_bounces": 1, "hard_bounces": null})
    );
    for days in [0, 3651, -1, 70_000] {
        let both = json!({"soft_bounces": days, "hard_bounces": days});
        app.refuses(path, &both, &["soft_bounces", "hard_bounces"])
            .await;
    }
    app.refuses(path, &json!({"soft_bounces": 1.5}), &["soft_bounces"])
        .await;
}

#[tokio::test]
async fn mail_is_kept_for_one_of_five_terms() {
    let app = TestApp::new().await;
    let path = "/v3/mail_settings/kept_mail";
    for days in [1, 3, 7, 14, 30] {
        let body = json!({"days": days, "enabled": true});
        assert_eq!(app.set(path, &body).await, body);
    }
    for days in [
        json!(0),
        json!(2),
        json!(31),
        json!(7.5),
        json!("7"),
        json!(-1),
    ] {
        app.refuses(path, &json!({"days": days}), &["days"]).await;
    }
    // What is left out stays.
    let off = app
        .set(path, &json!({"enabled": false, "days": null}))
        .await;
    assert_eq!(off, json!({"days": 30, "enabled": false}));
}

#[tokio::test]
async fn a_footer_has_two_texts_of_at_most_20000_bytes() {
    let app = TestApp::new().await;
    let path = "/v3/mail_settings/footer";
    let body = json!({"enabled": true, "html_content": "<i>us</i>", "plain_content": "us"});
    assert_eq!(app.set(path, &body).await, body);
    let got = app.set(path, &json!({"plain_content": ""})).await;
    assert_eq!(
        got,
        json!({"enabled": true, "html_content": "<i>us</i>", "plain_content": ""})
    );
    let long = "x".repeat(20_001);
    let both = json!({"html_content": long, "plain_content": long});
    app.refuses(path, &both, &["html_content", "plain_content"])
        .await;
    app.set(path, &json!({"html_content": "x".repeat(20_000)}))
        .await;
}

#[tokio::test]
async fn a_setting_that_forwards_needs_an_address() {
    let app = TestApp::new().await;
    for (path, none) in [
        ("/v3/mail_settings/bcc", json!("")),
        ("/v3/mail_settings/forward_bounce", json!(null)),
    ] {
        app.refuses(path, &json!({"enabled": true}), &["email"])
            .await;
        app.refuses(path, &json!({"email": "no-address"}), &["email"])
            .await;
        let body = json!({"email": "abuse@example.com", "enabled": true});
        assert_eq!(app.set(path, &body).await, body);
        app.refuses(path, &json!({"email": null}), &["email"]).await;
        let off = json!({"email": null, "enabled": false});
        let want = json!({"email": none, "enabled": false});
        assert_eq!(app.set(path, &off).await, want);
    }
}

#[tokio::test]
async fn spam_reports_are_forwarded_to_several_addresses_or_to_none() {
    let app = TestApp::new().await;
    let path = "/v3/mail_settings/forward_spam";
    for email in ["", "a@example.com", "a@example.com, b@example.com"] {
        let body = json!({"email": email, "enabled": true});
        assert_eq!(app.set(path, &body).await, body);
    }
    let spread = json!({"email": " a@example.com,b@example.com ,"});
    let got = app.set(path, &spread).await;
    assert_eq!(got["email"], "a@example.com, b@example.com");
    let got = app.set(path, &json!({"email": null})).await;
    assert_eq!(got, json!({"email": "", "enabled": true}));
    let many: Vec<_> = (0..11).map(|i| format!("a{i}@example.com")).collect();
    for bad in [
        "no-address",
        "a@example.com, b@",
        "a@example.com b@example.com",
    ] {
        app.refuses(path, &json!({"email": bad}), &["email"]).await;
    }
    app.refuses(path, &json!({"email": many.join(",")}), &["email"])
        .await;
    // Elsewhere a comma makes no second address.
    let two = json!({"email": "a@example.com, b@example.com", "enabled": true});
    app.refuses("/v3/mail_settings/forward_bounce", &two, &["email"])
        .await;
}

#[tokio::test]
async fn every_value_of_a_wrong_type_is_reported_at_once_in_the_words_of_json() {
    let app = TestApp::new().await;
    for (setting, fields) in [
        ("mail_settings/address_whitelist", &["enabled", "list"][..]),
        (
            "mail_settings/bounce_purge",
            &["enabled", "soft_bounces", "hard_bounces"],
        ),
        (
            "mail_settings/footer",
            &["enabled", "html_content", "plain_content"],
        ),
        ("mail_settings/forward_spam", &["email", "enabled"]),
        ("mail_settings/spam_check", &["enabled", "max_score"]),
        ("tracking_settings/click", &["enable_text", "enabled"]),
        (
            "tracking_settings/subscription",
            &[
                "enabled",
                "html_content",
                "landing",
                "plain_content",
                "replace",
                "url",
            ],
        ),
    ] {
        let path = format!("/v3/{setting}");
        let wrong = fields
            .iter()
            .map(|name| ((*name).to_owned(), json!({"a": []})));
        let wrong = serde_json::Value::Object(wrong.collect());
        app.refuses(&path, &wrong, fields).await;
        let errors = app
            .patch(&path, &wrong)
            .await
            .expect(400)
            .json()
            .to_string();
        assert!(!errors.contains("invalid type"), "{errors}");
    }
}

#[tokio::test]
async fn a_legacy_setting_is_stored_and_not_listed() {
    let app = TestApp::new().await;
    let path = "/v3/mail_settings/plain_content";
    let on = json!({"enabled": true});
    assert_eq!(app.set(path, &on).await, on);
    assert_eq!(app.set(path, &json!({})).await, on);
    app.refuses(path, &json!({"enabled": 1}), &["enabled"])
        .await;
    let all = app.get("/v3/mail_settings").await.expect(200).json();
    let listed = |name: &str| {
        let mut items = all["result"].as_array().unwrap().iter();
        items.any(|item| item["name"] == name)
    };
    assert!(listed("footer") && !listed("bcc") && !listed("plain_content"));
}

#[tokio::test]
async fn a_score_is_1_to_10() {
    let app = TestApp::new().await;
    let path = "/v3/mail_settings/spam_check";
    for score in [1, 10] {
        let body = json!({"enabled": true, "max_score": score});
        assert_eq!(app.set(path, &body).await, body);
    }
    for score in [0, 11, -1, 300] {
        app.refuses(path, &json!({"max_score": score}), &["max_score"])
            .await;
    }
}

#[tokio::test]
async fn html_around_mails_must_contain_the_body_tag() {
    let app = TestApp::new().await;
    let path = "/v3/mail_settings/template";
    for html in ["<p><% body %></p>", "<p><%body%></p>", ""] {
        let body = json!({"enabled": true, "html_content": html});
        assert_eq!(app.set(path, &body).await, body);
    }
    for html in ["<p>no place</p>", "<% bodies %>", "<%body"] {
        let body = json!({"html_content": html});
        app.refuses(path, &body, &["html_content"]).await;
    }
    let long = format!("<% body %>{}", "x".repeat(100_000));
    app.refuses(path, &json!({"html_content": long}), &["html_content"])
        .await;
}
