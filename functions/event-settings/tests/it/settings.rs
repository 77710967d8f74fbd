//! Create, list, get, update, delete.

use http::StatusCode;
use serde_json::{Value, json};

use crate::test_app::{TestApp, message};

const ALL: &str = "/v3/user/webhooks/event/settings";

#[tokio::test]
async fn a_webhook_is_created_read_changed_and_deleted() {
    let app = TestApp::new().await;
    let body = json!({
        "url": "https://example.com/hook", "enabled": true, "friendly_name": "main",
        "processed": true, "spam_report": true, "group_resubscribe": true, "unknown": 1,
    });
    let (status, created) = app.call("POST", ALL, Some(body)).await;
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
        app.call("GET", &one, None).await,
        (StatusCode::OK, created.clone())
    );
    app.hand.advance(60);
    let change = json!({"url": "https://example.com/hook", "processed": false, "open": true});
    let (status, changed) = app.call("PATCH", &one, Some(change)).await;
    assert_eq!(status, StatusCode::OK);
    let mut want = created;
    want["processed"] = json!(false);
    want["open"] = json!(true);
    want["updated_date"] = json!("2026-11-27T23:02:22Z");
    assert_eq!(changed, want);

    assert_eq!(
        app.call("DELETE", &one, None).await,
        (StatusCode::NO_CONTENT, Value::Null)
    );
    for (method, body) in [
        ("GET", None),
        ("DELETE", None),
        ("PATCH", Some(json!({"url": "https://x.co"}))),
    ] {
        let (status, body) = app.call(method, &one, body).await;
        assert_eq!(
            (status, message(&body)),
            (StatusCode::NOT_FOUND, "Invalid id provided.")
        );
    }
}

#[tokio::test]
async fn a_field_is_left_out_null_or_set() {
    let app = TestApp::new().await;
    let id = app
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
        let (status, body) = app.call("PATCH", &one, Some(change)).await;
        assert_eq!((status, &body["friendly_name"]), (StatusCode::OK, &want));
    }
}

