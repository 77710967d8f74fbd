//! A webhook that fails is remembered, kept apart from the others, and in the end switched off.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use posthaste_queue::Bus;
use posthaste_testkit::{Receiver, Reply, dynamodb};
use serde_json::{Value, json};
use webhook_fanout::Watch;

use crate::office::{SOON, TestEnv};

#[tokio::test]
async fn a_dead_receiver_does_not_delay_a_live_one() {
    let office = TestEnv::open().await;
    let (dead, _) = office.subscribe().await;
    let (live, _) = office.subscribe().await;
    dead.always(Reply::Hang);

    let start = tokio::time::Instant::now();
    office.tell(&office.events(5)).await;
    let whole = start.elapsed();

    let arrived = live.next(SOON).await.unwrap().at - start;
    assert!(whole >= Duration::from_millis(300), "{whole:?}");
    assert!(arrived < whole / 2, "{arrived:?} of {whole:?}");
}

#[tokio::test]
async fn while_a_webhook_fails_its_news_takes_the_road_of_retries() {
    let office = TestEnv::open().await;
    let (receiver, webhook) = office.subscribe().await;
    receiver.script([Reply::status(500)]);
    office.tell(&office.events(1)).await;
    assert_eq!(
        office.stored(&webhook).await.failing_since,
        Some(office.hand.now())
    );

    office.hand.advance(5);
    office.tell(&office.events(1)).await;

    assert_eq!(receiver.posts().len(), 1);
    // The news is tried at once, by whoever works on the retries.
    let sent = office.queues.drain("retries");
    let delays: Vec<_> = sent.iter().map(|(_, delay)| delay.as_secs()).collect();
    assert!(delays[0] >= 30 && delays[1] == 0, "{delays:?}");
    office.work(vec![sent[1].0.clone()]).await;
    assert_eq!(receiver.posts().len(), 2);
    assert_eq!(office.stored(&webhook).await.failing_since, None);
    office.tell(&office.events(1)).await;
    assert_eq!(receiver.posts().len(), 3);
}

#[tokio::test]
async fn what_one_process_found_slow_is_waited_for_by_no_other() {
    let mut office = TestEnv::open().await;
    let (slow, webhook) = office.subscribe().await;
    let others = [office.twin(), office.twin()];
    // To this one every answer is slow.
    office.app.retry_policy.slow_ms = 0;
    office.tell(&office.events(1)).await;
    let stored = office.stored(&webhook).await;
    assert_eq!(
        (stored.slow_since, stored.failing_since),
        (Some(office.hand.now()), None)
    );

    let (live, _) = office.subscribe().await;
    for other in &others {
        other.tell(&other.events(1)).await;
    }
    assert_eq!((slow.posts().len(), live.posts().len()), (1, 2));

    // Its news is posted at once, by whoever works on the retries; a slow answer changes nothing.
    let sent = office.queues.drain("retries");
    let delays: Vec<_> = sent.iter().map(|(_, delay)| delay.as_secs()).collect();
    assert_eq!(delays, [0, 0]);
    office.work(vec![sent[0].0.clone()]).await;
    let still = office.stored(&webhook).await;
    assert_eq!(still, stored);
    // A quick one does.
    others[0].work(vec![sent[1].0.clone()]).await;
    assert_eq!(slow.posts().len(), 3);
    assert_eq!(office.stored(&webhook).await.slow_since, None);
    others[1].tell(&others[1].events(1)).await;
    assert_eq!(slow.posts().len(), 4);
}

