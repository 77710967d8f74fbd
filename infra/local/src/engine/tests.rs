//! The guarantees of the queues, each on a file and with a manual clock.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use posthaste_model::{Clock, Millis};
use posthaste_queue::{Local, ReceivedMessage};

mod quiet;

use super::Engine;
use super::suspects::MOST_DEATHS;

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
        // Not stopped: dropped in the middle, as when killed.
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
    // A repeat; waiting does not bring it nearer to the dead letters.
    assert_eq!(bodies(&local).await, [("later".to_owned(), 2)]);
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
    for _ in 0..super::hand_out::MOST_RECEIVES {
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

#[tokio::test]
async fn a_job_that_waits_is_given_back_as_often_as_it_takes() {
    let hand = Hand::new();
    let engine = Engine::start(None, hand.clock()).unwrap();
    let (queue, local) = (engine.queue("send"), engine.local("send"));
    queue.send("mail".to_owned(), Duration::ZERO).await.unwrap();
    for time in 0..4 * super::hand_out::MOST_RECEIVES {
        let received = local.receive(10, 30 * SECOND).await.unwrap();
        let counts: Vec<_> = received.iter().map(|m| m.count).collect();
        assert_eq!(counts, [1 + u32::from(time > 0)], "a repeat, and no more");
        let ids = received.iter().map(|m| m.id).collect();
        local.give_back(ids, Duration::ZERO).await.unwrap();
    }
    for _ in 1..super::hand_out::MOST_RECEIVES {
        let received = local.receive(10, 30 * SECOND).await.unwrap();
        let ids = received.iter().map(|m| m.id).collect();
        local.fail(ids, Duration::ZERO).await.unwrap();
    }
    assert!(engine.dead_jobs().list().await.unwrap().is_empty());
    queue.send("good".to_owned(), Duration::ZERO).await.unwrap();
    assert_eq!(bodies(&local).await, [("good".to_owned(), 1)]);
    assert_eq!(engine.dead_jobs().list().await.unwrap().len(), 1);
}

/// The files as a process that dies at this moment leaves them, with every answered command.
fn left_behind(dir: &Path) -> tempfile::TempDir {
    let left = tempfile::tempdir().unwrap();
    for name in ["queue.db", "queue.db-wal"] {
        std::fs::copy(dir.join(name), left.path().join(name)).unwrap();
    }
    left
}

fn start(dir: &Path, hand: &Hand) -> Engine {
    Engine::start(Some(&dir.join("queue.db")), hand.clock()).unwrap()
}

/// A folder whose send queue holds these, with `killer` in the middle of the first batch.
async fn folder_with_a_killer(hand: &Hand, goods: usize) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let engine = start(dir.path(), hand);
    let mut texts: Vec<String> = (0..goods).map(|n| format!("good-{n}")).collect();
    texts.insert(3, "killer".to_owned());
    let messages = texts.into_iter().map(|text| (text, Duration::ZERO));
    let queue = engine.queue("send");
    queue.send_all(messages.collect()).await.unwrap();
    left_behind(dir.path())
}

#[tokio::test]
async fn a_job_that_kills_is_a_dead_letter_and_none_beside_it_is() {
    let hand = Hand::new();
    let mut dir = folder_with_a_killer(&hand, 25).await;
    let (mut handled, mut deaths) = (Vec::new(), 0);
    loop {
        let engine = start(dir.path(), &hand);
        let local = engine.local("send");
        let kills = |batch: &[ReceivedMessage]| batch.iter().any(|m| m.body == "killer");
        // One worker holds a batch throughout, the other works.
        let (mut mine, mut held) = (local.receive(10, 900 * SECOND).await.unwrap(), Vec::new());
        while !kills(&mine) {
            if held.is_empty() {
                held = local.receive(10, 900 * SECOND).await.unwrap();
            }
            let ids = mine.iter().map(|m| m.id).collect();
            local.delete(ids).await.unwrap();
            handled.extend(mine.drain(..).map(|m| m.body));
            if handled.len() + held.len() == 25 {
                break;
            }
            mine = local.receive(10, 900 * SECOND).await.unwrap();
        }
        if kills(&mine) {
            deaths += 1;
            dir = left_behind(dir.path());
            continue;
        }
        handled.extend(held.into_iter().map(|m| m.body));
        let dead = engine.dead_jobs().list().await.unwrap();
        assert_eq!(dead.len(), 1, "{dead:?}");
        assert_eq!(
            (dead[0].deaths, dead[0].queue.as_str()),
            (MOST_DEATHS, "send")
        );
        assert_eq!(deaths, MOST_DEATHS);
        handled.sort();
        handled.dedup();
        assert_eq!(handled.len(), 25, "each good job once: {handled:?}");

        // Replayed, it begins anew; what the other worker held is hidden.
        let ids = vec![dead[0].id, 4711];
        assert_eq!(engine.dead_jobs().replay(ids).await.unwrap(), 1);
        assert_eq!(bodies(&local).await, [("killer".to_owned(), 1)]);
        assert!(engine.dead_jobs().list().await.unwrap().is_empty());
        return;
    }
}

