//! What just happened reaches the webhooks that ask for it.

use std::collections::BTreeSet;
use std::time::Duration;

use posthaste_model::EventKind;
use posthaste_queue::EventBatch;
use posthaste_testkit::FaultProxy;
use posthaste_webhook::event_json;

use crate::env::{SOON, TestEnv, ids};

#[tokio::test]
async fn events_arrive_as_one_post_in_the_published_layout() {
    let env = TestEnv::open().await;
    let (receiver, _) = env.subscribe().await;
    let events = [
        env.event(EventKind::Processed),
        env.event(EventKind::SpamReport),
    ];

    env.send_events(&events).await;

    let post = receiver.next(SOON).await.unwrap();
    let [first, second] = events.each_ref().map(event_json);
    assert_eq!(post.body, format!("[{first},\r\n{second}]\r\n"));
    assert_eq!(post.header("user-agent"), "SendGrid Event API");
    assert_eq!(
        post.header("content-type"),
        "application/json;charset=utf-8"
    );
    assert_eq!(post.header("authorization"), "");
    assert_eq!(receiver.posts().len(), 1);
    assert!(env.waiting().is_empty());
}

#[tokio::test]
async fn a_webhook_gets_the_kinds_it_asks_for_while_it_is_enabled() {
    let env = TestEnv::open().await;
    let all: Vec<_> = EventKind::ALL.iter().map(|kind| env.event(*kind)).collect();
    for kinds in [
        BTreeSet::from([EventKind::Open]),
        BTreeSet::from([EventKind::Bounce, EventKind::AccountStatusChange]),
        BTreeSet::new(),
    ] {
        let receiver = posthaste_testkit::Receiver::start().await.unwrap();
        let mut webhook = env.hook(&receiver.url());
        webhook.kinds = kinds.clone();
        env.keep(&webhook).await;
        let mut disabled = env.hook(&format!("{}off", receiver.url()));
        disabled.enabled = false;
        env.keep(&disabled).await;

        env.send_events(&all).await;

        let want: BTreeSet<_> = all
            .iter()
            .filter(|e| kinds.contains(&e.kind))
            .collect::<Vec<_>>()
            .into_iter()
            .map(|e| e.id.clone())
            .collect();
        let posts = receiver.posts();
        let got: BTreeSet<_> = posts.iter().flat_map(|post| ids(&post.body)).collect();
        assert_eq!((got, posts.len()), (want, usize::from(!kinds.is_empty())));
    }
}

#[tokio::test]
async fn accounts_hear_of_their_own_events_only() {
    let env = TestEnv::open().await;
    let (ours, _) = env.subscribe().await;
    let neighbour = env.entropy.account_id();
    let theirs = posthaste_testkit::Receiver::start().await.unwrap();
    let mut webhook = env.hook(&theirs.url());
    webhook.account = neighbour.clone();
    env.keep(&webhook).await;
    let our_event = env.event(EventKind::Open);
    let mut their_event = env.event(EventKind::Open);
    their_event.account = neighbour;

    env.send_events(&[our_event.clone(), their_event.clone()])
        .await;

    for (receiver, event) in [(ours, our_event), (theirs, their_event)] {
        let posts = receiver.posts();
        assert_eq!(posts.len(), 1);
        assert_eq!(ids(&posts[0].body), BTreeSet::from([event.id]));
    }
}

#[tokio::test]
async fn events_of_many_messages_travel_together_and_large_posts_are_cut() {
    let env = TestEnv::open().await;
    let (receiver, _) = env.subscribe().await;
    let mut events = env.events(3_000);
    for event in &mut events {
        event.response = Some("x".repeat(400));
    }

    env.send_events(&events).await;

    let posts = receiver.posts();
    assert!((2..=4).contains(&posts.len()), "{} posts", posts.len());
    assert!(posts.iter().all(|post| post.body.len() <= 768 * 1024));
    let got: BTreeSet<_> = posts.iter().flat_map(|post| ids(&post.body)).collect();
    assert_eq!(got, events.iter().map(|event| event.id.clone()).collect());
}

