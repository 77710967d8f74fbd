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
    let desk = TestApp::new().await;
    let id = &desk.tenant.account.id;
    for (status, reason) in [
        (AccountStatus::Disabled, "Account Disabled"),
        (AccountStatus::Suspended, "Account Suspended"),
        (AccountStatus::DisabledAndSuspended, "Account Suspended"),
    ] {
        let job = desk.job("ann@example.com", 2);
        desk.turn(id, status).await;
        desk.work(&job).await;
        // Every job may run twice.
        desk.work(&job).await;
        let reason = Some(reason.to_owned());
        assert_eq!(desk.reasons(&job).await, [reason.clone(), reason]);
    }
    assert!(desk.relay.received().is_empty());

    desk.turn(id, AccountStatus::Active).await;
    let job = desk.job("ann@example.com", 1);
    desk.work(&job).await;
    assert_eq!(desk.reasons(&job).await, [None]);
    assert_eq!(desk.relay.received().len(), 1);
}

#[tokio::test]
async fn a_later_send_of_a_switched_off_account_is_dropped_at_its_time() {
    let desk = TestApp::new().await;
    let mut job = desk.job("ann@example.com", 1);
    let at = desk.hand.now();
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
    let clock = desk.hand.clock();
    let _near = desk.store.schedule(&[later], &clock).await.unwrap();
    desk.turn(&desk.tenant.account.id, AccountStatus::Suspended)
        .await;
    desk.work(&job).await;
    let want = Some("Account Suspended".to_owned());
    assert_eq!(desk.reasons(&job).await, [want]);
}

#[tokio::test]
async fn a_parent_that_is_switched_off_keeps_its_subusers_mail_back() {
    let desk = TestApp::new().await;
    let sub = desk.tenant.subuser(&desk.store, "sub").await;
    let mut job = desk.job("ann@example.com", 1);
    job.account = sub.account.id.clone();
    desk.turn(&desk.tenant.account.id, AccountStatus::Suspended)
        .await;
    desk.work(&job).await;
    let want = Some("Account Suspended".to_owned());
    assert_eq!(desk.reasons(&job).await, [want]);
    assert!(desk.relay.received().is_empty());

    desk.turn(&desk.tenant.account.id, AccountStatus::Active)
        .await;
    let mut job = desk.job("ann@example.com", 1);
    job.account = sub.account.id.clone();
    desk.work(&job).await;
    assert_eq!(desk.relay.received().len(), 1);
}

#[tokio::test]
async fn mail_of_an_account_that_is_gone_is_dropped() {
    let desk = TestApp::new().await;
    let sub = desk.tenant.subuser(&desk.store, "sub").await;
    let mut job = desk.job("ann@example.com", 1);
    job.account = sub.account.id.clone();
    desk.store.delete_account(&sub.account).await.unwrap();
    desk.work(&job).await;
    let want = Some("Account Deleted".to_owned());
    assert_eq!(desk.reasons(&job).await, [want]);
    assert!(desk.relay.received().is_empty());
}

#[tokio::test]
async fn a_copy_that_was_deferred_is_not_tried_again() {
    let script = Script::new().on(At::Data, Does::say("451 4.7.1 Come again"));
    let desk = lists::TestApp::new(script).await;
    let got = desk.send(&["bob@example.net"], serde_json::json!({})).await;
    assert_eq!(got[0].0, "deferred");
    let next: Vec<_> = desk.queues.drain("send");
    let suspend = |account: &mut Account| account.status = AccountStatus::Suspended;
    let store = &desk.app.store;
    store.update_account(&desk.account, suspend).await.unwrap();
    desk.hand.advance(3_600);
    let next = next.into_iter().map(|(text, _)| text);
    let _ = delivery::handle(&desk.app, &posthaste_testkit::sqs_event(next)).await;
    let last = desk.told().pop().unwrap();
    let reason = last.reason.as_deref();
    assert_eq!(
        (last.kind, reason),
        (EventKind::Dropped, Some("Account Suspended"))
    );
}
