//! The promises of the queues, each on a file and by hand-moved time.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use posthaste_model::{Clock, Millis};
use posthaste_queue::Local;

use super::Engine;

const SECOND: Duration = Duration::from_secs(1);

#[derive(Clone)]
struct Hand(Arc<AtomicI64>);

impl Hand {
    fn new() -> Self {
        Self(Arc::new(AtomicI64::new(1_000_000)))
    }
    fn clock(&self) -> Clock {
        let hand = self.0.clone();
        Clock::new(move || Millis(hand.load(Ordering::SeqCst)))
    }
    fn advance(&self, by: Duration) {
        let by = i64::try_from(by.as_millis()).unwrap();
        self.0.fetch_add(by, Ordering::SeqCst);
    }
}

async fn bodies(queue: &Local) -> Vec<(String, u32)> {
    let got = queue.receive(10, 30 * SECOND).await.unwrap();
    got.into_iter().map(|m| (m.body, m.count)).collect()
}

#[tokio::test]
async fn what_was_sent_survives_and_what_was_held_comes_back_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("queue.db");
    let hand = Hand::new();
    {
        let engine = Engine::start(Some(&file), hand.clock()).unwrap();
        let queue = engine.queue("send");
        queue.send("a".to_owned(), Duration::ZERO).await.unwrap();
        queue.send("b".to_owned(), Duration::ZERO).await.unwrap();
        let local = engine.local("send");
        assert_eq!(local.receive(1, 30 * SECOND).await.unwrap().len(), 1);
        // Not stopped: dropped in the middle, as a kill would.
        drop((queue, local));
        engine.stop();
    }
    let engine = Engine::start(Some(&file), hand.clock()).unwrap();
    let mut all = bodies(&engine.local("send")).await;
    all.sort();
    assert_eq!(all, [("a".to_owned(), 2), ("b".to_owned(), 1)]);
}

#[tokio::test]
async fn delay_visibility_and_deletion_follow_the_clock() {
    let hand = Hand::new();
    let engine = Engine::start(None, hand.clock()).unwrap();
    let (queue, local) = (engine.queue("send"), engine.local("send"));
    queue.send("later".to_owned(), 10 * SECOND).await.unwrap();
    queue.send("now".to_owned(), Duration::ZERO).await.unwrap();
    assert_eq!(bodies(&local).await, [("now".to_owned(), 1)]);

    hand.advance(10 * SECOND);
    assert_eq!(bodies(&local).await, [("later".to_owned(), 1)]);

    hand.advance(20 * SECOND);
    let again = local.receive(10, 30 * SECOND).await.unwrap();
    assert_eq!(
        again.iter().map(|m| m.body.as_str()).collect::<Vec<_>>(),
        ["now"]
    );

    local
        .delete(again.iter().map(|m| m.id).collect())
        .await
        .unwrap();
    hand.advance(1000 * SECOND);
    let left = local.receive(10, 30 * SECOND).await.unwrap();
    assert_eq!(
        left.iter()
            .map(|m| (m.body.as_str(), m.count))
            .collect::<Vec<_>>(),
        [("later", 2)]
    );
    local
        .give_back(left.iter().map(|m| m.id).collect(), Duration::ZERO)
        .await
        .unwrap();
    assert_eq!(bodies(&local).await, [("later".to_owned(), 3)]);
}

#[tokio::test]
async fn queues_do_not_see_each_other_and_a_waiting_worker_is_woken() {
    let engine = Engine::start(None, Hand::new().clock()).unwrap();
    let waiting = engine.local("events");
    let waiting = tokio::spawn(async move { bodies(&waiting).await });
    engine
        .queue("send")
        .send("x".to_owned(), Duration::ZERO)
        .await
        .unwrap();
    engine
        .queue("events")
        .send("y".to_owned(), Duration::ZERO)
        .await
        .unwrap();
    assert_eq!(waiting.await.unwrap(), [("y".to_owned(), 1)]);
}

#[tokio::test]
async fn a_message_nobody_can_handle_becomes_a_dead_letter() {
    let hand = Hand::new();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("queue.db");
    let engine = Engine::start(Some(&file), hand.clock()).unwrap();
    let (queue, local) = (engine.queue("send"), engine.local("send"));
    queue
        .send("poison".to_owned(), Duration::ZERO)
        .await
        .unwrap();
    for _ in 0..super::commands::MOST_RECEIVES {
        assert_eq!(bodies(&local).await.len(), 1);
        hand.advance(30 * SECOND);
    }
    queue.send("good".to_owned(), Duration::ZERO).await.unwrap();
    assert_eq!(bodies(&local).await, [("good".to_owned(), 1)]);
    drop((queue, local));
    engine.stop();
    let dead: String = rusqlite::Connection::open(&file)
        .unwrap()
        .query_row("SELECT body FROM dead", [], |row| row.get(0))
        .unwrap();
    assert_eq!(dead, "poison");
}
