//! Posts by a security policy: signed, with a token, with both, and never without what was asked for.

use posthaste_model::Entropy;
use posthaste_store::{PolicyDeletion, PolicyOauth, SecurityPolicy, Signing};
use posthaste_testkit::{ReceivedRequest, Receiver, Reply};
use posthaste_webhook::{WebhookKeyPair, oauth_place, signing_place};

use crate::{BOX, MAIL, PATIENCE, TestApp};

const SIGNATURE: &str = "x-twilio-email-event-webhook-signature";
const TIMESTAMP: &str = "x-twilio-email-event-webhook-timestamp";

impl TestApp {
    /// A policy that signs, with the pair that it signs with.
    fn signing(&self) -> (SecurityPolicy, WebhookKeyPair) {
        let entropy = Entropy::counting();
        let mut policy = SecurityPolicy {
            id: self.app.entropy.policy_id(),
            account: self.tenant.account.id.clone(),
            name: "signed".to_owned(),
            created_at: self.hand.now(),
            oauth: None,
            signing: None,
        };
        let pair = WebhookKeyPair::generate(&entropy).unwrap();
        let place = signing_place(&policy.account, &policy.id);
        let sealed = self.app.sealer.seal(&entropy, &place, &pair.to_bytes());
        policy.signing = Some(Signing {
            public_key: pair.public_key().to_owned(),
            private_key: sealed.unwrap(),
        });
        (policy, pair)
    }

    fn oauth(&self, policy: &SecurityPolicy, server: &Receiver) -> PolicyOauth {
        let place = oauth_place(&policy.account, &policy.id);
        let sealed = self.app.sealer.seal(&self.app.entropy, &place, b"hush");
        PolicyOauth {
            client_id: "client".to_owned(),
            client_secret: sealed.unwrap(),
            token_url: format!("{}token", server.url()),
            scopes: vec!["mail:write".to_owned()],
        }
    }

    /// Stores a policy, and has mail for the one hostname posted by it.
    async fn attach(&self, policy: &SecurityPolicy) {
        let store = &self.app.store;
        assert!(store.create_security_policy(policy, 9).await.unwrap());
        let account = &self.tenant.account.id;
        let changed = store.update_parse(account, "in.shop.example", |setting| {
            setting.security_policy = Some(policy.id.clone());
        });
        let changed = changed.await.unwrap();
        assert!(matches!(changed, posthaste_store::SettingChange::Done(_)));
    }

    async fn request(&self) -> ReceivedRequest {
        self.receiver.next(PATIENCE).await.unwrap()
    }

    /// The mails that were given up, with their reasons.
    async fn reasons(&self) -> Vec<String> {
        let account = &self.tenant.account.id;
        let lost = self.app.store.lost_mails(account, None, 10).await;
        let lost = lost.unwrap().into_iter();
        lost.map(|row| row.value.reason).collect()
    }
}

