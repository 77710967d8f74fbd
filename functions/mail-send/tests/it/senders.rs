//! Sender identity: whose mail is taken, and what the others are told.

use mail_send::Senders;
use posthaste_model::{Record, RecordKind};
use posthaste_store::{Domain, Put, SenderFields, VerifiedSender};
use posthaste_testkit::Tenant;
use serde_json::json;

use crate::desk::TestApp;
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
async fn mail_from_anybody_else_is_refused_in_the_contracts_words() {
    let desk = TestApp::new(Senders::proven()).await;
    desk.domain("waiting.example", false).await;

    for from in ["shop@example.com", "shop@waiting.example"] {
        let answer = desk
            .send(&with(&[("from.email", json!(from))]))
            .await
            .expect(403);
        let body = String::from_utf8(answer.body.to_vec()).unwrap();
        assert_eq!(
            body,
            r#"{"errors":[{"message":"The from address does not match a verified Sender Identity. Mail cannot be sent until this error is resolved. Visit https://sendgrid.com/docs/for-developers/sending-email/sender-identity/ to see the Sender Identity requirements","field":"from","help":null}]}"#
        );
    }
    assert!(desk.queues.drain("send").is_empty());
}

#[tokio::test]
async fn a_proven_domain_lets_all_its_addresses_send_at_once() {
    let desk = TestApp::new(Senders::proven()).await;
    assert_eq!(desk.send_from("shop@example.com").await, 403);
    desk.domain("example.com", true).await;
    for from in [
        "shop@example.com",
        "Other@EXAMPLE.com",
        "shop@news.example.com",
    ] {
        assert_eq!(desk.send_from(from).await, 202, "{from}");
    }
    for from in [
        "shop@badexample.com",
        "shop@example.com.evil.example",
        "shop@com",
    ] {
        assert_eq!(desk.send_from(from).await, 403, "{from}");
    }
}

#[tokio::test]
async fn a_verified_sender_lets_his_own_address_send() {
    let desk = TestApp::new(Senders::proven()).await;
    let mut sender = VerifiedSender {
        id: 1,
        account: desk.tenant.account.id.clone(),
        folded: "ann@example.org".into(),
        verified: true,
        token: None,
        created_at: desk.hand.now(),
        fields: SenderFields::default(),
    };
    assert_eq!(
        desk.store.create_sender(&sender, None).await.unwrap(),
        Put::Stored
    );
    sender.id = 2;
    sender.folded = "bob@example.org".into();
    sender.verified = false;
    assert_eq!(
        desk.store.create_sender(&sender, None).await.unwrap(),
        Put::Stored
    );
    assert_eq!(desk.send_from("Ann@Example.org").await, 202);
    assert_eq!(desk.send_from("bob@example.org").await, 403);
    assert_eq!(desk.send_from("eve@example.org").await, 403);
}

#[tokio::test]
async fn an_envelope_with_another_sender_is_judged_too() {
    let desk = TestApp::new(Senders::proven()).await;
    desk.domain("example.com", true).await;
    let envelope = json!({"to": [{"email": "a@b.co"}], "from": {"email": "eve@example.org"}});
    let body = with(&[("personalizations.1", envelope)]);
    let answer = desk.send(&body).await.expect(403);
    assert_eq!(answer.error().0.as_deref(), Some("personalizations.1.from"));
    assert!(desk.queues.drain("send").is_empty());
}

#[tokio::test]
async fn a_domain_that_is_gone_stops_within_ten_seconds() {
    let desk = TestApp::new(Senders::proven()).await;
    desk.domain("example.com", true).await;
    assert_eq!(desk.send_from("shop@example.com").await, 202);
    desk.store
        .delete_domain(&desk.tenant.account.id, 1)
        .await
        .unwrap();
    assert_eq!(desk.send_from("shop@example.com").await, 202, "remembered");
    desk.hand.advance(10);
    assert_eq!(desk.send_from("shop@example.com").await, 403);
}

#[tokio::test]
async fn where_senders_need_no_proof_anybody_sends() {
    let desk = TestApp::new(Senders::Any).await;
    assert_eq!(desk.send_from("anybody@example.org").await, 202);
    assert_eq!(desk.queues.drain("send").len(), 1);
}

#[tokio::test]
async fn groups_must_be_the_accounts_own_and_are_noted_as_mailed() {
    let desk = TestApp::new(Senders::Any).await;
    let account = &desk.tenant.account.id;
    let made = desk.store.create_group(account, ("News", ""), false).await;
    assert!(matches!(made.unwrap(), posthaste_store::GroupSaved::Done(group) if group.id == 1));
    let other = Tenant::new(&desk.store, "other", desk.hand.now()).await;
    for name in ["a", "b"] {
        let id = &other.account.id;
        let _ = desk
            .store
            .create_group(id, (name, ""), false)
            .await
            .unwrap();
    }
    for (asm, field, told) in [
        (json!({"group_id": 2}), "asm.group_id", "You provided [2]."),
        (
            json!({"group_id": 1, "groups_to_display": [1, 2, 7]}),
            "asm.groups_to_display",
            "You provided 2, 7.",
        ),
    ] {
        let refused = desk.send(&with(&[("asm", asm)])).await.expect(400);
        let (named, message) = refused.error();
        assert_eq!(named.as_deref(), Some(field));
        assert!(message.ends_with(told), "{message}");
    }
    assert!(desk.queues.drain("send").is_empty());

    let asm = json!({"group_id": 1, "groups_to_display": [1]});
    desk.send(&with(&[("asm", asm)])).await.expect(202);
    let group = desk.store.group(account, 1).await.unwrap().unwrap();
    assert_eq!(group.mailed_at, Some(desk.hand.now()));
}

#[tokio::test]
async fn everything_that_the_account_lacks_is_told_together_but_a_foreign_sender_alone() {
    let desk = TestApp::new(Senders::proven()).await;
    let wrong = [
        ("template_id", json!("d-1")),
        ("batch_id", json!("unknown")),
        ("asm", json!({"group_id": 2, "groups_to_display": [7]})),
    ];
    let fields = |answer: &posthaste_testkit::Response| {
        let told: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        let errors = told["errors"].as_array().unwrap().iter();
        let fields = errors.map(|error| error["field"].as_str().unwrap().to_owned());
        fields.collect::<Vec<_>>()
    };
    let refused = desk.send(&with(&wrong)).await.expect(403);
    assert_eq!(fields(&refused), ["from"]);

    desk.domain("example.com", true).await;
    let refused = desk.send(&with(&wrong)).await.expect(400);
    let want = [
        "template_id",
        "batch_id",
        "asm.group_id",
        "asm.groups_to_display",
    ];
    assert_eq!(fields(&refused), want);
    assert!(desk.queues.drain("send").is_empty());
}

#[tokio::test]
async fn an_unknown_template_is_repeated_in_brackets_and_not_whole() {
    let desk = TestApp::new(Senders::Any).await;
    let told = async |id: String| {
        let refused = desk.send(&with(&[("template_id", json!(id))])).await;
        refused.expect(400).error().1
    };
    assert_eq!(
        told("d-1".to_owned()).await,
        "The Template ID must be a valid template id for your account. You provided [d-1]."
    );
    let long = told("x".repeat(1_000_000)).await;
    assert!(
        long.len() < 2_000 && long.ends_with("x…]."),
        "{}",
        long.len()
    );
}
