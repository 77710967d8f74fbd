//! What a webhook does not take is tried again, in time, and then kept.

use std::time::Duration;

use posthaste_model::{EventKind, Timestamp};
use posthaste_queue::WebhookRetry;
use posthaste_store::DeadLetterFilter;
use posthaste_testkit::{Receiver, Reply};

use crate::office::{SOON, TestEnv, ids};

#[tokio::test]
async fn a_failed_post_is_tried_again_with_the_same_bytes() {
    let office = TestEnv::open().await;
    let receiver = Receiver::start().await.unwrap();
    let mut webhook = office.hook(&receiver.url());
    office.sign(&mut webhook);
    office.keep(&webhook).await;
    receiver.script([
        Reply::status(500),
        Reply::redirect(302, "https://example.com/"),
        Reply::status(404),
        Reply::Drop,
        Reply::Hang,
    ]);
    let start = office.hand.now();

    office.tell(&office.events(3)).await;
    let mut offsets = vec![0];
    while office.next_retries().await {
        offsets.push(office.hand.now().since(start));
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
    let office = TestEnv::open().await;
    let (receiver, _) = office.subscribe().await;
    receiver.script([Reply::retry_after(429, "777")]);

    office.tell(&office.events(1)).await;

    let waiting = office.waiting();
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].1, 777);
    let retry = &waiting[0].0.retry;
    assert_eq!((retry.attempt, retry.last.as_str()), (1, "answered 429"));
    assert_eq!(retry.not_before, office.hand.now().plus(777));
}

#[tokio::test]
async fn what_waits_for_one_webhook_is_posted_together() {
    let office = TestEnv::open().await;
    let (receiver, _) = office.subscribe().await;
    let (other, _) = office.subscribe().await;
    receiver.script([Reply::status(500)]);
    other.script([Reply::status(500)]);
    let early = office.events(2);
    office.tell(&early).await;
    let late: Vec<_> = (0..3).flat_map(|_| office.events(1)).collect();
    for event in &late {
        office.tell(std::slice::from_ref(event)).await;
    }

    // One message that waits for each webhook, and three at once.
    let sent = office.queues.drain("retries");
    assert_eq!(sent.len(), 8);
    let texts: Vec<_> = sent.into_iter().map(|(text, _)| text).collect();
    assert_eq!(office.work(texts).await, [""; 0]);

    for receiver in [&receiver, &other] {
        let posts = receiver.posts();
        assert_eq!(posts.len(), 2);
        let want = late.iter().map(|event| event.id.clone()).collect();
        assert_eq!(ids(&posts[1].body), want);
    }
    let waiting = office.waiting();
    let events: Vec<_> = waiting.iter().map(|(w, _)| w.events.len()).collect();
    assert_eq!(events, [2, 2]);
}

#[tokio::test]
async fn a_message_that_comes_too_early_waits_on() {
    let office = TestEnv::open().await;
    let (receiver, webhook) = office.subscribe().await;
    receiver.script([Reply::retry_after(503, "5000")]);
    office.tell(&office.events(1)).await;
    let (text, delay) = office.queues.drain("retries").remove(0);
    assert_eq!(delay, Duration::from_secs(5000));

    // The queue holds back for 900 s at most.
    for left in [4100, 3200, 2300, 1400, 500] {
        office.hand.advance(900);
        assert_eq!(office.work(vec![text.clone()]).await, [""; 0]);
        let (again, delay) = office.queues.drain("retries").remove(0);
        assert_eq!((again, delay.as_secs()), (text.clone(), left));
    }
    assert_eq!(receiver.posts().len(), 1);
    office.hand.advance(500);
    office.work(vec![text]).await;
    assert_eq!(receiver.posts().len(), 2);
    assert_eq!(office.stored(&webhook).await.failing_since, None);
}

#[tokio::test]
async fn after_a_day_events_are_dead_letters_and_a_replay_delivers_them() {
    let office = TestEnv::open().await;
    let (receiver, webhook) = office.subscribe().await;
    receiver.always(Reply::status(500));
    let events = office.events(3);
    let start = office.hand.now();

    office.tell(&events).await;
    while office.next_retries().await {}

    let posts = receiver.posts().len();
    assert!((15..=25).contains(&posts), "{posts} attempts");
    assert_eq!(office.hand.now().since(start), 24 * 3600);
    let wanted = DeadLetterFilter {
        limit: 9,
        ..DeadLetterFilter::default()
    };
    let letters = office
        .store
        .dead_letters(&office.account, &wanted)
        .await
        .unwrap();
    assert_eq!(letters.len(), 1);
    let letter = &letters[0].value;
    assert_eq!(
        (letter.events, letter.first, letter.last),
        (3, start, start)
    );
    assert_eq!(
        (letter.died_at, letter.reason.as_str()),
        (office.hand.now(), "answered 500")
    );
    assert_eq!(letter.attempts as usize, posts);

    receiver.always(Reply::status(200));
    office.hand.advance(7 * 86_400);
    office.work(vec![letter.message.clone()]).await;
    let last = receiver.posts().pop().unwrap();
    assert_eq!(
        ids(&last.body),
        events.iter().map(|event| event.id.clone()).collect()
    );
    assert_eq!(office.stored(&webhook).await.failing_since, None);
}

