//! Secrets of a webhook: the signing key and the OAuth credentials.

use http::StatusCode;
use serde_json::{Value, json};

use crate::test_app::{TestApp, message};

const ALL: &str = "/v3/user/webhooks/event/settings";

#[tokio::test]
async fn signatures_are_switched_on_with_a_fresh_key_and_off() {
    let app = TestApp::new().await;
    let id = app.create(json!({"url": "https://example.com/"})).await;
    let one = format!("{ALL}/signed/{id}");
    let oldest = format!("{ALL}/signed");
    let off = json!({"id": id, "public_key": ""});
    assert_eq!(
        app.call("GET", &oldest, None).await,
        (StatusCode::OK, off.clone())
    );

    let (status, on) = app
        .call("PATCH", &one, Some(json!({"enabled": true})))
        .await;
    let key = on["public_key"].as_str().unwrap();
    assert_eq!((status, key.len()), (StatusCode::OK, 124));
    assert!(key.starts_with("MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE"));
    let again = app
        .call("PATCH", &oldest, Some(json!({"enabled": true})))
        .await;
    assert_eq!(again.1, on);
    assert_eq!(
        app.call("GET", &format!("{ALL}/{id}"), None).await.1["public_key"],
        json!(key)
    );

    assert_eq!(
        app.call("PATCH", &one, Some(json!({"enabled": false})))
            .await
            .1,
        off
    );
    assert_eq!(
        app.call("GET", &format!("{ALL}/{id}"), None)
            .await
            .1
            .get("public_key"),
        None
    );
    let fresh = app
        .call("PATCH", &one, Some(json!({"enabled": true})))
        .await
        .1;
    assert_ne!(fresh["public_key"], json!(key));

    for body in [
        json!({}),
        json!({"enabled": null}),
        json!({"enabled": "yes"}),
    ] {
        let (status, _) = app.call("PATCH", &one, Some(body)).await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
    }
    let unknown = format!("{ALL}/signed/00000000-0000-4000-8000-000000000000");
    for body in [None, Some(json!({"enabled": true}))] {
        let method = if body.is_some() { "PATCH" } else { "GET" };
        let (status, body) = app.call(method, &unknown, body).await;
        assert_eq!(
            (status, message(&body)),
            (StatusCode::NOT_FOUND, "Invalid id provided.")
        );
    }
}

#[tokio::test]
async fn a_switch_of_signatures_is_an_update() {
    let app = TestApp::new().await;
    let id = app.create(json!({"url": "https://example.com/"})).await;
    for (enabled, want) in [
        (false, "2026-11-27T23:01:22Z"),
        (true, "2026-11-27T23:03:22Z"),
        (true, "2026-11-27T23:03:22Z"),
        (false, "2026-11-27T23:05:22Z"),
    ] {
        app.hand.advance(60);
        let signed = format!("{ALL}/signed/{id}");
        let (status, _) = app
            .call("PATCH", &signed, Some(json!({"enabled": enabled})))
            .await;
        assert_eq!(status, StatusCode::OK);
        let (_, shown) = app.call("GET", &format!("{ALL}/{id}"), None).await;
        assert_eq!(shown["updated_date"], want, "{enabled}");
    }
}

#[tokio::test]
async fn oauth_is_configured_kept_and_switched_off() {
    let app = TestApp::new().await;
    let url = "https://example.com/";
    let token = "https://auth.example.com/token";
    let full = json!({"url": url, "oauth_client_id": "id", "oauth_client_secret": "hush", "oauth_token_url": token});
    let id = app.create(full).await;
    let one = format!("{ALL}/{id}");
    let change = async |body: Value| {
        let (status, body) = app.call("PATCH", &one, Some(body)).await;
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
    assert_eq!(app.oauth_secret(&id).await.as_deref(), Some("hush2"));
    // One half alone would leave a secret that belongs to nothing.
    for half in ["oauth_token_url", "oauth_client_id"] {
        for nothing in [json!(""), Value::Null] {
            let body = json!({"url": url, half: nothing});
            assert_eq!(change(body).await.0, 400, "{half}");
        }
    }
    let (_, kept) = app.call("GET", &one, None).await;
    assert_eq!(kept["oauth_client_id"], "id2");
    assert_eq!(app.oauth_secret(&id).await.as_deref(), Some("hush2"));
    let neither = json!({"url": url, "oauth_client_id": "", "oauth_token_url": ""});
    assert_eq!(change(neither).await, (200, Value::Null, Value::Null));
    assert_eq!(app.oauth_secret(&id).await, None);

    let full = json!({"url": url, "oauth_client_id": "id", "oauth_client_secret": "hush", "oauth_token_url": token});
    assert_eq!(change(full).await.0, 200);
    let off = json!({"url": url, "oauth_client_id": "", "oauth_client_secret": "", "oauth_token_url": ""});
    assert_eq!(change(off).await, (200, Value::Null, Value::Null));
    assert_eq!(app.oauth_secret(&id).await, None);
    let again = json!({"url": url, "oauth_client_id": "id", "oauth_token_url": token});
    assert_eq!(change(again).await.0, 400);
}

#[tokio::test]
async fn no_secret_comes_out_or_lies_open() {
    let app = TestApp::new().await;
    let body = json!({"url": "https://example.com/", "oauth_client_id": "id", "oauth_client_secret": "hush-hush", "oauth_token_url": "https://a.example.com/"});
    let (_, created) = app.call("POST", ALL, Some(body)).await;
    let id = created["id"].as_str().unwrap();
    let signed = format!("{ALL}/signed/{id}");
    app.call("PATCH", &signed, Some(json!({"enabled": true})))
        .await;
    let mut seen = created.to_string();
    for path in [
        ALL.to_owned(),
        format!("{ALL}/all"),
        format!("{ALL}/{id}"),
        signed,
    ] {
        seen.push_str(&app.call("GET", &path, None).await.1.to_string());
    }
    assert!(
        !seen.contains("hush") && !seen.contains("secret") && !seen.contains("private"),
        "{seen}"
    );
    let row = app.row(id).await;
    assert!(!row.contains("hush-hush"), "{row}");
}
