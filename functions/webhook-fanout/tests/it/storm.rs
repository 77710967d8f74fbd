//! Many events to a receiver that answers at random and is killed at times.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use posthaste_testkit::{Receiver, Reply};

use crate::env::TestEnv;

#[tokio::test]
async fn every_event_arrives_whatever_the_receiver_does() {
    const EVENTS: usize = 4_000;
    let env = TestEnv::open().await;
    let (mut receiver, _) = env.subscribe().await;
    // A fixed sequence: the same storm in every run.
    let state = Arc::new(AtomicU64::new(1));
    receiver.decide(move |_| {
        let n = state
            .fetch_add(1, Ordering::SeqCst)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            >> 32;
        match n % 8 {
            0..=3 => Reply::status(200),
            4 => Reply::status(500),
            5 => Reply::retry_after(429, "40"),
            6 => Reply::Drop,
            _ => Reply::Hang,
        }
    });
    let events = env.events(EVENTS);

    for (i, chunk) in events.chunks(100).enumerate() {
        if i % 10 == 5 {
            receiver.stop().await;
        }
        env.send_events(chunk).await;
        if i % 10 == 7 {
            receiver.restart().await.unwrap();
        }
        env.hand.advance(1);
    }
    let mut rounds = 0;
    while env.next_retries().await {
        rounds += 1;
        if rounds % 20 == 3 {
            receiver.stop().await;
        }
        if rounds % 20 == 6 {
            receiver.restart().await.unwrap();
        }
    }

    let seen = arrivals(&receiver);
    assert_eq!(seen.len(), EVENTS);
    let posted: u32 = seen.values().sum();
    println!("{EVENTS} events, {posted} posted, {rounds} rounds of retries");
    let wanted = posthaste_store::DeadLetterFilter {
        limit: 9,
        ..Default::default()
    };
    let dead = env.store.dead_letters(&env.account, &wanted).await.unwrap();
    assert_eq!(dead.len(), 0);
}

/// How often each event arrived, whether the receiver said so or not; always in the same words.
fn arrivals(receiver: &Receiver) -> BTreeMap<String, u32> {
    let mut words: BTreeMap<String, String> = BTreeMap::new();
    let mut seen = BTreeMap::new();
    for post in receiver.posts() {
        let list: Vec<serde_json::Value> = serde_json::from_slice(&post.body).unwrap();
        for event in list {
            let id = event["sg_event_id"].as_str().unwrap().to_owned();
            let first = words.entry(id.clone()).or_insert_with(|| event.to_string());
            assert_eq!(*first, event.to_string());
            *seen.entry(id).or_insert(0) += 1;
        }
    }
    seen
}
