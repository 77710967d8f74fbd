//! `/v3/tracking_settings/…`.

use serde_json::json;

use crate::TestApp;

#[tokio::test]
async fn clicks_and_opens_are_switched() {
    let app = TestApp::new().await;
    let path = "/v3/tracking_settings/click";
    let got = app.get(path).await.expect(200).json();
    assert_eq!(got, json!({"enable_text": false, "enabled": false}));
    let got = app.set(path, &json!({"enabled": true})).await;
    assert_eq!(got, json!({"enable_text": false, "enabled": true}));
    let got = app.set(path, &json!({"enable_text": true})).await;
    assert_eq!(got, json!({"enable_text": true, "enabled": true}));
    let path = "/v3/tracking_settings/open";
    let got = app.set(path, &json!({"enabled": true})).await;
    assert_eq!(got, json!({"enabled": true}));
    app.refuses(path, &json!({"enabled": "yes"}), &["enabled"])
        .await;
}

#[tokio::test]
async fn analytics_keep_what_is_left_out() {
    let app = TestApp::new().await;
    let path = "/v3/tracking_settings/google_analytics";
    let body = json!({"enabled": true, "utm_campaign": "spring", "utm_content": "",
        "utm_medium": "mail", "utm_source": "us", "utm_term": ""});
    assert_eq!(app.set(path, &body).await, body);
    let got = app.set(path, &json!({"utm_source": "them"})).await;
    assert_eq!(got["utm_source"], "them");
    assert_eq!(got["utm_campaign"], "spring");
    let long = json!({"utm_term": "x".repeat(1_001), "utm_medium": "y".repeat(1_001)});
    app.refuses(path, &long, &["utm_medium", "utm_term"]).await;
}

#[tokio::test]
async fn subscription_leads_to_web_pages_only() {
    let app = TestApp::new().await;
    let path = "/v3/tracking_settings/subscription";
    let body = json!({"enabled": true, "html_content": "<% out %>", "landing": "<h1>Bye</h1>",
        "plain_content": "<% %>", "replace": "[out]", "url": "https://example.com/bye?x=1"});
    assert_eq!(app.set(path, &body).await, body);
    for url in [
        "javascript:alert(1)",
        "data:text/html,x",
        "/bye",
        "https://",
        "mailto:a@b.co",
    ] {
        app.refuses(path, &json!({"url": url}), &["url"]).await;
    }
    let got = app.set(path, &json!({"url": ""})).await;
    assert_eq!(got["url"], "");
    let long = json!({"landing": "x".repeat(50_001)});
    app.refuses(path, &long, &["landing"]).await;
}