#[tokio::test]
async fn calls_without_an_id_mean_the_oldest_webhook() {
    let app = TestApp::new().await;
    let first = app.create(json!({"url": "https://a.example.com/"})).await;
    app.hand.advance(1);
    let second = app.create(json!({"url": "https://b.example.com/"})).await;
    let (_, body) = app.call("GET", ALL, None).await;
    assert_eq!(body["id"], json!(first));
    let change = json!({"url": "https://c.example.com/", "click": true});
    let (status, body) = app.call("PATCH", ALL, Some(change)).await;
    assert_eq!(
        (status, &body["id"], &body["click"]),
        (StatusCode::OK, &json!(first), &json!(true))
    );

    let (_, listed) = app.call("GET", &format!("{ALL}/all"), None).await;
    assert_eq!(listed["max_allowed"], json!(5));
    let ids: Vec<_> = listed["webhooks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| &w["id"])
        .collect();
    assert_eq!(ids, [&json!(first), &json!(second)]);

    // One from before there could be several is the oldest, whatever it is called.
    let legacy = app.legacy("https://old.example.com/").await;
    let (_, body) = app.call("GET", ALL, None).await;
    assert_eq!(
        (&body["id"], &body["created_date"]),
        (&json!(legacy), &Value::Null)
    );

    let (status, _) = app.call("DELETE", ALL, None).await;
    assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn two_webhooks_of_one_account_never_share_a_url() {
    let app = TestApp::new().await;
    let first = app.create(json!({"url": "https://example.com/a"})).await;
    let second = app.create(json!({"url": "https://example.com/b"})).await;
    let same = "https://EXAMPLE.com:443/a#x";
    let taken = json!({"errors": [{
        "field": null, "id": first, "url": same,
        "message": format!("Webhook at '{same}' already exists. Please provide a unique URL."),
    }]});
    let create = app.call("POST", ALL, Some(json!({"url": same}))).await;
    assert_eq!(create, (StatusCode::BAD_REQUEST, taken.clone()));
    let one = format!("{ALL}/{second}");
    let change = app.call("PATCH", &one, Some(json!({"url": same}))).await;
    assert_eq!(change, (StatusCode::BAD_REQUEST, taken));
    let (_, unchanged) = app.call("GET", &one, None).await;
    assert_eq!(unchanged["url"], "https://example.com/b");

    // Its own URL is no obstacle, and one that was let go is free again.
    let (status, _) = app
        .call("PATCH", &one, Some(json!({"url": "https://example.com/b"})))
        .await;
    assert_eq!(status, StatusCode::OK);
    let (status, _) = app
        .call("PATCH", &one, Some(json!({"url": "https://example.com/c"})))
        .await;
    assert_eq!(status, StatusCode::OK);
    app.create(json!({"url": "https://example.com/b"})).await;
    app.call("DELETE", &one, None).await;
    app.create(json!({"url": "https://example.com/c"})).await;
}

#[tokio::test]
async fn creates_at_the_same_moment_keep_the_limit_and_the_urls() {
    let app = TestApp::new().await;
    let same = || app.call("POST", ALL, Some(json!({"url": "https://example.com/"})));
    let (a, b, c) = tokio::join!(same(), same(), same());
    let mut codes = [a.0, b.0, c.0].map(|code| code.as_u16());
    codes.sort_unstable();
    assert_eq!(codes, [201, 400, 400]);

    let url = |n| json!({"url": format!("https://example.com/{n}")});
    let other = |n| app.call("POST", ALL, Some(url(n)));
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
    let app = TestApp::new().await;
    let id = app.create(json!({"url": "https://example.com/"})).await;
    let one = format!("{ALL}/{id}");
    for (body, want) in wrong() {
        let before = app.call("GET", &one, None).await;
        for (method, path) in [("PATCH", one.as_str()), ("POST", ALL)] {
            let (status, answer) = app.call(method, path, Some(body.clone())).await;
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
        assert_eq!(app.call("GET", &one, None).await, before);
    }
}

#[tokio::test]
async fn what_is_no_body_of_settings_is_a_400() {
    let app = TestApp::new().await;
    let id = app.create(json!({"url": "https://example.com/"})).await;
    let one = format!("{ALL}/{id}");
    for text in [
        "",
        "[]",
        "{",
        r#"{"url":1}"#,
        r#"{"url":"https://x.co","open":"yes"}"#,
        "\u{0}",
    ] {
        let (status, body) = app.send("PATCH", &one, text.to_owned()).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{text}: {body}");
    }
    let (status, _) = app.call("GET", &format!("{ALL}/not-an-id"), None).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_account_status_flag_is_set_by_requests_that_name_it_in_the_query() {
    let app = TestApp::new().await;
    let url = "https://example.com/";
    let id = app.create(json!({"url": url})).await;
    let plain = format!("{ALL}/{id}");
    let asked = format!("{plain}?include=account_status_change");
    let on = || Some(json!({"url": url, "account_status_change": true}));

    // Never ignored in silence: a subscription that the client believes in would bring no events.
    let (status, body) = app.call("PATCH", &plain, on()).await;
    assert_eq!(
        (status, &body["errors"][0]["field"]),
        (StatusCode::BAD_REQUEST, &json!("account_status_change"))
    );
    assert!(message(&body).contains("include=account_status_change"));
    let other = json!({"url": "https://other.example.com/", "account_status_change": true});
    let (status, _) = app.call("POST", ALL, Some(other)).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let (_, body) = app.call("GET", &asked, None).await;
    assert_eq!(body["account_status_change"], json!(false));
    let (_, body) = app.call("PATCH", &asked, on()).await;
    assert_eq!(body["account_status_change"], json!(true));
    let (_, body) = app
        .call(
            "GET",
            &format!("{ALL}/all?include=account_status_change"),
            None,
        )
        .await;
    assert_eq!(body["webhooks"][0]["account_status_change"], json!(true));
    // What an answer held may be sent back.
    let (status, body) = app.call("PATCH", &plain, on()).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    let off = json!({"url": url, "account_status_change": false});
    let (status, _) = app.call("PATCH", &plain, Some(off)).await;
    assert_eq!(status, StatusCode::OK);
    let (_, body) = app.call("GET", &asked, None).await;
    assert_eq!(body["account_status_change"], json!(true));
}

#[tokio::test]
async fn another_account_sees_and_changes_nothing() {
    let app = TestApp::new().await;
    let id = app.create(json!({"url": "https://example.com/"})).await;
    let stranger = app.stranger().await;
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
            Some(json!({"url": app.receiver.url(), "id": id})),
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
