//! What a webhook does not take is tried again, in time, and then kept.

use std::time::Duration;

use posthaste_model::{EventKind, Timestamp};
use posthaste_queue::WebhookRetry;
use posthaste_store::{DeadLetterFilter, StoreError};
use posthaste_testkit::{Receiver, Reply};

use crate::env::{SOON, TestEnv, ids};

#[tokio::test]
async fn a_failed_post_is_tried_again_with_the_same_bytes() {
    let env = TestEnv::open().await;
    let receiver = Receiver::start().await.unwrap();
    let mut webhook = env.hook(&receiver.url());
    env.sign(&mut webhook);
    env.keep(&webhook).await;
    receiver.script([
        Reply::status(500),
        Reply::redirect(302, "https://example.com/"),
        Reply::status(404),
        Reply::Drop,
        Reply::Hang,
    ]);
    let start = env.hand.now();

    env.send_events(&env.events(3)).await;
    let mut offsets = vec![0];
    while env.next_retries().await {
        offsets.push(env.hand.now().since(start));
    }

    let posts = receiver.posts();
    assert_eq!(posts.len(), 6);
    assert!(posts.iter().all(|post| post.body == posts[0].body));
    let stamp = |n: usize| {
        posts[n]
            .header("x-twilio-email-event-webhook-timestamp")
            .to_owned()
    };
    assert_ne!(stamp(0), stamp(5));
    // 30 s, doubling, up to a fifth later.
    for (n, base) in [30, 60, 120, 240, 480].into_iter().enumerate() {
        let gap = offsets[n + 1] - offsets[n];
        assert!((base..=base + base / 5).contains(&gap), "{offsets:?}");
    }
}

#[tokio::test]
async fn retry_after_is_honoured() {
    let env = TestEnv::open().await;
    let (receiver, _) = env.subscribe().await;
    receiver.script([Reply::retry_after(429, "777")]);

    env.send_events(&env.events(1)).await;

    let waiting = env.waiting();
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].1, 777);
    let retry = &waiting[0].0.retry;
    assert_eq!((retry.attempt, retry.last.as_str()), (1, "answered 429"));
    assert_eq!(retry.not_before, env.hand.now().plus(777));
}

#[tokio::test]
async fn what_waits_for_one_webhook_is_posted_together() {
    let env = TestEnv::open().await;
    let (receiver, _) = env.subscribe().await;
    let (other, _) = env.subscribe().await;
    receiver.script([Reply::status(500)]);
    other.script([Reply::status(500)]);
    let early = env.events(2);
    env.send_events(&early).await;
    let late: Vec<_> = (0..3).flat_map(|_| env.events(1)).collect();
    for event in &late {
        env.send_events(std::slice::from_ref(event)).await;
    }

    // One message that waits for each webhook, and three at once.
    let sent = env.queues.drain("retries");
    assert_eq!(sent.len(), 8);
    let texts: Vec<_> = sent.into_iter().map(|(text, _)| text).collect();
    assert_eq!(env.work(texts).await, [""; 0]);

    for receiver in [&receiver, &other] {
        let posts = receiver.posts();
        assert_eq!(posts.len(), 2);
        let want = late.iter().map(|event| event.id.clone()).collect();
        assert_eq!(ids(&posts[1].body), want);
    }
    let waiting = env.waiting();
    let events: Vec<_> = waiting.iter().map(|(w, _)| w.events.len()).collect();
    assert_eq!(events, [2, 2]);
}

#[tokio::test]
async fn a_message_that_comes_too_early_waits_on() {
    let env = TestEnv::open().await;
    let (receiver, webhook) = env.subscribe().await;
    receiver.script([Reply::retry_after(503, "5000")]);
    env.send_events(&env.events(1)).await;
    let (text, delay) = env.queues.drain("retries").remove(0);
    assert_eq!(delay, Duration::from_secs(5000));

    // The queue holds back for 900 s at most.
    for left in [4100, 3200, 2300, 1400, 500] {
        env.hand.advance(900);
        assert_eq!(env.work(vec![text.clone()]).await, [""; 0]);
        let (again, delay) = env.queues.drain("retries").remove(0);
        assert_eq!((again, delay.as_secs()), (text.clone(), left));
    }
    assert_eq!(receiver.posts().len(), 1);
    env.hand.advance(500);
    env.work(vec![text]).await;
    assert_eq!(receiver.posts().len(), 2);
    assert_eq!(env.stored(&webhook).await.failing_since, None);
}

#[tokio::test]
async fn after_a_day_events_are_dead_letters_and_a_replay_delivers_them() {
    let env = TestEnv::open().await;
    let (receiver, webhook) = env.subscribe().await;
    receiver.always(Reply::status(500));
    let events = env.events(3);
    let start = env.hand.now();

    env.send_events(&events).await;
    while env.next_retries().await {}

    let posts = receiver.posts().len();
    assert!((15..=25).contains(&posts), "{posts} attempts");
    assert_eq!(env.hand.now().since(start), 24 * 3600);
    let wanted = DeadLetterFilter {
        limit: 9,
        ..DeadLetterFilter::default()
    };
    let letters = env.store.dead_letters(&env.account, &wanted).await.unwrap();
    assert_eq!(letters.len(), 1);
    let letter = &letters[0].value;
    assert_eq!(
        (letter.events, letter.first, letter.last),
        (3, start, start)
    );
    assert_eq!(
        (letter.died_at, letter.reason.as_str()),
        (env.hand.now(), "answered 500")
    );
    assert_eq!(letter.attempts as usize, posts);

    receiver.always(Reply::status(200));
    env.hand.advance(7 * 86_400);
    env.work(vec![letter.message.clone()]).await;
    let last = receiver.posts().pop().unwrap();
    assert_eq!(
        ids(&last.body),
        events.iter().map(|event| event.id.clone()).collect()
    );
    assert_eq!(env.stored(&webhook).await.failing_since, None);
}

