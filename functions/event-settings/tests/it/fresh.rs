//! Calls without an id on an account that has no webhook yet.

use http::StatusCode;
use serde_json::json;

use crate::test_app::TestApp;

const ALL: &str = "/v3/user/webhooks/event/settings";

#[tokio::test]
async fn a_fresh_account_has_a_webhook_without_an_id_that_is_off() {
    let app = TestApp::new().await;
    let (status, body) = app.call("GET", ALL, None).await;
    let want = json!({
        "enabled": false, "url": "", "group_resubscribe": false, "delivered": false,
        "group_unsubscribe": false, "spam_report": false, "bounce": false, "deferred": false,
        "unsubscribe": false, "processed": false, "open": false, "click": false,
        "dropped": false, "friendly_name": null, "id": "", "created_date": null,
        "updated_date": null, "oauth_client_id": null, "oauth_token_url": null,
    });
    assert_eq!((status, body), (StatusCode::OK, want));
    let (_, body) = app
        .call("GET", &format!("{ALL}?include=account_status_change"), None)
        .await;
    assert_eq!(body["account_status_change"], json!(false));
    let (_, listed) = app.call("GET", &format!("{ALL}/all"), None).await;
    assert_eq!(listed["webhooks"], json!([]));
}

#[tokio::test]
async fn a_change_without_an_id_creates_the_first_webhook_and_changes_it_from_then_on() {
    let app = TestApp::new().await;
    let (status, _) = app.call("PATCH", ALL, Some(json!({"enabled": true}))).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "a webhook needs a URL");
    let body = json!({"url": "https://a.example.com/", "enabled": true, "click": true});
    let (status, first) = app.call("PATCH", ALL, Some(body.clone())).await;
    assert_eq!(status, StatusCode::OK, "{first}");
    assert_eq!(
        (&first["enabled"], &first["click"], &first["open"]),
        (&json!(true), &json!(true), &json!(false))
    );
    let (_, again) = app.call("PATCH", ALL, Some(body)).await;
    assert_eq!(again["id"], first["id"]);
    let (_, listed) = app.call("GET", &format!("{ALL}/all"), None).await;
    assert_eq!(listed["webhooks"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn first_changes_at_the_same_moment_make_one_webhook() {
    let app = TestApp::new().await;
    let change = |path: &str| {
        let url = format!("https://{path}.example.com/");
        let app = &app;
        async move { app.call("PATCH", ALL, Some(json!({"url": url}))).await }
    };
    let (one, two, three) = tokio::join!(change("a"), change("b"), change("c"));
    for (status, body) in [&one, &two, &three] {
        assert_eq!(*status, StatusCode::OK, "{body}");
        assert_eq!(body["id"], one.1["id"]);
    }
}

#[tokio::test]
async fn signatures_of_a_fresh_account_belong_to_the_webhook_that_they_create() {
    let app = TestApp::new().await;
    let signed = format!("{ALL}/signed");
    let none = json!({"id": "", "public_key": ""});
    let (status, body) = app.call("GET", &signed, None).await;
    assert_eq!((status, &body), (StatusCode::OK, &none));
    let off = json!({"enabled": false});
    let (status, body) = app.call("PATCH", &signed, Some(off)).await;
    assert_eq!((status, &body), (StatusCode::OK, &none));
    let (_, listed) = app.call("GET", &format!("{ALL}/all"), None).await;
    assert_eq!(listed["webhooks"], json!([]), "nothing to switch off");

    let on = json!({"enabled": true});
    let (status, made) = app.call("PATCH", &signed, Some(on)).await;
    assert_eq!(status, StatusCode::OK, "{made}");
    assert!(!made["public_key"].as_str().unwrap().is_empty());
    let (_, body) = app.call("GET", ALL, None).await;
    assert_eq!(
        (&body["id"], &body["enabled"]),
        (&made["id"], &json!(false))
    );
    let url = json!({"url": "https://example.com/", "enabled": true});
    let (_, body) = app.call("PATCH", ALL, Some(url)).await;
    assert_eq!(
        (&body["id"], &body["public_key"]),
        (&made["id"], &made["public_key"])
    );
}
