//! The page of the audit log.

use serde_json::json;

use crate::TestApp;

#[tokio::test]
async fn changes_are_shown_with_their_key_and_paged() {
    let app = TestApp::new().await;
    let session = app.by_link().await;
    let page = app.page("/console/audit-log", &session).await;
    assert!(page.contains("No change yet"), "{page}");
    let template = json!({"name": "<Welcome>", "generation": "dynamic"});
    let made = app.made("/v3/templates", &template).await;
    let id = made["id"].as_str().unwrap();
    app.hand.advance(1);
    let page = app.page("/console/audit-log", &session).await;
    let key = app.tenant.key.get(3..25).unwrap();
    for want in [
        "<b>POST</b> <code><bdi>/v3/templates</bdi></code>",
        &format!("created <bdi>{id}</bdi>"),
        &format!("<a href=\"/console/access/{key}\">"),
    ] {
        assert!(page.contains(want), "{want}: {page}");
    }
    assert!(!page.contains("rel=\"next\""), "{page}");

    for number in 0..50 {
        let template = json!({"name": format!("N{number}"), "generation": "dynamic"});
        app.made("/v3/templates", &template).await;
        app.hand.advance(1);
    }
    let page = app.page("/console/audit-log", &session).await;
    let (_, rest) = page.split_once("rel=\"next\" href=\"").unwrap();
    let older = rest.split('"').next().unwrap();
    let page = app.page(older, &session).await;
    assert_eq!(page.matches("<b>POST</b>").count(), 1, "{page}");
    assert!(page.contains(id) && page.contains("Newest"), "{page}");
}

#[tokio::test]
async fn a_key_without_the_scope_is_told_which_it_lacks() {
    let app = TestApp::new().await;
    let key = app.tenant.restricted(&app.store, &["templates.read"]).await;
    let session = app.sign_in(&format!("key={key}")).await;
    let page = app.page("/console/audit-log", &session).await;
    assert!(page.contains("access_settings.activity.read"), "{page}");
}
