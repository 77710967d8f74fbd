//! What an account decided for all of its mail.

use posthaste_store::{AccountSettings, Mark, StoreError, SuppressionList};
use posthaste_testkit::relay::Script;
use serde_json::json;

use crate::lists::TestApp;

impl TestApp {
    async fn decide(&self, change: impl Fn(&mut AccountSettings)) {
        let done = self.app.store.change_settings(&self.account, |settings| {
            change(settings);
            Ok::<_, StoreError>(())
        });
        assert!(done.await.unwrap().is_some());
        // What is remembered is used for ten seconds.
        self.hand.advance(10);
    }

    /// The text of the latest mail.
    fn text(&self) -> String {
        let mails = self.relay.received();
        String::from_utf8_lossy(&mails.last().unwrap().bytes).into_owned()
    }
}

#[tokio::test]
async fn the_accounts_footer_is_under_every_mail_until_the_request_says_otherwise() {
    let app = TestApp::new(Script::new()).await;
    app.send(&["ann@example.com"], json!({})).await;
    assert!(!app.text().contains("Our footer"));
    app.decide(|settings| {
        settings.defaults.footer.enable = true;
        settings.defaults.footer.text = Some("Our footer".to_owned());
    })
    .await;
    app.send(&["ann@example.com"], json!({})).await;
    assert!(app.text().contains("Our footer"), "{}", app.text());
    let off = json!({"mail_settings": {"footer": {"enable": false}}});
    app.send(&["ann@example.com"], off).await;
    assert!(!app.text().contains("Our footer"));
    let own = json!({"mail_settings": {"footer": {"enable": true, "text": "Its own"}}});
    app.send(&["ann@example.com"], own).await;
    let text = app.text();
    assert!(text.contains("Its own") && !text.contains("Our footer"));
}

/// What a request asks for is measured when it is taken; what is added to it, when it is there.
#[tokio::test]
async fn a_copy_that_outgrows_the_limit_is_dropped_and_says_so() {
    let app = TestApp::new(Script::new()).await;
    let file = "A".repeat((30 << 20) / 78 * 76 - 76 * 100);
    let mail = json!({"attachments": [{"content": file, "filename": "a.bin"}]});
    let to = ["ann@example.com"];
    assert_eq!(app.send(&to, mail.clone()).await[0].0, "delivered");
    app.decide(|settings| {
        settings.defaults.footer.enable = true;
        settings.defaults.footer.text = Some("footer\r\n".repeat(2_000));
    })
    .await;
    let want = (
        "dropped".to_owned(),
        "the composed mail is not below 30 MiB".to_owned(),
    );
    assert_eq!(app.send(&to, mail).await, [want]);
}

#[tokio::test]
async fn who_is_on_the_whitelist_is_written_to_after_a_bounce_or_an_unsubscribe() {
    let app = TestApp::new(Script::new()).await;
    let all = [
        ("bounced@spared.example", SuppressionList::Bounces),
        ("left@spared.example", SuppressionList::Unsubscribes),
        ("angry@spared.example", SuppressionList::SpamReports),
        ("group@spared.example", SuppressionList::Group(3)),
        ("bounced@other.example", SuppressionList::Bounces),
    ];
    for (email, list) in all {
        app.mark(email, list).await;
    }
    app.decide(|settings| {
        settings.whitelist.enabled = true;
        settings.whitelist.list = vec!["spared.example".to_owned()];
    })
    .await;
    let to = all.map(|(email, _)| email);
    let ends = app.send(&to, json!({"asm": {"group_id": 3}})).await;
    let kinds: Vec<_> = ends.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(
        kinds,
        ["delivered", "delivered", "dropped", "dropped", "dropped"]
    );
}

#[tokio::test]
async fn mail_of_an_account_that_enforces_tls_is_blocked_at_a_relay_without_it() {
    let app = TestApp::new(Script::new()).await;
    let to = ["ann@example.com"];
    assert_eq!(app.send(&to, json!({})).await[0].0, "delivered");
    app.decide(|settings| settings.enforced_tls.require_tls = true)
        .await;
    let want = (
        "bounce".to_owned(),
        "TLS required but not supported".to_owned(),
    );
    assert_eq!(app.send(&to, json!({})).await, [want]);
    assert_eq!(app.relay.received().len(), 1);
    // A block keeps no later mail back.
    app.decide(|settings| settings.enforced_tls.require_tls = false)
        .await;
    assert_eq!(app.send(&to, json!({})).await[0].0, "delivered");
}

#[tokio::test]
async fn a_bounce_that_is_old_enough_is_forgotten() {
    let app = TestApp::new(Script::new()).await;
    app.mark("ann@example.com", SuppressionList::Bounces).await;
    app.decide(|settings| {
        settings.bounce_purge.enabled = true;
        settings.bounce_purge.hard = Some(2);
    })
    .await;
    let to = ["ann@example.com"];
    assert_eq!(app.send(&to, json!({})).await[0].0, "dropped");
    app.hand.advance(2 * 86_400 - 10);
    assert_eq!(app.send(&to, json!({})).await[0].0, "dropped");
    app.hand.advance(1);
    assert_eq!(app.send(&to, json!({})).await[0].0, "delivered");
    // It bounces once more.
    let mark = Mark::at(app.hand.now());
    let store = &app.app.store;
    let again = store.change_suppressed(&app.account, to[0], |lists| {
        lists.put(SuppressionList::Bounces, mark.clone());
    });
    again.await.unwrap();
    assert_eq!(app.send(&to, json!({})).await[0].0, "dropped");
}
