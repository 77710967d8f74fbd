//! `Idempotency-Key`: the same request twice is one mail.

use std::collections::BTreeSet;

use mail_send::Senders;
use posthaste_queue::Job;
use posthaste_store::{Acquire, IdempotentRequest, LONGEST_REQUEST, REMEMBERED};
use posthaste_testkit::{Response, Tenant, entropy};
use serde_json::{Value, json};

use crate::test_app::TestApp;
use crate::{good, with};

async fn send(app: &TestApp, key: &str, body: &Value) -> Response {
    let ask = app.ask().header("idempotency-key", key);
    ask.json(body).send().await
}

fn id(answer: &Response) -> String {
    answer.header("x-message-id").to_owned()
}

/// The message ids of what was queued since the last look.
fn queued(app: &TestApp) -> Vec<String> {
    let jobs = app.queues.drain("send").into_iter();
    jobs.map(|(text, _)| Job::from_text(&text).unwrap().message.to_string())
        .collect()
}

#[tokio::test]
async fn the_same_request_again_is_the_same_mail() {
    let app = TestApp::new(Senders::Any).await;
    let first = send(&app, "order-1", &good()).await.expect(202);
    assert_eq!(first.header("idempotency-replayed"), "");
    app.hand.advance(REMEMBERED - 1);

    let again = send(&app, "order-1", &good()).await.expect(202);

    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(id(&again), id(&first));
    assert!(again.body.is_empty());
    assert_eq!(queued(&app), [id(&first)]);
    // A day later the key is forgotten, even where the table has not deleted the row yet.
    app.hand.advance(1);
    let fresh = send(&app, "order-1", &good()).await.expect(202);
    assert_eq!(fresh.header("idempotency-replayed"), "");
    assert_eq!(queued(&app), [id(&fresh)]);
    assert_ne!(id(&fresh), id(&first));
}

#[tokio::test]
async fn a_key_belongs_to_its_body_and_to_its_account() {
    let app = TestApp::new(Senders::Any).await;
    let other = Tenant::new(&app.store, "other", app.hand.now()).await;
    send(&app, "order-1", &good()).await.expect(202);

    let changed = with(&[("subject", json!("Another"))]);
    let refused = send(&app, "order-1", &changed).await.expect(422);

    assert_eq!(
        String::from_utf8(refused.body.to_vec()).unwrap(),
        r#"{"errors":[{"message":"This Idempotency-Key was used with another request body.","field":null,"help":null}]}"#
    );
    let ask = app.api.post("/v3/mail/send").key(&other.key);
    let theirs = ask.header("idempotency-key", "order-1").json(&changed);
    let theirs = theirs.send().await.expect(202);
    assert_eq!(theirs.header("idempotency-replayed"), "");
    send(&app, "order-2", &changed).await.expect(202);
    assert_eq!(queued(&app).len(), 3);
}

#[tokio::test]
async fn a_refused_request_frees_its_key() {
    let app = TestApp::new(Senders::Any).await;
    for (bad, status) in [
        (with(&[("subject", json!(""))]), 400),
        (with(&[("batch_id", json!("unknown"))]), 400),
        // Checked and nothing more: no mail is there to be repeated.
        (
            with(&[("mail_settings", json!({"sandbox_mode": {"enable": true}}))]),
            200,
        ),
    ] {
        let refused = send(&app, "order-1", &bad).await.expect(status);
        assert_eq!(refused.header("idempotency-replayed"), "");
    }
    let sent = send(&app, "order-1", &good()).await.expect(202);
    assert_eq!(queued(&app), [id(&sent)]);
}

#[tokio::test]
async fn of_many_at_once_one_sends() {
    let app = TestApp::new(Senders::Any).await;
    let body = good();
    let calls = (0..16).map(|_| send(&app, "order-1", &body));
    let answers = join_all(calls).await;

    let mut ids = BTreeSet::new();
    for answer in &answers {
        match answer.status.as_u16() {
            202 => drop(ids.insert(id(answer))),
            409 => {
                let wait: i64 = answer.header("retry-after").parse().unwrap();
                assert!((1..=LONGEST_REQUEST).contains(&wait), "{wait}");
                let (field, message) = answer.error();
                assert_eq!(field, None);
                assert_eq!(
                    message,
                    "A request with this Idempotency-Key is still being processed."
                );
            }
            status => panic!("{status}"),
        }
    }
    let fresh = |a: &&Response| a.status == 202 && a.header("idempotency-replayed").is_empty();
    assert_eq!(answers.iter().filter(fresh).count(), 1);
    let queued = queued(&app);
    assert_eq!(ids.into_iter().collect::<Vec<_>>(), queued);
    assert_eq!(queued.len(), 1);
}

