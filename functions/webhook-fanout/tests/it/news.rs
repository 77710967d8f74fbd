//! What just happened reaches the webhooks that ask for it.

use std::collections::BTreeSet;
use std::time::Duration;

use posthaste_model::EventKind;
use posthaste_queue::EventBatch;
use posthaste_testkit::FaultProxy;
use posthaste_webhook::event_json;

use crate::office::{SOON, TestEnv, ids};

#[tokio::test]
async fn events_arrive_as_one_post_in_the_published_layout() {
    let office = TestEnv::open().await;
    let (receiver, _) = office.subscribe().await;
    let events = [
        office.event(EventKind::Processed),
        office.event(EventKind::SpamReport),
    ];

    office.tell(&events).await;

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
    assert!(office.waiting().is_empty());
}

#[tokio::test]
async fn a_webhook_gets_the_kinds_it_asks_for_while_it_is_enabled() {
    let office = TestEnv::open().await;
    let all: Vec<_> = EventKind::ALL
        .iter()
        .map(|kind| office.event(*kind))
        .collect();
    for kinds in [
        BTreeSet::from([EventKind::Open]),
        BTreeSet::from([EventKind::Bounce, EventKind::AccountStatusChange]),
        BTreeSet::new(),
    ] {
        let receiver = posthaste_testkit::Receiver::start().await.unwrap();
        let mut webhook = office.hook(&receiver.url());
        webhook.kinds = kinds.clone();
        office.keep(&webhook).await;
        let mut disabled = office.hook(&format!("{}off", receiver.url()));
        disabled.enabled = false;
        office.keep(&disabled).await;

        office.tell(&all).await;

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
    let office = TestEnv::open().await;
    let (ours, _) = office.subscribe().await;
    let neighbour = office.entropy.account_id();
    let theirs = posthaste_testkit::Receiver::start().await.unwrap();
    let mut webhook = office.hook(&theirs.url());
    webhook.account = neighbour.clone();
    office.keep(&webhook).await;
    let our_event = office.event(EventKind::Open);
    let mut their_event = office.event(EventKind::Open);
    their_event.account = neighbour;

    office.tell(&[our_event.clone(), their_event.clone()]).await;

    for (receiver, event) in [(ours, our_event), (theirs, their_event)] {
        let posts = receiver.posts();
        assert_eq!(posts.len(), 1);
        assert_eq!(ids(&posts[0].body), BTreeSet::from([event.id]));
    }
}

#[tokio::test]
async fn events_of_many_messages_travel_together_and_large_posts_are_cut() {
    let office = TestEnv::open().await;
    let (receiver, _) = office.subscribe().await;
    let mut events = office.events(3_000);
    for event in &mut events {
        event.response = Some("x".repeat(400));
    }

    office.tell(&events).await;

    let posts = receiver.posts();
    assert!((2..=4).contains(&posts.len()), "{} posts", posts.len());
    assert!(posts.iter().all(|post| post.body.len() <= 768 * 1024));
    let got: BTreeSet<_> = posts.iter().flat_map(|post| ids(&post.body)).collect();
    assert_eq!(got, events.iter().map(|event| event.id.clone()).collect());
}

#[tokio::test]
async fn a_signed_post_carries_the_signature_of_its_bytes() {
    let office = TestEnv::open().await;
    let receiver = posthaste_testkit::Receiver::start().await.unwrap();
    let mut webhook = office.hook(&receiver.url());
    office.sign(&mut webhook);
    office.keep(&webhook).await;

    office.tell(&office.events(2)).await;

    let post = receiver.next(SOON).await.unwrap();
    let time = post.header("x-twilio-email-event-webhook-timestamp");
    assert_eq!(time, office.hand.now().to_string());
    let place = posthaste_webhook::signing_place(&webhook.account, &webhook.id);
    let private = webhook.signing.unwrap().private_key;
    let pair = office.app.sealer.open_pair(&place, &private).unwrap();
    let want = pair.sign(time, &post.body);
    assert_eq!(post.header("x-twilio-email-event-webhook-signature"), want);
}

#[tokio::test]
async fn what_cannot_be_read_comes_again_alone_until_it_is_a_dead_letter() {
    let office = TestEnv::open().await;
    let (receiver, _) = office.subscribe().await;
    let mut messages = EventBatch::to_texts(&office.events(1)).unwrap();
    messages.extend([
        "".to_owned(),
        "{}".to_owned(),
        r#"{"v":9,"events":[]}"#.to_owned(),
    ]);

    assert_eq!(office.work(messages).await, ["1", "2", "3"]);

    assert_eq!(receiver.posts().len(), 1);
}

#[tokio::test]
async fn when_failures_cannot_be_kept_only_their_messages_come_again() {
    let office = TestEnv::open().await;
    let (receiver, _) = office.subscribe().await;
    receiver.always(posthaste_testkit::Reply::status(500));
    let mut strange = office.event(EventKind::Open);
    strange.account = office.entropy.account_id();
    let message = |event| EventBatch::to_texts(&[event]).unwrap().remove(0);
    let messages = vec![message(strange), message(office.event(EventKind::Open))];
    office.queues.set_broken(true);

    assert_eq!(office.work(messages.clone()).await, ["1"]);

    office.queues.set_broken(false);
    assert_eq!(office.work(messages).await, [""; 0]);
}

#[tokio::test]
async fn rows_to_search_by_are_written_only_where_they_are_wanted() {
    const DAY: i64 = 86_400;
    let mut office = TestEnv::open().await;
    let event = office.event(EventKind::Delivered);
    office.row_of(&event).await;
    let found = async |office: &TestEnv| {
        let found = office.store.seek(&office.account, None, None, 10).await;
        found.unwrap().rows
    };
    office.tell(std::slice::from_ref(&event)).await;
    assert!(found(&office).await.is_empty());

    office.app.searchable = Some(7 * DAY);
    for _ in 0..2 {
        office.tell(std::slice::from_ref(&event)).await;
        let rows = found(&office).await;
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].to, "ann@example.com");
        assert_eq!(rows[0].subject, "Hello");
        assert_eq!(rows[0].expires, office.hand.now().plus(7 * DAY));
    }
}

#[tokio::test]
async fn trouble_with_statistics_holds_back_no_post_and_makes_none_twice() {
    let meddler = FaultProxy::default();
    let office = TestEnv::over(meddler.table().await);
    let (receiver, _) = office.subscribe().await;
    meddler.deny("TransactWriteItems", 1);

    office.tell(&office.events(3)).await;

    assert_eq!(receiver.posts().len(), 1);
    assert_eq!(office.counted("", "delivered").await, 0);
    let (text, delay) = office.queues.drain("retries").remove(0);
    assert_eq!(delay, Duration::from_secs(60));
    meddler.deny("TransactWriteItems", 1);
    assert_eq!(office.work(vec![text.clone()]).await, ["0"]);
    for _ in 0..2 {
        assert_eq!(office.work(vec![text.clone()]).await, [""; 0]);
    }
    assert_eq!(office.counted("", "delivered").await, 3);
    assert_eq!(receiver.posts().len(), 1);
}

#[tokio::test]
async fn counters_that_collide_hold_back_nothing() {
    let meddler = FaultProxy::default();
    let office = TestEnv::over(meddler.table().await);
    let (receiver, _) = office.subscribe().await;
    meddler.collide(2);

    office.tell(&office.events(3)).await;

    assert_eq!(receiver.posts().len(), 1);
    assert_eq!(office.counted("", "delivered").await, 3);
    assert!(office.queues.drain("retries").is_empty());
}
