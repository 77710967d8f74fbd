//! What the table refuses, and rows that releases before this one let grow.

use std::collections::BTreeMap;

use posthaste_model::{Event, EventKind, Timestamp};
use posthaste_queue::Job;
use posthaste_store::{CopyState, Key, Recipient};

use crate::signing::TestApp;

/// The copy's row as an earlier release left it after forty attempts, with so many bytes to spare.
async fn grown(app: &TestApp, job: &Job, spare: usize) {
    const LARGEST: usize = 400 * 1024;
    // As large as the table takes it, to sixteen bytes.
    for bytes in (LARGEST - 4_000..LARGEST).rev().step_by(16) {
        if put(app, job, bytes).await {
            assert!(put(app, job, bytes - spare).await);
            return;
        }
    }
    unreachable!("a row of the largest size");
}

/// Writes the row with so many bytes of events, unless the table refuses it.
async fn put(app: &TestApp, job: &Job, bytes: usize) -> bool {
    let mut events = Vec::new();
    for attempt in 0..=39 {
        let kind = match attempt {
            0 => EventKind::Processed,
            _ => EventKind::Deferred,
        };
        let id = Event::derived_id(&job.message, 0, kind, attempt);
        let email = "bob0@example.net".to_owned();
        let mut event = Event::new(id, job.account.clone(), kind, Timestamp(1), email);
        event.message = Some(job.message.clone());
        let length = match attempt {
            39 => bytes - events.iter().map(String::len).sum::<usize>() - 250,
            _ => 10_000,
        };
        event.custom_args = BTreeMap::from([("k".to_owned(), "v".repeat(length))]);
        events.push(serde_json::to_string(&event).unwrap());
    }
    let row = serde_json::json!({
        "email": "bob0@example.net", "from": "ann@example.com", "subject": "Hello",
        "state": "deferred", "attempt": 39, "events": events,
    });
    let key = Key {
        pk: format!("M#{}#{}", job.account, job.message),
        sk: "R#00000".to_owned(),
    };
    app.store.put(&key, &row, None).await.is_ok()
}

async fn row(app: &TestApp, job: &Job) -> Recipient {
    let row = app.store.recipient(&job.account, &job.message, 0).await;
    row.unwrap().unwrap()
}

#[tokio::test]
async fn a_row_that_an_earlier_release_filled_takes_its_end() {
    let app = TestApp::new().await;
    let mut job = app.job("ann@example.com", 1);
    grown(&app, &job, 150).await;
    job.attempt = 40;
    // What is added does not fit any more.
    app.work(&job).await;
    let row = row(&app, &job).await;
    assert_eq!(row.state, CopyState::Delivered);
    assert_eq!(row.events().last().unwrap().kind, EventKind::Delivered);
    assert_eq!(app.relay.received().len(), 1);
}

#[tokio::test]
async fn a_copy_whose_row_is_refused_is_dropped_in_a_small_row() {
    let app = TestApp::new().await;
    let mut job = app.job("ann@example.com", 1);
    // Not even the claim fits.
    grown(&app, &job, 0).await;
    job.attempt = 40;
    app.work(&job).await;
    let dropped = row(&app, &job).await;
    assert_eq!(dropped.state, CopyState::Dropped);
    let events = dropped.events();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].kind, EventKind::Dropped);
    assert_eq!(events[0].reason.as_deref(), Some("Cannot Be Recorded"));
    assert!(app.relay.received().is_empty());
    assert_eq!(app.told(), [EventKind::Dropped]);
    // A repeat of the job reports the same and writes nothing.
    app.work(&job).await;
    assert_eq!(row(&app, &job).await, dropped);
    assert_eq!(app.told(), [EventKind::Dropped]);
}