/// Runs them side by side.
async fn join_all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut waiting: Vec<_> = futures.map(Box::pin).map(Some).collect();
    let mut done: Vec<Option<F::Output>> = waiting.iter().map(|_| None).collect();
    std::future::poll_fn(move |cx| {
        for (slot, out) in waiting.iter_mut().zip(&mut done) {
            let Some(future) = slot else { continue };
            if let std::task::Poll::Ready(value) = future.as_mut().poll(cx) {
                *out = Some(value);
                *slot = None;
            }
        }
        if done.iter().any(Option::is_none) {
            return std::task::Poll::Pending;
        }
        std::task::Poll::Ready(done.iter_mut().filter_map(Option::take).collect())
    })
    .await
}

#[tokio::test]
async fn who_died_is_followed_under_the_same_message_id() {
    let app = TestApp::new(Senders::Any).await;
    let body = good().to_string();
    let request = IdempotentRequest {
        account: &app.tenant.account.id,
        key: "order-1",
        body: body.as_bytes(),
        remembered: REMEMBERED,
    };
    let died = entropy().message_id();
    // The process that began this never came back.
    let begun = app.store.begin(request, &died, app.hand.now()).await;
    assert!(matches!(begun.unwrap(), Acquire::Acquired(_)));

    app.hand.advance(LONGEST_REQUEST - 1);
    let busy = send(&app, "order-1", &good()).await.expect(409);
    assert_eq!(busy.header("retry-after"), "1");
    // Whoever comes with another body learns so at once: the first mail may have left.
    let changed = with(&[("subject", json!("Another"))]);
    send(&app, "order-1", &changed).await.expect(422);

    app.hand.advance(1);
    let sent = send(&app, "order-1", &good()).await.expect(202);
    assert_eq!(id(&sent), died.to_string());
    assert_eq!(queued(&app), [died.to_string()]);
    let again = send(&app, "order-1", &good()).await.expect(202);
    assert_eq!(again.header("idempotency-replayed"), "true");
}

#[tokio::test]
async fn a_request_whose_lease_ended_frees_nothing() {
    let app = TestApp::new(Senders::Any).await;
    let request = IdempotentRequest {
        account: &app.tenant.account.id,
        key: "order-1",
        body: b"{}",
        remembered: REMEMBERED,
    };
    let (first, second) = (entropy().message_id(), entropy().message_id());
    let begun = app.store.begin(request, &first, app.hand.now()).await;
    let Acquire::Acquired(slow) = begun.unwrap() else {
        panic!("a free key")
    };
    app.hand.advance(LONGEST_REQUEST);
    let begun = app.store.begin(request, &second, app.hand.now()).await;
    let Acquire::Acquired(quick) = begun.unwrap() else {
        panic!("a key whose lease ran out")
    };
    assert_eq!(quick.message(), &first);

    app.store.abort(&slow).await.unwrap();
    app.store.release(&slow).await.unwrap();

    let found = app.store.begin(request, &second, app.hand.now()).await;
    assert!(matches!(found.unwrap(), Acquire::InProgress { .. }));
    app.store.finish(&quick).await.unwrap();
    let found = app.store.begin(request, &second, app.hand.now()).await;
    assert_eq!(found.unwrap(), Acquire::Replay(first));
}

#[tokio::test]
async fn what_failed_half_way_goes_on_at_once() {
    let app = TestApp::new(Senders::Any).await;
    for (key, deaf) in [("order-1", false), ("order-2", true)] {
        // The queue fails; or it takes the mail and its answer is lost.
        app.faults.fail_after(0, deaf);
        send(&app, key, &good()).await.expect(503);
        assert!(app.faults.restore());
        let before = queued(&app);
        assert_eq!(before.len(), usize::from(deaf));
        let sent = send(&app, key, &good()).await.expect(202);
        assert_eq!(sent.header("idempotency-replayed"), "");
        assert_eq!(queued(&app), [id(&sent)]);
        // Twice in the queue, and one mail all the same: the copies of a message are claimed once.
        assert!(before.iter().all(|message| *message == id(&sent)));
    }
}

#[tokio::test]
async fn an_invalid_idempotency_key_is_refused() {
    let app = TestApp::new(Senders::Any).await;
    let long = "k".repeat(256);
    for key in ["", "  ", "schlüssel", long.as_str()] {
        let error = send(&app, key, &good()).await.expect(400).error();
        assert_eq!(
            error.1,
            "The Idempotency-Key header must be given once, with 1 to 255 ASCII characters."
        );
    }
    let twice = app.ask().header("idempotency-key", "a");
    let twice = twice.header("idempotency-key", "b").json(&good());
    twice.send().await.expect(400);
    assert!(queued(&app).is_empty());
    send(&app, &long[1..], &good()).await.expect(202);
}
