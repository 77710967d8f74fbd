//! The settings of event webhooks, as a client sees them.

use http::StatusCode;
use posthaste_testkit::{Receiver, Reply};
use serde_json::{Value, json};

use crate::desk::TestApp;

const ALL: &str = "/v3/user/webhooks/event/settings";

fn message(body: &Value) -> &str {
    body["errors"][0]["message"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn a_webhook_is_created_read_changed_and_deleted() {
    let desk = TestApp::set().await;
    let body = json!({
        "url": "https://example.com/hook", "enabled": true, "friendly_name": "main",
        "processed": true, "spam_report": true, "group_resubscribe": true, "unknown": 1,
    });
    let (status, created) = desk.call("POST", ALL, Some(body)).await;
    assert_eq!(status, StatusCode::CREATED);
    let id = created["id"].as_str().unwrap().to_owned();
    assert_eq!(
        created,
        json!({
            "enabled": true, "url": "https://example.com/hook", "group_resubscribe": true,
            "delivered": false, "group_unsubscribe": false, "spam_report": true, "bounce": false,
            "deferred": false, "unsubscribe": false, "processed": true, "open": false,
            "click": false, "dropped": false, "friendly_name": "main", "id": id,
            "created_date": "2026-11-27T23:01:22Z", "updated_date": "2026-11-27T23:01:22Z",
            "oauth_client_id": null, "oauth_token_url": null,
        })
    );

    let one = format!("{ALL}/{id}");
    assert_eq!(
        desk.call("GET", &one, None).await,
        (StatusCode::OK, created.clone())
    );
    desk.hand.advance(60);
    let change = json!({"url": "https://example.com/hook", "processed": false, "open": true});
    let (status, changed) = desk.call("PATCH", &one, Some(change)).await;
    assert_eq!(status, StatusCode::OK);
    let mut want = created;
    want["processed"] = json!(false);
    want["open"] = json!(true);
    want["updated_date"] = json!("2026-11-27T23:02:22Z");
    assert_eq!(changed, want);

    assert_eq!(
        desk.call("DELETE", &one, None).await,
        (StatusCode::NO_CONTENT, Value::Null)
    );
    for (method, body) in [
        ("GET", None),
        ("DELETE", None),
        ("PATCH", Some(json!({"url": "https://x.co"}))),
    ] {
        let (status, body) = desk.call(method, &one, body).await;
        assert_eq!(
            (status, message(&body)),
            (StatusCode::NOT_FOUND, "Invalid id provided.")
        );
    }
}

#[tokio::test]
async fn a_field_is_left_out_null_or_set() {
    let desk = TestApp::set().await;
    let id = desk
        .create(json!({"url": "https://example.com/", "friendly_name": "x"}))
        .await;
    let one = format!("{ALL}/{id}");
    for (change, want) in [
        (json!({"url": "https://example.com/"}), json!("x")),
        (
            json!({"url": "https://example.com/", "friendly_name": "y"}),
            json!("y"),
        ),
        (
            json!({"url": "https://example.com/", "friendly_name": null}),
            Value::Null,
        ),
    ] {
        let (status, body) = desk.call("PATCH", &one, Some(change)).await;
        assert_eq!((status, &body["friendly_name"]), (StatusCode::OK, &want));
    }
}

#[tokio::test]
async fn calls_without_an_id_mean_the_oldest_webhook() {
    let desk = TestApp::set().await;
    for method in ["GET", "PATCH"] {
        let body = (method == "PATCH").then(|| json!({"url": "https://x.example.com/"}));
        let (status, body) = desk.call(method, ALL, body).await;
        assert_eq!(
            (status, message(&body)),
            (StatusCode::NOT_FOUND, "No webhook found.")
        );
    }
    let first = desk.create(json!({"url": "https://a.example.com/"})).await;
    desk.hand.advance(1);
    let second = desk.create(json!({"url": "https://b.example.com/"})).await;
    let (_, body) = desk.call("GET", ALL, None).await;
    assert_eq!(body["id"], json!(first));
    let change = json!({"url": "https://c.example.com/", "click": true});
    let (status, body) = desk.call("PATCH", ALL, Some(change)).await;
    assert_eq!(
        (status, &body["id"], &body["click"]),
        (StatusCode::OK, &json!(first), &json!(true))
    );

    let (_, listed) = desk.call("GET", &format!("{ALL}/all"), None).await;
    assert_eq!(listed["max_allowed"], json!(5));
    let ids: Vec<_> = listed["webhooks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| &w["id"])
        .collect();
    assert_eq!(ids, [&json!(first), &json!(second)]);

    // One from before there could be several is the oldest, whatever it is called.
    let legacy = desk.legacy("https://old.example.com/").await;
    let (_, body) = desk.call("GET", ALL, None).await;
    assert_eq!(
        (&body["id"], &body["created_date"]),
        (&json!(legacy), &Value::Null)
    );

    let (status, _) = desk.call("DELETE", ALL, None).await;
    assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn two_webhooks_of_one_account_never_share_a_url() {
    let desk = TestApp::set().await;
    let first = desk.create(json!({"url": "https://example.com/a"})).await;
    let second = desk.create(json!({"url": "https://example.com/b"})).await;
    let same = "https://EXAMPLE.com:443/a#x";
    let taken = json!({"errors": [{
        "field": null, "id": first, "url": same,
        "message": format!("Webhook at '{same}' already exists. Please provide a unique URL."),
    }]});
    let create = desk.call("POST", ALL, Some(json!({"url": same}))).await;
    assert_eq!(create, (StatusCode::BAD_REQUEST, taken.clone()));
    let one = format!("{ALL}/{second}");
    let change = desk.call("PATCH", &one, Some(json!({"url": same}))).await;
    assert_eq!(change, (StatusCode::BAD_REQUEST, taken));
    let (_, unchanged) = desk.call("GET", &one, None).await;
    assert_eq!(unchanged["url"], "https://example.com/b");

    // Its own URL is no obstacle, and one that was let go is free again.
    let (status, _) = desk
        .call("PATCH", &one, Some(json!({"url": "https://example.com/b"})))
        .await;
    assert_eq!(status, StatusCode::OK);
    let (status, _) = desk
        .call("PATCH", &one, Some(json!({"url": "https://example.com/c"})))
        .await;
    assert_eq!(status, StatusCode::OK);
    desk.create(json!({"url": "https://example.com/b"})).await;
    desk.call("DELETE", &one, None).await;
    desk.create(json!({"url": "https://example.com/c"})).await;
}

#[tokio::test]
async fn creates_at_the_same_moment_keep_the_limit_and_the_urls() {
    let desk = TestApp::set().await;
    let same = || desk.call("POST", ALL, Some(json!({"url": "https://example.com/"})));
    let (a, b, c) = tokio::join!(same(), same(), same());
    let mut codes = [a.0, b.0, c.0].map(|code| code.as_u16());
    codes.sort_unstable();
    assert_eq!(codes, [201, 400, 400]);

    let url = |n| json!({"url": format!("https://example.com/{n}")});
    let other = |n| desk.call("POST", ALL, Some(url(n)));
    let many = tokio::join!(other(1), other(2), other(3), other(4), other(5), other(6));
    let many = [many.0, many.1, many.2, many.3, many.4, many.5];
    let made = many
        .iter()
        .filter(|(code, _)| *code == StatusCode::CREATED)
        .count();
    assert_eq!(made, 4);
    let full = "You have reached the maximum number of webhooks per your current billing plan.";
    for (code, body) in many.iter().filter(|(code, _)| *code != StatusCode::CREATED) {
        assert_eq!((*code, message(body)), (StatusCode::BAD_REQUEST, full));
    }
}

/// Bodies that break rules, and what is said about each: field and message.
fn wrong() -> Vec<(Value, Value)> {
    vec![
        (json!({}), json!([["url", "missing required argument"]])),
        (
            json!({"url": null, "open": true}),
            json!([["url", "missing required argument"]]),
        ),
        (
            json!({"url": "nowhere"}),
            json!([["url", "'nowhere' is not a valid url"]]),
        ),
        (
            json!({"url": "ftp://example.com"}),
            json!([["url", "'ftp://example.com' is not a valid url"]]),
        ),
        (
            json!({"url": "http://169.254.169.254/x"}),
            json!([[
                "url",
                "'http://169.254.169.254/x' is not a valid url: the host has a cloud metadata address, which is not permitted"
            ]]),
        ),
        (
            json!({"url": "https://x.co:25/"}),
            json!([[
                "url",
                "'https://x.co:25/' is not a valid url: port 25 is not used for HTTP"
            ]]),
        ),
        (
            json!({"url": "https://x.co/", "enabled": null, "click": null, "friendly_name": "x".repeat(1025)}),
            json!([
                ["enabled", "enabled must be a boolean"],
                ["click", "click must be a boolean"],
                ["friendly_name", "friendly_name exceeds 1024 bytes"],
            ]),
        ),
        (
            json!({"url": "https://x.co/", "oauth_client_id": "id", "oauth_client_secret": "s"}),
            json!([
                [
                    "oauth_token_url",
                    "oauth_client_id requires oauth_token_url"
                ],
                [
                    "oauth_client_secret",
                    "oauth_client_secret requires oauth_client_id and oauth_token_url"
                ],
            ]),
        ),
        (
            json!({"url": "https://x.co/", "oauth_client_id": "id", "oauth_token_url": "http://10.0.0.1/t"}),
            json!([
                [
                    "oauth_token_url",
                    "'http://10.0.0.1/t' is not a valid url: the host has a private address, which is not permitted"
                ],
                [
                    "oauth_client_secret",
                    "oauth_client_secret is required to configure OAuth"
                ],
            ]),
        ),
    ]
}

#[tokio::test]
async fn wrong_fields_are_refused_all_at_once() {
    let desk = TestApp::set().await;
    let id = desk.create(json!({"url": "https://example.com/"})).await;
    let one = format!("{ALL}/{id}");
    for (body, want) in wrong() {
        let before = desk.call("GET", &one, None).await;
        for (method, path) in [("PATCH", one.as_str()), ("POST", ALL)] {
            let (status, answer) = desk.call(method, path, Some(body.clone())).await;
            let found: Vec<_> = answer["errors"]
                .as_array()
                .unwrap()
                .iter()
                .map(|e| json!([e["field"], e["message"]]))
                .collect();
            assert_eq!(
                (status, json!(found)),
                (StatusCode::BAD_REQUEST, want.clone()),
                "{method} {body}"
            );
        }
        assert_eq!(desk.call("GET", &one, None).await, before);
    }
}

#[tokio::test]
async fn what_is_no_body_of_settings_is_a_400() {
    let desk = TestApp::set().await;
    let id = desk.create(json!({"url": "https://example.com/"})).await;
    let one = format!("{ALL}/{id}");
    for text in [
        "",
        "[]",
        "{",
        r#"{"url":1}"#,
        r#"{"url":"https://x.co","open":"yes"}"#,
        "\u{0}",
    ] {
        let (status, body) = desk.send("PATCH", &one, text.to_owned()).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{text}: {body}");
    }
    let (status, _) = desk.call("GET", &format!("{ALL}/not-an-id"), None).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn oauth_is_configured_kept_and_switched_off() {
    let desk = TestApp::set().await;
    let url = "https://example.com/";
    let token = "https://auth.example.com/token";
    let full = json!({"url": url, "oauth_client_id": "id", "oauth_client_secret": "hush", "oauth_token_url": token});
    let id = desk.create(full).await;
    let one = format!("{ALL}/{id}");
    let change = async |body: Value| {
        let (status, body) = desk.call("PATCH", &one, Some(body)).await;
        (
            status.as_u16(),
            body["oauth_client_id"].clone(),
            body["oauth_token_url"].clone(),
        )
    };

    let kept = change(json!({"url": url})).await;
    assert_eq!(kept, (200, json!("id"), json!(token)));
    // The secret is needed once only.
    let renamed =
        change(json!({"url": url, "oauth_client_id": "id2", "oauth_token_url": token})).await;
    assert_eq!(renamed, (200, json!("id2"), json!(token)));
    let rotated = change(json!({"url": url, "oauth_client_secret": "hush2"})).await;
    assert_eq!(rotated.0, 200);
    assert_eq!(desk.oauth_secret(&id).await.as_deref(), Some("hush2"));
    // One half alone would leave a secret that belongs to nothing.
    for half in ["oauth_token_url", "oauth_client_id"] {
        for nothing in [json!(""), Value::Null] {
            let body = json!({"url": url, half: nothing});
            assert_eq!(change(body).await.0, 400, "{half}");
        }
    }
    let (_, kept) = desk.call("GET", &one, None).await;
    assert_eq!(kept["oauth_client_id"], "id2");
    assert_eq!(desk.oauth_secret(&id).await.as_deref(), Some("hush2"));
    let neither = json!({"url": url, "oauth_client_id": "", "oauth_token_url": ""});
    assert_eq!(change(neither).await, (200, Value::Null, Value::Null));
    assert_eq!(desk.oauth_secret(&id).await, None);

    let full = json!({"url": url, "oauth_client_id": "id", "oauth_client_secret": "hush", "oauth_token_url": token});
    assert_eq!(change(full).await.0, 200);
    let off = json!({"url": url, "oauth_client_id": "", "oauth_client_secret": "", "oauth_token_url": ""});
    assert_eq!(change(off).await, (200, Value::Null, Value::Null));
    assert_eq!(desk.oauth_secret(&id).await, None);
    let again = json!({"url": url, "oauth_client_id": "id", "oauth_token_url": token});
    assert_eq!(change(again).await.0, 400);
}

#[tokio::test]
async fn no_secret_comes_out_or_lies_open() {
    let desk = TestApp::set().await;
    let body = json!({"url": "https://example.com/", "oauth_client_id": "id", "oauth_client_secret": "hush-hush", "oauth_token_url": "https://a.example.com/"});
    let (_, created) = desk.call("POST", ALL, Some(body)).await;
    let id = created["id"].as_str().unwrap();
    let signed = format!("{ALL}/signed/{id}");
    desk.call("PATCH", &signed, Some(json!({"enabled": true})))
        .await;
    let mut seen = created.to_string();
    for path in [
        ALL.to_owned(),
        format!("{ALL}/all"),
        format!("{ALL}/{id}"),
        signed,
    ] {
        seen.push_str(&desk.call("GET", &path, None).await.1.to_string());
    }
    assert!(
        !seen.contains("hush") && !seen.contains("secret") && !seen.contains("private"),
        "{seen}"
    );
    let row = desk.row(id).await;
    assert!(!row.contains("hush-hush"), "{row}");
}

#[tokio::test]
async fn the_account_status_flag_needs_to_be_asked_for() {
    let desk = TestApp::set().await;
    let url = "https://example.com/";
    let id = desk.create(json!({"url": url})).await;
    let plain = format!("{ALL}/{id}");
    let asked = format!("{plain}?include=account_status_change");
    let on = || Some(json!({"url": url, "account_status_change": true}));

    let (_, body) = desk.call("PATCH", &plain, on()).await;
    assert_eq!(body.get("account_status_change"), None);
    let (_, body) = desk.call("GET", &asked, None).await;
    assert_eq!(body["account_status_change"], json!(false));
    let (_, body) = desk.call("PATCH", &asked, on()).await;
    assert_eq!(body["account_status_change"], json!(true));
    let (_, body) = desk
        .call(
            "GET",
            &format!("{ALL}/all?include=account_status_change"),
            None,
        )
        .await;
    assert_eq!(body["webhooks"][0]["account_status_change"], json!(true));
}

#[tokio::test]
async fn signatures_are_switched_on_with_a_fresh_key_and_off() {
    let desk = TestApp::set().await;
    let id = desk.create(json!({"url": "https://example.com/"})).await;
    let one = format!("{ALL}/signed/{id}");
    let oldest = format!("{ALL}/signed");
    let off = json!({"id": id, "public_key": ""});
    assert_eq!(
        desk.call("GET", &oldest, None).await,
        (StatusCode::OK, off.clone())
    );

    let (status, on) = desk
        .call("PATCH", &one, Some(json!({"enabled": true})))
        .await;
    let key = on["public_key"].as_str().unwrap();
    assert_eq!((status, key.len()), (StatusCode::OK, 124));
    assert!(key.starts_with("MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE"));
    let again = desk
        .call("PATCH", &oldest, Some(json!({"enabled": true})))
        .await;
    assert_eq!(again.1, on);
    assert_eq!(
        desk.call("GET", &format!("{ALL}/{id}"), None).await.1["public_key"],
        json!(key)
    );

    assert_eq!(
        desk.call("PATCH", &one, Some(json!({"enabled": false})))
            .await
            .1,
        off
    );
    assert_eq!(
        desk.call("GET", &format!("{ALL}/{id}"), None)
            .await
            .1
            .get("public_key"),
        None
    );
    let fresh = desk
        .call("PATCH", &one, Some(json!({"enabled": true})))
        .await
        .1;
    assert_ne!(fresh["public_key"], json!(key));

    for body in [
        json!({}),
        json!({"enabled": null}),
        json!({"enabled": "yes"}),
    ] {
        let (status, _) = desk.call("PATCH", &one, Some(body)).await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
    }
    let unknown = format!("{ALL}/signed/00000000-0000-4000-8000-000000000000");
    for body in [None, Some(json!({"enabled": true}))] {
        let method = if body.is_some() { "PATCH" } else { "GET" };
        let (status, body) = desk.call(method, &unknown, body).await;
        assert_eq!(
            (status, message(&body)),
            (StatusCode::NOT_FOUND, "Invalid id provided.")
        );
    }
}

#[tokio::test]
async fn a_switch_of_signatures_is_an_update() {
    let desk = TestApp::set().await;
    let id = desk.create(json!({"url": "https://example.com/"})).await;
    for (enabled, want) in [
        (false, "2026-11-27T23:01:22Z"),
        (true, "2026-11-27T23:03:22Z"),
        (true, "2026-11-27T23:03:22Z"),
        (false, "2026-11-27T23:05:22Z"),
    ] {
        desk.hand.advance(60);
        let signed = format!("{ALL}/signed/{id}");
        let (status, _) = desk
            .call("PATCH", &signed, Some(json!({"enabled": enabled})))
            .await;
        assert_eq!(status, StatusCode::OK);
        let (_, shown) = desk.call("GET", &format!("{ALL}/{id}"), None).await;
        assert_eq!(shown["updated_date"], want, "{enabled}");
    }
}

#[tokio::test]
async fn a_test_posts_one_event_of_each_kind_and_says_when_it_fails() {
    const TEST: &str = "/v3/user/webhooks/event/test";
    let desk = TestApp::set().await;
    let url = desk.receiver.url();
    let (status, _) = desk.call("POST", TEST, Some(json!({"url": url}))).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    let posts = desk.receiver.posts();
    let events: Vec<Value> = serde_json::from_slice(&posts[0].body).unwrap();
    assert_eq!(events.len(), 11);
    assert_eq!(posts[0].header("user-agent"), "SendGrid Event API");
    assert_eq!(
        posts[0].header("x-twilio-email-event-webhook-signature"),
        ""
    );

    let id = desk.create(json!({"url": url})).await;
    desk.call(
        "PATCH",
        &format!("{ALL}/signed/{id}"),
        Some(json!({"enabled": true})),
    )
    .await;
    let signed = json!({"url": url, "id": id});
    assert_eq!(
        desk.call("POST", TEST, Some(signed)).await.0,
        StatusCode::NO_CONTENT
    );
    let time = posts[0]
        .header("x-twilio-email-event-webhook-timestamp")
        .to_owned();
    let last = desk.receiver.posts().pop().unwrap();
    assert_ne!(last.header("x-twilio-email-event-webhook-signature"), "");
    assert_ne!(last.header("x-twilio-email-event-webhook-timestamp"), time);

    desk.receiver.script([Reply::status(500)]);
    let (status, body) = desk.call("POST", TEST, Some(json!({"url": url}))).await;
    let want = "The test events were not delivered: answered 500";
    assert_eq!((status, message(&body)), (StatusCode::BAD_REQUEST, want));
    for (body, status) in [
        (json!({}), 400),
        (json!({"url": "http://10.0.0.1/"}), 400),
        (json!({"url": url, "id": "nonsense"}), 404),
        (json!({"url": url, "oauth_client_id": "id"}), 400),
    ] {
        let got = desk.call("POST", TEST, Some(body.clone())).await;
        assert_eq!(got.0.as_u16(), status, "{body}");
    }
    assert_eq!(desk.receiver.posts().len(), 3);
}

#[tokio::test]
async fn a_test_is_authorised_by_the_stored_secret_where_the_webhook_lives_and_nowhere_else() {
    const TEST: &str = "/v3/user/webhooks/event/test";
    let desk = TestApp::set().await;
    let [server, elsewhere] = [Receiver::start().await, Receiver::start().await];
    let (server, elsewhere) = (server.unwrap(), elsewhere.unwrap());
    for server in [&server, &elsewhere] {
        let token = r#"{"access_token":"t1","expires_in":3600}"#;
        server.always(Reply::with_body(200, token));
    }
    let (url, token_url) = (desk.receiver.url(), server.url());
    let hook = json!({"url": url, "oauth_client_id": "client", "oauth_client_secret": "hush",
        "oauth_token_url": token_url});
    let id = desk.create(hook).await;
    let test = async |body: Value| {
        let (status, body) = desk.call("POST", TEST, Some(body)).await;
        (status.as_u16(), body["errors"][0]["field"].clone())
    };

    let done = (204, Value::Null);
    assert_eq!(test(json!({"url": url, "id": id})).await, done);
    let same = json!({"url": url, "id": id, "oauth_token_url": format!("{token_url}#x")});
    assert_eq!(test(same).await, done);
    // The base64 of `client:hush`.
    let asked: Vec<_> = server.posts();
    let shown: Vec<_> = asked
        .iter()
        .map(|ask| ask.header("authorization"))
        .collect();
    assert_eq!(shown, ["Basic Y2xpZW50Omh1c2g="; 2]);
    assert_eq!(
        desk.receiver.posts()[1].header("authorization"),
        "Bearer t1"
    );

    let refused = (400, json!("oauth_client_secret"));
    for body in [
        json!({"url": url, "id": id, "oauth_token_url": elsewhere.url()}),
        json!({"url": url, "id": id, "oauth_token_url": format!("{token_url}x")}),
        json!({"url": elsewhere.url(), "id": id}),
        json!({"url": url, "oauth_client_id": "client", "oauth_token_url": token_url}),
    ] {
        assert_eq!(test(body.clone()).await, refused, "{body}");
    }
    assert!(elsewhere.posts().is_empty());
    assert_eq!((server.posts().len(), desk.receiver.posts().len()), (2, 2));

    // Who knows a secret may try it anywhere.
    let own = json!({"url": url, "id": id, "oauth_token_url": elsewhere.url(),
        "oauth_client_secret": "mine"});
    assert_eq!(test(own).await, done);
    // The base64 of `client:mine`.
    let asked = elsewhere.posts().remove(0);
    assert_eq!(asked.header("authorization"), "Basic Y2xpZW50Om1pbmU=");
}

#[tokio::test]
async fn another_account_sees_and_changes_nothing() {
    let desk = TestApp::set().await;
    let id = desk.create(json!({"url": "https://example.com/"})).await;
    let stranger = desk.stranger().await;
    let own = json!({"url": "https://example.com/"});
    for (method, path, body) in [
        ("GET", format!("{ALL}/{id}"), None),
        ("PATCH", format!("{ALL}/{id}"), Some(own.clone())),
        ("DELETE", format!("{ALL}/{id}"), None),
        ("GET", format!("{ALL}/signed/{id}"), None),
        (
            "PATCH",
            format!("{ALL}/signed/{id}"),
            Some(json!({"enabled": true})),
        ),
        (
            "POST",
            "/v3/user/webhooks/event/test".to_owned(),
            Some(json!({"url": desk.receiver.url(), "id": id})),
        ),
    ] {
        let (status, _) = stranger.call(method, &path, body).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{method} {path}");
    }
    let (_, listed) = stranger.call("GET", &format!("{ALL}/all"), None).await;
    assert_eq!(listed["webhooks"], json!([]));
    // The same URL in another account is another webhook.
    stranger.create(own).await;
}
