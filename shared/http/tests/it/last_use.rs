//! When keys were last used: noted beside requests, whoever presents the key.

use posthaste_http::RateLimits;
use posthaste_model::Timestamp;

use crate::{TestApp, per_minute};

impl TestApp {
    async fn used_at(&self) -> Option<Timestamp> {
        let keys = self.store.keys_with_use(&self.tenant.account.id).await;
        keys.unwrap()[0].used_at
    }
}

#[tokio::test]
async fn the_first_request_of_an_hour_is_noted() {
    let app = TestApp::new().await;
    let get = || app.api.get("/v3/templates").key(&app.tenant.key).send();
    let began = app.hand.now();
    assert_eq!(app.used_at().await, None);
    get().await.expect(200);
    assert_eq!(app.used_at().await, Some(began));
    for seconds in [1, 3_598] {
        app.hand.advance(seconds);
        get().await.expect(200);
        assert_eq!(app.used_at().await, Some(began));
    }
    app.hand.advance(1);
    get().await.expect(200);
    assert_eq!(app.used_at().await, Some(began.plus(3_600)));
}

#[tokio::test]
async fn instances_that_start_do_not_write_again() {
    let app = TestApp::with(per_minute(1_000)).await;
    let mut calls = Vec::new();
    for _ in 0..3 {
        let api = app.instance(RateLimits::default());
        let before = app.faults.calls();
        for _ in 0..5 {
            let answer = api.get("/v3/templates").key(&app.tenant.key).send().await;
            answer.expect(200);
        }
        calls.push(app.faults.calls() - before);
    }
    // The first of them notes the key besides.
    assert_eq!(calls[1..], [calls[0] - 1; 2]);
}

#[tokio::test]
async fn a_refused_request_is_no_use_and_a_login_is_one() {
    let app = TestApp::new().await;
    let delete = app.api.delete("/v3/templates/1/x").key(&app.tenant.key);
    delete.send().await.expect(404);
    let wrong = format!("{}X", app.tenant.key.get(..68).unwrap());
    let get = app.api.get("/v3/templates").key(&wrong).send();
    get.await.expect(401);
    assert_eq!(app.used_at().await, None);
    app.gate.log_in(&app.tenant.key, None).await.unwrap();
    assert_eq!(app.used_at().await, Some(app.hand.now()));
}

#[tokio::test]
async fn no_failure_to_note_a_use_fails_a_request_and_it_is_tried_again() {
    let app = TestApp::new().await;
    let get = || app.api.get("/v3/templates").key(&app.tenant.key).send();
    // Key, account, a lease and then the note, which the table refuses with all that follows.
    app.faults.fail_after(3, false);
    get().await.expect(200);
    assert!(app.faults.restore());
    assert_eq!(app.used_at().await, None);
    get().await.expect(200);
    assert_eq!(app.used_at().await, None, "not with every request");
    app.hand.advance(10);
    get().await.expect(200);
    assert_eq!(app.used_at().await, Some(app.hand.now()));
}
