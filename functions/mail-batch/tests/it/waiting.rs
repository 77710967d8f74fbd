//! What waits of an account.

use posthaste_model::{BatchId, MessageId, Timestamp};
use posthaste_store::{StoredArgs, WaitingCopies, WaitingCopy};
use posthaste_testkit::{Tenant, entropy};
use serde_json::{Value, json};

use crate::{SCHEDULED, TestApp};

const HOUR: i64 = 3_600;
const WAITING: &str = "/v3/user/scheduled_sends/messages";

fn listing(message: &MessageId, first: u32, accepted_at: Timestamp, to: &str) -> WaitingCopies {
    WaitingCopies {
        message: message.clone(),
        piece: first,
        accepted_at,
        template_id: None,
        asm_group_id: None,
        categories: Vec::new(),
        key: None,
        client_ip: None,
        args: StoredArgs::default(),
        copies: vec![WaitingCopy {
            recipient: first,
            to: to.to_owned(),
            from: "me@example.com".to_owned(),
            subject: Some("Later".to_owned()),
            args: None,
        }],
    }
}

impl TestApp {
    /// A mail as mail/send stores it where mails are listed.
    async fn listed(&self, wait: i64, batch: Option<&BatchId>, to: &str) -> MessageId {
        let (message, now) = (entropy().message_id(), self.hand.now());
        let at = now.plus(wait);
        let account = &self.tenant.account.id;
        let listed = [(at, listing(&message, 0, now, to))];
        self.store.list_waiting(account, &listed).await.unwrap();
        self.piece(&message, 0, at, batch).await;
        message
    }

    /// All pages.
    async fn all(&self, limit: usize) -> (Vec<Value>, usize) {
        let (mut seen, mut after, mut pages) = (Vec::new(), String::new(), 0);
        loop {
            let path = format!("{WAITING}?limit={limit}&after={after}");
            let page = self.get(&path).await.expect(200).json();
            let messages = page["messages"].as_array().unwrap().clone();
            assert!(messages.len() <= limit);
            seen.extend(messages);
            pages += 1;
            match page["next"].as_str() {
                Some(next) => after = next.replace('#', "%23"),
                None => return (seen, pages),
            }
        }
    }
}

#[tokio::test]
async fn what_waits_is_listed_page_by_page_the_latest_accepted_first() {
    let app = TestApp::new().await;
    let batch = app.open().await;
    let mut want = Vec::new();
    for n in 0..23 {
        let in_batch = (n % 3 == 0).then_some(&batch);
        let to = format!("to{n}@example.com");
        let message = app.listed(HOUR + n, in_batch, &to).await;
        want.push(message.to_string());
        app.hand.advance(1);
    }
    want.reverse();
    for limit in [1, 7, 22, 23, 24] {
        let (seen, pages) = app.all(limit).await;
        let ids: Vec<_> = seen
            .iter()
            .map(|m| m["message_id"].as_str().unwrap())
            .collect();
        assert_eq!(ids, want, "limit {limit}");
        assert!(pages <= 23 / limit + 1, "limit {limit} took {pages} pages");
    }
    app.hold(&batch, "pause").await.expect(201);
    let (seen, _) = app.all(100).await;
    let (free, paused) = (&seen[0], &seen[1]);
    let now = app.hand.now().0;
    let entry = json!({
        "message_id": want[0], "send_at": now + HOUR + 21, "recipients": 2, "batch_id": null,
        "status": "scheduled", "created": now - 1,
        "to_email": "to22@example.com", "from_email": "me@example.com", "subject": "Later",
    });
    assert_eq!(*free, entry);
    assert_eq!(
        (&paused["status"], &paused["batch_id"]),
        (&json!("paused"), &json!(batch.as_str()))
    );
}

