//! Accounts take turns.

use std::collections::BTreeMap;
use std::time::Duration;

use posthaste_model::{AccountId, Clock, Millis};
use posthaste_queue::{Local, ReceivedMessage};

use super::super::Engine;

fn clock() -> Clock {
    Clock::new(|| Millis(1_000_000))
}

/// A job of an account, and which one.
fn job(account: u8, number: usize) -> (String, Duration) {
    let account = AccountId::from_bytes([account; 10]);
    let text = format!(r#"{{"account":"{account}","number":{number}}}"#);
    (text, Duration::ZERO)
}

async fn receive(queue: &Local, most: usize) -> Vec<ReceivedMessage> {
    let hidden = Duration::from_secs(30);
    queue.receive(most, hidden).await.unwrap()
}

/// How many of these messages each account has.
fn shares(messages: &[ReceivedMessage]) -> Vec<usize> {
    let mut shares = BTreeMap::<String, usize>::new();
    for message in messages {
        let json: serde_json::Value = serde_json::from_str(&message.body).unwrap();
        *shares.entry(json["account"].to_string()).or_default() += 1;
    }
    let mut shares: Vec<_> = shares.into_values().collect();
    shares.sort_unstable();
    shares
}

#[tokio::test]
async fn beside_100_000_mails_of_one_account_another_s_is_in_the_next_batch() {
    let engine = Engine::start(None, clock()).unwrap();
    let (queue, local) = (engine.queue("send"), engine.local("send"));
    let many = (0..100_000).map(|number| job(1, number));
    queue.send_all(many.collect()).await.unwrap();
    assert_eq!(shares(&receive(&local, 10).await), [10]);
    queue.send_all(vec![job(2, 0)]).await.unwrap();
    assert_eq!(shares(&receive(&local, 10).await), [1, 9]);
    // The account alone gets whole batches again, in its order.
    let next = receive(&local, 10).await;
    assert_eq!(shares(&next), [10]);
    assert!(next[0].body.contains("\"number\":19"), "{:?}", next[0]);
}

#[tokio::test]
async fn accounts_share_each_batch_and_every_message_comes_once() {
    let engine = Engine::start(None, clock()).unwrap();
    let (queue, local) = (engine.queue("events"), engine.local("events"));
    for account in 1..=25 {
        let jobs = (0..4).map(|number| job(account, number));
        queue.send_all(jobs.collect()).await.unwrap();
    }
    let other = ("no job".to_owned(), Duration::ZERO);
    queue.send_all(vec![other]).await.unwrap();
    let mut bodies = Vec::new();
    for batch in 0..3 {
        let got = receive(&local, 8).await;
        assert_eq!(got.len(), 8, "{batch}");
        bodies.extend(got.into_iter().map(|message| message.body));
    }
    // Three batches of eight: 24 different accounts, or 23 and the message without one.
    let firsts = bodies.iter().filter(|body| body.contains("\"number\":0"));
    let firsts = firsts.count() + bodies.iter().filter(|body| *body == "no job").count();
    assert_eq!(firsts, 24);
    while bodies.len() < 101 {
        let got = receive(&local, 8).await;
        bodies.extend(got.into_iter().map(|message| message.body));
    }
    bodies.sort();
    bodies.dedup();
    assert_eq!(bodies.len(), 101);
}

#[tokio::test]
async fn accounts_with_only_later_messages_do_not_stop_the_others() {
    let engine = Engine::start(None, clock()).unwrap();
    let (queue, local) = (engine.queue("retries"), engine.local("retries"));
    let later = (0..=254_u8).flat_map(|account| {
        (0..2).map(move |number| (job(account, number).0, Duration::from_secs(60)))
    });
    queue.send_all(later.collect()).await.unwrap();
    queue.send_all(vec![job(255, 0)]).await.unwrap();
    assert_eq!(shares(&receive(&local, 10).await), [1]);
}

#[tokio::test]
async fn messages_of_a_file_without_accounts_are_handed_out() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("queue.db");
    let old = rusqlite::Connection::open(&file).unwrap();
    old.execute_batch(
        "CREATE TABLE message (id INTEGER PRIMARY KEY AUTOINCREMENT, queue TEXT NOT NULL,
         visible INTEGER NOT NULL, taken INTEGER NOT NULL DEFAULT 0,
         count INTEGER NOT NULL DEFAULT 0, body TEXT NOT NULL);
         INSERT INTO message (queue, visible, body) VALUES ('send', 0, 'old');",
    )
    .unwrap();
    drop(old);
    let engine = Engine::start(Some(&file), clock()).unwrap();
    engine
        .queue("send")
        .send_all(vec![job(1, 0)])
        .await
        .unwrap();
    let mut bodies: Vec<_> = receive(&engine.local("send"), 10).await;
    bodies.sort_by_key(|message| message.id);
    assert_eq!(bodies.len(), 2);
    assert_eq!(bodies[0].body, "old");
}
