//! Sender identity: whose mail is accepted, and the errors for the others.

use mail_send::Senders;
use posthaste_model::{Record, RecordKind};
use posthaste_store::{Domain, Put, SenderFields, VerifiedSender};
use posthaste_testkit::Tenant;
use serde_json::json;

use crate::test_app::TestApp;
use crate::with;

impl TestApp {
    async fn send_from(&self, from: &str) -> u16 {
        let answer = self.send(&with(&[("from.email", json!(from))])).await;
        answer.status.as_u16()
    }

    async fn domain(&self, name: &str, valid: bool) {
        let domain = Domain {
            id: self
                .store
                .next_domain_id(&self.tenant.account.id)
                .await
                .unwrap(),
            account: self.tenant.account.id.clone(),
            domain: name.into(),
            subdomain: "em".into(),
            ips: Vec::new(),
            custom_spf: false,
            default: false,
            automatic_security: true,
            created_at: self.hand.now(),
            checked_at: None,
            given_to_ses: None,
            records: vec![Record {
                name: "mail_cname".into(),
                kind: RecordKind::Cname,
                host: format!("em.{name}"),
                data: "bounce.post.example".into(),
                valid,
            }],
            keys: Vec::new(),
            subusers: Vec::new(),
        };
        assert_eq!(
            self.store.create_domain(&domain).await.unwrap(),
            Put::Stored
        );
    }
}

#[tokio::test]
async fn a_foreign_sender_is_refused_with_the_message_of_the_api() {
    let app = TestApp::new(Senders::verified()).await;
    app.domain("waiting.example", false).await;

    for from in ["shop@example.com", "shop@waiting.example"] {
        let answer = app
            .send(&with(&[("from.email", json!(from))]))
            .await
            .expect(403);
        let body = String::from_utf8(answer.body.to_vec()).unwrap();
        assert_eq!(
            body,
            r#"{"errors":[{"message":"The from address does not match a verified Sender Identity. Mail cannot be sent until this error is resolved. Visit https://sendgrid.com/docs/for-developers/sending-email/sender-identity/ to see the Sender Identity requirements","field":"from","help":null}]}"#
        );
    }
    assert!(app.queues.drain("send").is_empty());
}

#[tokio::test]
async fn all_addresses_of_a_verified_domain_may_send_at_once() {
    let app = TestApp::new(Senders::verified()).await;
    assert_eq!(app.send_from("shop@example.com").await, 403);
    app.domain("example.com", true).await;
    for from in [
        "shop@example.com",
        "Other@EXAMPLE.com",
        "shop@news.example.com",
    ] {
        assert_eq!(app.send_from(from).await, 202, "{from}");
    }
    for from in [
        "shop@badexample.com",
        "shop@example.com.evil.example",
        "shop@com",
    ] {
        assert_eq!(app.send_from(from).await, 403, "{from}");
    }
}

#[tokio::test]
async fn a_verified_sender_may_send_from_its_own_address() {
    let app = TestApp::new(Senders::verified()).await;
    let mut sender = VerifiedSender {
        id: 1,
        account: app.tenant.account.id.clone(),
        folded: "ann@example.org".into(),
        verified: true,
        token: None,
        created_at: app.hand.now(),
        updated_at: None,
        fields: SenderFields::default(),
    };
    assert_eq!(
        app.store.create_sender(&sender, None).await.unwrap(),
        Put::Stored
    );
    sender.id = 2;
    sender.folded = "bob@example.org".into();
    sender.verified = false;
    assert_eq!(
        app.store.create_sender(&sender, None).await.unwrap(),
        Put::Stored
    );
    assert_eq!(app.send_from("Ann@Example.org").await, 202);
    assert_eq!(app.send_from("bob@example.org").await, 403);
    assert_eq!(app.send_from("eve@example.org").await, 403);
}

#[tokio::test]
async fn the_sender_of_an_envelope_is_checked_too() {
    let app = TestApp::new(Senders::verified()).await;
    app.domain("example.com", true).await;
    let envelope = json!({"to": [{"email": "a@b.co"}], "from": {"email": "eve@example.org"}});
    let body = with(&[("personalizations.1", envelope)]);
    let answer = app.send(&body).await.expect(403);
    assert_eq!(answer.error().0.as_deref(), Some("personalizations.1.from"));
    assert!(app.queues.drain("send").is_empty());
}

