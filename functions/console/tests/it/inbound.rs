//! Received mail: hostnames with their MX records, and mail that was lost.

use std::sync::Arc;

use parse_settings::ReceivingDns;
use posthaste_dns::{Resolver, Zone};
use posthaste_model::RecordKind;
use posthaste_store::{LostMail, ParseSetting, SettingCreation};
use posthaste_testkit::Services;

use crate::TestApp;

impl TestApp {
    async fn parse(&self, hostname: &str) {
        let setting = ParseSetting {
            account: self.tenant.account.id.clone(),
            hostname: hostname.to_owned(),
            url: "https://example.com/mail".to_owned(),
            target: "https://example.com/mail".to_owned(),
            spam_check: false,
            send_raw: true,
            created_at: self.hand.now(),
            security_policy: None,
        };
        let made = self.store.create_parse(&setting).await.unwrap();
        assert!(matches!(made, SettingCreation::Stored), "{made:?}");
    }

    async fn lose(&self, id: &str, reason: &str) {
        let now = self.hand.now();
        let lost = LostMail {
            account: self.tenant.account.id.clone(),
            id: id.to_owned(),
            hostname: "a.example.com".to_owned(),
            received: now,
            died_at: now.plus(259_200),
            attempts: 9,
            reason: reason.to_owned(),
            job: String::new(),
        };
        let kept = now.plus(1_000_000);
        self.store.lose_mail(&lost, kept).await.unwrap();
    }
}

#[tokio::test]
async fn hostnames_are_shown_with_what_the_dns_has() {
    let zone = Arc::new(Zone::default());
    let dns = ReceivingDns(Some(Resolver::Zone(zone.clone())));
    let services = Services::start().await.part(dns);
    let app = TestApp::on(services).await;
    let session = app.by_link().await;
    let page = app.page("/console/inbound", &session).await;
    assert!(page.contains("No hostname yet"), "{page}");
    for hostname in [
        "a.example.com",
        "b.example.com",
        "c.example.com",
        "d.example.com",
    ] {
        app.parse(hostname).await;
    }
    zone.publish(RecordKind::Mx, "a.example.com", &["MX.post.example."]);
    zone.publish(RecordKind::Mx, "b.example.com", &["mx.<other>.example."]);
    zone.fail(RecordKind::Mx, "d.example.com");
    let page = app.page("/console/inbound", &session).await;
    let rows: Vec<&str> = page.split("<tr><td>").collect();
    for (row, has) in [
        (1, "<b class=\"pill good\">valid</b>"),
        (2, "the records name other hosts"),
        (2, "<bdi>mx.&#60;other&#62;.example</bdi>"),
        (2, "10 mx.post.example"),
        (3, "there is no MX record"),
        (4, "the DNS does not answer"),
    ] {
        assert!(rows[row].contains(has), "{has}: {}", rows[row]);
    }
    assert!(!rows[1].contains("should be"), "{}", rows[1]);
}

#[tokio::test]
async fn lost_mail_has_its_reason_and_is_posted_again() {
    let app = TestApp::new().await;
    let session = app.by_link().await;
    let page = app.page("/console/inbound", &session).await;
    assert!(page.contains("None: every mail was taken"), "{page}");
    assert!(!page.contains("Post all again"), "{page}");
    for number in 0..51 {
        app.lose(&format!("m{number:02}"), "400 <no> such user")
            .await;
    }
    let page = app.page("/console/inbound", &session).await;
    assert_eq!(
        page.matches("400 &#60;no&#62; such user").count(),
        50,
        "{page}"
    );
    assert!(page.contains("Post all again"), "{page}");
    let (_, rest) = page.split_once("rel=\"next\" href=\"").unwrap();
    let older = rest.split('"').next().unwrap().replace("&#38;", "&");
    let page = app.page(&older, &session).await;
    assert_eq!(page.matches("such user").count(), 1, "{page}");

    let key = ["user.webhooks.parse.settings.read"];
    let key = app.tenant.restricted(&app.store, &key).await;
    let session = app.sign_in(&format!("key={key}")).await;
    let page = app.page("/console/inbound", &session).await;
    assert!(
        !page.contains("Post all again") && !page.contains("New hostname"),
        "{page}"
    );
}
