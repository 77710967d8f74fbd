//! Mail for a batch that is paused or cancelled.

use mail_send::Senders;
use posthaste_model::batch::{BatchStatus, Hold, PartFate, Reason};
use posthaste_model::{BatchId, HORIZON};
use posthaste_queue::Job;
use posthaste_store::{Put, ScheduledMail};
use posthaste_testkit::entropy;
use serde_json::json;

use crate::test_app::TestApp;
use crate::with;

/// Sends a mail of the batch; what delivery is to do with its one job, and how long the job waits.
async fn send(app: &TestApp, batch: &BatchId, send_at: i64) -> (PartFate, u64) {
    let mut changes = vec![("batch_id", json!(batch.as_str()))];
    if send_at > 0 {
        changes.push(("send_at", json!(app.hand.now().0 + send_at)));
    }
    app.send(&with(&changes)).await.expect(202);
    let sent = app.queues.drain("send");
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
    let clock = app.hand.clock();
    let fate = app.store.begin_delivery(&later, &clock).await.unwrap();
    (fate, delay.as_secs())
}

#[tokio::test]
async fn mail_for_a_held_batch_is_held_with_and_without_a_time() {
    let app = TestApp::new(Senders::Any).await;
    let account = app.tenant.account.id.clone();
    for (status, fate) in [
        (BatchStatus::Pause, PartFate::Hold),
        (BatchStatus::Cancel, PartFate::Discard(Reason::Cancelled)),
    ] {
        let (batch, since) = (entropy().batch_id(), app.hand.now());
        let created = app.store.create_batch(&account, &batch, since).await;
        assert_eq!(created.unwrap(), Put::Stored);
        for (send_at, wait) in [(0, 0), (100, 100)] {
            let sent = send(&app, &batch, send_at).await;
            assert_eq!(sent, (PartFate::Deliver, wait));
        }

        app.hand.advance(1);
        let since = app.hand.now();
        let hold = Hold { status, since };
        let held = app.store.hold_batch(&account, &batch, hold, HORIZON).await;
        assert_eq!(held, Ok(()));
        for (send_at, wait) in [(0, 0), (100, 100)] {
            let sent = send(&app, &batch, send_at).await;
            assert_eq!(sent, (fate, wait), "{status:?} {send_at}");
        }
    }
}
