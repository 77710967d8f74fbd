//! Which mail a release takes, whatever the table knows of it: mail without a row, mail that cannot be read, one outage
//! after another, and many at once.

use std::collections::BTreeSet;

use posthaste_model::Millis;
use posthaste_outage::{OutageRelease, StoredJob};
use posthaste_store::OutageScope;
use posthaste_testkit::entropy;

use crate::OutageTest;

#[tokio::test]
async fn what_cannot_be_read_is_set_aside_once_and_is_found_when_it_is_put_back() {
    let waiting = OutageTest::new().await;
    let blob = &waiting.services.blob;
    waiting.put(&OutageScope::Relay, 0..1).await;
    let newer = r#"{"v":2,"jobs":["a"]}"#;
    let bad = [
        ("relay/0000000001-0", newer),
        ("relay/9999999999-0", newer),
        ("relay/9999999999-1", "no pack"),
    ];
    for (name, text) in bad {
        let name = format!("waiting/{name}");
        blob.put(&name, text.into()).await.unwrap();
    }
    let (mut all, mut failed) = (Vec::new(), 0);
    for _ in 0..20 {
        waiting.services.clock.advance(60);
        let (release, sent) = waiting.release().await;
        all.extend(sent);
        failed += release.failed;
    }
    assert_eq!(all, ["0"]);
    assert!((1..=bad.len()).contains(&failed), "{failed}");
    // Nothing is tried again, and the outage is forgotten.
    assert_eq!(waiting.blobs().await, bad.len());
    assert!(waiting.services.store.outages().await.unwrap().is_empty());
    for (name, text) in bad {
        let name = format!("waiting/unread/{name}");
        assert_eq!(blob.get(&name).await.unwrap(), text);
    }

    // Whoever can read it puts it back.
    let pack = r#"{"v":1,"jobs":["b"]}"#;
    blob.put("waiting/relay/9999999999-1", pack.into())
        .await
        .unwrap();
    let mut sent = Vec::new();
    for _ in 0..65 {
        waiting.services.clock.advance(60);
        sent.extend(waiting.release().await.1);
    }
    assert_eq!(sent, ["b"]);
}

#[tokio::test]
async fn mail_without_a_row_is_found_within_the_hour() {
    let waiting = OutageTest::new().await;
    let account = OutageScope::Account(entropy().account_id());
    waiting.put(&OutageScope::Relay, 0..5).await;
    waiting.put(&account, 10..15).await;
    let odd = "waiting/nobody/9999999999-0";
    waiting.services.blob.put(odd, "{}".into()).await.unwrap();
    // As after the table was restored to a time before.
    for (_, row) in waiting.services.store.outages().await.unwrap() {
        assert!(waiting.services.store.end_outage(&row).await.unwrap());
    }
    let mut sent = Vec::new();
    for _ in 0..6 {
        waiting.services.clock.advance(60);
        sent.extend(waiting.release().await.1);
    }
    sent.sort_by_key(|job| job.parse::<usize>().unwrap());
    let want: Vec<_> = (0..5).chain(10..15).map(|n| n.to_string()).collect();
    assert_eq!(sent, want);
    assert!(waiting.services.blob.has(odd).await.unwrap());

    // And in a process that has looked already.
    waiting.services.clock.advance(1_000);
    waiting.release().await;
    waiting.put(&OutageScope::Relay, 20..21).await;
    for (_, row) in waiting.services.store.outages().await.unwrap() {
        assert!(waiting.services.store.end_outage(&row).await.unwrap());
    }
    let (mut minutes, mut sent) = (0, Vec::new());
    while sent.is_empty() {
        waiting.services.clock.advance(60);
        minutes += 1;
        sent = waiting.release().await.1;
    }
    assert!((30..=61).contains(&minutes), "{minutes}");
}

#[tokio::test]
async fn the_next_outage_is_probed_as_often_as_the_first() {
    let waiting = OutageTest::new().await;
    waiting.put(&OutageScope::Relay, 0..1).await;
    // It lasts for half an hour, and ends.
    for _ in 0..30 {
        waiting.services.clock.advance(60);
        let (_, sent) = waiting.release().await;
        waiting.services.clock.advance(1);
        waiting.give_back(&sent).await;
    }
    let mut sent = Vec::new();
    while sent.is_empty() {
        waiting.services.clock.advance(60);
        sent = waiting.release().await.1;
    }
    for _ in 0..3 {
        waiting.services.clock.advance(60);
        waiting.release().await;
    }
    assert_eq!(waiting.services.store.outages().await.unwrap().len(), 1);
    waiting.put(&OutageScope::Relay, 1..2).await;
    let (begun, mut tried) = (waiting.now(), Vec::new());
    for _ in 0..8 {
        waiting.services.clock.advance(60);
        let (_, sent) = waiting.release().await;
        if !sent.is_empty() {
            tried.push(waiting.now().since(begun) / 60);
            waiting.services.clock.advance(1);
            waiting.give_back(&sent).await;
        }
    }
    assert_eq!(tried, [1, 2, 4, 8]);
}

#[tokio::test]
async fn the_relay_s_mail_is_released_first_and_that_of_each_account_some_time() {
    let waiting = OutageTest::new().await;
    let accounts = [(); 4].map(|()| OutageScope::Account(entropy().account_id()));
    let send = waiting.services.queues.queue("send");
    let mut firsts = BTreeSet::new();
    for turn in 0..40 {
        for (n, scope) in accounts.iter().chain([&OutageScope::Relay]).enumerate() {
            let job = StoredJob {
                scope: scope.clone(),
                text: n.to_string(),
                expires: waiting.now(),
            };
            waiting.outage.put(vec![job]).await.unwrap();
        }
        let release = waiting.outage.release(&send, Millis(i64::MAX)).await;
        assert_eq!(release.unwrap().jobs, 5);
        let sent = waiting.services.queues.drain("send");
        assert_eq!(sent[0].0, "4", "{turn}");
        firsts.insert(sent[1].0.clone());
    }
    assert_eq!(firsts.len(), accounts.len(), "{firsts:?}");
}

#[tokio::test]
async fn nothing_is_taken_up_once_the_time_is_over() {
    let waiting = OutageTest::new().await;
    waiting.put(&OutageScope::Relay, 0..1).await;
    let send = waiting.services.queues.queue("send");
    let now = waiting.services.clock.clock().now_ms();
    let release = waiting.outage.release(&send, now).await.unwrap();
    assert_eq!(release, OutageRelease::default());
}