#[tokio::test]
async fn who_was_forgotten_meanwhile_is_in_no_dead_letter() {
    let office = TestEnv::open().await;
    let (receiver, _) = office.subscribe().await;
    receiver.always(Reply::status(500));
    let mut bobs = office.event(EventKind::Open);
    bobs.email = "bob@example.com".to_owned();
    let mut before = office.event(EventKind::Open);
    before.email = "Ann@Example.com".to_owned();
    office.tell(&[bobs.clone(), before]).await;
    let store = office.store.clone();
    let erased = store.mark_erased(&office.account, "ann@example.com", office.hand.now());
    erased.await.unwrap();
    office.hand.advance(1);
    let after = office.event(EventKind::Open);
    office.tell(std::slice::from_ref(&after)).await;

    while office.next_retries().await {}

    let wanted = DeadLetterFilter {
        limit: 9,
        ..DeadLetterFilter::default()
    };
    let letters = store.dead_letters(&office.account, &wanted).await.unwrap();
    let buried = letters.iter().flat_map(|row| {
        let inside = WebhookRetry::from_text(&row.value.message).unwrap();
        inside.events
    });
    let buried: Vec<_> = buried.map(|event| event.id).collect();
    assert_eq!(buried, [bobs.id, after.id]);
}

#[tokio::test]
async fn the_day_of_each_event_counts_by_itself() {
    let office = TestEnv::open().await;
    let (receiver, _) = office.subscribe().await;
    receiver.always(Reply::status(500));
    let mut old = office.event(EventKind::Open);
    old.at = office.hand.now().plus(-24 * 3600);
    let young = office.event(EventKind::Open);

    office.tell(&[old.clone(), young.clone()]).await;

    let waiting: Vec<_> = office
        .waiting()
        .into_iter()
        .flat_map(|(w, _)| w.events)
        .collect();
    assert_eq!(waiting, [young]);
    let wanted = DeadLetterFilter {
        limit: 9,
        ..DeadLetterFilter::default()
    };
    let letters = office
        .store
        .dead_letters(&office.account, &wanted)
        .await
        .unwrap();
    assert_eq!(letters.len(), 1);
    let buried = WebhookRetry::from_text(&letters[0].value.message).unwrap();
    assert_eq!(buried.events, [old]);
}

#[tokio::test]
async fn a_webhook_is_asked_at_each_attempt_whether_it_still_wants_them() {
    for (gone, dead) in [(false, 1), (true, 0)] {
        let office = TestEnv::open().await;
        let (receiver, webhook) = office.subscribe().await;
        receiver.script([Reply::status(500)]);
        office.tell(&office.events(1)).await;
        if gone {
            let deleted = office
                .store
                .delete_webhook(&webhook.account, &webhook.id)
                .await;
            assert!(deleted.unwrap());
        } else {
            let off = office
                .store
                .change_webhook(&webhook.account, &webhook.id, |mut hook| {
                    hook.enabled = false;
                    Ok::<_, ()>(hook)
                });
            let _saved = off.await.unwrap().unwrap();
        }

        while office.next_retries().await {}

        assert_eq!(receiver.posts().len(), 1);
        let wanted = DeadLetterFilter {
            limit: 9,
            ..DeadLetterFilter::default()
        };
        let letters = office
            .store
            .dead_letters(&office.account, &wanted)
            .await
            .unwrap();
        assert_eq!(letters.len(), dead, "gone: {gone}");
    }
}

#[tokio::test]
async fn a_webhook_with_oauth_shows_its_token_and_fails_without_one() {
    let office = TestEnv::open().await;
    let receiver = Receiver::start().await.unwrap();
    let server = Receiver::start().await.unwrap();
    let mut webhook = office.hook(&receiver.url());
    office.authorise(&mut webhook, &server.url());
    office.keep(&webhook).await;
    server.script([
        Reply::status(503),
        Reply::with_body(200, r#"{"access_token":"t1","expires_in":3600}"#),
    ]);

    office.tell(&office.events(1)).await;
    assert!(receiver.posts().is_empty());
    office.next_retries().await;
    office.tell(&office.events(1)).await;

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
    let office = TestEnv::open().await;
    let webhook = office.hook("http://10.0.0.1/");
    office.keep(&webhook).await;

    office.tell(&office.events(1)).await;

    let waiting = office.waiting();
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
