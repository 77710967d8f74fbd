//! Posts to webhooks.

use posthaste_model::{AccountId, WebhookId};
use posthaste_store::{LISTED_POSTS, POST_LIFE, PostFilter, PostId, Store, WebhookPost};
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

/// The posts that a filter finds, page by page.
async fn paged(store: &Store, filter: &PostFilter) -> Vec<(PostId, WebhookPost)> {
    let (mut found, mut filter) = (Vec::new(), filter.clone());
    loop {
        let page = store.post_page(&account(), &filter, |_| true).await;
        let page = page.unwrap();
        assert!(page.posts.len() <= filter.limit);
        found.extend(page.posts);
        filter.after = page.next;
        if filter.after.is_none() {
            return found;
        }
    }
}

/// Posts of two webhooks, some of them of the same seconds.
async fn of_two_webhooks(store: &Store) -> Vec<WebhookPost> {
    let mut all = Vec::new();
    for n in 0..60 {
        for webhook in [hook(1), hook(2)] {
            let made = WebhookPost {
                webhook,
                at: NOW.plus(i64::try_from(n / 3).unwrap()),
                ..post(n, n % 4 != 0)
            };
            store.put_post(&made).await.unwrap();
            all.push(made);
        }
    }
    all
}

#[tokio::test]
async fn pages_of_posts_hold_each_once_latest_first() {
    let (_, store) = Scale::table().await;
    let all = of_two_webhooks(&store).await;
    let both = PostFilter {
        webhooks: vec![hook(2), hook(1)],
        ..PostFilter::default()
    };
    let at = |n: i64| Some(NOW.plus(n));
    for (filter, holds) in [
        (
            both.clone(),
            Box::new(|_: &WebhookPost| true) as Box<dyn Fn(&WebhookPost) -> bool>,
        ),
        (
            PostFilter {
                webhooks: vec![hook(2)],
                ..both.clone()
            },
            Box::new(|post| post.webhook == hook(2)),
        ),
        (
            PostFilter {
                accepted: Some(false),
                ..both.clone()
            },
            Box::new(|post| !post.accepted),
        ),
        (
            PostFilter {
                since: at(5),
                until: at(7),
                ..both.clone()
            },
            Box::new(|post| at(5) <= Some(post.at) && Some(post.at) <= at(7)),
        ),
        (
            PostFilter {
                since: at(99),
                ..both.clone()
            },
            Box::new(|_| false),
        ),
        (
            PostFilter {
                until: at(-1),
                ..both.clone()
            },
            Box::new(|_| false),
        ),
    ] {
        let mut want: Vec<_> = all
            .iter()
            .filter(|post| holds(post))
            .map(|p| (p.at, p.webhook.clone(), p.message.clone()))
            .collect();
        want.sort();
        for limit in [1, 2, 7, 100] {
            let filter = PostFilter {
                limit,
                ..filter.clone()
            };
            let found = paged(&store, &filter).await;
            assert!(
                found.is_sorted_by_key(|(_, post)| std::cmp::Reverse(post.at)),
                "{filter:?}"
            );
            for (id, post) in &found {
                assert_eq!(PostId::parse(&id.to_string()).as_ref(), Some(id));
                let one = store.post(&account(), id).await.unwrap();
                assert_eq!(one.as_ref(), Some(post));
            }
            let mut found: Vec<_> = found
                .into_iter()
                .map(|(_, p)| (p.at, p.webhook, p.message))
                .collect();
            found.sort();
            assert_eq!(found, want, "{filter:?}");
        }
    }
}

#[tokio::test]
async fn a_page_looks_at_a_bounded_number_of_posts() {
    let (_, store) = Scale::table().await;
    for n in 0..501 {
        store.put_post(&post(n, false)).await.unwrap();
    }
    let mut filter = PostFilter {
        webhooks: vec![hook(1)],
        limit: 1,
        ..PostFilter::default()
    };
    let oldest = |post: &WebhookPost| post.message == "post 0";
    let page = store.post_page(&account(), &filter, oldest).await.unwrap();
    assert!(page.posts.is_empty() && page.next.is_some());
    filter.after = page.next;
    let page = store.post_page(&account(), &filter, oldest).await.unwrap();
    assert_eq!(page.posts[0].1.message, "post 0");
}

#[test]
fn only_whole_ids_of_posts_are_read() {
    let id = format!("{}.F.000000000012.abcdefghij-_1234", hook(1));
    assert_eq!(PostId::parse(&id).unwrap().to_string(), id);
    for (from, to) in [
        (".F.", ".X."),
        (".F.", "."),
        ("000000000012", "12"),
        ("000000000012", "00000000001x"),
        ("abcdefghij-_1234", "abcdefghij-_123"),
        ("abcdefghij-_1234", "abcdefghij#_1234"),
        ("abcdefghij-_1234", "abcdefghij-_1234.x"),
    ] {
        assert_eq!(PostId::parse(&id.replace(from, to)), None, "{from} {to}");
    }
}
