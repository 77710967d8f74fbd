//! What can go wrong around the sweep: late, slow, crowded.

use std::sync::Mutex;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use posthaste_model::{Clock, Millis, Timestamp};
use posthaste_store::{Due, DueTarget, GRACE, Store};
use posthaste_testkit::TABLE;
use schedule_sweep::{Share, sweep};
use serde_json::json;

use crate::env::{End, TestEnv};

const MINUTE: i64 = 60;
const HOUR: i64 = 3600;

fn due(env: &TestEnv, target: DueTarget, at: Timestamp, id: &str) -> Due {
    Due {
        target,
        account: env.account().clone(),
        at,
        id: id.to_owned(),
        body: format!("body of {id}"),
    }
}

#[tokio::test]
async fn every_lane_goes_to_its_own_queue_with_the_right_delay() {
    let env = TestEnv::new().await;
    let at = env.now().plus(HOUR);
    let dues = [
        due(&env, DueTarget::Send, at, "a"),
        due(&env, DueTarget::Webhook, at.plus(5), "b"),
        due(&env, DueTarget::Inbound, at.plus(-5), "c"),
    ];
    env.store.put_due(&dues, &env.hand.clock()).await.unwrap();
    env.hand.set(at.plus(-10));
    env.hand.advance_ms(250);

    let swept = sweep(&env.app, Share::ALL).await.unwrap();

    assert_eq!(swept.sent, 3);
    let wait = Duration::from_millis;
    for (queue, body, delay) in [
        ("send", "body of a", wait(9_750)),
        ("retries", "body of b", wait(14_750)),
        ("inbound", "body of c", wait(4_750)),
    ] {
        assert_eq!(env.queues.drain(queue), [(body.to_owned(), delay)]);
    }
}

#[tokio::test]
async fn work_for_the_past_is_found_by_the_next_sweep() {
    let env = TestEnv::new().await;
    let clock = env.hand.clock();
    for late in [0, 59, 61, GRACE, HOUR, 90 * 24 * HOUR] {
        let at = env.now().plus(-late);
        let rows = [due(&env, DueTarget::Webhook, at, "late")];
        env.store.put_due(&rows, &clock).await.unwrap();
        assert_eq!(
            sweep(&env.app, Share::ALL).await.unwrap().sent,
            1,
            "{late} s late"
        );
        assert_eq!(env.queues.drain("retries").len(), 1);
    }
}

/// A clock that shows these times, one after the other, and stays at the last.
fn script(times: &[Timestamp]) -> Clock {
    let times: Vec<Millis> = times.iter().rev().map(|t| t.millis()).collect();
    let times = Mutex::new(times);
    Clock::new(move || {
        let mut times = times.lock().unwrap();
        match times.len() {
            1 => times[0],
            _ => times.pop().unwrap(),
        }
    })
}

#[tokio::test]
async fn a_writer_that_slept_through_its_minute_lists_it_anew() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let at = start.plus(30 * MINUTE);
    // This instance has listed the minute before, and remembers it.
    let first = [due(&env, DueTarget::Webhook, at, "first")];
    env.store.put_due(&first, &env.hand.clock()).await.unwrap();
    env.pass_until(start.plus(2 * HOUR)).await;
    env.sweep().await;
    assert_eq!(env.queues.drain("retries").len(), 1);
    assert_eq!(env.store.due_minutes(env.now()).await.unwrap(), []);

    // A call that began before the minute and was carried out after it was struck off.
    let slow = script(&[env.now()]);
    let second = [due(&env, DueTarget::Webhook, at, "second")];
    env.store.put_due(&second, &slow).await.unwrap();
    env.sweep().await;

    assert_eq!(env.queues.drain("retries").len(), 1);
}

