//! Many instances, one limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{TestApp, per_minute};

const LIMIT: u32 = 1_000;

/// Calls every instance as often as `turns` says, all at once; how many calls passed.
async fn drill(app: &TestApp, turns: &[u32]) -> u32 {
    let passed = Arc::new(AtomicU32::new(0));
    let mut instances = tokio::task::JoinSet::new();
    for turns in turns.iter().copied() {
        let api = app.instance(per_minute(LIMIT));
        let (key, passed) = (app.tenant.key.clone(), Arc::clone(&passed));
        instances.spawn(async move {
            for _ in 0..turns {
                let answer = api.get("/v3/templates").key(&key).send().await;
                match answer.status.as_u16() {
                    200 => drop(passed.fetch_add(1, Ordering::Relaxed)),
                    status => assert_eq!(status, 429, "{answer:?}"),
                }
            }
        });
    }
    while let Some(ended) = instances.join_next().await {
        ended.unwrap();
    }
    passed.load(Ordering::Relaxed)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_instances_pass_a_limit_of_a_thousand_together() {
    // Evenly busy; some hardly used; one that does nearly everything.
    for turns in [
        [200; 8],
        [5, 5, 5, 5, 400, 400, 400, 400],
        [60, 10, 1, 200, 30, 2, 100, 2_000],
    ] {
        let app = TestApp::with(per_minute(LIMIT)).await;
        let before = app.faults.calls();
        let passed = drill(&app, &turns).await;
        assert!(
            (950..=LIMIT).contains(&passed),
            "{turns:?}: {passed} passed"
        );
        // Each instance reads key and account and notes the caller: three calls. The rest leased.
        let leases = app.faults.calls() - before - 8 * 3;
        assert!(
            leases < u64::from(passed) / 3,
            "{leases} leases for {passed} passes"
        );
    }
}

#[tokio::test]
async fn the_next_minute_starts_over() {
    let app = TestApp::with(per_minute(LIMIT)).await;
    assert!(drill(&app, &[600, 600]).await >= 950);
    app.hand.advance(60);
    assert!(drill(&app, &[600, 600]).await >= 950);
}

#[tokio::test]
async fn a_burst_at_an_empty_stock_waits_for_one_lease() {
    let app = TestApp::with(per_minute(10_000)).await;
    let api = app.instance(per_minute(10_000));
    api.get("/v3/scopes")
        .key(&app.tenant.key)
        .send()
        .await
        .expect(200);
    let before = app.faults.calls();
    let asks = (0..100).map(|_| api.get("/v3/templates").key(&app.tenant.key).send());
    let answers = futures_util::future::join_all(asks).await;
    assert!(answers.iter().all(|answer| answer.status == 200));
    // Two blocks of 66, a 150th of the limit.
    assert_eq!(app.faults.calls() - before, 2);
}