#[tokio::test]
async fn a_signed_post_carries_the_signature_of_its_bytes() {
    let env = TestEnv::open().await;
    let receiver = posthaste_testkit::Receiver::start().await.unwrap();
    let mut webhook = env.hook(&receiver.url());
    env.sign(&mut webhook);
    env.keep(&webhook).await;

    env.send_events(&env.events(2)).await;

    let post = receiver.next(SOON).await.unwrap();
    let time = post.header("x-twilio-email-event-webhook-timestamp");
    assert_eq!(time, env.hand.now().to_string());
    let place = posthaste_webhook::signing_place(&webhook.account, &webhook.id);
    let private = webhook.signing.unwrap().private_key;
    let pair = env.app.sealer.open_pair(&place, &private).unwrap();
    let want = pair.sign(time, &post.body);
    assert_eq!(post.header("x-twilio-email-event-webhook-signature"), want);
}

#[tokio::test]
async fn what_cannot_be_read_comes_again_alone_until_it_is_a_dead_letter() {
    let env = TestEnv::open().await;
    let (receiver, _) = env.subscribe().await;
    let mut messages = EventBatch::to_texts(&env.events(1)).unwrap();
    messages.extend([
        "".to_owned(),
        "{}".to_owned(),
        r#"{"v":9,"events":[]}"#.to_owned(),
    ]);

    assert_eq!(env.work(messages).await, ["1", "2", "3"]);

    assert_eq!(receiver.posts().len(), 1);
}

#[tokio::test]
async fn when_failures_cannot_be_kept_only_their_messages_come_again() {
    let env = TestEnv::open().await;
    let (receiver, _) = env.subscribe().await;
    receiver.always(posthaste_testkit::Reply::status(500));
    let mut strange = env.event(EventKind::Open);
    strange.account = env.entropy.account_id();
    let message = |event| EventBatch::to_texts(&[event]).unwrap().remove(0);
    let messages = vec![message(strange), message(env.event(EventKind::Open))];
    env.queues.set_broken(true);

    assert_eq!(env.work(messages.clone()).await, ["1"]);

    env.queues.set_broken(false);
    assert_eq!(env.work(messages).await, [""; 0]);
}

#[tokio::test]
async fn rows_to_search_by_are_written_only_where_they_are_wanted() {
    const DAY: i64 = 86_400;
    let mut env = TestEnv::open().await;
    let event = env.event(EventKind::Delivered);
    env.row_of(&event).await;
    let found = async |env: &TestEnv| {
        let found = env.store.seek(&env.account, None, None, 10).await;
        found.unwrap().rows
    };
    env.send_events(std::slice::from_ref(&event)).await;
    assert!(found(&env).await.is_empty());

    env.app.searchable = Some(7 * DAY);
    for _ in 0..2 {
        env.send_events(std::slice::from_ref(&event)).await;
        let rows = found(&env).await;
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].to, "ann@example.com");
        assert_eq!(rows[0].subject, "Hello");
        assert_eq!(rows[0].expires, env.hand.now().plus(7 * DAY));
    }
}

#[tokio::test]
async fn trouble_with_statistics_holds_back_no_post_and_makes_none_twice() {
    let meddler = FaultProxy::default();
    let env = TestEnv::over(meddler.table().await);
    let (receiver, _) = env.subscribe().await;
    meddler.deny("TransactWriteItems", 1);

    env.send_events(&env.events(3)).await;

    assert_eq!(receiver.posts().len(), 1);
    assert_eq!(env.counted("", "delivered").await, 0);
    let (text, delay) = env.queues.drain("retries").remove(0);
    assert_eq!(delay, Duration::from_secs(60));
    meddler.deny("TransactWriteItems", 1);
    assert_eq!(env.work(vec![text.clone()]).await, ["0"]);
    for _ in 0..2 {
        assert_eq!(env.work(vec![text.clone()]).await, [""; 0]);
    }
    assert_eq!(env.counted("", "delivered").await, 3);
    assert_eq!(receiver.posts().len(), 1);
}

#[tokio::test]
async fn counters_that_collide_hold_back_nothing() {
    let meddler = FaultProxy::default();
    let env = TestEnv::over(meddler.table().await);
    let (receiver, _) = env.subscribe().await;
    meddler.collide(2);

    env.send_events(&env.events(3)).await;

    assert_eq!(receiver.posts().len(), 1);
    assert_eq!(env.counted("", "delivered").await, 3);
    assert!(env.queues.drain("retries").is_empty());
}
