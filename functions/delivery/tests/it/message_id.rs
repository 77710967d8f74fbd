//! The Message-ID and the Date of what leaves by SMTP. SES replaces both: what holds there is in
//! `shared/mailer/tests/ses.rs`.

use std::collections::BTreeMap;

use delivery::handle;
use posthaste_model::Mail;
use posthaste_queue::{BatchResult, Job, JobBody};
use posthaste_testkit::relay::Script;
use posthaste_testkit::{entropy, sqs_event};
use serde_json::{Value, json};

use crate::lists::TestApp;

impl TestApp {
    /// The values of this header of each received mail, by recipient.
    fn received(&self, name: &str) -> BTreeMap<String, String> {
        let start = format!("{name}: ");
        let mails = self.relay.received().into_iter();
        mails
            .map(|mail| {
                let text = String::from_utf8(mail.bytes).unwrap();
                let mut values = text.split("\r\n").filter_map(|l| l.strip_prefix(&start));
                let value = values.next().unwrap().to_owned();
                assert_eq!(values.next(), None, "{name} once");
                (mail.envelope.to[0].clone(), value)
            })
            .collect()
    }
}

fn people(list: &str, count: usize) -> Value {
    let mailbox = |i| json!({"email": format!("{list}{i}@example.com")});
    (0..count).map(mailbox).collect()
}

#[tokio::test]
async fn all_copies_of_a_personalization_have_one_id_and_each_personalization_its_own() {
    let app = TestApp::new(Script::new()).await;
    let envelopes = json!([
        {"to": people("a", 2), "cc": people("b", 1), "bcc": people("c", 1)},
        {"to": people("d", 2)},
    ]);
    app.send(&[], json!({"personalizations": envelopes})).await;
    let ids = app.received("Message-ID");
    assert_eq!(ids.len(), 6);
    let of = |to: &str| ids[&format!("{to}@example.com")].as_str();
    for same in ["a1", "b0", "c0"] {
        assert_eq!(of(same), of("a0"), "{same}");
    }
    assert_eq!(of("d0"), of("d1"));
    assert_ne!(of("a0"), of("d0"));
}

#[tokio::test]
async fn a_valid_id_and_date_of_the_caller_are_kept_and_others_are_replaced() {
    const DATE: &str = "Sat, 28 Nov 2026 00:01:22 +0100";
    let app = TestApp::new(Script::new()).await;
    let envelopes = json!([
        {"to": people("message", 2)},
        {"to": people("own", 1), "headers": {"message-id": "<own@shop.example>"}},
    ]);
    let headers = json!({"Message-ID": "<order.7@shop.example>", "Date": DATE});
    let mail = json!({"personalizations": envelopes, "headers": headers});
    app.send(&[], mail).await;
    let ids = app.received("Message-ID");
    for (to, want) in [
        ("message0", "<order.7@shop.example>"),
        ("message1", "<order.7@shop.example>"),
        ("own0", "<own@shop.example>"),
    ] {
        assert_eq!(ids[&format!("{to}@example.com")], want, "{to}");
    }
    assert!(app.received("Date").values().all(|date| date == DATE));

    let app = TestApp::new(Script::new()).await;
    let headers = json!({"Message-ID": "order 7", "Date": "tomorrow", "Return-Path": "<a@b.co>"});
    app.send(&["ann@example.com"], json!({"headers": headers}))
        .await;
    let id = &app.received("Message-ID")["ann@example.com"];
    assert!(id.ends_with("@post.example>"), "{id}");
    assert_ne!(app.received("Date")["ann@example.com"], "tomorrow");
    let mails = app.relay.received();
    let text = String::from_utf8_lossy(&mails[0].bytes);
    assert!(!text.contains("Return-Path"), "{text}");
}

/// The most recipients of one request as one mail. Most are blind copies: full lists in the header
/// of each copy take a minute here (`tests/it` has them).
#[tokio::test]
async fn three_thousand_copies_of_one_personalization_leave_with_one_id() {
    let app = TestApp::new(Script::new()).await;
    let mail: Mail = serde_json::from_value(json!({
        "from": {"email": "shop@example.com"},
        "subject": "Hello",
        "content": [{"type": "text/plain", "value": "Hi"}],
        "personalizations": [
            {"to": people("a", 1), "cc": people("b", 1), "bcc": people("c", 2998)},
        ],
    }))
    .unwrap();
    let job = Job::notice(
        app.account.clone(),
        entropy().message_id(),
        app.hand.clock().now_ms(),
        mail,
    );
    assert!(matches!(job.body, JobBody::Mail(_)));
    let mut jobs = vec![job.to_text().unwrap()];
    while let Some(text) = jobs.pop() {
        let answer = handle(&app.app, &sqs_event([text])).await;
        assert_eq!(answer, BatchResult::default());
        let split = app.queues.drain("send").into_iter();
        jobs.extend(split.map(|(text, _)| text));
    }
    let mut ids: Vec<_> = app.received("Message-ID").into_values().collect();
    assert_eq!(ids.len(), 3000);
    ids.dedup();
    assert_eq!(ids.len(), 1);
}