#[tokio::test]
async fn a_minute_written_to_while_it_is_read_is_not_struck_off() {
    let env = TestEnv::new().await;
    let at = env.now().plus(-HOUR);
    let clock = env.hand.clock();
    let rows = [due(&env, DueTarget::Webhook, at, "x")];
    env.store.put_due(&rows, &clock).await.unwrap();
    sweep(&env.app, Share::ALL).await.unwrap();
    // The sweep lists the minute and finds it empty; a row is written; then the sweep removes the minute.
    let minutes = env.store.due_minutes(env.now()).await.unwrap();
    assert_eq!(minutes.len(), 1);
    assert!(minutes[0].is_over(env.now()));
    env.store.put_due(&rows, &clock).await.unwrap();

    assert!(!env.store.close_minute(&minutes[0]).await.unwrap());

    assert_eq!(sweep(&env.app, Share::ALL).await.unwrap().sent, 1);
    let minutes = env.store.due_minutes(env.now()).await.unwrap();
    assert!(env.store.close_minute(&minutes[0]).await.unwrap());
}

#[tokio::test]
async fn a_table_without_due_rows_costs_a_sweep_nothing_but_the_list() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    for minute in 6..20 {
        env.send_later(start.plus(minute * MINUTE), None).await;
    }
    env.pass_until(start.plus(20 * MINUTE)).await;
    assert_eq!(env.left.len(), 14);
    // The last minute and its grace, and one sweep to see that it is empty.
    env.pass_until(start.plus(20 * MINUTE + GRACE + MINUTE))
        .await;
    assert_eq!(env.sweep().await.sent, 0);

    assert_eq!(
        env.store.due_minutes(env.now().plus(HOUR)).await.unwrap(),
        []
    );
}

#[tokio::test]
async fn the_number_of_partitions_may_change_at_any_time() {
    let mut env = TestEnv::new().await;
    let at = env.now().plus(HOUR);
    let clock = env.hand.clock();
    for (shards, name) in [(1, "a"), (9, "b"), (3, "c")] {
        // Another instance, with another configuration.
        let store = Store::open(&env.config, TABLE).with_due_shards(shards);
        let rows: Vec<Due> = (0..20)
            .map(|n| due(&env, DueTarget::Webhook, at, &format!("{name}{n}")))
            .collect();
        store.put_due(&rows, &clock).await.unwrap();
    }

    env.hand.set(at);
    let swept = env.sweep().await;

    assert_eq!((swept.sent, swept.failed), (60, 0));
    let mut bodies: Vec<_> = env
        .queues
        .drain("retries")
        .into_iter()
        .map(|(b, _)| b)
        .collect();
    bodies.sort();
    bodies.dedup();
    assert_eq!(bodies.len(), 60);
}

#[tokio::test]
async fn a_row_that_cannot_be_read_stays_and_stops_nothing() {
    let mut env = TestEnv::new().await;
    let start = env.now();
    let at = start.plus(HOUR);
    let rows: Vec<Due> = (0..8)
        .map(|n| due(&env, DueTarget::Webhook, at, &format!("{n}")))
        .collect();
    env.store.put_due(&rows, &env.hand.clock()).await.unwrap();
    let client = aws_sdk_dynamodb::Client::new(&env.config);
    for shard in 0..4 {
        // What a newer release might write.
        let text = |value: String| AttributeValue::S(value);
        let put = client
            .put_item()
            .table_name(TABLE)
            .item("pk", text(format!("DUE#{:010}#{shard}", at.0 / 60)))
            .item("sk", text(format!("{}#{}#future#x", env.account(), at.0)))
            .item("lane", text("future".to_owned()));
        put.send().await.unwrap();
    }

    env.hand.set(at);
    let swept = env.sweep().await;
    assert_eq!((swept.sent, swept.unreadable, swept.failed), (8, 4, 0));
    // It stays however long, so that the newer release finds it.
    env.pass_until(at.plus(HOUR)).await;
    assert_eq!(env.sweep().await.unreadable, 4);
    assert_eq!(env.queues.drain("retries").len(), 8);
}

#[tokio::test]
async fn a_queue_that_fails_loses_nothing_and_is_reported() {
    let mut env = TestEnv::new().await;
    let at = env.now().plus(HOUR);
    let message = env.send_later(at, None).await;
    env.hand.set(at.plus(-MINUTE));
    env.queues.set_broken(true);

    let error = schedule_sweep::handle(&env.app, json!({}))
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("1 reads of due rows failed"),
        "{error}"
    );

    env.queues.set_broken(false);
    env.sweep().await;
    env.wait_until(at.plus(MINUTE)).await;
    assert_eq!(env.ends(&message, at), [(End::Sent, 0)]);
}

