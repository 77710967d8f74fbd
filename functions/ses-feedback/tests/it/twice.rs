//! Everything comes twice, and the table and the queues fail in between.

use posthaste_model::EventKind;
use posthaste_store::SuppressionList;
use ses_feedback::handle;

use crate::events::{BOUNCE, COMPLAINT, DELAY, DELIVERY, SEND};
use crate::mails::FAILED;
use crate::{TestApp, received};

#[tokio::test]
async fn what_comes_twice_is_told_once() {
    let service = TestApp::new().await;
    let all = [SEND, DELAY, DELIVERY, BOUNCE, COMPLAINT].map(|text| service.sample(text));
    // Once each, then all of them twice in one batch.
    service.work(&all).await;
    let mut queued = service.queued_events();
    queued.sort_by_key(|event| event.kind);
    let kinds: Vec<_> = queued.iter().map(|event| event.kind).collect();
    let want = [
        EventKind::Delivered,
        EventKind::Deferred,
        EventKind::Bounce,
        EventKind::SpamReport,
    ];
    assert_eq!(kinds, want);
    let marks = service.lists().await;
    service.hand.advance(60);
    service.work(&[all.clone(), all].concat()).await;
    assert!(service.queued_events().is_empty());
    assert_eq!(service.lists().await, marks);
}

#[tokio::test]
async fn two_ways_to_tell_of_one_bounce_make_one_event() {
    let service = TestApp::new().await;
    service.work(&[service.sample(BOUNCE)]).await;
    assert_eq!(service.one().kind, EventKind::Bounce);
    service.mailed(&[&service.verp()], FAILED).await;
    assert!(service.queued_events().is_empty());
}

#[tokio::test]
async fn nothing_is_lost_when_the_queue_fails() {
    let service = TestApp::new().await;
    let all = [DELIVERY, BOUNCE, COMPLAINT].map(|text| service.sample(text));
    service.queues.set_broken(true);
    let response = handle(&service.app, &received(&all, 1)).await;
    assert_eq!(response.again.len(), 3);
    service.queues.set_broken(false);
    service.hand.advance(60);
    service.work_again(&all, 2).await;
    let queued = service.queued_events();
    assert_eq!(queued.len(), 3);
    // As they were written the first time.
    let row = service.row().await.events();
    assert!(queued.iter().all(|event| row.contains(event)));
    assert!(service.is_on(SuppressionList::SpamReports).await);
}

#[tokio::test]
async fn a_mail_stays_until_its_event_is_queued() {
    let service = TestApp::new().await;
    let raw = service.sample(FAILED).into_bytes().into();
    let to = vec![service.verp()];
    ses_feedback::accept(&service.app, "", to, raw)
        .await
        .unwrap();
    let jobs = service.jobs();
    service.queues.set_broken(true);
    let response = handle(&service.app, &received(&jobs, 1)).await;
    assert_eq!(response.again.len(), 1);
    service.queues.set_broken(false);
    service.work_again(&jobs, 2).await;
    assert_eq!(service.one().kind, EventKind::Bounce);
}
