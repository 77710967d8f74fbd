//! Sending allowances.

use posthaste_model::{EmailAddress, EventKind, Mail};
use posthaste_queue::JobBody;
use posthaste_store::{Allowance, CopyState, Mark, SuppressionList};

use crate::signing::TestApp;

impl TestApp {
    async fn allow(&self, total: u32) {
        let allowance = Allowance {
            frequency: None,
            total,
        };
        let now = self.hand.now();
        let id = &self.tenant.account.id;
        assert!(
            self.store
                .set_credits(id, Some(allowance), now)
                .await
                .unwrap()
        );
    }

    async fn left(&self) -> i64 {
        let credits = self.store.credits(&self.tenant.account.id, self.hand.now());
        credits.await.unwrap().unwrap().remain
    }
}

#[tokio::test]
async fn what_is_past_the_allowance_is_dropped_and_says_so() {
    let app = TestApp::new().await;
    app.allow(2).await;
    let job = app.job("ann@example.com", 3);

    app.work(&job).await;

    assert_eq!(app.relay.received().len(), 2);
    let rows = app
        .store
        .recipients(&job.account, &job.message)
        .await
        .unwrap();
    let (dropped, sent): (Vec<_>, Vec<_>) =
        rows.iter().partition(|row| row.state == CopyState::Dropped);
    assert_eq!((dropped.len(), sent.len()), (1, 2));
    let events = dropped[0].events();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].kind, EventKind::Dropped);
    let reason = events[0].reason.as_deref();
    assert_eq!(reason, Some("Recipient List over Package Quota"));
    assert_eq!(app.left().await, 0);
}

#[tokio::test]
async fn a_repeated_job_pays_once() {
    let app = TestApp::new().await;
    app.allow(5).await;
    let job = app.job("ann@example.com", 2);

    app.work(&job).await;
    app.work(&job).await;

    assert_eq!(app.relay.received().len(), 2);
    assert_eq!(app.left().await, 3);
}

#[tokio::test]
async fn an_account_without_an_allowance_sends_as_much_as_it_likes() {
    let app = TestApp::new().await;
    app.work(&app.job("ann@example.com", 4)).await;
    assert_eq!(app.relay.received().len(), 4);
}

#[tokio::test]
async fn a_notice_of_the_service_costs_nothing() {
    let app = TestApp::new().await;
    app.allow(1).await;
    app.work(&app.job("ann@example.com", 1)).await;
    assert_eq!(app.left().await, 0);
    let mut job = app.job("ann@example.com", 1);
    let address = |text| EmailAddress::parse(text).unwrap();
    let (from, to) = (address("no-reply@post.example"), address("ann@example.net"));
    job.body = JobBody::Mail(Box::new(Mail::notice(from, to, "Confirm", "Please".into())));

    app.work(&job).await;

    assert_eq!(app.relay.received().len(), 2);
    assert_eq!(app.left().await, 0);
}

#[tokio::test]
async fn a_notice_of_the_service_respects_the_lists() {
    let app = TestApp::new().await;
    let (id, mark) = (&app.tenant.account.id, Mark::at(app.hand.now()));
    let gone = ["ann@example.net".to_owned()];
    let listed = app
        .store
        .suppress_all(id, &gone, SuppressionList::Bounces, &mark);
    listed.await.unwrap();
    let mut job = app.job("ann@example.com", 1);
    let address = |text| EmailAddress::parse(text).unwrap();
    for (to, sent) in [("ann@example.net", 0), ("bob@example.net", 1)] {
        job.message = posthaste_testkit::entropy().message_id();
        let from = address("no-reply@post.example");
        let notice = Mail::notice(from, address(to), "Confirm", "Please".into());
        job.body = JobBody::Mail(Box::new(notice));
        app.work(&job).await;
        assert_eq!(app.relay.received().len(), sent, "{to}");
    }
}
