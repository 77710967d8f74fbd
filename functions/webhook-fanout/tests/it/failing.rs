//! A webhook that fails is remembered, kept apart from the others, and in the end switched off.

use std::time::Duration;

use posthaste_queue::{Bus, WebhookRetry};
use posthaste_testkit::{Receiver, Reply, dynamodb};
use serde_json::{Value, json};

use crate::env::{SOON, TestEnv};

#[tokio::test]
async fn a_dead_receiver_does_not_delay_a_live_one() {
    let env = TestEnv::open().await;
    let (dead, _) = env.subscribe().await;
    let (live, _) = env.subscribe().await;
    dead.always(Reply::Hang);

    let start = tokio::time::Instant::now();
    env.send_events(&env.events(5)).await;
    let whole = start.elapsed();

    let arrived = live.next(SOON).await.unwrap().at - start;
    assert!(whole >= Duration::from_millis(300), "{whole:?}");
    assert!(arrived < whole / 2, "{arrived:?} of {whole:?}");
}

#[tokio::test]
async fn while_a_webhook_fails_its_news_takes_the_road_of_retries() {
    let env = TestEnv::open().await;
    let (receiver, webhook) = env.subscribe().await;
    receiver.script([Reply::status(500)]);
    env.send_events(&env.events(1)).await;
    assert_eq!(
        env.stored(&webhook).await.failing_since,
        Some(env.hand.now())
    );

    env.hand.advance(5);
    env.send_events(&env.events(1)).await;

    assert_eq!(receiver.posts().len(), 1);
    // New events are tried at once, by the worker of the retries.
    let sent = env.queues.drain("retries");
    let delays: Vec<_> = sent.iter().map(|(_, delay)| delay.as_secs()).collect();
    assert!(delays[0] >= 30 && delays[1] == 0, "{delays:?}");
    env.work(vec![sent[1].0.clone()]).await;
    assert_eq!(receiver.posts().len(), 2);
    assert_eq!(env.stored(&webhook).await.failing_since, None);
    env.send_events(&env.events(1)).await;
    assert_eq!(receiver.posts().len(), 3);
}

#[tokio::test]
async fn what_one_process_found_slow_is_waited_for_by_no_other() {
    let mut env = TestEnv::open().await;
    let (slow, webhook) = env.subscribe().await;
    let others = [env.twin(), env.twin()];
    // To this one every answer is slow.
    env.app.retry_policy.slow_ms = 0;
    env.send_events(&env.events(1)).await;
    let stored = env.stored(&webhook).await;
    assert_eq!(
        (stored.slow_since, stored.failing_since),
        (Some(env.hand.now()), None)
    );

    let (live, _) = env.subscribe().await;
    for other in &others {
        other.send_events(&other.events(1)).await;
    }
    assert_eq!((slow.posts().len(), live.posts().len()), (1, 2));

    // Its new events are posted at once, by the worker of the retries; a slow answer changes nothing.
    let sent = env.queues.drain("retries");
    let delays: Vec<_> = sent.iter().map(|(_, delay)| delay.as_secs()).collect();
    assert_eq!(delays, [0, 0]);
    env.work(vec![sent[0].0.clone()]).await;
    let still = env.stored(&webhook).await;
    assert_eq!(still, stored);
    // A quick one does.
    others[0].work(vec![sent[1].0.clone()]).await;
    assert_eq!(slow.posts().len(), 3);
    assert_eq!(env.stored(&webhook).await.slow_since, None);
    others[1].send_events(&others[1].events(1)).await;
    assert_eq!(slow.posts().len(), 4);
}

#[tokio::test]
async fn a_silent_receiver_is_not_waited_for_again_and_again() {
    let env = TestEnv::open().await;
    let (receiver, _) = env.subscribe().await;
    receiver.always(Reply::Hang);
    for _ in 0..6 {
        env.send_events(&env.events(1)).await;
        let due: Vec<_> = env
            .queues
            .drain("retries")
            .into_iter()
            .map(|(text, _)| text)
            .collect();
        env.work(due).await;
    }
    // Three timeouts, then no post is made for half a minute.
    assert_eq!(receiver.posts().len(), 3);

    env.hand.advance(31);
    let due: Vec<_> = env
        .queues
        .drain("retries")
        .into_iter()
        .map(|(text, _)| text)
        .collect();
    let waiting = due.len();
    assert!(waiting > 1, "{waiting}");
    env.hand.advance(3600);
    env.work(due).await;
    assert_eq!(receiver.posts().len(), 4);
}

