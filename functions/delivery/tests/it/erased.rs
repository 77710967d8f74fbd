//! What is stored of a copy whose address was forgotten while its job waited.

use delivery::handle;
use posthaste_queue::{BatchResult, Job, JobBody};
use posthaste_store::Key;
use posthaste_testkit::relay::Script;
use posthaste_testkit::{entropy, sqs_event};
use serde_json::{Value, json};

use crate::lists::TestApp;

const DAY: i64 = 86_400;

#[tokio::test]
async fn it_is_sent_and_stays_no_longer_than_its_jobs() {
    let mut app = TestApp::new(Script::new()).await;
    app.app.retention = 30 * DAY;
    let accepted = app.hand.clock().now_ms();
    app.hand.advance(60);
    let store = app.app.store.clone();
    let (account, erased_at) = (app.account.clone(), app.hand.now());
    let erased = store.mark_erased(&account, "ann@example.com", erased_at);
    erased.await.unwrap();
    app.hand.advance(60);
    let (now, since) = (app.hand.clock().now_ms(), Some(erased_at));
    for (email, accepted, attempt, waits_since, days) in [
        ("Ann@example.com", accepted, 1, None, 6),
        ("bob@example.com", accepted, 1, None, 30),
        // Its first attempt waited: for the sending rate, or for a relay that took no mail.
        ("ann@example.com", accepted, 0, None, 6),
        ("ann@example.com", accepted, 0, since, 6),
        // Accepted after it.
        ("ann@example.com", now, 1, None, 30),
        ("ann@example.com", now, 0, None, 30),
    ] {
        let mail = json!({
            "from": {"email": "shop@example.com"},
            "subject": "Hello",
            "content": [{"type": "text/plain", "value": "Hi"}],
            "personalizations": [{"to": [{"email": email}]}],
        });
        let job = Job {
            v: 1,
            account: account.clone(),
            message: entropy().message_id(),
            accepted,
            spans: Vec::new(),
            attempt,
            due: None,
            left: false,
            waits_since,
            key: None,
            client_ip: None,
            is_test: false,
            body: JobBody::Mail(Box::new(serde_json::from_value(mail).unwrap())),
        };
        let answer = handle(&app.app, &sqs_event([job.to_text().unwrap()])).await;
        assert_eq!(answer, BatchResult::default());
        let key = Key {
            pk: format!("M#{account}#{}", job.message),
            sk: "R#00000".to_owned(),
        };
        let row = store.get::<Value>(&key).await.unwrap().unwrap().value;
        assert_eq!(row["state"], "delivered");
        let until = app.hand.now().plus(days * DAY);
        assert_eq!(row["exp"], until.0, "{email} {attempt}");
    }
}
