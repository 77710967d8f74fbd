//! Posts to webhooks.

use posthaste_model::{AccountId, WebhookId};
use posthaste_store::{LISTED_POSTS, POST_LIFE, WebhookPost};
use posthaste_testkit::{Scale, TestClock};

use crate::NOW;

fn hook(n: u8) -> WebhookId {
    WebhookId::from_bytes([n; 16])
}

fn account() -> AccountId {
    AccountId::from_bytes([3; 10])
}

fn post(n: usize, accepted: bool) -> WebhookPost {
    WebhookPost {
        account: account(),
        webhook: hook(1),
        at: NOW.plus(i64::try_from(n).unwrap()),
        attempt: 1,
        url: "https://hook.example/".to_owned(),
        accepted,
        status: Some(if accepted { 200 } else { 503 }),
        answer: "a".repeat(10_000),
        took_ms: Some(7),
        signature: None,
        message: format!("post {n}"),
    }
}

#[tokio::test]
async fn the_last_posts_of_a_webhook_are_listed_with_those_that_failed() {
    let (scale, store) = Scale::table().await;
    for n in 0..400 {
        store.put_post(&post(n, n % 50 != 0)).await.unwrap();
    }
    let other = WebhookPost {
        webhook: hook(2),
        ..post(7, true)
    };
    store.put_post(&other).await.unwrap();
    let posts = store.posts(&account(), &hook(1)).await.unwrap();
    let failed: Vec<_> = posts.iter().filter(|post| !post.accepted).collect();
    assert_eq!((posts.len(), failed.len()), (LISTED_POSTS + 8, 8));
    assert!(posts.is_sorted_by_key(|post| std::cmp::Reverse(post.at)));
    assert_eq!(posts[0].message, "post 399");
    assert!(posts.iter().all(|post| post.answer.len() <= 1_024));
    // Older ones do not pile up.
    let rows = scale
        .rows("")
        .into_iter()
        .filter(|row| row.pk.starts_with("POSTS#"));
    assert!(rows.count() < 2 * LISTED_POSTS);
}

#[tokio::test]
async fn a_post_that_is_stored_twice_is_one_and_goes_after_a_week() {
    let (_, store) = Scale::table().await;
    let hand = TestClock::at(NOW);
    let store = store.with_clock(hand.clock());
    for _ in 0..2 {
        store.put_post(&post(1, false)).await.unwrap();
    }
    let again = WebhookPost {
        attempt: 2,
        ..post(1, false)
    };
    store.put_post(&again).await.unwrap();
    assert_eq!(store.posts(&account(), &hook(1)).await.unwrap().len(), 2);
    hand.advance(POST_LIFE + 2);
    assert_eq!(store.posts(&account(), &hook(1)).await.unwrap(), []);
}

#[tokio::test]
async fn posts_that_hold_an_address_are_erased() {
    let owner = account();
    let (_, store) = Scale::table().await;
    for n in 0..250 {
        store.put_post(&post(n, false)).await.unwrap();
    }
    let erased = store.erase_posts(&owner, |post| post.message.ends_with('7'));
    assert_eq!(erased.await.unwrap(), 25);
    let left = store.posts(&account(), &hook(1)).await.unwrap();
    assert!(left.iter().all(|post| !post.message.ends_with('7')));
    let erased = store.erase_posts(&owner, |post| post.message.ends_with('7'));
    assert_eq!(erased.await.unwrap(), 0);
}
