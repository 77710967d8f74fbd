//! Mails that no receiver accepted.

use posthaste_queue::Inbound;
use posthaste_store::{ArrivalStage, LostMail};
use serde_json::json;

use crate::TestApp;

const LOST: &str = "/v3/user/webhooks/parse/undelivered";

/// A mail that died after its third attempt.
fn lost(app: &TestApp) -> LostMail {
    let account = app.tenant.account.id.clone();
    let received = app.hand.now();
    let job = Inbound {
        v: 1,
        account: account.clone(),
        hostname: "in.shop.example".to_owned(),
        id: "hash".to_owned(),
        blob: format!("inbound/{account}/hash"),
        shared: false,
        from: String::new(),
        to: "a@in.shop.example".to_owned(),
        ip: None,
        hello: String::new(),
        trace: None,
        received,
        attempt: 3,
        judged: None,
    };
    LostMail {
        account,
        id: "hash".to_owned(),
        hostname: job.hostname.clone(),
        received,
        died_at: received.plus(9),
        attempts: 3,
        reason: "answered 404".to_owned(),
        job: job.to_text().unwrap(),
    }
}

#[tokio::test]
async fn an_undelivered_mail_is_listed_and_replayed_once() {
    let app = TestApp::new().await;
    let lost = lost(&app);
    let received = lost.received;
    app.store
        .lose_mail(&lost, received.plus(1_000_000))
        .await
        .unwrap();
    app.hand.advance(100);

    let key = &app.tenant.key;
    let listed = app.api.get(LOST).key(key).send().await.expect(200).json();
    let want = json!({"id": "hash", "hostname": "in.shop.example", "received_at": received.0,
        "gave_up_at": received.0 + 9, "attempts": 3, "reason": "answered 404"});
    assert_eq!(listed, json!({"result": [want], "next": null}));

    let replay = format!("{LOST}/replay");
    let done = app.api.post(&replay).key(key).send().await.expect(202);
    assert_eq!(done.json(), json!({"mails": 1, "more": false}));
    let sent = app.queues.drain("inbound");
    let again = Inbound::from_text(&sent[0].0).unwrap();
    assert_eq!(again.attempt, 3);
    assert_eq!(again.received, app.hand.now(), "the window opens anew");
    let done = app.api.post(&replay).key(key).send().await.expect(202);
    assert_eq!(done.json(), json!({"mails": 0, "more": false}));
    assert!(app.queues.drain("inbound").is_empty());
}

#[tokio::test]
async fn a_page_of_no_size_is_refused() {
    let app = TestApp::new().await;
    for limit in ["0", "501", "x"] {
        let path = format!("{LOST}?limit={limit}");
        app.api
            .get(&path)
            .key(&app.tenant.key)
            .send()
            .await
            .expect(400);
    }
}

#[tokio::test]
async fn an_undelivered_mail_that_arrived_since_is_deleted_and_not_replayed() {
    for (stage, sent) in [
        (None, 1),
        (Some((3, ArrivalStage::Dead)), 1),
        // Revived by a replay that came no further.
        (Some((3, ArrivalStage::Waiting)), 1),
        (Some((4, ArrivalStage::Done)), 0),
        (Some((3, ArrivalStage::Done)), 0),
        // In progress again, or dead again: it is in another row.
        (Some((4, ArrivalStage::Waiting)), 0),
        (Some((5, ArrivalStage::Dead)), 0),
    ] {
        let app = TestApp::new().await;
        let until = app.hand.now().plus(1_000_000);
        let lost = lost(&app);
        if let Some((attempt, stage)) = stage {
            let which = (&lost.account, lost.id.as_str(), attempt);
            app.store.end_arrival(which, stage, until).await.unwrap();
        }
        app.store.lose_mail(&lost, until).await.unwrap();
        let replay = app.api.post(&format!("{LOST}/replay"));
        replay.key(&app.tenant.key).send().await.expect(202);
        assert_eq!(app.queues.drain("inbound").len(), sent, "{stage:?}");
        let left = app.store.lost_mails(&lost.account, None, 10).await;
        assert!(left.unwrap().is_empty());
    }
}
