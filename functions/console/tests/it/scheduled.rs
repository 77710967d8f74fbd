//! What waits for its time, and batches.

use posthaste_model::batch::{BatchStatus, Hold};
use posthaste_model::{BatchId, HORIZON, MessageId};
use posthaste_store::{Put, ScheduledMail, StoredArgs, WaitingCopies, WaitingCopy};
use posthaste_testkit::entropy;

use crate::TestApp;

impl TestApp {
    async fn batch(&self) -> BatchId {
        let batch = entropy().batch_id();
        let account = &self.tenant.account.id;
        let made = self.store.create_batch(account, &batch, self.hand.now());
        assert_eq!(made.await, Ok(Put::Stored));
        batch
    }

    async fn hold(&self, batch: &BatchId, status: BatchStatus) {
        let hold = Hold {
            status,
            since: self.hand.now(),
        };
        let account = &self.tenant.account.id;
        let held = self.store.hold_batch(account, batch, hold, HORIZON);
        held.await.unwrap();
    }

    /// A mail to two that leaves in two hours, as mail/send stores it.
    async fn later(&self, to: &str, batch: Option<&BatchId>) -> MessageId {
        let (account, message) = (&self.tenant.account.id, entropy().message_id());
        let (now, at) = (self.hand.now(), self.hand.now().plus(7_200));
        let copies = WaitingCopies {
            message: message.clone(),
            piece: 0,
            accepted_at: now,
            template_id: None,
            asm_group_id: None,
            categories: Vec::new(),
            key: None,
            client_ip: None,
            args: StoredArgs::default(),
            copies: vec![WaitingCopy {
                recipient: 0,
                to: to.to_owned(),
                from: "me@example.com".to_owned(),
                subject: Some("Later <on>".to_owned()),
                args: None,
            }],
        };
        self.store
            .list_waiting(account, &[(at, copies)])
            .await
            .unwrap();
        let mail = ScheduledMail {
            account,
            message: &message,
            first: 0,
            recipients: 2,
            accepted: now,
            at,
            batch,
            job: "{}",
        };
        let clock = self.hand.clock();
        let stored = self.store.schedule(&[mail], &clock).await.unwrap();
        assert!(stored.is_empty());
        message
    }
}

#[tokio::test]
async fn what_waits_is_shown_with_its_batches_and_can_be_moved_and_cancelled() {
    let app = TestApp::new().await;
    let session = app.by_link().await;
    let empty = app.page("/console/scheduled", &session).await;
    assert!(empty.contains("No mail waits"), "{empty}");
    let (free, held) = (app.batch().await, app.batch().await);
    let single = app.later("ann@example.com", None).await;
    app.later("bob@example.com", Some(&free)).await;
    app.hold(&held, BatchStatus::Pause).await;
    let page = app.page("/console/scheduled", &session).await;
    for words in [
        "<bdi>ann@example.com</bdi> <span class=\"soft\">and 1 more</span>",
        "Later &#60;on&#62;",
        &format!("<a href=\"/console/activity/{single}\">"),
        &format!(r#"name="message_ids" data-as="list" value="{single}""#),
        r#"data-call="PATCH /v3/user/scheduled_sends/messages/{message_ids}" data-each="message_ids""#,
        r#"data-call="DELETE /v3/user/scheduled_sends/messages/{message_ids}""#,
        "1 mail below",
        &format!("Pause the batch {free}"),
        &format!("Resume the batch {held}"),
        "<b class=\"pill warn\">paused</b>",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

#[tokio::test]
async fn each_mail_is_on_one_page() {
    let app = TestApp::new().await;
    let batch = app.batch().await;
    for n in 0..120 {
        app.later(&format!("to{n}@example.com"), Some(&batch)).await;
        app.hand.advance(1);
    }
    let session = app.by_link().await;
    for first in [
        "/console/scheduled".to_owned(),
        format!("/console/scheduled/{batch}"),
    ] {
        let (mut seen, mut path) = (Vec::new(), Some(first));
        while let Some(at) = path.take() {
            let page = app.page(&at, &session).await;
            let rows = page
                .split(r#"name="message_ids" data-as="list" value=""#)
                .skip(1);
            seen.extend(rows.filter_map(|row| Some(row.split_once('"')?.0.to_owned())));
            let next = page.split(r#"rel="next" href=""#).nth(1);
            path = next.map(|rest| rest.split('"').next().unwrap().replace("&#38;", "&"));
            assert!(seen.len() <= 120, "{seen:?}");
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 120);
    }
}

#[tokio::test]
async fn a_batch_offers_what_its_status_allows() {
    let app = TestApp::new().await;
    let session = app.by_link().await;
    let (hold, turn, lift) = (
        r#"data-call="POST /v3/user/scheduled_sends""#,
        r#"data-call="PATCH /v3/user/scheduled_sends/"#,
        r#"data-call="DELETE /v3/user/scheduled_sends/"#,
    );
    for (status, offered, words) in [
        (None, [true, false, false], "No mail of this batch waits"),
        (Some(BatchStatus::Pause), [false, true, true], "Resume"),
        (Some(BatchStatus::Cancel), [false, true, true], "Bring back"),
    ] {
        let batch = app.batch().await;
        if let Some(status) = status {
            app.hold(&batch, status).await;
        }
        let page = app
            .page(&format!("/console/scheduled/{batch}"), &session)
            .await;
        let found = [hold, turn, lift].map(|call| page.contains(call));
        assert_eq!(found, offered, "{page}");
        assert!(page.contains(words), "{words}: {page}");
    }
    for path in [
        "/console/scheduled/nothing",
        "/console/scheduled?batch=nothing",
    ] {
        app.get(path, &session).send().await.expect(404);
    }
    let wrong = app.page("/console/scheduled?after=x", &session).await;
    assert!(wrong.contains("after must be the next"), "{wrong}");
}

#[tokio::test]
async fn a_key_sees_of_scheduled_mail_what_its_scopes_allow() {
    let app = TestApp::new().await;
    let batch = app.batch().await;
    app.later("ann@example.com", Some(&batch)).await;
    let path = format!("/console/scheduled/{batch}");
    let key = app.tenant.restricted(&app.store, &["mail.send"]).await;
    let session = app.sign_in(&format!("key={key}")).await;
    let page = app.page("/console/scheduled", &session).await;
    let why = "lacks the scope user.scheduled_sends.read";
    assert_eq!(page.matches(why).count(), 1, "{page}");
    app.get(&path, &session).send().await.expect(403);
    let scopes = ["user.scheduled_sends.read"];
    let key = app.tenant.restricted(&app.store, &scopes).await;
    let session = app.sign_in(&format!("key={key}")).await;
    for path in ["/console/scheduled", &path] {
        let page = app.page(path, &session).await;
        assert!(page.contains("2 recipients"), "{page}");
        assert!(
            !page.contains("ann@example.com") && !page.contains("<button class=\"danger"),
            "{page}"
        );
        assert!(
            !page.contains("data-each=\"message_ids\"><button"),
            "{page}"
        );
    }
}
