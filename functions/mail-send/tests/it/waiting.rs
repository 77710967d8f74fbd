//! Scheduled mail is listed for look-ups where the search is enabled.

use mail_send::Senders;
use posthaste_model::MessageId;
use serde_json::{Value, json};

use crate::test_app::TestApp;

/// The listed copies of a mail: number, recipient, subject.
async fn listed(app: &TestApp, body: &Value) -> Vec<(u32, String, String)> {
    let answer = app.send(body).await.expect(202);
    let message = MessageId::parse(answer.header("x-message-id")).unwrap();
    let account = &app.tenant.account.id;
    let of_one = app.store.waiting_of(account, &message).await.unwrap();
    let page = app.store.waiting(account, None, None, 100).await.unwrap();
    let all: Vec<_> = page
        .rows
        .into_iter()
        .filter(|row| row.message == message)
        .collect();
    assert_eq!(of_one, all);
    all.iter()
        .flat_map(|row| {
            let each = row.each();
            each.map(|own| {
                (
                    own.copy.recipient,
                    own.copy.to.clone(),
                    own.subject.to_owned(),
                )
            })
            .collect::<Vec<_>>()
        })
        .collect()
}

fn mail(personalizations: &Value, more: &Value) -> Value {
    let mut mail = json!({
        "from": {"email": "me@example.com"}, "subject": "Later",
        "content": [{"type": "text/plain", "value": "Hi"}],
        "personalizations": personalizations,
    });
    mail.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    mail
}

#[tokio::test]
async fn only_scheduled_copies_are_listed_and_only_where_mails_can_be_searched() {
    let app = TestApp::searchable(Senders::Any).await;
    let at = app.hand.now().plus(3_600).0;
    let both = json!([
        {"to": [{"email": "ann@example.com"}, {"email": "bob@example.com"}], "send_at": at},
        {"to": [{"email": "carl@example.com"}], "subject": "Now"},
    ]);
    let line = |n, to: &str, subject: &str| (n, to.to_owned(), subject.to_owned());
    let want = [
        line(0, "ann@example.com", "Later"),
        line(1, "bob@example.com", "Later"),
    ];
    assert_eq!(listed(&app, &mail(&both, &json!({}))).await, want);
    let all = listed(&app, &mail(&both, &json!({"send_at": at}))).await;
    assert_eq!(all[2], line(2, "carl@example.com", "Now"));
    // Within minutes a mail goes to the queue at once; it waits there.
    let soon = app.hand.now().plus(60).0;
    let one = json!([{"to": [{"email": "ann@example.com"}]}]);
    assert_eq!(
        listed(&app, &mail(&one, &json!({"send_at": soon})))
            .await
            .len(),
        1
    );
    assert!(listed(&app, &mail(&one, &json!({}))).await.is_empty());

    let app = TestApp::new(Senders::Any).await;
    assert!(
        listed(&app, &mail(&one, &json!({"send_at": at})))
            .await
            .is_empty()
    );
}

/// Look-ups show by which key, and from where, a mail was sent.
#[tokio::test]
async fn a_job_names_the_key_and_the_client() {
    let app = TestApp::new(Senders::Any).await;
    let one = mail(&json!([{"to": [{"email": "ann@example.com"}]}]), &json!({}));
    for (ip, want) in [
        (Some(posthaste_testkit::HOME), Some("192.0.2.1")),
        (None, None),
    ] {
        app.ask().from(ip).json(&one).send().await.expect(202);
        let jobs = app.queues.drain("send");
        let job = posthaste_queue::Job::from_text(&jobs[0].0).unwrap();
        assert_eq!(job.client_ip.as_deref(), want);
        assert!(job.key.is_some());
    }
}
