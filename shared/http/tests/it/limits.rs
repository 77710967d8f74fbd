//! The three headers, and who is counted.

use std::net::{IpAddr, Ipv4Addr};

use posthaste_http::RateLimits;
use posthaste_testkit::Response;

use crate::{TestApp, per_minute};

fn counter(answer: &Response) -> (u32, u32, i64) {
    let header = |name: &str| answer.header(name).to_owned();
    (
        header("x-ratelimit-limit").parse().unwrap(),
        header("x-ratelimit-remaining").parse().unwrap(),
        header("x-ratelimit-reset").parse().unwrap(),
    )
}

#[tokio::test]
async fn every_answer_carries_the_three_headers() {
    let app = TestApp::new().await;
    let (api, key) = (&app.api, &app.tenant.key);
    let poor = app.tenant.restricted(&app.store, &["alerts.read"]).await;
    let now = app.hand.now();
    for (ask, status) in [
        (api.get("/v3/templates").key(key), 200),
        (api.post("/v3/mail/send").key(key), 202),
        (api.post("/v3/templates").key(key).body("{"), 400),
        (api.get("/v3/templates"), 401),
        (api.post("/v3/mail/send"), 401),
        (api.get("/v3/templates").key(&poor), 403),
        (api.get("/v3/templates").key(key).as_if("nobody"), 403),
        (api.get("/v3/nothing").key(key), 404),
        (api.get("/nothing"), 404),
        (api.patch("/v3/templates").key(key), 405),
        (api.delete("/v3/templates").key(key), 500),
        (api.get("/pixel"), 200),
    ] {
        let answer = ask.send().await.expect(status);
        let (limit, remaining, reset) = counter(&answer);
        assert!(
            limit >= 600 && remaining < limit,
            "{status}: {limit} {remaining}"
        );
        let ahead = reset - now.0;
        assert!((1..=60).contains(&ahead), "{status}: reset in {ahead} s");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
    }
}

#[tokio::test]
async fn a_spent_limit_answers_429_with_its_reset_ahead() {
    let app = TestApp::with(per_minute(3)).await;
    app.hand.advance(59);
    let get = || app.api.get("/v3/templates").key(&app.tenant.key).send();
    for left in [2, 1, 0] {
        assert_eq!(counter(&get().await.expect(200)).1, left);
    }
    let calls = app.faults.calls();
    for _ in 0..5 {
        let answer = get().await.expect(429);
        let want = r#"{"errors":[{"field":null,"message":"too many requests"}]}"#;
        assert_eq!(answer.body, want);
        let (limit, remaining, reset) = counter(&answer);
        assert_eq!((limit, remaining), (3, 0));
        assert!(reset > app.hand.now().0);
    }
    assert_eq!(app.faults.calls(), calls, "a spent limit writes nothing");
    app.hand.advance(1);
    get().await.expect(200);
}

#[tokio::test]
async fn each_endpoint_and_each_account_has_its_own_count() {
    let app = TestApp::with(RateLimits {
        endpoints: "POST /v3/templates=1".parse().unwrap(),
        ..per_minute(2)
    })
    .await;
    let (api, key) = (&app.api, &app.tenant.key);
    api.post("/v3/templates").key(key).send().await.expect(200);
    api.post("/v3/templates").key(key).send().await.expect(429);
    for path in ["/v3/templates", "/v3/templates/a", "/v3/scopes"] {
        api.get(path).key(key).send().await.expect(200);
        // Another key of the account shares its count.
        let other = app.tenant.restricted(&app.store, &["templates.read"]).await;
        api.get(path).key(&other).send().await.expect(200);
        api.get(path).key(key).send().await.expect(429);
    }
    // Ids in the path do not make endpoints.
    api.get("/v3/templates/b").key(key).send().await.expect(429);
    let sub = app.tenant.subuser(&app.store, "sub").await;
    api.get("/v3/templates")
        .key(&sub.key)
        .send()
        .await
        .expect(200);
    api.get("/v3/templates")
        .key(key)
        .as_if("sub")
        .send()
        .await
        .expect(200);
    api.get("/v3/templates")
        .key(&sub.key)
        .send()
        .await
        .expect(429);
}

#[tokio::test]
async fn callers_without_a_key_are_counted_by_address() {
    let app = TestApp::with(per_minute(2)).await;
    let from = |last| Some(IpAddr::V4(Ipv4Addr::new(198, 51, 100, last)));
    let (api, key) = (&app.api, &app.tenant.key);
    let get = |last| api.get("/v3/templates").from(from(last));
    let calls = app.faults.calls();
    assert_eq!(
        counter(&get(1).send().await.expect(401)),
        (2, 1, counter_reset(&app))
    );
    api.get("/nowhere").from(from(1)).send().await.expect(404);
    get(1).send().await.expect(429);
    api.get("/nowhere").from(from(1)).send().await.expect(429);
    get(2).send().await.expect(401);
    assert_eq!(
        app.faults.calls(),
        calls,
        "a caller without a key costs no call"
    );
    // A good key is judged by its own count, whoever else calls from there.
    get(1).key(key).send().await.expect(200);
    // A wrong one is not.
    let wrong = format!("{}X", key.get(..68).unwrap());
    get(1).key(&wrong).send().await.expect(429);
    get(3).key(&wrong).send().await.expect(401);
}

fn counter_reset(app: &TestApp) -> i64 {
    app.hand.now().0 / 60 * 60 + 60
}

#[tokio::test]
async fn mail_goes_out_even_when_nobody_can_count() {
    let app = TestApp::new().await;
    let send = || app.api.post("/v3/mail/send").key(&app.tenant.key).send();
    send().await.expect(202);
    app.hand.advance(5);
    app.faults.fail_after(0, false);
    for _ in 0..2_000 {
        // Key and account are remembered; the counter row cannot be reached.
        send().await.expect(202);
    }
    assert!(app.faults.restore());
}

#[tokio::test]
async fn a_table_that_fails_is_a_500_that_tells_nothing() {
    let app = TestApp::new().await;
    app.faults.fail_after(0, false);
    let answer = app
        .api
        .get("/v3/scopes")
        .key(&app.tenant.key)
        .send()
        .await
        .expect(500);
    assert_eq!(answer.error(), (None, "internal server error".to_owned()));
}
