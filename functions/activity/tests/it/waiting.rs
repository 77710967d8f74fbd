//! Scheduled mail is found before it leaves.

use posthaste_model::{EventKind, KeyId, MessageId, Timestamp};
use posthaste_store::{CopyState, ScheduledMail, StoredArgs, WaitingCopies, WaitingCopy};
use posthaste_testkit::entropy;
use serde_json::{Value, json};

use crate::TestApp;

impl TestApp {
    /// A mail to two recipients that leaves an hour from now, as `mail-send` stores it.
    pub(crate) async fn scheduled(&self, key: &KeyId) -> MessageId {
        let (account, message) = (&self.tenant.account.id, entropy().message_id());
        let (now, at) = (self.hand.now(), self.hand.now().plus(3_600));
        let copy = |recipient, to: &str| WaitingCopy {
            recipient,
            to: to.to_owned(),
            from: if recipient == 0 {
                "me@example.com".to_owned()
            } else {
                String::new()
            },
            subject: (recipient == 0).then(|| "Later".to_owned()),
            args: (recipient == 1).then(|| args([("order", "B 2")])),
        };
        let waiting = WaitingCopies {
            message: message.clone(),
            piece: 0,
            accepted_at: now,
            template_id: None,
            asm_group_id: Some(7),
            categories: vec!["news".to_owned()],
            key: Some(key.clone()),
            client_ip: Some("192.0.2.1".to_owned()),
            args: args([("", "no name"), ("order", "A 1"), ("shop", "north")]),
            copies: vec![copy(0, "ann@example.com"), copy(1, "Bob@example.com")],
        };
        let waiting = [(at, waiting)];
        let listed = self.store.list_waiting(account, &waiting);
        listed.await.unwrap();
        let clock = self.hand.clock();
        let pieces = [piece(self, &message, at)];
        let stored = self.store.schedule(&pieces, &clock);
        assert!(stored.await.unwrap().is_empty());
        message
    }

    /// The addresses in the rows of what waits.
    async fn addresses(&self) -> Vec<String> {
        let account = &self.tenant.account.id;
        let page = self.store.waiting(account, None, None, 100).await.unwrap();
        let copies = page.rows.into_iter().flat_map(|row| row.copies);
        copies.map(|copy| copy.to).collect()
    }

    async fn listed(&self, path: &str) -> Vec<String> {
        let found = self.get(path).await.expect(200).json();
        let found = found["messages"].as_array().unwrap().iter();
        let id = |mail: &Value| mail["msg_id"].as_str().unwrap().to_owned();
        found.map(id).collect()
    }
}

fn args<const N: usize>(args: [(&str, &str); N]) -> StoredArgs {
    let owned = args.map(|(name, value)| (name.to_owned(), value.to_owned()));
    StoredArgs(owned.into())
}

fn piece<'a>(app: &'a TestApp, message: &'a MessageId, at: Timestamp) -> ScheduledMail<'a> {
    ScheduledMail {
        account: &app.tenant.account.id,
        message,
        first: 0,
        recipients: 2,
        accepted: app.hand.now(),
        at,
        batch: None,
        job: "{}",
    }
}

#[tokio::test]
async fn scheduled_mail_is_not_found_by_an_erased_address_any_more() {
    let app = TestApp::new().await;
    let key = entropy().key_id();
    let (message, other) = (app.scheduled(&key).await, app.scheduled(&key).await);
    let erase = |address: &str| {
        let path = format!("/v3/messages/recipients/{address}");
        let call = app.api.delete(&path).key(&app.tenant.key);
        async move { call.send().await.expect(202) }
    };
    erase("Ann@Example.com").await;
    app.sweep().await;
    let mut left = vec![message.of_copy(1), other.of_copy(1)];
    let mut found = app.listed("/v3/messages").await;
    left.sort();
    found.sort();
    assert_eq!(found, left);
    app.get(&format!("/v3/messages/{}", message.of_copy(0)))
        .await
        .expect(404);
    // The sender and the subject were stored with the first copy.
    let answer = app
        .get(&format!("/v3/messages/{}", message.of_copy(1)))
        .await;
    let answer = answer.expect(200).json();
    assert_eq!(answer["from_email"], "me@example.com");
    assert_eq!(answer["subject"], "Later");
    assert_eq!(app.addresses().await, ["Bob@example.com"; 2]);

    erase("bob@example.com").await;
    app.sweep().await;
    assert!(app.listed("/v3/messages").await.is_empty());
    assert!(app.addresses().await.is_empty());
}

