//! Everything comes twice, and the table and the queues fail in between.

use posthaste_model::EventKind;
use posthaste_store::SuppressionList;
use ses_feedback::handle;

use crate::events::{BOUNCE, COMPLAINT, DELAY, DELIVERY, SEND};
use crate::mails::FAILED;
use crate::{TestApp, received};

#[tokio::test]
async fn what_comes_twice_is_told_once() {
    let desk = TestApp::new().await;
    let all = [SEND, DELAY, DELIVERY, BOUNCE, COMPLAINT].map(|text| desk.sample(text));
    // Once each, then all of them twice in one batch.
    desk.work(&all).await;
    let mut told = desk.told();
    told.sort_by_key(|event| event.kind);
    let kinds: Vec<_> = told.iter().map(|event| event.kind).collect();
    let want = [
        EventKind::Delivered,
        EventKind::Deferred,
        EventKind::Bounce,
        EventKind::SpamReport,
    ];
    assert_eq!(kinds, want);
    let marks = desk.lists().await;
    desk.hand.advance(60);
    desk.work(&[all.clone(), all].concat()).await;
    assert!(desk.told().is_empty());
    assert_eq!(desk.lists().await, marks);
}

#[tokio::test]
async fn two_ways_to_tell_of_one_bounce_make_one_event() {
    let desk = TestApp::new().await;
    desk.work(&[desk.sample(BOUNCE)]).await;
    assert_eq!(desk.one().kind, EventKind::Bounce);
    desk.mailed(&[&desk.verp()], FAILED).await;
    assert!(desk.told().is_empty());
}

#[tokio::test]
async fn nothing_is_lost_when_the_queue_fails() {
    let desk = TestApp::new().await;
    let all = [DELIVERY, BOUNCE, COMPLAINT].map(|text| desk.sample(text));
    desk.queues.set_broken(true);
    let response = handle(&desk.app, &received(&all, 1)).await;
    assert_eq!(response.again.len(), 3);
    desk.queues.set_broken(false);
    desk.hand.advance(60);
    desk.work_again(&all, 2).await;
    let told = desk.told();
    assert_eq!(told.len(), 3);
    // As they were written the first time.
    let row = desk.row().await.events();
    assert!(told.iter().all(|event| row.contains(event)));
    assert!(desk.is_on(SuppressionList::SpamReports).await);
}

#[tokio::test]
async fn a_mail_stays_until_its_event_is_queued() {
    let desk = TestApp::new().await;
    let raw = desk.sample(FAILED).into_bytes().into();
    let to = vec![desk.verp()];
    ses_feedback::accept(&desk.app, "", to, raw).await.unwrap();
    let jobs = desk.jobs();
    desk.queues.set_broken(true);
    let response = handle(&desk.app, &received(&jobs, 1)).await;
    assert_eq!(response.again.len(), 1);
    desk.queues.set_broken(false);
    desk.work_again(&jobs, 2).await;
    assert_eq!(desk.one().kind, EventKind::Bounce);
}
