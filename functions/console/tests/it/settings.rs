//! Settings: which are on, and the form of each.

use posthaste_store::StoreError;

use crate::TestApp;

/// The settings that have a page.
fn names(page: &str) -> Vec<String> {
    let links = page.split("href=\"/console/settings/").skip(1);
    links
        .map(|rest| rest.split('"').next().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn each_setting_of_the_api_has_its_form() {
    let app = TestApp::new().await;
    let session = app.by_link().await;
    let page = app.page("/console/settings", &session).await;
    let names = names(&page);
    assert_eq!(names.len(), 12, "{names:?}");
    for name in names {
        let page = app
            .page(&format!("/console/settings/{name}"), &session)
            .await;
        assert!(page.contains("data-call=\"PATCH /v3/"), "{name}: {page}");
        assert!(page.contains("type=\"checkbox\""), "{name}: {page}");
    }
    app.get("/console/settings/unknown", &session)
        .send()
        .await
        .expect(404);
}

#[tokio::test]
async fn a_form_has_the_values_that_are_set() {
    let app = TestApp::new().await;
    let session = app.by_link().await;
    let on = |page: &str| page.matches("pill good\">on").count();
    let before = on(&app.page("/console/settings", &session).await);
    let form = "/console/settings/address_whitelist";
    let off = app.page(form, &session).await;
    assert!(!off.contains(" checked"), "{off}");
    let id = &app.tenant.account.id;
    let changed = app.store.change_settings(id, |settings| {
        settings.whitelist.enabled = true;
        settings.whitelist.list = vec!["a<b@example.com".to_owned(), "example.net".to_owned()];
        Ok::<_, StoreError>(())
    });
    changed.await.unwrap();
    app.hand.advance(11);
    let set = app.page(form, &session).await;
    assert!(set.contains(" checked"), "{set}");
    assert!(
        set.contains(">a&#60;b@example.com\nexample.net</textarea>"),
        "{set}"
    );
    let after = on(&app.page("/console/settings", &session).await);
    assert_eq!(after, before + 1);
}
