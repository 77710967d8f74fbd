//! The page of keys, the allow list, sessions and attempts.

use access_settings::parse_net;
use posthaste_store::Allow;
use posthaste_testkit::HOME;

use crate::TestApp;

impl TestApp {
    async fn access(&self, query: &str, cookie: &str) -> String {
        self.page(&format!("/console/access{query}"), cookie).await
    }

    async fn allow(&self, ips: &[&str]) {
        let nets: Vec<_> = ips.iter().map(|ip| parse_net(ip).unwrap()).collect();
        let account = &self.tenant.account.id;
        let added = self.store.allow_ips(account, &nets, self.hand.now()).await;
        assert!(matches!(added, Ok(Allow::Added(_))), "{added:?}");
    }
}

#[track_caller]
fn has(page: &str, wanted: &[&str]) {
    for words in wanted {
        assert!(page.contains(words), "{words} is not in {page}");
    }
}

#[tokio::test]
async fn keys_have_their_scopes_and_their_last_use() {
    let app = TestApp::new().await;
    let cookie = app.by_link().await;
    let key = app.tenant.restricted(&app.store, &["mail.send"]).await;
    let page = app.access("", &cookie).await;
    has(&page, &["Full access", "<bdi>mail.send</bdi>", ">never<"]);
    for key in [&key, &app.tenant.key] {
        let get = app.api.get("/console/first-key").key(key);
        get.send().await.expect(200);
    }
    let page = app.access("", &cookie).await;
    assert!(!page.contains(">never<"), "{page}");
    let id = key.split('.').nth(1).unwrap();
    let one = app.page(&format!("/console/access/{id}"), &cookie).await;
    let call = format!(r#"name="id" value="{id}""#);
    let checked = r#"value="mail.send" checked>"#;
    has(&one, &[&call, checked, r#"value="mail.batch.read">"#]);
    let none = app.get("/console/access/nothing", &cookie).send().await;
    none.expect(404);
}

#[tokio::test]
async fn an_empty_list_offers_the_readers_own_address_and_a_foreign_one_warns() {
    let app = TestApp::new().await;
    let cookie = app.by_link().await;
    let page = app.access("", &cookie).await;
    has(
        &page,
        &[
            r#"You are <b class="you">192.0.2.1</b>."#,
            "The list is empty",
            "Allow 192.0.2.1 only",
        ],
    );
    let page = app.access("?add=203.0.113.9", &cookie).await;
    has(
        &page,
        &["<code>203.0.113.9/32</code>", "This locks you out."],
    );
    let page = app.access("?add=203.0.113.9+192.0.2.*", &cookie).await;
    has(&page, &["<code>192.0.2.0/24</code>", "Add to the list"]);
    assert!(!page.contains("This locks you out."), "{page}");
    let page = app.access("?add=%3Cb%3Enowhere", &cookie).await;
    has(&page, &["&#60;b&#62;nowhere must be an IP address"]);
    assert!(!page.contains("Add to the list"), "{page}");
}

#[tokio::test]
async fn the_entry_of_the_reader_is_marked_and_its_removal_warns() {
    let app = TestApp::new().await;
    let cookie = app.by_link().await;
    app.allow(&[&HOME.to_string()]).await;
    let page = app.access("", &cookie).await;
    has(&page, &["which is on the list", "Remove the last entry"]);
    app.allow(&["203.0.113.0/24"]).await;
    let page = app.access("", &cookie).await;
    has(&page, &["Remove, and lock me out", "it is the one entry"]);
    assert_eq!(page.matches("lock me out").count(), 1);
    app.allow(&["192.0.2.0/24"]).await;
    let page = app.access("", &cookie).await;
    assert!(!page.contains("lock me out"), "{page}");
}

#[tokio::test]
async fn a_long_list_has_pages() {
    let app = TestApp::new().await;
    let cookie = app.by_link().await;
    let ips: Vec<_> = (0..101).map(|n| format!("192.0.2.{n}")).collect();
    app.allow(&ips.iter().map(String::as_str).collect::<Vec<_>>())
        .await;
    let page = app.access("", &cookie).await;
    has(
        &page,
        &["from the 101 addresses and ranges", "?from=20#list"],
    );
    assert!(page.contains("192.0.2.19/32") && !page.contains("192.0.2.20/32"));
    let page = app.access("?from=100", &cookie).await;
    has(&page, &["192.0.2.100/32", "?from=80#list"]);
    assert!(!page.contains("More entries"), "{page}");
    let page = app.access("?from=1000", &cookie).await;
    assert!(!page.contains("More entries"), "{page}");
}

#[tokio::test]
async fn sessions_and_attempts_are_listed() {
    let app = TestApp::new().await;
    let cookie = app.by_link().await;
    let page = app.access("", &cookie).await;
    has(&page, &["this session", ">let in<", ">console<"]);
    assert!(!page.contains("End all other sessions"), "{page}");
    let key = &app.tenant.key;
    app.sign_in(&format!("key={key}")).await;
    let page = app.access("", &cookie).await;
    has(&page, &["End all other sessions", "key “<bdi>test</bdi>”"]);
    let secret = cookie.rsplit('.').next().unwrap();
    assert!(!page.contains(secret), "{page}");
}

#[tokio::test]
async fn a_section_that_the_key_may_not_read_says_so_and_the_others_are_shown() {
    let app = TestApp::new().await;
    let scopes = ["access_settings.whitelist.read", "mail.send"];
    let key = app.tenant.restricted(&app.store, &scopes).await;
    let cookie = app.sign_in(&format!("key={key}")).await;
    let page = app.access("", &cookie).await;
    assert_eq!(page.matches("lacks the scope").count(), 3, "{page}");
    has(&page, &["The list is empty"]);
}
