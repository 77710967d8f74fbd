//! The mail with the records of a domain: who may cause it, and what it says.

use posthaste_http::Rejection;
use posthaste_store::{AccountStatus, Allowance, Frequency};
use serde_json::json;

use crate::TestApp;
use crate::limits::DNS;

#[tokio::test]
async fn free_text_needs_a_caller_that_may_send() {
    let app = TestApp::new().await;
    let sub = app.tenant.subuser(&app.store, "sub").await;
    let body = app.records(&sub, "dns@example.org", "Please").await;
    let narrow = sub.restricted(&app.store, &["whitelabel.create"]).await;
    app.ask(&narrow, DNS, &body).await.expect(403);
    let wide = sub
        .restricted(&app.store, &["whitelabel.create", "mail.send"])
        .await;

    let none = Some(Allowance {
        frequency: Some(Frequency::Daily),
        total: 0,
    });
    let (id, now) = (&sub.account.id, app.hand.now());
    assert!(app.store.set_credits(id, none, now).await.unwrap());
    app.hand.advance(10);
    let answer = app.ask(&wide, DNS, &body).await.expect(401).json();
    let want = Rejection::not_authorized_to_send();
    assert_eq!(answer["errors"][0]["message"], want.problems[0].message);
    // Verifying an address costs no credit.
    app.ask_for(&sub, "ann@example.org").await.expect(201);

    assert!(app.store.set_credits(id, None, now).await.unwrap());
    let parent = &app.tenant.account.id;
    let disable =
        |account: &mut posthaste_store::Account| account.status = AccountStatus::Suspended;
    app.store.update_account(parent, disable).await.unwrap();
    app.hand.advance(10);
    app.ask(&wide, DNS, &body).await.expect(403);
    app.ask_for(&sub, "bob@example.org").await.expect(403);
    let enable = |account: &mut posthaste_store::Account| account.status = AccountStatus::Active;
    app.store.update_account(parent, enable).await.unwrap();
    app.hand.advance(10);
    app.ask(&wide, DNS, &body).await.expect(204);

    // A domain of another account is none of the caller's.
    app.domain("own.example").await;
    app.domain("two.example").await;
    let theirs = json!({"domain_id": 2, "email": "dns@example.net"});
    app.ask(&wide, DNS, &theirs).await.expect(400);
}

#[tokio::test]
async fn no_text_of_the_caller_is_a_link_or_a_line_of_ours() {
    let app = TestApp::new().await;
    let note = "Your account is locked: https://evil.com/x www.evil.com mailto:a@evil.com \
        evil。com\r\n\r\n-- \r\n<b>Posthaste</b> \u{202e}moc.live +1 800 555 0199";
    let body = app.records(&app.tenant, "dns@example.org", note).await;
    app.ask_own(DNS, &body).await.expect(204);
    let mail = app.mails().remove(0);
    assert_eq!(
        mail.subject.as_deref(),
        Some("DNS records for sending mail")
    );
    assert_eq!(mail.content.len(), 1, "no HTML");
    let text = &mail.content[0].value;
    let (ours, quoted) = text.split_once("\n\n> ").unwrap();
    assert!(
        ours.starts_with("You are asked to publish DNS records"),
        "{text}"
    );
    assert!(ours.contains("It is not from this service"), "{text}");
    for line in format!("> {quoted}").lines() {
        assert!(line.starts_with("> "), "{line}");
    }
    for link in [
        "://", "www.", "evil.com", "@", "moc.live", "<", "555", "\u{202e}", "。",
    ] {
        assert!(!quoted.contains(link), "{link}: {quoted}");
    }
    let long = app
        .records(&app.tenant, "dns@example.org", &"ä".repeat(301))
        .await;
    let answer = app.ask_own(DNS, &long).await.expect(400).json();
    assert_eq!(answer["errors"][0]["field"], "message");
}

#[tokio::test]
async fn names_that_are_not_verified_are_no_links() {
    let app = TestApp::new().await;
    let path = "/v3/whitelabel/domains";
    let body = json!({"domain": "claim-prize.evil.com", "subdomain": "claim.evil.org"});
    let made = app.ask_own(path, &body).await.expect(201).json();
    let body = json!({"domain_id": made["id"], "email": "dns@example.org"});
    app.ask_own(DNS, &body).await.expect(204);
    let text = &app.mails().remove(0).content[0].value;
    for name in ["evil.com", "claim.evil.org"] {
        assert!(!text.contains(name), "{text}");
    }
    assert!(text.contains("Host:  claim[.]evil[.]org\n"), "{text}");
    assert!(text.contains("._domainkey\n"), "{text}");
}
