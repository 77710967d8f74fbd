//! A spam filter before the relay.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use delivery::SpamFilter;
use posthaste_spam::Filter;
use posthaste_testkit::relay::{At, Does, Script};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::lists::TestApp;

/// A spamd that gives a mail a point for every `viagra` in it, with a threshold of 3; and how
/// often it was asked.
async fn spamd() -> (SpamFilter, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            count.fetch_add(1, Ordering::SeqCst);
            let mut mail = Vec::new();
            stream.read_to_end(&mut mail).await.unwrap();
            let mail = String::from_utf8_lossy(&mail).into_owned();
            assert!(mail.contains("\r\nMessage-ID: "), "{mail}");
            let score = mail.matches("viagra").count();
            let answer =
                format!("SPAMD/1.1 0 EX_OK\r\nSpam: True ; {score}.0 / 3.0\r\n\r\nreport\r\n");
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    let filter = Filter::parse(&format!("spamd://{address}")).unwrap();
    (SpamFilter::new(filter), asked)
}

fn text(count: usize) -> serde_json::Value {
    let text = "viagra ".repeat(count);
    json!({"content": [{"type": "text/plain", "value": format!("Buy {text}")}]})
}

#[tokio::test]
async fn what_reaches_the_threshold_is_dropped_and_the_rest_leaves() {
    let (spam, _) = spamd().await;
    let mut app = TestApp::new(Script::new()).await;
    app.app.spam = Some(spam);
    for (count, want) in [
        (0, ("delivered", "")),
        (2, ("delivered", "")),
        (3, ("dropped", "Spam Content")),
    ] {
        let ends = app.send(&["ann@example.com"], text(count)).await;
        assert_eq!((ends[0].0.as_str(), ends[0].1.as_str()), want, "{count}");
    }
    assert_eq!(app.relay.received().len(), 2);
}

#[tokio::test]
async fn each_copy_is_judged_by_what_is_in_it() {
    let (spam, _) = spamd().await;
    let mut app = TestApp::new(Script::new()).await;
    app.app.spam = Some(spam);
    let mut mail = text(2);
    mail["personalizations"] = json!([
        {"to": [{"email": "ann@example.com"}], "substitutions": {"Buy": "Dear Ann,"}},
        {"to": [{"email": "bob@example.com"}], "substitutions": {"Buy": "viagra"}},
    ]);
    let ends = app.send(&[], mail).await;
    let kinds: Vec<_> = ends.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["delivered", "dropped"]);
}

#[tokio::test]
async fn an_account_may_ask_for_a_lower_threshold() {
    let (spam, _) = spamd().await;
    let mut app = TestApp::new(Script::new()).await;
    app.app.spam = Some(spam);
    for (score, want) in [(2, "dropped"), (10, "delivered")] {
        let done = app.app.store.change_settings(&app.account, |settings| {
            settings.spam_check.enabled = true;
            settings.spam_check.max_score = score;
            Ok::<_, posthaste_store::StoreError>(())
        });
        done.await.unwrap().unwrap();
        app.hand.advance(10);
        let ends = app.send(&["ann@example.com"], text(2)).await;
        assert_eq!(ends[0].0, want, "{score}");
    }
}

#[tokio::test]
async fn a_filter_that_is_down_keeps_no_mail_back() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = closed.local_addr().unwrap();
    drop(closed);
    let mut app = TestApp::new(Script::new()).await;
    let filter = Filter::parse(&format!("spamd://{address}")).unwrap();
    app.app.spam = Some(SpamFilter::new(filter));
    let ends = app.send(&["ann@example.com", "bob@example.com"], text(9));
    let kinds: Vec<_> = ends.await.into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["delivered", "delivered"]);
}

#[tokio::test]
async fn a_mail_is_scored_at_its_first_attempt_only() {
    let (spam, asked) = spamd().await;
    let script = Script::new().on(At::Data, Does::say("451 4.7.1 Come again"));
    let mut app = TestApp::new(script).await;
    app.app.spam = Some(spam);
    let ends = app.send(&["ann@example.com"], text(0)).await;
    assert_eq!(ends[0].0, "deferred");
    app.hand.advance(3600);
    let next: Vec<String> = app
        .queues
        .drain("send")
        .into_iter()
        .map(|(job, _)| job)
        .collect();
    assert_eq!(next.len(), 1);
    let _ = delivery::handle(&app.app, &posthaste_testkit::sqs_event(next)).await;
    assert!(app.told().iter().any(|event| event.attempt == Some(2)));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}
