//! Mail that was accepted before its account was switched off.

use posthaste_model::{AccountId, EventKind};
use posthaste_queue::Job;
use posthaste_store::{Account, AccountStatus, CopyState, ScheduledMail};
use posthaste_testkit::relay::{At, Does, Script};

use crate::{lists, signing::TestApp};

impl TestApp {
    async fn turn(&self, id: &AccountId, status: AccountStatus) {
        let turn = |account: &mut Account| account.status = status;
        self.store.update_account(id, turn).await.unwrap();
        self.hand.advance(10);
    }

    /// Why each copy of the job was dropped; nothing for one that was not.
    async fn reasons(&self, job: &Job) -> Vec<Option<String>> {
        let rows = self.store.recipients(&job.account, &job.message).await;
        let reason = |row: posthaste_store::Recipient| {
            let last = row.events().pop().unwrap();
            assert_eq!(
                row.state == CopyState::Dropped,
                last.kind == EventKind::Dropped
            );
            last.reason.filter(|_| last.kind == EventKind::Dropped)
        };
        rows.unwrap().into_iter().map(reason).collect()
    }
}

#[tokio::test]
async fn what_a_switched_off_account_had_accepted_is_dropped_and_says_so() {
    let app = TestApp::new().await;
    let id = &app.tenant.account.id;
    for (status, reason) in [
        (AccountStatus::Disabled, "Account Disabled"),
        (AccountStatus::Suspended, "Account Suspended"),
        (AccountStatus::DisabledAndSuspended, "Account Suspended"),
    ] {
        let job = app.job("ann@example.com", 2);
        app.turn(id, status).await;
        app.work(&job).await;
        // Every job may run twice.
        app.work(&job).await;
        let reason = Some(reason.to_owned());
        assert_eq!(app.reasons(&job).await, [reason.clone(), reason]);
    }
    assert!(app.relay.received().is_empty());

    app.turn(id, AccountStatus::Active).await;
    let job = app.job("ann@example.com", 1);
    app.work(&job).await;
    assert_eq!(app.reasons(&job).await, [None]);
    assert_eq!(app.relay.received().len(), 1);
}

#[tokio::test]
async fn a_later_send_of_a_switched_off_account_is_dropped_at_its_time() {
    let app = TestApp::new().await;
    let mut job = app.job("ann@example.com", 1);
    let at = app.hand.now();
    job.due = Some(at);
    let text = job.to_text().unwrap();
    let later = ScheduledMail {
        account: &job.account,
        message: &job.message,
        first: 0,
        recipients: 1,
        accepted: at,
        at,
        batch: None,
        job: &text,
    };
    let clock = app.hand.clock();
    let _near = app.store.schedule(&[later], &clock).await.unwrap();
    app.turn(&app.tenant.account.id, AccountStatus::Suspended)
        .await;
    app.work(&job).await;
    let want = Some("Account Suspended".to_owned());
    assert_eq!(app.reasons(&job).await, [want]);
}

#[tokio::test]
async fn a_parent_that_is_switched_off_keeps_its_subusers_mail_back() {
    let app = TestApp::new().await;
    let sub = app.tenant.subuser(&app.store, "sub").await;
    let mut job = app.job("ann@example.com", 1);
    job.account = sub.account.id.clone();
    app.turn(&app.tenant.account.id, AccountStatus::Suspended)
        .await;
    app.work(&job).await;
    let want = Some("Account Suspended".to_owned());
    assert_eq!(app.reasons(&job).await, [want]);
    assert!(app.relay.received().is_empty());

    app.turn(&app.tenant.account.id, AccountStatus::Active)
        .await;
    let mut job = app.job("ann@example.com", 1);
    job.account = sub.account.id.clone();
    app.work(&job).await;
    assert_eq!(app.relay.received().len(), 1);
}

#[tokio::test]
async fn mail_of_an_account_that_is_gone_is_dropped() {
    let app = TestApp::new().await;
    let sub = app.tenant.subuser(&app.store, "sub").await;
    let mut job = app.job("ann@example.com", 1);
    job.account = sub.account.id.clone();
    app.store.delete_account(&sub.account).await.unwrap();
    app.work(&job).await;
    let want = Some("Account Deleted".to_owned());
    assert_eq!(app.reasons(&job).await, [want]);
    assert!(app.relay.received().is_empty());
}

#[tokio::test]
async fn a_copy_that_was_deferred_is_not_tried_again() {
    let script = Script::new().on(At::Data, Does::say("451 4.7.1 Come again"));
    let app = lists::TestApp::new(script).await;
    let got = app.send(&["bob@example.net"], serde_json::json!({})).await;
    assert_eq!(got[0].0, "deferred");
    let next: Vec<_> = app.queues.drain("send");
    let suspend = |account: &mut Account| account.status = AccountStatus::Suspended;
    let store = &app.app.store;
    store.update_account(&app.account, suspend).await.unwrap();
    app.hand.advance(3_600);
    let next = next.into_iter().map(|(text, _)| text);
    let _ = delivery::handle(&app.app, &posthaste_testkit::sqs_event(next)).await;
    let last = app.told().pop().unwrap();
    let reason = last.reason.as_deref();
    assert_eq!(
        (last.kind, reason),
        (EventKind::Dropped, Some("Account Suspended"))
    );
}
