//! Mail for a batch that is paused or cancelled.

use mail_send::Senders;
use posthaste_model::batch::{BatchStatus, Hold, PartFate, Reason};
use posthaste_model::{BatchId, HORIZON};
use posthaste_queue::Job;
use posthaste_store::{Put, ScheduledMail};
use posthaste_testkit::entropy;
use serde_json::json;

use crate::desk::TestApp;
use crate::with;

/// Sends a mail of the batch; what delivery is to do with its one job, and how long the job waits.
async fn send(desk: &TestApp, batch: &BatchId, send_at: i64) -> (PartFate, u64) {
    let mut changes = vec![("batch_id", json!(batch.as_str()))];
    if send_at > 0 {
        changes.push(("send_at", json!(desk.hand.now().0 + send_at)));
    }
    desk.send(&with(&changes)).await.expect(202);
    let sent = desk.queues.drain("send");
    let [(text, delay)] = sent.as_slice() else {
        panic!("one job: {sent:?}");
    };
    let job = Job::from_text(text).unwrap();
    let Some(at) = job.due else {
        return (PartFate::Deliver, delay.as_secs());
    };
    let later = ScheduledMail {
        account: &job.account,
        message: &job.message,
        first: job.first(),
        recipients: 1,
        accepted: job.accepted.seconds(),
        at,
        batch: Some(batch),
        job: text,
    };
    let clock = desk.hand.clock();
    let fate = desk.store.begin_delivery(&later, &clock).await.unwrap();
    (fate, delay.as_secs())
}

#[tokio::test]
async fn mail_for_a_held_batch_is_held_with_and_without_a_time() {
    let desk = TestApp::new(Senders::Any).await;
    let account = desk.tenant.account.id.clone();
    for (status, fate) in [
        (BatchStatus::Pause, PartFate::Hold),
        (BatchStatus::Cancel, PartFate::Discard(Reason::Cancelled)),
    ] {
        let (batch, since) = (entropy().batch_id(), desk.hand.now());
        let created = desk.store.create_batch(&account, &batch, since).await;
        assert_eq!(created.unwrap(), Put::Stored);
        for (send_at, wait) in [(0, 0), (100, 100)] {
            let sent = send(&desk, &batch, send_at).await;
            assert_eq!(sent, (PartFate::Deliver, wait));
        }

        desk.hand.advance(1);
        let since = desk.hand.now();
        let hold = Hold { status, since };
        let held = desk.store.hold_batch(&account, &batch, hold, HORIZON).await;
        assert_eq!(held.unwrap(), Ok(()));
        for (send_at, wait) in [(0, 0), (100, 100)] {
            let sent = send(&desk, &batch, send_at).await;
            assert_eq!(sent, (fate, wait), "{status:?} {send_at}");
        }
    }
}