#[tokio::test]
async fn a_silent_token_url_is_not_waited_for_again_and_again() {
    let env = TestEnv::open().await;
    let [receiver, server] = [Receiver::start().await, Receiver::start().await];
    let (receiver, server) = (receiver.unwrap(), server.unwrap());
    let mut webhook = env.hook(&receiver.url());
    env.authorise(&mut webhook, &server.url());
    env.keep(&webhook).await;
    server.always(Reply::Hang);
    for _ in 0..6 {
        env.send_events(&env.events(1)).await;
        let due = env.queues.drain("retries").into_iter();
        env.work(due.map(|(text, _)| text).collect()).await;
        // A failure speaks for five seconds.
        env.hand.advance(6);
    }
    assert_eq!(server.posts().len(), 3);
    assert!(receiver.posts().is_empty());
}

#[tokio::test]
async fn a_webhook_that_fails_for_days_is_switched_off_and_its_events_are_kept() {
    let env = TestEnv::open().await;
    let (receiver, webhook) = env.subscribe().await;
    receiver.always(Reply::status(500));
    for day in 0..2 {
        env.send_events(&env.events(1)).await;
        while env.next_retries().await {}
        let stored = env.stored(&webhook).await;
        assert!(stored.enabled, "day {day}");
    }

    env.send_events(&env.events(1)).await;
    env.next_retries().await;
    env.hand.advance(600);
    env.send_events(&env.events(1)).await;
    while env.stored(&webhook).await.enabled {
        assert!(env.next_retries().await);
    }

    let stored = env.stored(&webhook).await;
    assert!(!stored.enabled);
    assert_eq!(stored.updated_at, env.hand.now());
    let posts = receiver.posts().len();
    while env.next_retries().await {}
    assert_eq!(receiver.posts().len(), posts);
    let wanted = posthaste_store::DeadLetterFilter {
        limit: 9,
        ..Default::default()
    };
    let letters = env.store.dead_letters(&env.account, &wanted).await.unwrap();
    assert_eq!(letters.len(), 4);
    assert!(
        letters
            .iter()
            .any(|row| row.value.reason == "the webhook is disabled")
    );
}

/// Three days.
const LONG: i64 = 3 * 86_400;

impl TestEnv {
    /// A stand-in for EventBridge that takes every notice.
    async fn listener(&mut self) -> Receiver {
        let listener = Receiver::start().await.unwrap();
        let taken = r#"{"FailedEntryCount":0,"Entries":[{"EventId":"1"}]}"#;
        listener.always(Reply::with_body(200, taken));
        let config = dynamodb().await.into_builder();
        let config = config.endpoint_url(listener.url()).build();
        self.app.bus = Bus::event_bridge(&config, "bus");
        listener
    }

    /// A new event for a webhook that fails, and the attempt at it.
    async fn try_one(&self) {
        self.send_events(&self.events(1)).await;
        let texts = self.queues.drain("retries").into_iter();
        self.work(texts.map(|(text, _)| text).collect()).await;
        // What waits now is of no interest.
        self.queues.drain("retries");
    }
}

#[tokio::test]
async fn the_bus_hears_of_a_webhook_that_is_switched_off_once_and_surely() {
    let mut env = TestEnv::open().await;
    let bus = env.listener().await;
    let refused = r#"{"FailedEntryCount":1,"Entries":[{"ErrorCode":"InternalFailure"}]}"#;
    bus.script([Reply::with_body(200, refused)]);
    let (receiver, webhook) = env.subscribe().await;
    receiver.always(Reply::status(500));
    let start = env.hand.now();
    env.try_one().await;
    env.hand.advance(LONG - 1);
    env.try_one().await;
    assert!(env.stored(&webhook).await.enabled);
    assert!(bus.posts().is_empty());

    env.hand.advance(1);
    env.try_one().await;
    assert!(!env.stored(&webhook).await.enabled);
    assert_eq!(bus.posts().len(), 1);
    // The bus did not take it: the next event of the account brings it again.
    for _ in 0..2 {
        env.send_events(&env.events(1)).await;
        assert_eq!(bus.posts().len(), 2);
    }
    assert_eq!(env.stored(&webhook).await.unreported, None);

    let entry: Value = serde_json::from_slice(&bus.posts()[1].body).unwrap();
    let entry = &entry["Entries"][0];
    assert_eq!(
        (&entry["Source"], &entry["DetailType"]),
        (&json!("posthaste"), &json!("Webhook Disabled"))
    );
    let detail: Value = serde_json::from_str(entry["Detail"].as_str().unwrap()).unwrap();
    let want = json!({
        "account": env.account, "webhook_id": webhook.id, "friendly_name": null,
        "failing_since": start, "reason": "answered 500",
    });
    assert_eq!(detail, want);
}

