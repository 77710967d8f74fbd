//! Domains, senders and hosts of links, and one of them with its records.

use serde_json::json;

use crate::TestApp;

#[tokio::test]
async fn an_empty_account_sees_what_it_can_add() {
    let app = TestApp::new().await;
    let page = app.page("/console/domains", &app.by_link().await).await;
    for words in [
        "No domain yet.",
        "No single address.",
        "None: links have the host of the service.",
        "POST /v3/whitelabel/domains",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    app.get("/console/domains/7", &app.by_link().await)
        .send()
        .await
        .expect(404);
}

#[tokio::test]
async fn a_domain_and_a_host_of_links_have_their_records() {
    let app = TestApp::new().await;
    let session = app.by_link().await;
    let domain = json!({"domain": "shop.example"});
    let domain = app.made("/v3/whitelabel/domains", &domain).await;
    let link = json!({"domain": "shop.example", "subdomain": "go"});
    let link = app.made("/v3/whitelabel/links", &link).await;
    let list = app.page("/console/domains", &session).await;
    for (path, made) in [("", &domain), ("link-", &link)] {
        let path = format!("/console/domains/{path}{}", made["id"]);
        assert!(list.contains(&format!("href=\"{path}\"")), "{list}");
        let page = app.page(&path, &session).await;
        for (name, record) in made["dns"].as_object().unwrap() {
            for text in [&record["host"], &record["data"]] {
                assert!(page.contains(text.as_str().unwrap()), "{text}: {page}");
            }
            let reason = format!("data-of=\"validation_results.{name}.reason\"");
            assert!(page.contains(&reason), "{page}");
        }
        assert!(page.contains("not valid yet"), "{page}");
        assert_eq!(page.contains("_dmarc.shop.example"), made == &domain);
    }
    assert!(list.contains("go.shop.example"), "{list}");
}

#[tokio::test]
async fn a_reader_gets_no_forms_and_a_missing_scope_is_named() {
    let app = TestApp::new().await;
    let domain = json!({"domain": "shop.example"});
    let domain = app.made("/v3/whitelabel/domains", &domain).await;
    let here = format!("/console/domains/{}", domain["id"]);
    let key = app.tenant.restricted(&app.store, &["whitelabel.read"]);
    let session = app.sign_in(&format!("key={}", key.await)).await;
    for path in ["/console/domains", &here] {
        let page = app.page(path, &session).await;
        assert!(!page.contains("data-call"), "{page}");
    }
    let key = app.tenant.restricted(&app.store, &["mail.send"]).await;
    let session = app.sign_in(&format!("key={key}")).await;
    let page = app.page("/console/domains", &session).await;
    assert!(page.contains("lacks the scope whitelabel.read"), "{page}");
}