#[tokio::test]
async fn a_domain_that_is_gone_stops_within_ten_seconds() {
    let app = TestApp::new(Senders::verified()).await;
    app.domain("example.com", true).await;
    assert_eq!(app.send_from("shop@example.com").await, 202);
    app.store
        .delete_domain(&app.tenant.account.id, 1)
        .await
        .unwrap();
    assert_eq!(app.send_from("shop@example.com").await, 202, "remembered");
    app.hand.advance(10);
    assert_eq!(app.send_from("shop@example.com").await, 403);
}

#[tokio::test]
async fn where_senders_need_no_proof_anybody_sends() {
    let app = TestApp::new(Senders::Any).await;
    assert_eq!(app.send_from("anybody@example.org").await, 202);
    assert_eq!(app.queues.drain("send").len(), 1);
}

#[tokio::test]
async fn groups_must_be_the_accounts_own_and_are_recorded_as_mailed() {
    let app = TestApp::new(Senders::Any).await;
    let account = &app.tenant.account.id;
    let made = app.store.create_group(account, ("News", ""), false).await;
    assert!(matches!(made.unwrap(), posthaste_store::GroupSaved::Done(group) if group.id == 1));
    let other = Tenant::new(&app.store, "other", app.hand.now()).await;
    for name in ["a", "b"] {
        let id = &other.account.id;
        let _ = app.store.create_group(id, (name, ""), false).await.unwrap();
    }
    for (asm, field, want) in [
        (json!({"group_id": 2}), "asm.group_id", "You provided [2]."),
        (
            json!({"group_id": 1, "groups_to_display": [1, 2, 7]}),
            "asm.groups_to_display",
            "You provided 2, 7.",
        ),
    ] {
        let refused = app.send(&with(&[("asm", asm)])).await.expect(400);
        let (named, message) = refused.error();
        assert_eq!(named.as_deref(), Some(field));
        assert!(message.ends_with(want), "{message}");
    }
    assert!(app.queues.drain("send").is_empty());

    let asm = json!({"group_id": 1, "groups_to_display": [1]});
    app.send(&with(&[("asm", asm)])).await.expect(202);
    let group = app.store.group(account, 1).await.unwrap().unwrap();
    assert_eq!(group.mailed_at, Some(app.hand.now()));
}

#[tokio::test]
async fn all_problems_of_the_account_are_reported_together_but_a_foreign_sender_alone() {
    let app = TestApp::new(Senders::verified()).await;
    let wrong = [
        ("template_id", json!("d-1")),
        ("batch_id", json!("unknown")),
        ("asm", json!({"group_id": 2, "groups_to_display": [7]})),
    ];
    let fields = |answer: &posthaste_testkit::Response| {
        let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        let errors = body["errors"].as_array().unwrap().iter();
        let fields = errors.map(|error| error["field"].as_str().unwrap().to_owned());
        fields.collect::<Vec<_>>()
    };
    let refused = app.send(&with(&wrong)).await.expect(403);
    assert_eq!(fields(&refused), ["from"]);

    app.domain("example.com", true).await;
    let refused = app.send(&with(&wrong)).await.expect(400);
    let want = [
        "template_id",
        "batch_id",
        "asm.group_id",
        "asm.groups_to_display",
    ];
    assert_eq!(fields(&refused), want);
    assert!(app.queues.drain("send").is_empty());
}

#[tokio::test]
async fn an_unknown_template_is_repeated_in_brackets_and_not_whole() {
    let app = TestApp::new(Senders::Any).await;
    let error = async |id: String| {
        let refused = app.send(&with(&[("template_id", json!(id))])).await;
        refused.expect(400).error().1
    };
    assert_eq!(
        error("d-1".to_owned()).await,
        "The Template ID must be a valid template id for your account. You provided [d-1]."
    );
    let long = error("x".repeat(1_000_000)).await;
    assert!(
        long.len() < 2_000 && long.ends_with("x…]."),
        "{}",
        long.len()
    );
}