#[tokio::test]
async fn a_suspect_is_alone_in_its_batch_and_others_go_on_beside_it() {
    let hand = Hand::new();
    let dir = folder_with_a_killer(&hand, 14).await;
    let engine = start(dir.path(), &hand);
    let first = engine
        .local("send")
        .receive(10, 900 * SECOND)
        .await
        .unwrap();
    assert_eq!(first.len(), 10);
    let dir = left_behind(dir.path());

    let engine = start(dir.path(), &hand);
    let local = engine.local("send");
    let alone = local.receive(10, 900 * SECOND).await.unwrap();
    assert_eq!(
        alone,
        [ReceivedMessage {
            count: 2,
            ..first[0].clone()
        }]
    );
    // The five that had not been handed out, without the nine other suspects.
    assert_eq!(bodies(&local).await.len(), 5);
    // An answer, and the next one is tried.
    local.delete(vec![alone[0].id]).await.unwrap();
    let next = local.receive(10, 900 * SECOND).await.unwrap();
    assert_eq!((next.len(), next[0].id), (1, first[1].id));
    // One whose worker never answers is tried again when its time is up.
    hand.advance(900 * SECOND);
    local.tick().unwrap();
    let again = local.receive(10, 900 * SECOND).await.unwrap();
    assert_eq!((again.len(), again[0].id), (1, first[1].id));
}

#[tokio::test]
async fn one_that_died_alone_is_tried_before_anything_else_for_a_minute() {
    for answered in [true, false] {
        let hand = Hand::new();
        let mut dir = folder_with_a_killer(&hand, 3).await;
        for most in [10, 1] {
            let engine = start(dir.path(), &hand);
            let local = engine.local("send");
            assert_eq!(
                local.receive(most, 900 * SECOND).await.unwrap().len(),
                4.min(most)
            );
            dir = left_behind(dir.path());
        }
        let engine = start(dir.path(), &hand);
        engine
            .queue("events")
            .send("event".to_owned(), Duration::ZERO)
            .await
            .unwrap();
        let events = engine.local("events");
        let waiting = tokio::spawn(async move { bodies(&events).await });
        let local = engine.local("send");
        let confined = local.receive(10, 900 * SECOND).await.unwrap();
        assert_eq!(confined.len(), 1);
        // A round trip: the engine has seen both workers.
        engine.dead_jobs().list().await.unwrap();
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished(), "nothing beside a confined job");
        if answered {
            let ids = vec![confined[0].id];
            local.give_back(ids, 5 * SECOND).await.unwrap();
        } else {
            hand.advance(60 * SECOND);
            local.tick().unwrap();
        }
        assert_eq!(waiting.await.unwrap(), [("event".to_owned(), 1)]);
    }
}

#[tokio::test]
async fn neither_a_stop_in_order_nor_a_job_given_back_counts_as_a_death() {
    let hand = Hand::new();
    let mut dir = folder_with_a_killer(&hand, 3).await;
    for _ in 0..2 * MOST_DEATHS {
        let engine = start(dir.path(), &hand);
        let local = engine.local("send");
        assert_eq!(bodies(&local).await.len(), 4, "still one batch");
        engine.close();
        // A round trip: it has closed. A kill now finds a process that was ending.
        engine.dead_jobs().list().await.unwrap();
        dir = left_behind(dir.path());
    }
    for life in 0..2 * MOST_DEATHS {
        let engine = start(dir.path(), &hand);
        let local = engine.local("send");
        let batch = local.receive(10, 900 * SECOND).await.unwrap();
        let ids: Vec<i64> = batch.iter().map(|m| m.id).collect();
        // Dies on alternate attempts, and answers in between.
        if life % 2 == 1 {
            for id in &ids {
                local.give_back(vec![*id], Duration::ZERO).await.unwrap();
            }
        }
        assert!(engine.dead_jobs().list().await.unwrap().is_empty());
        dir = left_behind(dir.path());
    }
}

#[tokio::test]
async fn a_closed_engine_hands_out_nothing_and_still_takes_answers() {
    let engine = Engine::start(None, Hand::new().clock()).unwrap();
    let (queue, local) = (engine.queue("send"), engine.local("send"));
    queue.send("a".to_owned(), Duration::ZERO).await.unwrap();
    queue.send("b".to_owned(), Duration::ZERO).await.unwrap();
    let held = local.receive(1, 30 * SECOND).await.unwrap();
    engine.close();
    local.delete(vec![held[0].id]).await.unwrap();
    queue.send("c".to_owned(), Duration::ZERO).await.unwrap();
    assert!(local.receive(1, 30 * SECOND).await.is_err());
}

#[tokio::test]
async fn a_damaged_file_is_one_sentence_at_the_start_and_while_it_runs() {
    let hand = Hand::new();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("queue.db");
    let engine = start(dir.path(), &hand);
    let (queue, local) = (engine.queue("send"), engine.local("send"));
    for _ in 0..50 {
        queue.send("x".repeat(2000), Duration::ZERO).await.unwrap();
    }
    drop((queue, local));
    engine.stop();
    let mut bytes = std::fs::read(&file).unwrap();
    let length = bytes.len();
    // Every page but the first, which holds header and schema.
    bytes[4096..length].fill(0xA5);
    std::fs::write(&file, &bytes).unwrap();
    let found = match Engine::start(Some(&file), hand.clock()) {
        Err(error) => error.to_string(),
        Ok(engine) => {
            let local = engine.local("send");
            assert!(local.receive(1, SECOND).await.is_err());
            engine.damage().wait().await
        }
    };
    assert!(
        found.contains("queue.db is damaged") && !found.contains('\n'),
        "{found}"
    );
}