#[tokio::test]
async fn who_was_forgotten_meanwhile_is_in_no_dead_letter() {
    let env = TestEnv::open().await;
    let (receiver, _) = env.subscribe().await;
    receiver.always(Reply::status(500));
    let mut bobs = env.event(EventKind::Open);
    bobs.email = "bob@example.com".to_owned();
    let mut before = env.event(EventKind::Open);
    before.email = "Ann@Example.com".to_owned();
    env.send_events(&[bobs.clone(), before]).await;
    let store = env.store.clone();
    let erased = store.mark_erased(&env.account, "ann@example.com", env.hand.now());
    erased.await.unwrap();
    env.hand.advance(1);
    let after = env.event(EventKind::Open);
    env.send_events(std::slice::from_ref(&after)).await;

    while env.next_retries().await {}

    let wanted = DeadLetterFilter {
        limit: 9,
        ..DeadLetterFilter::default()
    };
    let letters = store.dead_letters(&env.account, &wanted).await.unwrap();
    let buried = letters.iter().flat_map(|row| {
        let inside = WebhookRetry::from_text(&row.value.message).unwrap();
        inside.events
    });
    let buried: Vec<_> = buried.map(|event| event.id).collect();
    assert_eq!(buried, [bobs.id, after.id]);
}

#[tokio::test]
async fn the_day_of_each_event_counts_by_itself() {
    let env = TestEnv::open().await;
    let (receiver, _) = env.subscribe().await;
    receiver.always(Reply::status(500));
    let mut old = env.event(EventKind::Open);
    old.at = env.hand.now().plus(-24 * 3600);
    let young = env.event(EventKind::Open);

    env.send_events(&[old.clone(), young.clone()]).await;

    let waiting: Vec<_> = env
        .waiting()
        .into_iter()
        .flat_map(|(w, _)| w.events)
        .collect();
    assert_eq!(waiting, [young]);
    let wanted = DeadLetterFilter {
        limit: 9,
        ..DeadLetterFilter::default()
    };
    let letters = env.store.dead_letters(&env.account, &wanted).await.unwrap();
    assert_eq!(letters.len(), 1);
    let buried = WebhookRetry::from_text(&letters[0].value.message).unwrap();
    assert_eq!(buried.events, [old]);
}

#[tokio::test]
async fn a_webhook_is_asked_at_each_attempt_whether_it_still_wants_them() {
    for (gone, dead) in [(false, 1), (true, 0)] {
        let env = TestEnv::open().await;
        let (receiver, webhook) = env.subscribe().await;
        receiver.script([Reply::status(500)]);
        env.send_events(&env.events(1)).await;
        if gone {
            let deleted = env
                .store
                .delete_webhook(&webhook.account, &webhook.id)
                .await;
            assert!(deleted.unwrap());
        } else {
            let off = env
                .store
                .change_webhook(&webhook.account, &webhook.id, |mut hook| {
                    hook.enabled = false;
                    Ok::<_, StoreError>(hook)
                });
            let _saved = off.await.unwrap();
        }

        while env.next_retries().await {}

        assert_eq!(receiver.posts().len(), 1);
        let wanted = DeadLetterFilter {
            limit: 9,
            ..DeadLetterFilter::default()
        };
        let letters = env.store.dead_letters(&env.account, &wanted).await.unwrap();
        assert_eq!(letters.len(), dead, "gone: {gone}");
    }
}

#[tokio::test]
async fn a_webhook_with_oauth_shows_its_token_and_fails_without_one() {
    let env = TestEnv::open().await;
    let receiver = Receiver::start().await.unwrap();
    let server = Receiver::start().await.unwrap();
    let mut webhook = env.hook(&receiver.url());
    env.authorise(&mut webhook, &server.url());
    env.keep(&webhook).await;
    server.script([
        Reply::status(503),
        Reply::with_body(200, r#"{"access_token":"t1","expires_in":3600}"#),
    ]);

    env.send_events(&env.events(1)).await;
    assert!(receiver.posts().is_empty());
    env.next_retries().await;
    env.send_events(&env.events(1)).await;

    // The base64 of `client:hush`.
    let asked = server.next(SOON).await.unwrap();
    assert_eq!(asked.header("authorization"), "Basic Y2xpZW50Omh1c2g=");
    let shown: Vec<_> = receiver
        .posts()
        .iter()
        .map(|p| p.header("authorization").to_owned())
        .collect();
    assert_eq!(shown, ["Bearer t1", "Bearer t1"]);
    assert_eq!(server.posts().len(), 2);
}

#[tokio::test]
async fn a_private_address_is_refused_at_every_attempt_and_the_reason_is_kept() {
    let env = TestEnv::open().await;
    let webhook = env.hook("http://10.0.0.1/");
    env.keep(&webhook).await;

    env.send_events(&env.events(1)).await;

    let waiting = env.waiting();
    let retry = &waiting[0].0.retry;
    assert_eq!(
        (retry.attempt, retry.last.as_str()),
        (
            1,
            "refused: the host has a private address, which is not permitted"
        )
    );
    assert!(retry.not_before > Timestamp(0));
}