#[tokio::test]
async fn what_left_is_not_listed_however_much_it_is() {
    let app = TestApp::new().await;
    let account = &app.tenant.account.id;
    let (waits, cancelled) = (
        app.listed(HOUR, None, "waits@example.com").await,
        app.listed(HOUR, None, "cancelled@example.com").await,
    );
    app.delete(&format!("{WAITING}/{cancelled}"))
        .await
        .expect(204);
    app.hand.advance(1);
    // Listings without a part are what mails leave behind.
    let now = app.hand.now();
    let left: Vec<_> = (0..2_001)
        .map(|_| {
            (
                now.plus(60),
                listing(&entropy().message_id(), 0, now, "left@example.com"),
            )
        })
        .collect();
    app.store.list_waiting(account, &left).await.unwrap();
    let page = app
        .get(&format!("{WAITING}?limit=100"))
        .await
        .expect(200)
        .json();
    assert_eq!(page["messages"], json!([]));
    let next = page["next"].as_str().unwrap().replace('#', "%23");
    let page = app
        .get(&format!("{WAITING}?after={next}"))
        .await
        .expect(200)
        .json();
    assert_eq!(page["messages"].as_array().unwrap().len(), 1);
    assert_eq!(page["messages"][0]["message_id"], waits.as_str());
    assert_eq!(page["next"], Value::Null);
}

#[tokio::test]
async fn a_part_of_many_recipients_is_one_entry() {
    let app = TestApp::new().await;
    let (message, now) = (entropy().message_id(), app.hand.now());
    let at = now.plus(HOUR);
    let mut row = listing(&message, 0, now, "first@example.com");
    row.copies.extend((1..3_000).map(|recipient| WaitingCopy {
        recipient,
        to: format!("{recipient}{}@example.com", "x".repeat(40)),
        from: String::new(),
        subject: None,
        args: None,
    }));
    let account = &app.tenant.account.id;
    app.store.list_waiting(account, &[(at, row)]).await.unwrap();
    app.piece(&message, 0, at, None).await;
    let page = app.get(WAITING).await.expect(200).json();
    assert_eq!(page["messages"].as_array().unwrap().len(), 1, "{page}");
    assert_eq!(page["messages"][0]["to_email"], "first@example.com");
}

#[tokio::test]
async fn who_may_not_read_the_activity_sees_no_addresses() {
    let app = TestApp::new().await;
    app.listed(HOUR, None, "ann@example.com").await;
    for (scopes, want) in [
        (vec!["user.scheduled_sends.read"], Value::Null),
        (
            vec!["user.scheduled_sends.read", "messages.read"],
            json!("ann@example.com"),
        ),
        (
            vec!["user.scheduled_sends.read", "email_activity.read"],
            json!("ann@example.com"),
        ),
    ] {
        let key = app.tenant.restricted(&app.store, &scopes).await;
        let page = app
            .api
            .get(WAITING)
            .key(&key)
            .send()
            .await
            .expect(200)
            .json();
        assert_eq!(page["messages"][0]["to_email"], want, "{scopes:?}");
        assert_eq!(page["messages"][0]["recipients"], 2);
    }
    let key = app.tenant.restricted(&app.store, &["messages.read"]).await;
    app.api.get(WAITING).key(&key).send().await.expect(403);
    let other = Tenant::new(&app.store, "other", app.hand.now()).await;
    let page = app
        .api
        .get(WAITING)
        .key(&other.key)
        .send()
        .await
        .expect(200)
        .json();
    assert_eq!(page["messages"], json!([]));
}

#[tokio::test]
async fn wrong_queries_are_refused_and_so_is_a_list_that_is_not_stored() {
    let app = TestApp::new().await;
    for query in ["limit=0", "limit=101", "limit=x", "after=x"] {
        app.get(&format!("{WAITING}?{query}")).await.expect(400);
    }
    let app = TestApp::without_search().await;
    app.send_later(HOUR, None).await;
    let refused = app.get(WAITING).await.expect(400).json();
    let message = refused["errors"][0]["message"].as_str().unwrap();
    assert!(message.contains("list of scheduled mails"), "{message}");
    assert_eq!(app.get(SCHEDULED).await.expect(200).json(), json!([]));
}