#[tokio::test]
async fn what_waits_for_the_webhook_brings_the_notice_too() {
    let mut env = TestEnv::open().await;
    let bus = env.listener().await;
    let (receiver, mut webhook) = env.subscribe().await;
    receiver.script([Reply::status(500)]);
    env.send_events(&env.events(1)).await;
    webhook.enabled = false;
    webhook.unreported = Some("answered 500".to_owned());
    let off = webhook.clone();
    let off = |_| Ok::<_, posthaste_store::StoreError>(off.clone());
    let changed = env.store.change_webhook(&webhook.account, &webhook.id, off);
    let _saved = changed.await.unwrap();
    env.next_retries().await;
    assert_eq!(bus.posts().len(), 1);
    assert_eq!(env.stored(&webhook).await.unreported, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_webhook_that_its_owner_disables_is_not_announced() {
    let mut env = TestEnv::open().await;
    let bus = env.listener().await;
    let (receiver, webhook) = env.subscribe().await;
    receiver.always(Reply::status(500));
    env.try_one().await;
    env.hand.advance(LONG);
    // While the post is under way.
    let (store, hook) = (env.store.clone(), webhook.clone());
    receiver.decide(move |_| {
        let off = store.change_webhook(&hook.account, &hook.id, |mut webhook| {
            webhook.enabled = false;
            Ok::<_, posthaste_store::StoreError>(webhook)
        });
        let off = || tokio::runtime::Handle::current().block_on(off);
        let _saved = tokio::task::block_in_place(off).unwrap();
        Reply::status(500)
    });
    env.try_one().await;
    let stored = env.stored(&webhook).await;
    assert_eq!((stored.enabled, stored.unreported), (false, None));
    assert!(bus.posts().is_empty());
}

#[tokio::test]
async fn one_success_in_time_keeps_a_webhook_on() {
    let env = TestEnv::open().await;
    let (receiver, webhook) = env.subscribe().await;
    receiver.always(Reply::status(500));
    env.send_events(&env.events(1)).await;
    while env.next_retries().await {}
    receiver.script([Reply::status(200)]);
    env.send_events(&env.events(1)).await;
    while env.next_retries().await {}
    assert_eq!(env.stored(&webhook).await.failing_since, None);

    env.hand.advance(2 * 86_400);
    env.send_events(&env.events(1)).await;
    let stored = env.stored(&webhook).await;
    assert_eq!(
        (stored.enabled, stored.failing_since),
        (true, Some(env.hand.now()))
    );
}

#[tokio::test]
async fn every_post_is_stored_with_its_events_where_that_is_enabled() {
    let mut env = TestEnv::open().await;
    env.app.stores_posts = true;
    let receiver = Receiver::start().await.unwrap();
    let webhook = env.hook(&receiver.url());
    env.keep(&webhook).await;
    receiver.script([Reply::with_body(500, "busy")]);

    let events = env.events(2);
    env.send_events(&events).await;
    env.next_retries().await;

    let posts = env.app.store.posts(&webhook.account, &webhook.id);
    let posts = posts.await.unwrap();
    let results: Vec<_> = posts
        .iter()
        .map(|post| (post.attempt, post.accepted, post.status))
        .collect();
    assert_eq!(results, [(2, true, Some(200)), (1, false, Some(500))]);
    assert_eq!(posts[1].answer, "busy");
    for post in &posts {
        assert_eq!(post.url, receiver.url());
        let inside = WebhookRetry::from_text(&post.message).unwrap();
        assert_eq!(inside.events, events);
    }

    env.app.stores_posts = false;
    env.send_events(&env.events(1)).await;
    let after = env.app.store.posts(&webhook.account, &webhook.id);
    assert_eq!(after.await.unwrap(), posts);
}