#[tokio::test]
async fn a_silent_receiver_is_not_waited_for_again_and_again() {
    let office = TestEnv::open().await;
    let (receiver, _) = office.subscribe().await;
    receiver.always(Reply::Hang);
    for _ in 0..6 {
        office.tell(&office.events(1)).await;
        let due: Vec<_> = office
            .queues
            .drain("retries")
            .into_iter()
            .map(|(text, _)| text)
            .collect();
        office.work(due).await;
    }
    // Three silences, then nobody waits for half a minute.
    assert_eq!(receiver.posts().len(), 3);

    office.hand.advance(31);
    let due: Vec<_> = office
        .queues
        .drain("retries")
        .into_iter()
        .map(|(text, _)| text)
        .collect();
    let waiting = due.len();
    assert!(waiting > 1, "{waiting}");
    office.hand.advance(3600);
    office.work(due).await;
    assert_eq!(receiver.posts().len(), 4);
}

#[tokio::test]
async fn a_silent_token_url_is_not_waited_for_again_and_again() {
    let office = TestEnv::open().await;
    let [receiver, server] = [Receiver::start().await, Receiver::start().await];
    let (receiver, server) = (receiver.unwrap(), server.unwrap());
    let mut webhook = office.hook(&receiver.url());
    office.authorise(&mut webhook, &server.url());
    office.keep(&webhook).await;
    server.always(Reply::Hang);
    for _ in 0..6 {
        office.tell(&office.events(1)).await;
        let due = office.queues.drain("retries").into_iter();
        office.work(due.map(|(text, _)| text).collect()).await;
        // A failure speaks for five seconds.
        office.hand.advance(6);
    }
    assert_eq!(server.posts().len(), 3);
    assert!(receiver.posts().is_empty());
}

#[tokio::test]
async fn a_webhook_that_fails_for_days_is_switched_off_and_its_events_are_kept() {
    let office = TestEnv::open().await;
    let (receiver, webhook) = office.subscribe().await;
    receiver.always(Reply::status(500));
    for day in 0..2 {
        office.tell(&office.events(1)).await;
        while office.next_retries().await {}
        let stored = office.stored(&webhook).await;
        assert!(stored.enabled, "day {day}");
    }

    office.tell(&office.events(1)).await;
    office.next_retries().await;
    office.hand.advance(600);
    office.tell(&office.events(1)).await;
    while office.stored(&webhook).await.enabled {
        assert!(office.next_retries().await);
    }

    let stored = office.stored(&webhook).await;
    assert!(!stored.enabled);
    assert_eq!(stored.updated_at, office.hand.now());
    let posts = receiver.posts().len();
    while office.next_retries().await {}
    assert_eq!(receiver.posts().len(), posts);
    let wanted = posthaste_store::DeadLetterFilter {
        limit: 9,
        ..Default::default()
    };
    let letters = office
        .store
        .dead_letters(&office.account, &wanted)
        .await
        .unwrap();
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
    /// Somebody listens on the bus, and takes what is told.
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
        self.tell(&self.events(1)).await;
        let texts = self.queues.drain("retries").into_iter();
        self.work(texts.map(|(text, _)| text).collect()).await;
        // What waits now is of no interest.
        self.queues.drain("retries");
    }
}

#[tokio::test]
async fn the_bus_hears_of_a_webhook_that_is_switched_off_once_and_surely() {
    let mut office = TestEnv::open().await;
    let bus = office.listener().await;
    let refused = r#"{"FailedEntryCount":1,"Entries":[{"ErrorCode":"InternalFailure"}]}"#;
    bus.script([Reply::with_body(200, refused)]);
    let (receiver, webhook) = office.subscribe().await;
    receiver.always(Reply::status(500));
    let start = office.hand.now();
    office.try_one().await;
    office.hand.advance(LONG - 1);
    office.try_one().await;
    assert!(office.stored(&webhook).await.enabled);
    assert!(bus.posts().is_empty());

    office.hand.advance(1);
    office.try_one().await;
    assert!(!office.stored(&webhook).await.enabled);
    assert_eq!(bus.posts().len(), 1);
    // The bus did not take it: the next event of the account brings it again.
    for _ in 0..2 {
        office.tell(&office.events(1)).await;
        assert_eq!(bus.posts().len(), 2);
    }
    assert_eq!(office.stored(&webhook).await.untold, None);

    let told: Value = serde_json::from_slice(&bus.posts()[1].body).unwrap();
    let told = &told["Entries"][0];
    assert_eq!(
        (&told["Source"], &told["DetailType"]),
        (&json!("posthaste"), &json!("Webhook Disabled"))
    );
    let detail: Value = serde_json::from_str(told["Detail"].as_str().unwrap()).unwrap();
    let want = json!({
        "account": office.account, "webhook_id": webhook.id, "friendly_name": null,
        "failing_since": start, "reason": "answered 500",
    });
    assert_eq!(detail, want);
}