fn grant(token: &str) -> Reply {
    Reply::with_body(
        200,
        format!(r#"{{"access_token":"{token}","expires_in":3600}}"#),
    )
}

#[tokio::test]
async fn every_attempt_posts_the_same_bytes_and_signs_them_at_its_own_time() {
    let app = TestApp::new().await;
    let (policy, pair) = app.signing();
    app.attach(&policy).await;
    app.receiver
        .script([Reply::status(503), Reply::status(200)]);
    app.arrive(BOX, MAIL).await;
    let first_at = app.hand.now();
    assert_eq!(app.work(app.jobs()).await, 0);
    app.hand.advance(600);
    let due = app.due().await;
    assert_eq!(app.work(due).await, 0);

    let (first, second) = (app.request().await, app.request().await);
    assert_eq!(first.body, second.body);
    assert!(first.body.starts_with(b"--xYzZY\r\n"));
    for (post, at) in [(&first, first_at), (&second, app.hand.now())] {
        assert_eq!(post.header(TIMESTAMP), at.to_string());
        let want = pair.sign(&at.to_string(), &post.body);
        assert_eq!(post.header(SIGNATURE), want);
        assert_eq!(post.header("authorization"), "");
    }
}

#[tokio::test]
async fn a_setting_without_a_policy_posts_without_a_signature() {
    let app = TestApp::new().await;
    app.arrive(BOX, MAIL).await;
    assert_eq!(app.work(app.jobs()).await, 0);
    let post = app.request().await;
    assert_eq!((post.header(SIGNATURE), post.header(TIMESTAMP)), ("", ""));
}

#[tokio::test]
async fn a_policy_with_both_signs_and_brings_a_token_of_its_scopes() {
    let app = TestApp::new().await;
    let server = Receiver::start().await.unwrap();
    server.script([grant("t1"), grant("t2")]);
    let (mut policy, pair) = app.signing();
    policy.oauth = Some(app.oauth(&policy, &server));
    app.attach(&policy).await;
    // The receiver wants another token, as RFC 6750 says.
    let refused = Reply::with_body(401, r#"{"error":"invalid_token"}"#);
    app.receiver.script([refused, Reply::status(200)]);
    app.arrive(BOX, MAIL).await;
    assert_eq!(app.work(app.jobs()).await, 0);
    for token in ["Bearer t1", "Bearer t2"] {
        let post = app.request().await;
        assert_eq!(post.header("authorization"), token);
        let want = pair.sign(post.header(TIMESTAMP), &post.body);
        assert_eq!(post.header(SIGNATURE), want);
    }
    let asked = server.next(PATIENCE).await.unwrap();
    assert_eq!(
        asked.body,
        "grant_type=client_credentials&scope=mail%3Awrite"
    );
    assert!(app.reasons().await.is_empty() && app.due().await.is_empty());
}

#[tokio::test]
async fn without_its_token_a_mail_is_not_posted_and_waits() {
    let app = TestApp::new().await;
    let server = Receiver::start().await.unwrap();
    server.script([Reply::status(500), grant("t1")]);
    let (mut policy, _) = app.signing();
    policy.signing = None;
    policy.oauth = Some(app.oauth(&policy, &server));
    app.attach(&policy).await;
    app.arrive(BOX, MAIL).await;
    assert_eq!(app.work(app.jobs()).await, 0);
    assert!(app.receiver.posts().is_empty());
    app.hand.advance(600);
    let due = app.due().await;
    assert_eq!(app.work(due).await, 0);
    let post = app.request().await;
    assert_eq!(post.header("authorization"), "Bearer t1");
    assert_eq!(post.header(SIGNATURE), "");
}

/// Another stack's secret, as after a restore into a stack of its own: nothing is posted unsigned.
#[tokio::test]
async fn a_key_that_does_not_open_keeps_the_mail_for_a_replay() {
    let app = TestApp::new().await;
    let (mut policy, _) = app.signing();
    let elsewhere = signing_place(&policy.account, &"another");
    let sealed = app.app.sealer.seal(&app.app.entropy, &elsewhere, &[1; 32]);
    policy.signing.as_mut().unwrap().private_key = sealed.unwrap();
    app.attach(&policy).await;
    app.arrive(BOX, MAIL).await;
    let mut jobs = app.jobs();
    while let Some(job) = jobs.pop() {
        assert_eq!(app.work(vec![job]).await, 0);
        app.hand.advance(3 * 3600);
        jobs = app.jobs();
        jobs.extend(app.due().await);
    }
    assert!(app.receiver.posts().is_empty());
    let want = "not posted: a sealed secret cannot be opened";
    assert_eq!(app.reasons().await, [want]);
}

#[tokio::test]
async fn a_retry_follows_the_setting_when_its_policy_is_deleted_by_force() {
    let app = TestApp::new().await;
    let (policy, _) = app.signing();
    app.attach(&policy).await;
    app.receiver
        .script([Reply::status(503), Reply::status(200)]);
    app.arrive(BOX, MAIL).await;
    assert_eq!(app.work(app.jobs()).await, 0);
    assert_ne!(app.request().await.header(SIGNATURE), "");
    let account = &app.tenant.account.id;
    let store = &app.app.store;
    let deleted = store
        .delete_security_policy(account, &policy.id, true)
        .await;
    assert_eq!(deleted.unwrap(), PolicyDeletion::Done);
    app.hand.advance(600);
    let due = app.due().await;
    assert_eq!(app.work(due).await, 0);
    assert_eq!(app.request().await.header(SIGNATURE), "");
}
