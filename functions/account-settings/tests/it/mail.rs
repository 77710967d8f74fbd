//! `/v3/mail_settings/…`.

use serde_json::json;

use crate::TestApp;

#[tokio::test]
async fn nothing_is_on_before_somebody_says_so() {
    let desk = TestApp::new().await;
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
        ("spam_check", json!({"enabled": false, "max_score": 5})),
        ("bcc", json!({"email": "", "enabled": false})),
        ("plain_content", json!({"enabled": false})),
        ("template", json!({"enabled": false, "html_content": ""})),
    ] {
        let got = desk.get(&format!("/v3/mail_settings/{name}")).await;
        assert_eq!(got.expect(200).json(), want, "{name}");
    }
}

#[tokio::test]
async fn a_whitelist_is_kept_as_it_compares() {
    let desk = TestApp::new().await;
    let path = "/v3/mail_settings/address_whitelist";
    let list =
        json!({"enabled": true, "list": [" Ann@Example.COM ", "Münster.example", "b.example"]});
    let want = json!(["ann@example.com", "b.example", "xn--mnster-3ya.example"]);
    assert_eq!(
        desk.set(path, &list).await,
        json!({"enabled": true, "list": want})
    );
    // What is left out stays.
    let got = desk.set(path, &json!({"enabled": false})).await;
    assert_eq!(got, json!({"enabled": false, "list": want}));
    let bad = json!({"list": ["a@b@c", "good.example", "", "not a domain"]});
    desk.refuses(path, &bad, &["list.0", "list.2", "list.3"])
        .await;
    let entries: Vec<_> = (0..=500).map(|i| format!("d{i}.example")).collect();
    desk.refuses(path, &json!({"list": entries}), &["list"])
        .await;
    let got = desk.set(path, &json!({"list": entries[..500]})).await;
    assert_eq!(got["list"].as_array().unwrap().len(), 500);
    desk.refuses(path, &json!({"list": "x"}), &["list"]).await;
}

#[tokio::test]
async fn bounces_are_purged_after_1_to_3650_days_or_never() {
    let desk = TestApp::new().await;
    let path = "/v3/mail_settings/bounce_purge";
    let body = json!({"enabled": true, "soft_bounces": 1, "hard_bounces": 3650});
    assert_eq!(desk.set(path, &body).await, body);
    let got = desk.set(path, &json!({"hard_bounces": null})).await;
    assert_eq!(
        got,
        json!({"enabled": true, "soft_bounces": 1, "hard_bounces": null})
    );
    for days in [0, 3651, -1, 70_000] {
        let both = json!({"soft_bounces": days, "hard_bounces": days});
        desk.refuses(path, &both, &["soft_bounces", "hard_bounces"])
            .await;
    }
    desk.refuses(path, &json!({"soft_bounces": 1.5}), &["soft_bounces"])
        .await;
}

#[tokio::test]
async fn a_footer_has_two_texts_and_may_be_as_long_as_it_says() {
    let desk = TestApp::new().await;
    let path = "/v3/mail_settings/footer";
    let body = json!({"enabled": true, "html_content": "<i>us</i>", "plain_content": "us"});
    assert_eq!(desk.set(path, &body).await, body);
    let got = desk.set(path, &json!({"plain_content": ""})).await;
    assert_eq!(
        got,
        json!({"enabled": true, "html_content": "<i>us</i>", "plain_content": ""})
    );
    let long = "x".repeat(20_001);
    let both = json!({"html_content": long, "plain_content": long});
    desk.refuses(path, &both, &["html_content", "plain_content"])
        .await;
    desk.set(path, &json!({"html_content": "x".repeat(20_000)}))
        .await;
}

#[tokio::test]
async fn who_is_told_must_have_an_address() {
    let desk = TestApp::new().await;
    for (path, nobody) in [
        ("/v3/mail_settings/bcc", json!("")),
        ("/v3/mail_settings/forward_bounce", json!(null)),
        ("/v3/mail_settings/forward_spam", json!("")),
    ] {
        desk.refuses(path, &json!({"enabled": true}), &["email"])
            .await;
        desk.refuses(path, &json!({"email": "nobody"}), &["email"])
            .await;
        let body = json!({"email": "abuse@example.com", "enabled": true});
        assert_eq!(desk.set(path, &body).await, body);
        desk.refuses(path, &json!({"email": null}), &["email"])
            .await;
        let off = json!({"email": null, "enabled": false});
        let want = json!({"email": nobody, "enabled": false});
        assert_eq!(desk.set(path, &off).await, want);
    }
}

#[tokio::test]
async fn a_retired_setting_is_kept_and_not_listed() {
    let desk = TestApp::new().await;
    let path = "/v3/mail_settings/plain_content";
    let on = json!({"enabled": true});
    assert_eq!(desk.set(path, &on).await, on);
    assert_eq!(desk.set(path, &json!({})).await, on);
    desk.refuses(path, &json!({"enabled": 1}), &["enabled"])
        .await;
    let all = desk.get("/v3/mail_settings").await.expect(200).json();
    let listed = |name: &str| {
        let mut items = all["result"].as_array().unwrap().iter();
        items.any(|item| item["name"] == name)
    };
    assert!(listed("footer") && !listed("bcc") && !listed("plain_content"));
}

#[tokio::test]
async fn a_score_is_1_to_10() {
    let desk = TestApp::new().await;
    let path = "/v3/mail_settings/spam_check";
    for score in [1, 10] {
        let body = json!({"enabled": true, "max_score": score});
        assert_eq!(desk.set(path, &body).await, body);
    }
    for score in [0, 11, -1, 300] {
        desk.refuses(path, &json!({"max_score": score}), &["max_score"])
            .await;
    }
}

#[tokio::test]
async fn html_around_mails_must_say_where_theirs_goes() {
    let desk = TestApp::new().await;
    let path = "/v3/mail_settings/template";
    for html in ["<p><% body %></p>", "<p><%body%></p>", ""] {
        let body = json!({"enabled": true, "html_content": html});
        assert_eq!(desk.set(path, &body).await, body);
    }
    for html in ["<p>no place</p>", "<% bodies %>", "<%body"] {
        let body = json!({"html_content": html});
        desk.refuses(path, &body, &["html_content"]).await;
    }
    let long = format!("<% body %>{}", "x".repeat(100_000));
    desk.refuses(path, &json!({"html_content": long}), &["html_content"])
        .await;
}