#[tokio::test]
async fn what_waits_for_the_webhook_brings_the_notice_too() {
    let mut office = TestEnv::open().await;
    let bus = office.listener().await;
    let (receiver, mut webhook) = office.subscribe().await;
    receiver.script([Reply::status(500)]);
    office.tell(&office.events(1)).await;
    webhook.enabled = false;
    webhook.untold = Some("answered 500".to_owned());
    let off = webhook.clone();
    let off = |_| Ok::<_, ()>(off.clone());
    let changed = office
        .store
        .change_webhook(&webhook.account, &webhook.id, off);
    let _saved = changed.await.unwrap().unwrap();
    office.next_retries().await;
    assert_eq!(bus.posts().len(), 1);
    assert_eq!(office.stored(&webhook).await.untold, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_who_switches_a_failing_webhook_off_himself_is_not_told() {
    let mut office = TestEnv::open().await;
    let bus = office.listener().await;
    let (receiver, webhook) = office.subscribe().await;
    receiver.always(Reply::status(500));
    office.try_one().await;
    office.hand.advance(LONG);
    // While the post is under way.
    let (store, hook) = (office.store.clone(), webhook.clone());
    receiver.decide(move |_| {
        let off = store.change_webhook(&hook.account, &hook.id, |mut webhook| {
            webhook.enabled = false;
            Ok::<_, ()>(webhook)
        });
        let off = || tokio::runtime::Handle::current().block_on(off);
        let _saved = tokio::task::block_in_place(off).unwrap().unwrap();
        Reply::status(500)
    });
    office.try_one().await;
    let stored = office.stored(&webhook).await;
    assert_eq!((stored.enabled, stored.untold), (false, None));
    assert!(bus.posts().is_empty());
}

#[tokio::test]
async fn one_success_in_time_keeps_a_webhook_on() {
    let office = TestEnv::open().await;
    let (receiver, webhook) = office.subscribe().await;
    receiver.always(Reply::status(500));
    office.tell(&office.events(1)).await;
    while office.next_retries().await {}
    receiver.script([Reply::status(200)]);
    office.tell(&office.events(1)).await;
    while office.next_retries().await {}
    assert_eq!(office.stored(&webhook).await.failing_since, None);

    office.hand.advance(2 * 86_400);
    office.tell(&office.events(1)).await;
    let stored = office.stored(&webhook).await;
    assert_eq!(
        (stored.enabled, stored.failing_since),
        (true, Some(office.hand.now()))
    );
}

#[tokio::test]
async fn every_post_is_shown_to_whoever_watches() {
    let mut office = TestEnv::open().await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&seen);
    office.app.watch = Watch::new(move |posted| {
        let line = format!(
            "{} {} {}",
            posted.attempt,
            posted.events.len(),
            posted.outcome
        );
        notes.lock().unwrap().push(line);
    });
    let receiver = Receiver::start().await.unwrap();
    office.keep(&office.hook(&receiver.url())).await;
    receiver.script([Reply::status(500)]);

    office.tell(&office.events(2)).await;
    office.next_retries().await;

    assert_eq!(
        *seen.lock().unwrap(),
        ["1 2 answered 500", "2 2 answered 200"]
    );
}