#[tokio::test]
async fn scheduled_mail_is_found_until_it_leaves() {
    let app = TestApp::new().await;
    let key = entropy().key_id();
    let sent = app
        .searchable("ann@example.com", CopyState::Delivered)
        .await;
    app.hand.advance(60);
    let message = app.scheduled(&key).await;
    let (first, second) = (message.of_copy(0), message.of_copy(1));
    let both = vec![first.clone(), second.clone()];
    let mut all = both.clone();
    all.push(sent.of_copy(0));
    for (path, want) in [
        ("/v3/messages".to_owned(), &all[..]),
        ("/v3/messages?limit=1".to_owned(), &all[..1]),
        (
            "/v3/messages?query=to_email%3D%22bob%40example.com%22".to_owned(),
            &all[1..2],
        ),
        (
            "/v3/messages?query=subject%3D%22later%22".to_owned(),
            &both[..],
        ),
        (
            format!("/v3/messages?query=api_key_id%3D%22{key}%22"),
            &both[..],
        ),
        (
            "/v3/messages?query=Contains(categories,%22news%22)".to_owned(),
            &both[..],
        ),
        (
            "/v3/messages?query=status%3D%22delivered%22".to_owned(),
            &all[2..],
        ),
        (
            format!("/v3/messages?query=msg_id%3D%22{message}%22"),
            &both[..],
        ),
        (
            "/v3/messages?query=unique_args%5B'shop'%5D%3D%22north%22".to_owned(),
            &both[..],
        ),
        (
            "/v3/messages?query=unique_args%5B'order'%5D%3D%22B%202%22".to_owned(),
            &both[1..],
        ),
        (
            "/v3/messages?query=unique_args%5B'order'%5D%3D%22A%201%22".to_owned(),
            &both[..1],
        ),
    ] {
        assert_eq!(app.listed(&path).await, want, "{path}");
    }
    for id in [&first, &message.as_str().to_owned()] {
        let answer = app
            .get(&format!("/v3/messages/{id}"))
            .await
            .expect(200)
            .json();
        for (field, want) in [
            ("msg_id", json!(first)),
            ("subject", json!("Later")),
            ("from_email", json!("me@example.com")),
            ("to_email", json!("ann@example.com")),
            ("status", json!("processed")),
            ("asm_group_id", json!(7)),
            ("api_key_id", json!(key)),
            ("events", json!([])),
            ("categories", json!(["news"])),
            ("originating_ip", json!("192.0.2.1")),
            (
                "unique_args",
                json!(r#"{"":"no name","order":"A 1","shop":"north"}"#),
            ),
        ] {
            assert_eq!(answer[field], want, "{field}");
        }
    }
    let log = app
        .get(&format!("/v3/logs/{second}"))
        .await
        .expect(200)
        .json();
    for (field, want) in [
        ("to_email", json!("Bob@example.com")),
        ("subject", json!("Later")),
        ("client_ip", json!("192.0.2.1")),
        ("category", json!(["news"])),
        // Arguments of the envelope override those of the message.
        (
            "custom_args",
            json!({"": "no name", "order": "B 2", "shop": "north"}),
        ),
    ] {
        assert_eq!(log[field], want, "{field}");
    }
    app.get(&format!("/v3/messages/{}", message.of_copy(2)))
        .await
        .expect(404);

    // It leaves: what is found from here on is what its events say.
    let at = app.hand.now().plus(3_600);
    app.hand.advance(3_600);
    let clock = app.hand.clock();
    let piece = piece(&app, &message, at);
    let fate = app.store.begin_delivery(&piece, &clock);
    assert_eq!(
        fate.await.unwrap(),
        posthaste_model::batch::PartFate::Deliver
    );
    assert_eq!(app.listed("/v3/messages").await, all[2..]);
    app.get(&format!("/v3/messages/{first}")).await.expect(404);
}

#[tokio::test]
async fn a_mail_that_is_cancelled_or_was_never_stored_does_not_wait() {
    let app = TestApp::new().await;
    let key = entropy().key_id();
    let message = app.scheduled(&key).await;
    assert_eq!(app.listed("/v3/messages").await.len(), 2);
    let account = &app.tenant.account.id;
    let cancelled = app.store.cancel_message(account, &message).await.unwrap();
    assert_eq!(cancelled.0.len(), 1);
    assert!(app.listed("/v3/messages").await.is_empty());
    // An event of a copy outlives its listing.
    let event = app.event(EventKind::Dropped, &message, "ann@example.com");
    assert_eq!(app.index(&[event]).await, 0);
}