#[tokio::test]
async fn an_account_that_floods_a_minute_waits_for_the_others() {
    let env = TestEnv::new().await;
    let at = env.now().plus(HOUR);
    let clock = env.hand.clock();
    // Sorts before the others, and has far more than a page in every partition.
    let small = |id: &str, at| Due {
        account: posthaste_model::AccountId::parse("zzzzzzzzzz").unwrap(),
        ..due(&env, DueTarget::Webhook, at, id)
    };
    let flood: Vec<Due> = (0..900)
        .map(|n| Due {
            account: posthaste_model::AccountId::parse("aaaaaaaaaa").unwrap(),
            ..due(&env, DueTarget::Webhook, at, &format!("flood{n}"))
        })
        .collect();
    env.store.put_due(&flood, &clock).await.unwrap();
    let others = [
        small("same", at),
        small("next", at.plus(MINUTE)),
        small("later", at.plus(130)),
    ];
    env.store.put_due(&others, &clock).await.unwrap();
    env.hand.set(at);
    let mut app = env.app.clone();
    app.concurrency = 1;

    let swept = sweep(&app, Share::ALL).await.unwrap();

    assert_eq!(swept.sent, 903);
    let sent = env.queues.drain("retries");
    for id in ["same", "next", "later"] {
        let before = sent
            .iter()
            .position(|(body, _)| body.ends_with(id))
            .unwrap();
        // One page of each of the four partitions at most.
        assert!(before <= 402, "{id} waited for {before} others");
    }
}

#[tokio::test]
async fn a_sweep_that_runs_out_of_time_goes_on_in_the_next_call() {
    let env = TestEnv::new().await;
    let at = env.now().plus(HOUR);
    let rows: Vec<Due> = (0..500)
        .map(|n| due(&env, DueTarget::Webhook, at.plus(n % 50), &format!("{n}")))
        .collect();
    env.store.put_due(&rows, &env.hand.clock()).await.unwrap();
    env.hand.set(at);
    // Whoever looks at this clock moves it by a second.
    let hand = env.hand.clone();
    let mut app = env.app.clone();
    app.clock = Clock::new(move || {
        hand.advance(1);
        hand.clock().now_ms()
    });
    app.budget = Duration::from_secs(9);
    app.concurrency = 1;

    let mut calls = 0;
    loop {
        calls += 1;
        let swept = sweep(&app, Share::ALL).await.unwrap();
        assert_eq!(swept.failed, 0);
        if !swept.unfinished {
            break;
        }
        assert!(
            swept.sent > 0,
            "a call that moves nothing would go on for ever"
        );
    }

    assert!(calls > 2, "{calls} calls");
    let mut bodies: Vec<_> = env
        .queues
        .drain("retries")
        .into_iter()
        .map(|(b, _)| b)
        .collect();
    assert_eq!(bodies.len(), 500);
    bodies.sort();
    bodies.dedup();
    assert_eq!(bodies.len(), 500);
}

#[tokio::test]
async fn parts_share_the_work_and_none_closes_what_another_has_to_do() {
    let mut env = TestEnv::new().await;
    let at = env.now().plus(HOUR);
    let rows: Vec<Due> = (0..100)
        .map(|n| due(&env, DueTarget::Webhook, at, &format!("{n}")))
        .collect();
    env.store.put_due(&rows, &env.hand.clock()).await.unwrap();
    env.hand.set(at.plus(HOUR));
    let part = |part| Share { part, of: 2 };

    let first = sweep(&env.app, part(0)).await.unwrap();
    for _ in 0..2 {
        // Its own partitions are empty now, the others are not.
        assert_eq!(sweep(&env.app, part(0)).await.unwrap().closed, 0);
    }
    let second = sweep(&env.app, part(1)).await.unwrap();
    assert_eq!(sweep(&env.app, part(1)).await.unwrap().closed, 0);
    assert_eq!(sweep(&env.app, part(0)).await.unwrap().closed, 1);

    assert!(first.sent > 0 && second.sent > 0);
    assert_eq!(first.sent + second.sent, 100);
    assert_eq!(env.queues.drain("retries").len(), 100);
    assert_eq!(env.sweep().await.sent, 0);
}
